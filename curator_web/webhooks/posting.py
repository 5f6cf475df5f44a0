"""Posting one delivery: to an address that was looked at, within seconds in all, and nothing of the answer is kept but
its code."""

import http.client
import json
import socket
import ssl
import threading
import time
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

from standardwebhooks import Webhook

from .addresses import Network, Unreachable, port_of, resolved

SECONDS = 5.0  # for all of it, once the name is resolved
_FAILURES = (OSError, http.client.HTTPException, ValueError)


@dataclass(frozen=True)
class Message:
    """What is sent: `id` is the same at every try."""

    id: str
    url: str
    secret: str
    body: dict[str, Any]


class _Connection(http.client.HTTPConnection):
    """A connection to one of some addresses, whatever the name resolves to by then."""

    def __init__(self, host: str, port: int, addresses: Sequence[str], *, tls: bool):
        super().__init__(host, port, timeout=SECONDS)
        self._addresses, self._tls = addresses, tls
        self.is_cut = False

    def connect(self) -> None:
        """Connect to the first that answers; raises OSError."""
        end = time.monotonic() + SECONDS
        for number, address in enumerate(self._addresses, 1):
            family = socket.AF_INET6 if ":" in address else socket.AF_INET
            self.sock = socket.socket(family, socket.SOCK_STREAM)
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
            self.sock = secured
            secured.do_handshake()

    def cut(self) -> None:
        """End it from another thread, whatever it waits for: a receiver that sends a byte now and then, too."""
        self.is_cut = True
        with suppress(OSError, TypeError):  # closed already, or none yet
            socket.socket.shutdown(self.sock, socket.SHUT_RDWR)


def post(message: Message, allowed: Sequence[Network]) -> int:
    """Send a message, signed; returns the answer's code. Redirects are not followed. Raises Unreachable."""
    parts, now = urlsplit(message.url), datetime.now(UTC)
    body = json.dumps(message.body, separators=(",", ":"), ensure_ascii=True)
    headers = {"content-type": "application/json", "user-agent": "demotape", "webhook-id": message.id,
               "webhook-timestamp": str(int(now.timestamp())), "connection": "close",
               "webhook-signature": Webhook(message.secret).sign(message.id, now, body)}
    host, port = parts.hostname or "", port_of(parts)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    with closing(_Connection(host, port, resolved(host, port, allowed), tls=parts.scheme == "https")) as connection:
        watch = threading.Timer(SECONDS, connection.cut)
        watch.start()
        try:
            connection.request("POST", target, body.encode(), headers)
            code = connection.getresponse().status
        except _FAILURES as error:
            raise Unreachable(_told(error, connection.is_cut)) from None
        finally:
            watch.cancel()
    return code


def _told(error: Exception, is_cut: bool) -> str:
    """In words of ours: an error's own may tell of the network here."""
    if is_cut or isinstance(error, TimeoutError):
        return f"no answer within {SECONDS:g} seconds"
    if isinstance(error, ssl.SSLCertVerificationError):
        return "its certificate is not valid"
    if isinstance(error, ssl.SSLError):
        return "no secure connection"
    return "cannot be connected to" if isinstance(error, ConnectionRefusedError) else "the connection failed"
