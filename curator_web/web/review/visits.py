"""Positions among the turns: the first turn of each visit to a page, and the turn nearest to a missing one."""

import re
from collections.abc import Sequence

from flask_babel import lazy_gettext as _l

from curator_web.demonstrations.library.library import Review
from schemas import types

MISSING_TURN = _l("The turn of this link is not in this demonstration. This is the nearest one.")
_NUMBERED = re.compile(r"(.{0,80}?)([0-9]{1,12})", re.DOTALL)  # an id such as turn-17; its number is an event's


def visit_starts(turns: Sequence[types.Turn]) -> list[int]:
    """The index of the first turn of each visit: of one tab at one address, whatever its fragment."""
    starts: list[int] = []
    now: tuple[int, str] | None = None
    for index, turn in enumerate(turns):
        state = turn["state"] if turn["type"] == "browser" else None
        page = (state["tab"], state["url"].partition("#")[0]) if state else now
        if not starts or (now is not None and page != now):
            starts.append(index)
        now = page
    return starts


def nearest_turn(review: Review, turn_id: str) -> str | None:
    """The id of the turn nearest to one that an edit removed (merged, split off, or added and undone), or that this
    version of the recording never had. None for one that is present, and where there are no turns."""
    present = {turn["id"] for turn in review.turns}
    if turn_id in present or not present:
        return None
    recorded = [turn["id"] for turn in review.base["turns"]]
    if turn_id not in recorded:
        return _origin(review, turn_id, present)
    index = recorded.index(turn_id)
    after = next((name for name in recorded[index:] if name in present), None)
    return after or next((name for name in reversed(recorded[:index]) if name in present), None)


def _origin(review: Review, turn_id: str, present: set[str]) -> str:
    """The turn after which an edit added one, or of which it was a part; the first one if that is gone, too. Of an id
    that no edit knows: the turn with the closest number."""
    for edit in reversed(review.edits):
        if edit.get("added", {}).get("id") == turn_id:
            origin = edit.get("after") if edit["op"] == "add" else edit["turn"]
            return origin if origin in present else review.turns[0]["id"]
    return _closest_number(turn_id, [turn["id"] for turn in review.turns])


def _closest_number(turn_id: str, ids: Sequence[str]) -> str:
    """The first of the ids whose number is the closest to that of another such id; the first of all if it has none."""
    numbered = _NUMBERED.fullmatch(turn_id)
    others = {other: int(match[2]) for other in ids if (match := _NUMBERED.fullmatch(other))
              and numbered and match[1] == numbered[1]}
    return min(others, key=lambda other: abs(others[other] - int(numbered[2]))) if numbered and others else ids[0]
