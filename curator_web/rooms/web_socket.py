"""A WebSocket on the socket of a WSGI request: the library websockets speaks the protocol, a thread serves it.

Flask's built-in server and gunicorn's threads hand over the socket of a request; the handshake is answered with the
request's own headers, so that sessions, tokens and host names are checked as for every other request.
"""

import socket
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from types import SimpleNamespace
from typing import Any, cast
from urllib.parse import urlsplit

from flask import Response
from websockets.datastructures import Headers
from websockets.exceptions import WebSocketException
from websockets.http11 import Request
from websockets.server import ServerProtocol
from websockets.sync.server import Server, ServerConnection

from curator_web.errors import ErrorText, InputError, NotAllowed

MAX_MESSAGE_BYTES = 2 << 20
MAX_QUEUED_MESSAGES = 8  # received and not yet read; then the socket is not read any further
HANDSHAKE_TIMEOUT_S = 10.0
PING_INTERVAL_S = 10.0
PING_TIMEOUT_S = 60.0  # longer than a burst of messages after a break takes
CLOSE_TIMEOUT_S = 2.0
SEND_TIMEOUT_S = 20.0  # in which the other side must read something
_SOCKETS = ("werkzeug.socket", "gunicorn.socket")
_HEADERS = ("Host", "Origin", "Connection", "Upgrade", "Sec-WebSocket-Key", "Sec-WebSocket-Version")


class ClosedSocketResponse(Response):
    """The response of a request whose socket was a WebSocket: the server sends nothing, and closes it."""

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        if "gunicorn.socket" in environ:
            raise StopIteration  # gunicorn's sign that there is no response
        raise ConnectionAbortedError


def require_same_origin(environ: dict[str, Any], *, browser: bool) -> None:
    """Raises NotAllowed for a WebSocket that a page of another site opens: browsers send cookies with it. A program
    need not name an origin; `browser`: the request came with a cookie, so it must."""
    origin = environ.get("HTTP_ORIGIN")
    if origin is None and not browser:
        return
    try:
        parts = urlsplit(origin or "")
    except ValueError:
        parts = urlsplit("")
    if parts.scheme != environ["wsgi.url_scheme"] or parts.netloc.lower() != environ.get("HTTP_HOST", "").lower():
        raise NotAllowed(ErrorText("a page of another site cannot connect to a room"))


def serve(environ: dict[str, Any], handle: Callable[[ServerConnection], None]) -> Response:
    """Accept the WebSocket of a request and have `handle` serve it until it returns or the connection ends. Raises
    InputError when the server does not hand over its socket."""
    raw = next((environ[name] for name in _SOCKETS if name in environ), None)
    if raw is None:
        raise InputError(ErrorText("this server does not support WebSockets; use demotape review or gunicorn"))
    with suppress(OSError):
        raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    duplicate = raw.dup()
    duplicate.settimeout(SEND_TIMEOUT_S)
    connection = _connection(duplicate, environ)
    try:
        connection.handshake(timeout=HANDSHAKE_TIMEOUT_S)
        if connection.response is not None and connection.response.status_code == 101:
            connection.start_keepalive()
            handle(connection)
    except (WebSocketException, TimeoutError):
        pass  # the other side is gone
    finally:
        connection.close()
        with suppress(OSError):  # it is closed already
            raw.shutdown(socket.SHUT_RDWR)  # the server has another object for this socket
    return ClosedSocketResponse()


def _connection(sock: socket.socket, environ: dict[str, Any]) -> ServerConnection:
    """A connection that has received the request, which the WSGI server has read from the socket."""
    stopping = cast(Server, SimpleNamespace(socket_closed=threading.Event()))
    connection = ServerConnection(
        sock, ServerProtocol(max_size=MAX_MESSAGE_BYTES), stopping, ping_interval=PING_INTERVAL_S,
        ping_timeout=PING_TIMEOUT_S, close_timeout=CLOSE_TIMEOUT_S, max_queue=MAX_QUEUED_MESSAGES)
    headers = Headers()
    for name in _HEADERS:
        if (value := environ.get(f"HTTP_{name.upper().replace('-', '_')}")) is not None:
            headers[name] = value
    with connection.protocol_mutex:
        connection.protocol.receive_data(Request("/", headers).serialize())
        events = connection.protocol.events_received()
    for event in events:
        connection.process_event(event)
    return connection
