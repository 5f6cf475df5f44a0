"""The columns of a list, computed from a demonstration's turns."""

from typing import Any, TypedDict

from pipeline.turns.edits import in_force
from pipeline.turns.video_placement import without_video
from schemas import types
from schemas.addresses import split_address

SITE_LENGTH = 255


class Counts(TypedDict):
    """Numbers of turns: all, dropped, changed by edits, and with checks that ask for a look."""

    turns: int
    dropped: int
    edited: int
    checks: int


def counts(base: list[types.Turn], turns: list[types.Turn], edits: list[types.Edit]) -> Counts:
    """Count the current turns."""
    return Counts(turns=len(turns), dropped=sum(turn["dropped"] for turn in turns),
                  edited=len(changed(base, turns) | moved(edits) & {turn["id"] for turn in turns}),
                  checks=sum(bool(turn["checks"]) and not turn["dropped"] for turn in turns))


def of_base(demonstration: types.Demonstration) -> dict[str, Any]:
    """All of it, of a demonstration that nobody has edited."""
    turns = demonstration["turns"]
    return {"task": demonstration["task"], "site": site(turns), **counts(turns, turns, [])}


def changed(base: list[types.Turn], turns: list[types.Turn]) -> set[str]:
    """Ids of the turns whose content is not what the pipeline made; dropping, and placing the video, do not count."""
    before = {turn["id"]: _content(turn) for turn in base}
    return {turn["id"] for turn in turns if _content(turn) != before.get(turn["id"])}


def _content(turn: types.Turn) -> types.Turn:
    return without_video(turn) | {"dropped": False}


def moved(edits: list[types.Edit]) -> set[str]:
    """Ids of the turns that a person put elsewhere."""
    return {edit["turn"] for _, edit in in_force(edits) if edit["op"] == "move"}


def site(turns: list[types.Turn]) -> str:
    """Host of the first page that was shown, or an empty string."""
    for turn in turns:
        state = turn["state"] if turn["type"] == "browser" else None
        host = split_address(state["url"]).netloc if state else ""
        if host:
            return host.rpartition("@")[2][:SITE_LENGTH]
    return ""
