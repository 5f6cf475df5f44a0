"""WebLINX's turn-level scores of predictions over an export in its layout."""

import json
import math
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import lxml.html

from schemas import InputError, limits
from schemas.files import read_inside, reason

from . import metrics
from .outputs import intent_of, read_action

UID = "data-webtasks-id"
_NEEDING = ("change", "click", "textinput", "submit")
_CACHED_ENTRIES = 64  # replays, pages and boxes in memory
GROUPS = {"element-group": ("iou",), "text-group": ("chrf", "urlf")}
BY_INTENT = {"change": ("iou",), "click": ("iou",), "load": ("urlf",), "say": ("chrf",), "submit": ("iou",),
             "textinput": ("chrf", "iou")}
_METRICS = ("exact-match", "intent-match", "chrf", "iou", "urlf")


class Replays:
    """Turns, pages and boxes of an export, read when they are needed."""

    def __init__(self, folder: Path):
        self._root = folder / "demonstrations"
        self.turns = lru_cache(_CACHED_ENTRIES)(self._turns)
        self._uids = lru_cache(_CACHED_ENTRIES)(self._read_uids)
        self._boxes = lru_cache(_CACHED_ENTRIES)(self._read_boxes)

    def _turns(self, name: str) -> list[dict[str, Any]]:
        if Path(name).name != name:
            raise InputError(f"predictions: field demo_name: {name[:80]!r} is not a demonstration of the export")
        return _read(self._root / name / "replay.json")["data"]

    def element(self, name: str, turn: dict[str, Any], uid) -> dict[str, Any] | None:
        """Uid and box of an element that the turn's page and boxes have."""
        page = (turn.get("state") or {}).get("page")
        if not page or not isinstance(uid, str) or uid not in self._uids(name, page):
            return None
        box = self._boxes(name, page).get(uid)
        return None if box is None else {"uid": uid, "bbox": box}

    def uid_at(self, name: str, turn: dict[str, Any], x: float, y: float) -> str | None:
        """Uid of the smallest element that covers a point."""
        page = (turn.get("state") or {}).get("page")
        smallest_uid, smallest = None, math.inf
        for uid, box in (self._boxes(name, page) if page else {}).items():
            area = box["width"] * box["height"]
            if (math.floor(box["left"]) <= x <= math.ceil(box["right"])
                    and math.floor(box["top"]) <= y <= math.ceil(box["bottom"]) and 0 < area < smallest):
                smallest_uid, smallest = uid, area
        return smallest_uid

    def _read_uids(self, name: str, page: str) -> frozenset[str]:
        text = read_inside(self._root / name / "pages" / page, limits.BLOB).decode()
        return frozenset(lxml.html.fromstring(text).xpath(f"//@{UID}"))

    def _read_boxes(self, name: str, page: str) -> dict[str, dict[str, Any]]:
        path = self._root / name / "bboxes" / f"bboxes-{page.split('-')[1]}.json"
        return _read(path) if path.exists() else {}


def scores(predictions: Iterable[dict[str, Any]], folder: Path) -> Iterator[dict[str, Any]]:
    """The scores of each prediction whose turn can be judged, with `demo_name`, `turn_index` and `intent`.

    A prediction has `demo_name`, `turn_index` and `output_predicted`. Raises InputError for one of a turn that the
    export does not have.
    """
    replays = Replays(folder)
    for number, prediction in enumerate(predictions, 1):
        name, index = prediction["demo_name"], prediction["turn_index"]
        turns = replays.turns(name)
        if not 0 <= index < len(turns):
            raise InputError(f"prediction {number}: field turn_index: {name} has no turn {index}")
        reference = reference_action(replays, name, turns[index])
        if _can_be_judged(reference, turns[index + 1] if index + 1 < len(turns) else None):
            predicted = predicted_action(replays, name, turns[index], prediction["output_predicted"])
            yield {"demo_name": name, "turn_index": index, "intent": reference["intent"]} | metrics.score(predicted,
                                                                                                          reference)


