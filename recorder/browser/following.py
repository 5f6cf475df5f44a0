"""Sets up a session to record the network, the console and the random values of its page, as far as requested."""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from secrets import token_hex
from typing import Any

from recorder.building.tab_observer import TabObserver
from recorder.devtools.sessions import Session
from recorder.privacy.har import Exchange

from .traffic import channels, console, network

_SEED = f"demotape{token_hex(8)}"  # the binding by which a document tells its seed; it is gone before the page runs


@dataclass(frozen=True)
class Extras:
    """What is kept of a page besides its states; `stills`: pictures only when they are asked for."""

    har: bool = False
    mhtml: bool = False
    replayable: bool = False
    console: bool = False
    stills: bool = False


def follow(session: Session, tab: int, main_frame: str, requests: network.OpenRequests, observer: TabObserver,
           spawn: Callable[[Coroutine], None], extras: Extras, page: Callable[[], str], *,
           worker: bool = False) -> None:
    """Tell `observer` of what is kept: each exchange that ended; where it is to be replayable, also messages and seeds;
    lines of the console. See `network.listeners` and `console.listeners`. `worker`: the session is a worker's, which
    has no documents, and whose page's session tells of its console."""
    handlers = []
    if extras.har or extras.replayable:
        handlers.append(network.listeners(session, tab, main_frame, requests, observer.network.exchange, spawn,
                                          observer))
    if extras.console and not worker:
        handlers.append(console.listeners(tab, page, observer))
        session.post("Log.enable")
    if extras.replayable:
        handlers.append(channels.listeners(tab, lambda: observer.now, observer.network.channel_event))
        channels.report_ends(session, worker=worker)
    seeded = extras.replayable and not worker
    if seeded:
        handlers.append(_seeds(observer))
    for group in handlers:
        for event, handler in group.items():
            session.on(event, handler)
    if worker:
        session.post("Network.enable")
    if seeded:
        session.post("Runtime.addBinding", {"name": _SEED})
        session.post("Page.addScriptToEvaluateOnNewDocument", {"source": _script()})


def follow_scripts(session: Session, tab: int, observer: TabObserver, spawn: Callable[[Coroutine], None]) -> None:
    """Take the scripts of a worker that pages share from its session: the browser fetches them before it tells of the
    network.
    """
    async def add_script(script: str, url: str, began: float) -> None:
        source = (await session.send("Debugger.getScriptSource", {"scriptId": script}))["scriptSource"]
        observer.network.exchange(Exchange(
            tab, "GET", url, began, began, {}, ended=began, body=source.encode("utf-8", "surrogatepass"), kind="Script",
            response={"status": 200, "statusText": "OK", "mimeType": "text/javascript"},
            response_headers={"Content-Type": "text/javascript; charset=utf-8", "Service-Worker-Allowed": "/"}))

    def parsed(event: dict[str, Any]) -> None:
        if event["url"].startswith(("http:", "https:")):
            spawn(add_script(event["scriptId"], event["url"], observer.now))

    session.on("Debugger.scriptParsed", parsed)
    session.post("Debugger.enable")
    session.post("Debugger.setSkipAllPauses", {"skip": True})


def _seeds(observer: TabObserver) -> dict[str, Callable]:
    frames: dict[int, str] = {}  # of the pages' own worlds

    def created(event: dict[str, Any]) -> None:
        context = event["context"]
        if context.get("auxData", {}).get("isDefault"):
            frames[context["id"]] = context["auxData"].get("frameId", "")

    def on_binding(event: dict[str, Any]) -> None:
        frame, seed = frames.get(event["executionContextId"]), event["payload"]
        if event["name"] == _SEED and frame and seed.isascii() and seed.isdecimal() and len(seed) <= 10:
            observer.network.seed(frame, observer.now, int(seed) & 0xFFFFFFFF)

    return {"Runtime.executionContextCreated": created, "Runtime.bindingCalled": on_binding,
            "Runtime.executionContextsCleared": lambda _: frames.clear()}


@cache
def _script() -> str:
    return (Path(__file__).parent / "seeded_random.js").read_text(encoding="utf-8").replace('"NAME"', f'"{_SEED}"')
