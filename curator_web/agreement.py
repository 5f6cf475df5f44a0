"""How far two people agree about the same turns: intent match and element IoU, as WebLINX scores a model's actions."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Agreement:
    """`turns`: those that either kept. Shares from 0 to 1; None where there was nothing to compare."""

    turns: int
    intent_match: float | None
    element_iou: float | None


def compare(first: list[dict], second: list[dict]) -> Agreement:
    """Compare two versions of a turn list, turn by turn of the same id.

    A turn that only one of them kept matches in nothing. The element's IoU counts where either has a box (WebLINX,
    section 4: IoU of the bounding boxes, 0 where the intent differs).
    """
    ours, theirs = _kept(first), _kept(second)
    pairs = [(ours.get(key), theirs.get(key)) for key in ours | theirs]
    matches = [same_intent(a, b) for a, b in pairs]
    overlaps = [iou(_box(a), _box(b)) if match else 0.0
                for (a, b), match in zip(pairs, matches, strict=True) if _box(a) or _box(b)]
    return Agreement(len(pairs), _mean(matches), _mean(overlaps))


def same_intent(first: dict | None, second: dict | None) -> bool:
    """Whether both are there and of one kind; of a chat turn the speaker counts."""
    return first is not None and second is not None and _kind(first) == _kind(second)


def iou(first: dict | None, second: dict | None) -> float:
    """Area of the overlap of two boxes by the area that they cover together; 0 when one is missing or empty."""
    if not first or not second:
        return 0.0
    if first == second:
        return 1.0
    width = min(_right(first), _right(second)) - max(first["x"], second["x"])
    height = min(_bottom(first), _bottom(second)) - max(first["y"], second["y"])
    overlap = max(width, 0) * max(height, 0)
    covered = first["width"] * first["height"] + second["width"] * second["height"] - overlap
    return overlap / covered if covered > 0 else 0.0


def _kept(turns: list[dict]) -> dict[str, dict]:
    return {turn["id"]: turn for turn in turns if not turn["dropped"]}


def _kind(turn: dict) -> tuple[str, str]:
    return (turn["type"], turn["intent"] if turn["type"] == "browser" else turn["speaker"])


def _box(turn: dict | None) -> dict | None:
    return ((turn or {}).get("element") or {}).get("bbox")


def _right(box: dict) -> float:
    return box["x"] + box["width"]


def _bottom(box: dict) -> float:
    return box["y"] + box["height"]


def _mean(values: list) -> float | None:
    return sum(values) / len(values) if values else None
