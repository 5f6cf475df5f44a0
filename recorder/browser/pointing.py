"""The element at a point of a tab, through the frames of all processes. The pages cannot notice."""

import asyncio
import json
from contextlib import suppress
from typing import Any

from recorder.building.frame_merging import to_page_target
from recorder.building.tab_state import TabState
from recorder.devtools.sessions import ProtocolError, Session
from schemas import InputError
from schemas.files import validated
from schemas.formats.parts import PointedElementSchema
from schemas.types.recordings import Point, PointedElement

from .tab import Tab

_REPLY_TIMEOUT_S = 1.0
_MAX_DEPTH = 20  # of frames of other processes in each other


def document_of(tab: TabState) -> str | None:
    """The name of the document that a tab shows, as far as it has reported it; another document has another one."""
    top = tab.frame_groups.get(())
    return top["frame_group"] if top else None


async def element_at(tab: Tab, x: float, y: float, scroll: Point) -> PointedElement | None:
    """The element that is now at a point: x and y in CSS pixels of the top-level viewport when the page was scrolled to
    `scroll`. None where there is none, or the page does not answer in time."""
    element: PointedElement | None = None
    path: list[int] = []
    with suppress(TimeoutError):
        async with asyncio.timeout(_REPLY_TIMEOUT_S):
            for _ in range(_MAX_DEPTH):
                answer = await _ask(tab, path, x, y, None if path else scroll)
                if answer is None:
                    break
                element = _valid(to_page_target(answer["element"], tuple(path), tab.frame_groups))
                if (below := answer["below"]) is None:
                    break
                path, x, y = below["path"], below["x"], below["y"]
    return element


def _valid(element: Any) -> PointedElement | None:
    """What a page says of its element, unless no recording can contain that."""
    with suppress(InputError):
        validated(element, PointedElementSchema(), "pointing")
        return element
    return None


async def _ask(tab: Tab, path: list[int], x: float, y: float, scroll: Point | None) -> dict[str, Any] | None:
    """What the frame group at a path answers."""
    expression = f"globalThis.demotape?.pointing?.elementAt({json.dumps(path)}, {x}, {y}, {json.dumps(scroll)}) ?? null"
    answers = await asyncio.gather(*(_evaluate(session, world, expression) for session, world in tab.worlds()))
    return next((answer for answer in answers if answer), None)


async def _evaluate(session: Session, world: int, expression: str) -> Any:
    with suppress(ProtocolError):  # the frame is gone
        answer = await session.send("Runtime.evaluate", {
            "expression": expression, "contextId": world, "returnByValue": True})
        return answer["result"].get("value")
    return None
