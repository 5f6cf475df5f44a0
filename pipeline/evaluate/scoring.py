"""Scores of a model's predictions over an export, as the papers define them; and of one annotator against another."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from marshmallow import Schema, fields

from pipeline.export.manifest import read_manifest
from schemas import InputError
from schemas.files import open_named, reason, validated

from . import mind2web, weblinx


class _Loose(Schema):
    """Predictions carry more than what is scored; the rest is ignored."""

    class Meta:
        unknown = "exclude"


class WeblinxPrediction(_Loose):
    """A prediction over an export in WebLINX's layout, as the public evaluation reads it."""

    demo_name = fields.String(required=True, metadata={"description": "name of the demonstration"})
    turn_index = fields.Integer(required=True, strict=True, metadata={"description": "number of the turn, from 0"})
    output_predicted = fields.String(required=True, metadata={"description": "what the model wrote"})


class Mind2webPrediction(_Loose):
    """A prediction over an export in Mind2Web's layout."""

    action_uid = fields.String(required=True, metadata={"description": "name of the action"})
    element = fields.Raw(required=True, metadata={"description": "backend_node_id of the chosen element"})
    op = fields.String(required=True, metadata={"description": "CLICK, TYPE or SELECT"})
    value = fields.String(load_default="", metadata={"description": "text typed or option selected"})


def evaluate(predictions: Path, export: Path) -> list[dict[str, Any]]:
    """Scores by split, intent and metric: `{split, intent, metric, turns, score}`, and `conditional` for WebLINX.

    The split `all` is that of everything predicted. `predictions` is a JSON list or JSON lines. Raises InputError when
    a file cannot be read, the export has another layout, or a prediction belongs to nothing in it.
    """
    manifest = read_manifest(Path(export))
    if manifest["layout"] == "weblinx":
        split_of = {entry["name"]: entry["split"] for entry in manifest["demonstrations"]}
        rows = [row | {"split": split_of[row["demo_name"]]}
                for row in weblinx.scores(_read(predictions, WeblinxPrediction()), Path(export))]
        aggregate = weblinx.aggregate
    elif manifest["layout"] in ("mind2web", "multimodal-mind2web"):
        rows = list(mind2web.steps(_read(predictions, Mind2webPrediction()), Path(export),
                                   multimodal=manifest["layout"] != "mind2web"))
        aggregate = mind2web.aggregate
    else:
        raise InputError(f"{export}: has the layout {manifest['layout']}; predictions can be scored on exports in "
                         "weblinx, mind2web or multimodal-mind2web")
    if not rows:
        raise InputError(f"{predictions}: no prediction can be scored")
    splits = sorted({row["split"] for row in rows})
    scores = [{"split": split} | score for split in splits
            for score in aggregate([row for row in rows if row["split"] == split])]
    return scores + ([{"split": "all"} | score for score in aggregate(rows)] if len(splits) > 1 else [])


def _read(path: Path, schema: Schema) -> Iterator[dict[str, Any]]:
    """Predictions one by one, each checked."""
    try:
        with open_named(Path(path)) as file:
            is_array = file.read(1) == b"["
            file.seek(0)
            lines = enumerate(json.load(file) if is_array else file, 1)
            for number, line in lines:
                where = f"{path}, {'entry' if is_array else 'line'} {number}"
                if not is_array and not line.strip():
                    continue
                yield validated(line if is_array else json.loads(line), schema, where)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({reason(error)})") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: neither a JSON list nor JSON lines ({error})") from None
