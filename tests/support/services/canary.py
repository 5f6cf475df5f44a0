"""A server on loopback that must receive no connections, and counts them."""

import socket
import threading


class Canary:
    """Counts connections; each is told in one line what was asked for, and gets an empty answer."""

    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        self.origin = f"http://127.0.0.1:{self.port}"
        self.asked: list[str] = []
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop listening."""
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join()

    def _listen(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            with connection:
                connection.settimeout(1)
                try:
                    line = connection.recv(4096).partition(b"\r\n")[0].decode("latin-1")
                    connection.sendall(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
                except OSError:
                    line = "nothing was asked"
                self.asked.append(line)

    def __enter__(self) -> "Canary":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
