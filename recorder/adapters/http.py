"""Announcements over HTTP on loopback, for drivers in other processes and languages, such as Stagehand."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager, asynccontextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BufferedIOBase
from secrets import token_urlsafe
from typing import Any, cast

from recorder.browser.session import Recorder
from schemas import InputError
from schemas.files import parse
from schemas.formats.agent_steps import AgentReportSchema
from schemas.types.agent_steps import AgentReport

_MAX_ACTION_S = 120.0  # seconds after which an action that no request ends has ended
_MAX_REPORT_BYTES = 4 << 20
_REQUEST_TIMEOUT_S = 10.0  # seconds that a connection may be silent


class _Actions:
    """The action that a driver has begun, if any; calls come from threads of requests."""

    def __init__(self, recorder: Recorder):
        self._recorder, self._lock = recorder, threading.Lock()
        self._action: AbstractContextManager[AgentReport] | None = None
        self._report: AgentReport = {}
        self._timer: threading.Timer | None = None

    def begin(self, report: AgentReport) -> None:
        """Begin an action with what is reported of it, and end the one before."""
        with self._lock:
            self._end()
            self._action = self._recorder.action_from_thread(**report)
            self._report = self._action.__enter__()
            self._timer = threading.Timer(_MAX_ACTION_S, self.end)
            self._timer.daemon = True
            self._timer.start()

    def end(self, report: AgentReport | None = None) -> None:
        """End the action, if there is one, with more that is reported of it."""
        with self._lock:
            self._report.update(report or {})
            self._end()

    def _end(self) -> None:
        if self._timer:
            self._timer.cancel()
        action, self._action, self._timer = self._action, None, None
        if action:
            action.__exit__(None, None, None)


def _report(body: BufferedIOBase, length: int) -> AgentReport:
    """The report in the body of a request. Raises InputError."""
    if not 0 <= length <= _MAX_REPORT_BYTES:
        raise InputError(f"report of an action: longer than {_MAX_REPORT_BYTES} bytes")
    content = body.read(length)
    return cast(AgentReport, parse(content, AgentReportSchema(), "report of an action")[0]) if content else {}


@asynccontextmanager
async def serve_actions(recorder: Recorder) -> AsyncIterator[str]:
    """Serve announcements of actions; yields the address: POST begins an action, DELETE ends it, both answer 204 when
    that is done. Either may have a report as `Recorder.action` takes it, as a JSON object; one that is not valid is
    answered with 400 and the reason. The address contains a secret, as pages can send requests to loopback, too."""
    path, actions = f"/{token_urlsafe(24)}", _Actions(recorder)

    class Handler(BaseHTTPRequestHandler):
        timeout = _REQUEST_TIMEOUT_S

        def do_POST(self) -> None:
            self._answer(actions.begin)

        def do_DELETE(self) -> None:
            self._answer(actions.end)

        def _answer(self, act: Callable[[AgentReport], None]) -> None:
            status, text = (204, "") if self.path == path else (404, "")
            if self.path == path:
                try:
                    act(_report(self.rfile, int(self.headers.get("Content-Length") or 0)))
                except (InputError, ValueError) as error:
                    status, text = 400, str(error)
            self.send_response(status)
            self.send_header("Content-Length", str(len(text.encode())))
            self.end_headers()
            self.wfile.write(text.encode())

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
