"""A connection to a service, which can be cut, suspended and restored."""

import contextlib
import socket
import threading


class Wire:
    """Hands on to a port of this machine what comes to its own."""

    def __init__(self, port: int):
        self._to, self._open, self._flows = port, True, threading.Event()
        self._flows.set()
        self._sockets: set[socket.socket] = set()
        self._lock = threading.Lock()
        self.request_lines: list[bytes] = []  # first lines of what clients sent, handed on or not

    def __enter__(self) -> "Wire":
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *error) -> None:
        self._flows.set()
        self._listening.close()
        self.cut()

    def cut(self) -> None:
        """End all connections, and every one that is tried from now on."""
        with self._lock:
            self._open = False
            for each in self._sockets:
                with contextlib.suppress(OSError):
                    each.shutdown(socket.SHUT_RDWR)
            self._sockets.clear()

    def silence(self) -> None:
        """Keep connections, and hand nothing on."""
        self._flows.clear()

    def mend(self) -> None:
        """Hand on again."""
        self._open = True
        self._flows.set()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                here, _ = self._listening.accept()
                threading.Thread(target=self._connect, args=(here,), daemon=True).start()

    def _connect(self, here: socket.socket) -> None:
        with self._lock:
            if not self._open:
                here.close()
                return
            there = socket.create_connection(("127.0.0.1", self._to))
            self._sockets |= {here, there}
        back = threading.Thread(target=self._pump, args=(there, here), daemon=True)
        back.start()
        self._pump(here, there, self.request_lines)
        back.join()
        for each in (here, there):
            each.close()

    def _pump(self, source: socket.socket, target: socket.socket, lines: list[bytes] | None = None) -> None:
        with contextlib.suppress(OSError):
            while content := source.recv(1 << 16):
                if lines is not None:
                    lines.append(content.partition(b"\r\n")[0])
                self._flows.wait()
                target.sendall(content)
        with contextlib.suppress(OSError):
            target.shutdown(socket.SHUT_WR)
