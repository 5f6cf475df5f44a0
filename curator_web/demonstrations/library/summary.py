"""The columns of a list, computed from a demonstration's turns."""

from bisect import bisect_left
from typing import Any, TypedDict

from pipeline.turns.edits import in_force
from pipeline.turns.programs import longest_increasing
from pipeline.turns.video_placement import without_video
from schemas import types
from schemas.addresses import split_address

from .covers import Cover, cover_of

SITE_LENGTH = 255


class Counts(TypedDict):
    """Numbers of turns: all, dropped, changed by edits, and with checks that ask for a look; and a picture of them."""

    turns: int
    dropped: int
    edited: int
    checks: int
    cover: Cover | None


def counts(base: list[types.Turn], turns: list[types.Turn], edits: list[types.Edit]) -> Counts:
    """Count the current turns."""
    return Counts(turns=len(turns), dropped=sum(turn["dropped"] for turn in turns),
                  edited=len(changed(base, turns) | displaced(base, turns, edits)),
                  checks=sum(bool(turn["checks"]) and not turn["dropped"] for turn in turns), cover=cover_of(turns))


def of_base(demonstration: types.Demonstration) -> dict[str, Any]:
    """All of it, of a demonstration that nobody has edited."""
    turns = demonstration["turns"]
    return {"task": demonstration["task"], "site": site(turns), **counts(turns, turns, [])}


def changed(base: list[types.Turn], turns: list[types.Turn]) -> set[str]:
    """Ids of the turns whose content is not what the pipeline made; dropping, and placing the video, do not count."""
    before = {turn["id"]: turn for turn in base}
    return {turn["id"] for turn in turns if not is_unchanged(turn, before.get(turn["id"]))}


def is_unchanged(turn: types.Turn, original: types.Turn | None) -> bool:
    """Whether a turn's content is what the pipeline made; `original`: None for one that it did not make."""
    return original is not None and (turn is original or turn == original or _content(turn) == _content(original))


def _content(turn: types.Turn) -> types.Turn:
    return without_video(turn) | {"dropped": False}


def displaced(base: list[types.Turn], turns: list[types.Turn], edits: list[types.Edit]) -> set[str]:
    """Ids of the turns that a person moved and that are not back where they were among the other turns."""
    moves = {edit["turn"] for _, edit in in_force(edits) if edit["op"] == "move"}
    if not moves:
        return set()
    ranks = {turn["id"]: rank for rank, turn in enumerate(base)}
    names = [turn["id"] for turn in turns]
    moved = moves.intersection(names)
    fixed = [ranks[name] for name in names if name in ranks and name not in moved]  # these ascend
    passed, consistent = 0, []
    for name in names:
        if name in ranks and name not in moved:
            passed += 1
            consistent.append(name)
        elif name in ranks and bisect_left(fixed, ranks[name]) == passed:
            consistent.append(name)
    return moved - longest_increasing(consistent, lambda name: ranks[name])


def site(turns: list[types.Turn]) -> str:
    """Host of the first page that was shown, or an empty string."""
    for turn in turns:
        state = turn["state"] if turn["type"] == "browser" else None
        host = split_address(state["url"]).netloc if state else ""
        if host:
            return host.rpartition("@")[2][:SITE_LENGTH]
    return ""
