"""The training turns of a ranker from an export in WebLINX's layout: queries and the right elements."""

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline.export.formats.weblinx_turns import UID
from pipeline.export.model_input.candidates import candidates_of
from pipeline.export.model_input.elements import Element, Query
from pipeline.export.model_input.history import History
from pipeline.pages.dom import Page
from schemas import InputError, limits
from schemas.files import read_inside
from schemas.types.recordings import Box

# What reading a damaged file meets, besides our own error.
_FAULTS = (ValueError, LookupError, TypeError, AttributeError)


class NothingToLearn(Exception):
    """No turn acts on an element of a page that is there."""


@dataclass(frozen=True)
class Choice:
    """One turn: which of `elements` was acted on, when that was `query`."""

    demonstration: str
    query: Query
    elements: list[Element]
    target: str


def sample_candidates(scores: Sequence[float], right: Sequence[bool], others: int,
                      by_chance: random.Random) -> list[int]:
    """The numbers of a turn's right elements and of so many others, half those of the highest scores, half by chance;
    in order."""
    likely = sorted((number for number in range(len(scores)) if not right[number]),
                    key=lambda number: (-scores[number], number))
    rest = likely[others // 2:]
    indices = likely[:others // 2] + by_chance.sample(rest, min(len(rest), others // 2))
    return sorted([*(number for number in range(len(scores)) if right[number]), *indices])


def splits_of(folder: Path) -> dict[str, list[str]]:
    """The names of the demonstrations of each split; raises InputError where there is no export in this layout."""
    path = folder / "splits.json"
    try:
        splits = json.loads(read_inside(path, limits.BLOB))
        return {str(split): [str(name) for name in names] for split, names in splits.items()}
    except OSError:
        raise InputError(f"{folder}: not an export in the format weblinx: splits.json is missing") from None
    except _FAULTS:
        raise InputError(f"{path}: must contain the names of demonstrations by split") from None


def choices(folder: Path, name: str) -> Iterator[Choice]:
    """The turns of one demonstration that act on an element of a page that is there; raises InputError for a damaged
    one."""
    if Path(name).name != name:
        raise InputError(f"{folder}: splits.json: {name[:80]!r} is not a demonstration of the export")
    root = folder / "demonstrations" / name
    try:
        history = History()
        for turn in json.loads(read_inside(root / "replay.json", limits.BLOB))["data"]:
            if turn["type"] == "browser":
                history.enter_turn(turn)
                if choice := _choice(root, turn, history.query):
                    yield choice
            history.remember(turn)
    except OSError as error:
        raise InputError(f"{root}: a file is missing ({error.strerror})") from None
    except _FAULTS as error:
        raise InputError(f"{root}/replay.json: not a replay in WebLINX's layout ({type(error).__name__}: {error})") \
            from None


def _choice(root: Path, turn: dict[str, Any], query: Query) -> Choice | None:
    name = (turn["state"] or {}).get("page")
    element = turn["action"]["arguments"].get("element") or {}
    target = element.get("attributes", {}).get(UID)
    if not name or not target or "pointOutside" in element or Path(name).name != name:
        return None
    page = Page(read_inside(root / "pages" / name, limits.BLOB), UID, {}, b"")
    if target not in page.elements:
        return None
    boxes = root / "bboxes" / f"bboxes-{name.split('-')[1]}.json"
    known = json.loads(read_inside(boxes, limits.BLOB)) if boxes.exists() else {}
    elements = candidates_of(page, {uid: _box(box) for uid, box in known.items()}, query.viewport, target)
    return Choice(root.name, query, elements, target)


def _box(box: dict[str, float]) -> Box:
    return {"x": box["x"], "y": box["y"], "width": box["width"], "height": box["height"]}
