"""The worlds of one process's frames in which the capture script runs, and a second one where it cannot see the stacks
of drivers.

V8 shows the functions of a world only to worlds of the same origin. A world keeps the origin of the frame's document in
which it was made, and the capture script's is also made in the empty document in which a frame begins, when the frame
above looks into it; a driver's only in the page that follows (driven.js, driver_stacks.js).
"""

from collections.abc import Callable, Coroutine
from functools import cache, partial
from pathlib import Path
from secrets import token_hex
from typing import Any

from recorder.devtools.sessions import Session

WORLD = "demotape"
_STACKS_WORLD = "demotape-stacks"
STACKS_EVENT = f"demotape-{token_hex(16)}"  # the event by which the capture script asks that world


def track(session: Session, spawn: Callable[[Coroutine], None]) -> set[int]:
    """The ids of the worlds with the capture script in a session's frames, kept up to date from now on."""
    contexts: dict[int, dict[str, Any]] = {}  # the page's own and the capture script's, by id
    worlds: set[int] = set()
    session.on("Runtime.executionContextCreated", partial(_on_created, session, spawn, contexts, worlds))
    session.on("Runtime.executionContextDestroyed",
               lambda event: _forget(contexts, worlds, event["executionContextId"]))
    session.on("Runtime.executionContextsCleared", lambda _: contexts.clear())
    session.on("Runtime.executionContextsCleared", lambda _: worlds.clear())
    return worlds


def _on_created(session: Session, spawn: Callable[[Coroutine], None], contexts: dict[int, dict[str, Any]],
                worlds: set[int], event: dict[str, Any]) -> None:
    context = event["context"]
    frame = context["auxData"].get("frameId")
    if frame is None or context["name"] not in ("", WORLD):  # a worker's; somebody else's world
        return
    contexts[context["id"]] = context
    if context["name"] == WORLD:
        worlds.add(context["id"])
    if len({other["origin"] for other in contexts.values() if other["auxData"]["frameId"] == frame}) > 1:
        spawn(_show_stacks(session, frame))


def _forget(contexts: dict[int, dict[str, Any]], worlds: set[int], ended: int) -> None:
    contexts.pop(ended, None)
    worlds.discard(ended)


async def _show_stacks(session: Session, frame: str) -> None:
    world = await session.send("Page.createIsolatedWorld", {"frameId": frame, "worldName": _STACKS_WORLD})
    await session.send("Runtime.evaluate", {"expression": _script(), "contextId": world["executionContextId"]})


@cache
def _script() -> str:
    source = (Path(__file__).parent / "driver_stacks.js").read_text(encoding="utf-8")
    return source.replace('"NAME"', f'"{STACKS_EVENT}"')


@cache
def page_stacks() -> str:
    """Source for the page's own world, to run before the page's scripts: see `page_stacks.js`."""
    source = (Path(__file__).parent / "page_stacks.js").read_text(encoding="utf-8")
    return source.replace('"STACKS_EVENT"', f'"{STACKS_EVENT}"')
