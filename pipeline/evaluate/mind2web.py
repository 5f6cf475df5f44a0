"""Mind2Web's scores of predictions over an export in its layout (section 4.2 of the paper)."""

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from schemas import InputError, limits
from schemas.files import read_inside

from .metrics import token_f1

_ROWS = 256  # at once; without their pages and pictures they are small
_COLUMNS = ["annotation_id", "action_uid", "operation", "pos_candidates"]
_Action = tuple[str, str, dict[str, Any]]  # split, task, action
METRICS = ("element-accuracy", "operation-f1", "step-success")


def steps(predictions: Iterable[dict[str, Any]], folder: Path, multimodal: bool = False) -> Iterator[dict[str, Any]]:
    """Every action of the export (`multimodal`: in multimodal-mind2web) with its scores; what was not predicted has
    missed.

    A prediction has `action_uid`, `element` (a backend_node_id), `op` and `value`. Raises InputError for one of an
    action that the export does not have, or given twice.
    """
    by_action: dict[str, dict[str, Any]] = {}
    for number, prediction in enumerate(predictions, 1):
        if prediction["action_uid"] in by_action:
            raise InputError(f"prediction {number}: field action_uid: {prediction['action_uid']!r} is predicted twice")
        by_action[prediction["action_uid"]] = prediction
    for split, task, action in _rows(folder) if multimodal else _actions(folder):
        made = by_action.pop(action["action_uid"], None)
        yield {"split": split, "task": task, "action_uid": action["action_uid"],
               "intent": action["operation"]["original_op"]} | step(made, action)
    if by_action:
        raise InputError(f"predictions: field action_uid: the export has no action {next(iter(by_action))!r}")


def _actions(folder: Path) -> Iterator[_Action]:
    for path in sorted((folder / "data").glob("*/*.json")):
        for task in json.loads(read_inside(path, limits.JSON, folder)):
            for action in task["actions"]:
                yield path.parent.name, task["annotation_id"], action


def _rows(folder: Path) -> Iterator[_Action]:
    """The same of Multimodal-Mind2Web's rows, in which operation and candidates are JSON texts."""
    from pyarrow import ArrowException
    from pyarrow.parquet import ParquetFile

    for path in sorted((folder / "data").glob("*.parquet")):
        try:
            with ParquetFile(path) as file:
                for batch in file.iter_batches(_ROWS, columns=_COLUMNS):
                    for row in batch.to_pylist():
                        yield path.stem.partition("-")[0], row["annotation_id"], {
                            "action_uid": row["action_uid"], "operation": json.loads(row["operation"]),
                            "pos_candidates": [json.loads(candidate) for candidate in row["pos_candidates"]]}
        except (ArrowException, OSError) as error:
            raise InputError(f"{path}: cannot be read as Parquet ({type(error).__name__})") from None


def step(predicted: dict[str, Any] | None, action: dict[str, Any]) -> dict[str, float]:
    """The scores of one step: the element is one of the positive ones; words of operation and value; both right."""
    if predicted is None:
        return dict.fromkeys(METRICS, 0.0)
    operation = action["operation"]
    element = str(predicted["element"]) in {candidate["backend_node_id"] for candidate in action["pos_candidates"]}
    words = token_f1(f"{predicted['op']} {predicted.get('value', '')}", f"{operation['op']} {operation['value']}")
    return {"element-accuracy": float(element), "operation-f1": words, "step-success": float(element and words == 1)}


def aggregate(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Means over tasks of the means over their steps; tasks of which every step is right; and means by operation."""
    tasks = defaultdict(list)
    for row in rows:
        tasks[row["task"]].append(row)
    scores = [{"intent": "overall", "metric": name, "turns": len(rows), "score": _average(
        [_average([row[name] for row in steps]) or 0.0 for steps in tasks.values()])} for name in METRICS]
    scores.append({"intent": "overall", "metric": "task-success", "turns": len(rows), "score": _average(
        [float(all(row["step-success"] for row in steps)) for steps in tasks.values()])})
    for intent in sorted({row["intent"] for row in rows}):
        of_intent = [row for row in rows if row["intent"] == intent]
        scores += [{"intent": intent, "metric": name, "turns": len(of_intent), "score": _average(
            [row[name] for row in of_intent])} for name in METRICS]
    return scores


def _average(values: list[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None
