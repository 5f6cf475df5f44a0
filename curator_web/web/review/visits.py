"""Positions among the turns: the first turn of each visit to a page, and the turn nearest to a removed one."""

from collections.abc import Sequence

from curator_web.demonstrations.library.library import Review
from schemas import types


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
    """The id of the turn nearest to one that an edit removed: merged, split off, or added and undone. None for one that
    is present, or of which the demonstration knows nothing."""
    present = {turn["id"] for turn in review.turns}
    if turn_id in present:
        return None
    recorded = [turn["id"] for turn in review.base["turns"]]
    if turn_id not in recorded:
        return _origin(review, turn_id, present)
    index = recorded.index(turn_id)
    after = next((name for name in recorded[index:] if name in present), None)
    return after or next((name for name in reversed(recorded[:index]) if name in present), None)


def _origin(review: Review, turn_id: str, present: set[str]) -> str | None:
    """The turn after which an edit added one, or of which it was a part; the first one if that is gone, too."""
    for edit in reversed(review.edits):
        if edit.get("added", {}).get("id") == turn_id:
            origin = edit.get("after") if edit["op"] == "add" else edit["turn"]
            return origin if origin in present else review.turns[0]["id"] if review.turns else None
    return None
