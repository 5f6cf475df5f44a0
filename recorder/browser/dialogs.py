"""Reports a page's dialogs with their answers, and its downloads."""

from collections.abc import Callable
from typing import Any

from recorder.building.tab_observer import TabObserver
from recorder.building.tab_state import TabState
from schemas.types.recordings import EventData


def listeners(tab: TabState, observer: TabObserver) -> dict[str, Callable[[dict[str, Any]], None]]:
    """Handlers of what the session of a tab's page tells."""
    opened: EventData = {}

    def report(kind: str, data: EventData) -> None:
        observer.on_browser_event(tab, kind, observer.now, data)

    def opening(event: dict[str, Any]) -> None:
        nonlocal opened
        opened = {"kind": event["type"], "message": event["message"]}

    def closed(event: dict[str, Any]) -> None:
        data = opened | {"accepted": event["result"]}
        if data["kind"] == "prompt" and event["result"]:
            data["text"] = event.get("userInput", "")
        report("dialog", data)

    def download(event: dict[str, Any]) -> None:
        report("download", {"url": event["url"], "files": [event["suggestedFilename"]]})

    return {"Page.javascriptDialogOpening": opening, "Page.javascriptDialogClosed": closed,
            "Page.downloadWillBegin": download}
