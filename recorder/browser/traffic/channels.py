"""Records the WebSockets and EventSources of a tab over CDP, for replays."""

import base64
import json
from collections.abc import Callable
from functools import cache
from itertools import count
from pathlib import Path
from secrets import token_hex
from typing import Any

from recorder.devtools.sessions import Session
from recorder.privacy.channel_event import ChannelEvent

_numbers = count(1)
_BINDING = f"demotape{token_hex(8)}"  # by which a page reports the ends of its WebSockets; gone before the page runs
_MAX_REPORT_CHARS = 2000
_MAX_REASON_BYTES = 123  # of a close frame (RFC 6455, 5.5.1)
_MAX_SOCKETS = 10_000  # of a session whose ends are awaited
_End = tuple[int, str, bool]  # code, reason, whether the page closed it
_Report = tuple[int, _End | None]


def listeners(tab: int, now: Callable[[], float], report: Callable[[ChannelEvent], None]) -> dict[str, Callable]:
    """CDP handlers of one session that call `report` with what its channels carry; `now`: wall clock in seconds."""
    open_: dict[str, tuple[int, str]] = {}
    ends = _Ends()

    def emit(key: str, direction: str, **payload: Any) -> ChannelEvent | None:
        if not (known := open_.get(key)):
            return None
        event = ChannelEvent(tab, known[0], known[1], direction, now(), **payload)
        report(event)
        return event

    def begin(key: str, kind: str, url: str) -> None:
        open_[key] = next(_numbers), kind
        emit(key, "open", url=url)

    def created(event: dict[str, Any]) -> None:
        begin(event["requestId"], "websocket", event["url"])
        ends.opened(event["requestId"])

    def sent(event: dict[str, Any]) -> None:
        if event.get("type") == "EventSource":
            begin(event["requestId"], "eventsource", event["request"]["url"])

    def accepted(event: dict[str, Any]) -> None:
        response = event["response"]
        if response.get("status") == 101:
            emit(event["requestId"], "accepted", protocol=next(
                (value for name, value in response["headers"].items() if name.lower() == "sec-websocket-protocol"), ""))

    def message(event: dict[str, Any]) -> None:
        emit(event["requestId"], "received", data=event["data"], event=event["eventName"], id=event["eventId"])

    def frame(direction: str) -> Callable[[dict[str, Any]], None]:
        def on_frame(event: dict[str, Any]) -> None:
            response = event["response"]
            if response["opcode"] in (1, 2):
                data = response["payloadData"]
                emit(event["requestId"], direction, data=data if response["opcode"] == 1 else base64.b64decode(data))
        return on_frame

    def closed(event: dict[str, Any]) -> None:
        key = event["requestId"]
        if end := emit(key, "close"):
            ends.closed(key, end)
        open_.pop(key, None)

    def on_binding(event: dict[str, Any]) -> None:
        if event["name"] == _BINDING and (read := _read_report(event["payload"])):
            ends.reported(event["executionContextId"], read)

    return {"Network.requestWillBeSent": sent, "Network.eventSourceMessageReceived": message,
            "Network.webSocketCreated": created, "Network.webSocketHandshakeResponseReceived": accepted,
            "Network.webSocketFrameSent": frame("sent"), "Network.webSocketFrameReceived": frame("received"),
            "Network.webSocketClosed": closed, "Network.loadingFinished": closed, "Network.loadingFailed": closed,
            "Runtime.bindingCalled": on_binding}


def report_ends(session: Session, *, worker: bool) -> None:
    """Have the pages of a session, or the worker that it is of, report how their WebSockets were closed."""
    session.post("Runtime.addBinding", {"name": _BINDING})
    if worker:  # which is held before its first instruction
        session.post("Runtime.evaluate", {"expression": _script()})
    else:
        session.post("Page.addScriptToEvaluateOnNewDocument", {"source": _script()})


class _Ends:
    """Assigns the ends that pages report to the sockets of the protocol: a page reports each right after it is made."""

    def __init__(self) -> None:
        self._newest = ""
        self._keys: dict[tuple[int, int], str] = {}  # execution context and its number there -> request id
        self._closed: dict[str, ChannelEvent] = {}
        self._reports: dict[str, _End] = {}  # that came before the end itself

    def opened(self, key: str) -> None:
        """A socket was made."""
        self._newest = key

    def closed(self, key: str, end: ChannelEvent) -> None:
        """The protocol reports the end of a socket."""
        if known := self._reports.pop(key, None):
            end.code, end.reason, end.by_page = known
        elif len(self._closed) < _MAX_SOCKETS:
            self._closed[key] = end

    def reported(self, context: int, report: _Report) -> None:
        """A page reports a new socket, or the end of one."""
        socket, reported_end = (context, report[0]), report[1]
        if reported_end is None:
            if self._newest and len(self._keys) < _MAX_SOCKETS:
                self._keys[socket] = self._newest
            self._newest = ""
        elif key := self._keys.pop(socket, ""):
            if end := self._closed.pop(key, None):
                end.code, end.reason, end.by_page = reported_end
            else:
                self._reports[key] = reported_end


def _read_report(payload: str) -> _Report | None:
    """The number of a socket, and code and reason of its end; None for anything else."""
    if len(payload) > _MAX_REPORT_CHARS:
        return None
    try:
        value = json.loads(payload)
    except (ValueError, RecursionError):
        return None
    match value:
        case [int(number)]:
            return number, None
        case [int(number), int(code), str(reason), bool(by_page)] if (
                1000 <= code < 5000 and len(reason.encode("utf-8", "surrogatepass")) <= _MAX_REASON_BYTES):
            return number, (code, reason, by_page)
    return None


@cache
def _script() -> str:
    path = Path(__file__).parent.parent / "websocket_ends.js"
    return path.read_text(encoding="utf-8").replace('"NAME"', f'"{_BINDING}"')
