"""Records the WebSockets and EventSources of a tab over CDP, for replays."""

import base64
from collections.abc import Callable
from itertools import count
from typing import Any

from recorder.privacy.channel_event import ChannelEvent

_numbers = count(1)


def listeners(tab: int, now: Callable[[], float], report: Callable[[ChannelEvent], None]) -> dict[str, Callable]:
    """CDP handlers of one session that call `report` with what its channels carry; `now`: wall clock in seconds."""
    open_: dict[str, tuple[int, str]] = {}

    def emit(key: str, direction: str, **payload: Any) -> None:
        if known := open_.get(key):
            report(ChannelEvent(tab, known[0], known[1], direction, now(), **payload))

    def begin(key: str, kind: str, url: str) -> None:
        open_[key] = next(_numbers), kind
        emit(key, "open", url=url)

    def sent(event: dict[str, Any]) -> None:
        if event.get("type") == "EventSource":
            begin(event["requestId"], "eventsource", event["request"]["url"])

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
        emit(event["requestId"], "close")
        open_.pop(event["requestId"], None)

    return {"Network.requestWillBeSent": sent, "Network.eventSourceMessageReceived": message,
            "Network.webSocketCreated": lambda event: begin(event["requestId"], "websocket", event["url"]),
            "Network.webSocketFrameSent": frame("sent"), "Network.webSocketFrameReceived": frame("received"),
            "Network.webSocketClosed": closed, "Network.loadingFinished": closed, "Network.loadingFailed": closed}
