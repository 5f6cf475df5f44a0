"""Agreement of two versions of one demonstration by two annotators."""

from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TypedDict

from schemas.types.recordings import Turn

from .metrics import chrf, iou

_TEXTS = ("text", "value", "url", "message", "key")


@dataclass(frozen=True)
class Agreement:
    """From 0 to 1 each, None where there was nothing to compare.

    `intent_match`: share of all turns of both that are in both with the same intent (a turn that only one has counts
    as a disagreement). `element_iou`: mean IoU of the targets' boxes in turns that both have. `chrf`: mean chrF of
    their texts. What both lack, a box with an area or a text, is not compared; where nothing remains, the mean is 1.
    `matched`: turns that both have; `only_a`, `only_b`: turns that only one has.
    """

    intent_match: float | None
    element_iou: float | None
    chrf: float | None
    matched: int
    only_a: int
    only_b: int


class AgreementReport(TypedDict):
    """What is looked at of a demonstration."""

    turns: list[Turn]


def agreement(a: AgreementReport, b: AgreementReport) -> Agreement:
    """Compare two demonstrations of one recording, edits folded; dropped turns do not count."""
    ours, theirs = ([turn for turn in demonstration["turns"] if not turn.get("dropped")] for demonstration in (a, b))
    pairs = _pairs(ours, theirs)
    agreeing = sum(_intent(x) == _intent(y) for x, y in pairs)
    boxes = [iou(_edges(x), _edges(y)) if _edges(x) or _edges(y) else None
             for x, y in pairs if x.get("element") or y.get("element")]
    texts = [_likeness(_text(x) or "", _text(y) or "") for x, y in pairs
             if _text(x) is not None or _text(y) is not None]
    turns = len(ours) + len(theirs) - len(pairs)
    return Agreement(_share(agreeing, turns), _mean(boxes), _mean(texts),
                     len(pairs), len(ours) - len(pairs), len(theirs) - len(pairs))


def _pairs(ours: list[Turn], theirs: list[Turn]) -> list[tuple[Turn, Turn]]:
    """Turns that are the same: by id, the rest by the events that they fold, and chat by its place in the order."""
    left = {turn["id"]: turn for turn in theirs}
    pairs = [(turn, left.pop(turn["id"])) for turn in ours if turn["id"] in left]
    paired = {id(turn) for turn, _ in pairs}
    rest, others = [turn for turn in ours if id(turn) not in paired], list(left.values())
    by_event = {number: turn for turn in others if turn["type"] == "browser" for number in turn["events"]}
    for turn in list(rest):
        events = turn["events"] if turn["type"] == "browser" else ()
        match = next((by_event[number] for number in events if number in by_event), None)
        if match is not None:
            pairs.append((turn, match))
            rest.remove(turn)
            others.remove(match)
            for number in match["events"]:
                by_event.pop(number, None)
    matcher = SequenceMatcher(None, [_comparable(turn) for turn in rest], [_comparable(turn) for turn in others],
                              autojunk=False)
    for start, other, size in matcher.get_matching_blocks():
        pairs += list(zip(rest[start:start + size], others[other:other + size], strict=True))
    return pairs


def _comparable(turn: Turn) -> tuple:
    return turn["type"], turn.get("speaker"), _intent(turn), turn.get("utterance")


def _intent(turn: Turn) -> str:
    return turn["intent"] if turn["type"] == "browser" else "say"


def _text(turn: Turn) -> str | None:
    """The text of a turn, without the white space that chrF ignores; None where its action has none."""
    if turn["type"] == "chat":
        return turn["utterance"].strip()
    return next((turn["arguments"][name].strip() for name in _TEXTS if isinstance(turn["arguments"].get(name), str)),
                None)


def _likeness(first: str, second: str) -> float | None:
    """chrF of two texts; None where both are empty."""
    if not first and not second:
        return None
    return 1.0 if first == second else chrf(first, second)


def _edges(turn: Turn) -> dict[str, float] | None:
    """The target's box; None where there is none with an area."""
    element = turn["element"] if turn["type"] == "browser" else None
    box = element["bbox"] if element else None
    if not box or box["width"] <= 0 or box["height"] <= 0:
        return None
    return {"left": box["x"], "top": box["y"], "right": box["x"] + box["width"],
                    "bottom": box["y"] + box["height"]}


def _mean(scores: list[float | None]) -> float | None:
    """The mean of what could be compared; 1 where both lack it in all pairs, None without pairs."""
    compared = [score for score in scores if score is not None]
    return sum(compared) / len(compared) if compared else 1.0 if scores else None


def _share(part: float, total: int) -> float | None:
    return part / total if total else None
