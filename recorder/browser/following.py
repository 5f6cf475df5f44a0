"""Arms a session to follow the network of its page, and what its documents draw at random, as far as it is kept."""

from collections.abc import Callable, Coroutine
from functools import cache
from pathlib import Path
from secrets import token_hex
from typing import Any

from recorder.building.tab_observer import TabObserver
from recorder.devtools.sessions import Session

from . import channels, network

_SEED = f"demotape{token_hex(8)}"  # the binding by which a document tells its seed; it is gone before the page runs


def follow(session: Session, tab: int, main_frame: str, observer: TabObserver, spawn: Callable[[Coroutine], None], *,
           replayable: bool) -> None:
    """Tell `observer` of each exchange that ended; `replayable`: also of messages and seeds. See `network.listeners`.
    """
    handlers = [network.listeners(session, tab, main_frame, observer.network.exchange, spawn)]
    if replayable:
        handlers += [channels.listeners(tab, lambda: observer.now, observer.network.channel_event), _seeds(observer)]
    for each in handlers:
        for event, handler in each.items():
            session.on(event, handler)
    if replayable:
        session.post("Runtime.addBinding", {"name": _SEED})
        session.post("Page.addScriptToEvaluateOnNewDocument", {"source": _script()})


def _seeds(observer: TabObserver) -> dict[str, Callable]:
    frames: dict[int, str] = {}  # of the pages' own worlds

    def created(event: dict[str, Any]) -> None:
        context = event["context"]
        if context.get("auxData", {}).get("isDefault"):
            frames[context["id"]] = context["auxData"].get("frameId", "")

    def told(event: dict[str, Any]) -> None:
        frame, seed = frames.get(event["executionContextId"]), event["payload"]
        if event["name"] == _SEED and frame and seed.isascii() and seed.isdecimal() and len(seed) <= 10:
            observer.network.seed(frame, observer.now, int(seed) & 0xFFFFFFFF)

    return {"Runtime.executionContextCreated": created, "Runtime.bindingCalled": told,
            "Runtime.executionContextsCleared": lambda _: frames.clear()}


@cache
def _script() -> str:
    return (Path(__file__).parent / "seeded_random.js").read_text(encoding="utf-8").replace('"NAME"', f'"{_SEED}"')
