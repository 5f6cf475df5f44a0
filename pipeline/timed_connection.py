"""An HTTP connection to resolved addresses with a limit on its total time."""

import http.client
import socket
import ssl
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress

FAILURES = (OSError, http.client.HTTPException, ValueError)  # what may be raised within `open`


class TimedConnection(http.client.HTTPConnection):
    """A connection to one of some addresses, whatever the name resolves to by then."""

    def __init__(self, host: str, port: int, addresses: Sequence[str], *, tls: bool, seconds: float):
        super().__init__(host, port, timeout=seconds)
        self._addresses, self._tls, self._seconds = addresses, tls, seconds
        self._socket: socket.socket | None = None  # `sock` is gone once an answer begins after which it is closed
        self.is_cut = False

    @contextmanager
    def open(self) -> Iterator["TimedConnection"]:
        """Use it within its seconds, from now on; it is closed at the end."""
        with closing(self):
            watch = threading.Timer(self._seconds, self.cut)
            watch.daemon = True
            watch.start()
            try:
                yield self
            finally:
                watch.cancel()

    def connect(self) -> None:
        """Connect to the first that answers; raises OSError."""
        end = time.monotonic() + self._seconds
        for number, address in enumerate(self._addresses, 1):
            family = socket.AF_INET6 if ":" in address else socket.AF_INET
            self.sock = self._socket = socket.socket(family, socket.SOCK_STREAM)
            self.sock.settimeout(max(end - time.monotonic(), 0.01))
            try:
                self.sock.connect((address, self.port))
                break
            except OSError:
                self.sock.close()
                if number == len(self._addresses) or self.is_cut:
                    raise
        if self._tls:
            context = ssl.create_default_context()
            secured = context.wrap_socket(self.sock, server_hostname=self.host, do_handshake_on_connect=False)
            self.sock = self._socket = secured
            secured.do_handshake()

    def cut(self) -> None:
        """End it from another thread, whatever it waits for: a receiver that sends a byte now and then, too."""
        self.is_cut = True
        if self._socket is not None:
            with suppress(OSError):  # closed already
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)

    def describe(self, error: Exception) -> str:
        """Why it failed, in words of ours: an error's own may tell of the network here."""
        if self.is_cut or isinstance(error, TimeoutError):
            return f"no answer within {self._seconds:g} seconds"
        if isinstance(error, ssl.SSLCertVerificationError):
            return "its certificate is not valid"
        if isinstance(error, ssl.SSLError):
            return "no secure connection"
        return "cannot connect" if isinstance(error, ConnectionRefusedError) else "the connection failed"
