"""Serving the app on this machine: one process, a thread a request."""

import logging
import socket
from collections.abc import Callable

from flask import Flask
from werkzeug.serving import BaseWSGIServer, WSGIRequestHandler, make_server

from curator_web.access.security import ANY_HOST, LOOPBACK
from schemas.files import reason

from .errors import InputError
from .users import has_accounts
from .vendor import is_complete


class QuietHandler(WSGIRequestHandler):
    """Logs failures, not every request."""

    protocol_version = "HTTP/1.1"  # keeps connections open: a page loads many thumbnails

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Log a request only if the server failed (status 500 to 599)."""
        if str(code).startswith("5"):
            super().log_request(code, size)


def make(app: Flask, host: str = "127.0.0.1", port: int = 0) -> BaseWSGIServer:
    """A server that is bound but does not serve yet; port 0 takes a free one. Raises InputError."""
    if host not in LOOPBACK:
        app.config["HOSTS"] = (ANY_HOST,)
    logging.getLogger("werkzeug").setLevel(logging.WARNING)
    # Bound here, because werkzeug ends the process when the port is taken.
    listening = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(128)
    except (OSError, OverflowError) as error:
        listening.close()
        raise InputError(f"--host {host} --port {port}: cannot be used ({reason(error)}); choose another address or "
                         "port") from None
    with listening:  # of which the server makes a duplicate
        server = make_server(host, listening.getsockname()[1], app, threaded=True, request_handler=QuietHandler,
                             fd=listening.fileno())
    server.daemon_threads = True  # type: ignore[attr-defined]  # a threaded one has it
    return server


def address(server: BaseWSGIServer) -> str:
    """Where to point a browser."""
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(server.host, server.host)
    return f"http://{f'[{host}]' if ':' in host else host}:{server.port}/"


def serve(app: Flask, host: str = "127.0.0.1", port: int = 5000, say: Callable[[str], None] = print) -> None:
    """Serve until Ctrl-C, after saying where. Raises InputError when the port cannot be had."""
    server = make(app, host, port)
    say(f"The review app is at {address(server)} (Ctrl-C ends it)")
    if not has_accounts(app.extensions["demotape"].db):
        say("No accounts: requests are accepted from this machine only, without sign-in; create an account with: "
            "demotape user add NAME --role lead" if host not in LOOPBACK else
            "No accounts: no sign-in is required on this machine")
    if not is_complete():
        say("The front-end libraries are missing, so pages are less usable; run: python -m curator_web.vendor")
    app.extensions["demotape"].jobs.start()
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass
    finally:
        server.server_close()
