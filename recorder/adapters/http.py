"""Announcements over HTTP on loopback, for drivers in other processes and languages, such as Stagehand."""

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import AbstractContextManager, asynccontextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from secrets import token_urlsafe
from typing import Any

from recorder.browser.session import Recorder

_MAX_ACTION_S = 120.0  # seconds after which an action that no request ends has ended
_REQUEST_TIMEOUT_S = 10.0  # seconds that a connection may be silent


class _Actions:
    """The action that a driver has begun, if any; calls come from threads of requests."""

    def __init__(self, recorder: Recorder):
        self._recorder, self._lock = recorder, threading.Lock()
        self._action: AbstractContextManager[None] | None = None
        self._timer: threading.Timer | None = None

    def begin(self) -> None:
        """Begin an action, and end the one before."""
        with self._lock:
            self._end()
            self._action = self._recorder.action_from_thread()
            self._action.__enter__()
            self._timer = threading.Timer(_MAX_ACTION_S, self.end)
            self._timer.daemon = True
            self._timer.start()

    def end(self) -> None:
        """End the action, if there is one."""
        with self._lock:
            self._end()

    def _end(self) -> None:
        if self._timer:
            self._timer.cancel()
        action, self._action, self._timer = self._action, None, None
        if action:
            action.__exit__(None, None, None)


@asynccontextmanager
async def serve_actions(recorder: Recorder) -> AsyncIterator[str]:
    """Serve announcements of actions; yields the address: POST begins an action, DELETE ends it, both answer 204 when
    that is done. The address contains a secret, as pages can send requests to loopback, too."""
    path, actions = f"/{token_urlsafe(24)}", _Actions(recorder)

    class Handler(BaseHTTPRequestHandler):
        timeout = _REQUEST_TIMEOUT_S

        def do_POST(self) -> None:
            self._answer(actions.begin)

        def do_DELETE(self) -> None:
            self._answer(actions.end)

        def _answer(self, act: Any) -> None:
            known = self.path == path
            if known:
                act()
            self.send_response(204 if known else 404)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *arguments: Any) -> None:
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}{path}"
    finally:
        await asyncio.to_thread(server.shutdown)
        server.server_close()
        await asyncio.to_thread(actions.end)
