"""Finds an element that was recorded in a page that runs now: by all that was said of it, and never a doubtful one."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from recorder.devtools.sessions import ProtocolError, Session
from schemas.types.recordings import Element

MIN_SCORE = 0.5  # score from 0 to 1 below which nothing is it
MIN_MARGIN = 0.04  # by which the best must be ahead of the next best
World = tuple[Session, int]


class ElementNotFound(Exception):
    """No element is the wanted one, or several may be; the message says which."""


@dataclass(frozen=True)
class ElementMatch:
    """An element of a page that runs. `object_id` names it in `session`; `score` from 0 to 1; `by`: what was equal."""

    session: Session
    world: int
    object_id: str
    score: float
    by: tuple[str, ...]


async def find(worlds: Sequence[World], element: Element) -> ElementMatch:
    """The element in the frames of a page; `worlds`: where the capture script runs in it.

    It is looked for in frames as deep in the page as the recorded one. Raises ElementNotFound.
    """
    wanted = json.dumps(element | {"frame": []})
    answers = await asyncio.gather(*(_query_world(world, wanted) for world in worlds))
    depth = len(element["frame"])
    scored = [(answer, world) for answer, world in zip(answers, worlds, strict=True) if answer]
    scored = [(answer, world) for answer, world in scored if answer["depth"] == depth] or scored
    scored.sort(key=lambda candidate: -candidate[0]["score"])
    if not scored or scored[0][0]["score"] < MIN_SCORE:
        best = scored[0][0]["score"] if scored else 0.0
        raise ElementNotFound(f"{_named(element)} is missing (the best candidate has the score {best:.2f}, below "
                              f"{MIN_SCORE})")
    best, (session, world) = scored[0]
    runner_up_scores = [best["next"], *(answer["score"] for answer, _ in scored[1:])]
    if best["score"] - max(runner_up_scores) < MIN_MARGIN:
        raise ElementNotFound(f"{_named(element)} cannot be distinguished from another element ({best['score']:.2f} "
                              f"and {max(runner_up_scores):.2f})")
    return ElementMatch(session, world, best["object_id"], best["score"], tuple(best["by"]))


async def call_on(match: ElementMatch, function: str, *arguments: Any) -> Any:
    """What a function of the element (its source) answers, in the capture script's world."""
    answer = await match.session.send("Runtime.callFunctionOn", {
        "functionDeclaration": function, "objectId": match.object_id, "returnByValue": True, "awaitPromise": True,
        "arguments": [{"objectId": match.object_id}, *({"value": argument} for argument in arguments)]})
    if "exceptionDetails" in answer:
        raise ProtocolError("the page refused")
    return answer["result"].get("value")


async def related(match: ElementMatch, function: str) -> ElementMatch | None:
    """The element that a function of the found one (its source) gives, such as its label; None where it gives none."""
    answer = await match.session.send("Runtime.callFunctionOn", {
        "functionDeclaration": function, "objectId": match.object_id, "arguments": [{"objectId": match.object_id}]})
    name = answer["result"].get("objectId")
    return replace(match, object_id=name) if name and answer["result"].get("subtype") == "node" else None


async def box(match: ElementMatch, *, scrolled: bool = True) -> tuple[float, float, float, float] | None:
    """Left, top, width and height in the viewport of the page, once it was scrolled into view (not `scrolled`: as it
    is); None where it has none."""
    if scrolled:
        await match.session.send("DOM.scrollIntoViewIfNeeded", {"objectId": match.object_id})
    quads = (await match.session.send("DOM.getContentQuads", {"objectId": match.object_id}))["quads"]
    if not quads:
        return None
    xs, ys = [x for quad in quads for x in quad[::2]], [y for quad in quads for y in quad[1::2]]
    return min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys)


async def _query_world(world: World, wanted: str) -> dict[str, Any] | None:
    """What of a frame's document is most like the wanted element, and its name there; None where there is nothing."""
    session, context = world
    try:
        description, handle = await asyncio.gather(
            session.send("Runtime.evaluate", {"expression": f"{find_source()}\ndemotapeFind.find({wanted})",
                                              "contextId": context, "returnByValue": True}),
            session.send("Runtime.evaluate", {"expression": "demotapeFind.take()", "contextId": context}))
    except ProtocolError:  # the frame is gone
        return None
    value, name = description["result"].get("value"), handle["result"].get("objectId")
    return value | {"object_id": name} if isinstance(value, dict) and name else None


def _named(element: Element) -> str:
    """How a message names an element."""
    name = element["name"] or element["text"]
    return f"<{element['tag']}>" + (f" {name[:60]!r}" if name else "")


@cache
def find_source() -> str:
    """Source of `demotapeFind`, for the capture script's world; there once, it does nothing again."""
    return (Path(__file__).parent / "find.js").read_text(encoding="utf-8")