def reference_action(replays: Replays, name: str, turn: dict[str, Any]) -> metrics.Action:
    """The action of a turn of the export."""
    if turn["type"] == "chat":
        return {"intent": "say", "element": None,
                "args": {"speaker": turn["speaker"], "utterance": turn["utterance"]}}
    recorded = turn["action"]["arguments"]
    names = {"text": "text", "value": "value", "selected": "text", "pasted": "text", "scrollX": "x", "scrollY": "y"}
    arguments = {name: recorded[theirs] for theirs, name in names.items() if theirs in recorded}
    if "url" in recorded.get("properties", {}):
        arguments["url"] = recorded["properties"]["url"]
    uid = (recorded.get("element") or {}).get("attributes", {}).get(UID)
    return {"intent": intent_of(turn["action"]["intent"]), "args": arguments,
            "element": replays.element(name, turn, uid) if uid else None}


def predicted_action(replays: Replays, name: str, turn: dict[str, Any], text: str) -> metrics.Action:
    """The action that a model's text tells, with the element that it means."""
    intent, arguments = read_action(text)
    uid = None
    if intent in metrics.ELEMENT_INTENTS:
        edges: list[Any] = [arguments.get(edge) for edge in ("left", "right", "top", "bottom")]
        if "uid" in arguments or UID in arguments:
            uid = arguments.get("uid", arguments.get(UID))
        elif "x" in arguments and "y" in arguments:
            if arguments["x"] is not None and arguments["y"] is not None:
                uid = replays.uid_at(name, turn, arguments["x"], arguments["y"])
        elif all(isinstance(edge, int) for edge in edges):
            uid = replays.uid_at(name, turn, sum(edges[:2]) / 2, sum(edges[2:]) / 2)
    return {"intent": intent, "args": arguments, "element": replays.element(name, turn, uid)}


def aggregate(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Means by intent, for all (`overall`), for elements and for texts.

    `conditional` is the mean over the turns to which a score applies; `score`, the one that papers report, counts turns
    whose intent was missed as 0.
    """
    rows_of_scores = []
    for intent in sorted({row["intent"] for row in rows}):
        of_intent = [row for row in rows if row["intent"] == intent]
        for name in ("exact-match", "intent-match", *BY_INTENT.get(intent, ())):
            rows_of_scores.append(_mean(of_intent, intent, name, (name,)))
    rows_of_scores.append(_mean(rows, "overall", "overall", ("overall",)))
    rows_of_scores.append(_mean(rows, "overall", "intent-match", ("intent-match",)))
    for group, names in GROUPS.items():
        rows_of_scores.append(_mean(rows, group, "-".join(names), names))
    return rows_of_scores


def _mean(rows: list[dict[str, Any]], intent: str, metric: str, names: tuple[str, ...]) -> dict[str, Any]:
    applied = [max(values) for row in rows if (values := [row[name] for name in names if row[name] is not None])]
    counted = [0.0 if not row["intent-match"] else max(values) for row in rows
               if (values := [row[name] for name in names if row[name] is not None]) or not row["intent-match"]]
    return {"intent": intent, "metric": metric, "turns": len(counted), "score": _average(counted),
            "conditional": _average(applied)}


def _average(values: list[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None


def _can_be_judged(reference: metrics.Action, following: dict[str, Any] | None) -> bool:
    """A click on what is then submitted, or before a copy, is the same action told twice; an element must be known."""
    if reference["intent"] not in _NEEDING:
        return True
    if reference["element"] is None:
        return False
    if reference["intent"] == "click" and following is not None and following["type"] == "browser":
        if following["action"]["intent"] == "copy":
            return False
        if following["action"]["intent"] == "submit":
            then = following["action"]["arguments"].get("element") or {}
            return then.get("attributes", {}).get(UID) != reference["element"]["uid"]
    return True


def _read(path: Path):
    try:
        return json.loads(read_inside(path, limits.JSON))
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({reason(error)}); check its name in the predictions") \
            from None
    except ValueError as error:
        raise InputError(f"{path}: not JSON ({error}); verify the export with demotape check") from None
