"""Types of the rows of JSON formats, for the data set card, so that `datasets` loads them in any order of rows.

Without them, `datasets` takes the types from the first 10 MB of a file, and fails where a later row has what these
lack.
"""

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from pipeline.export.source import Options

# A type of Arrow's by name, a list with one member for a list of that, or an object of fields by name.
Feature: TypeAlias = "str | list[Feature] | Mapping[str, Feature]"
Features = Mapping[str, Feature]

_TEXT, _INTEGER, _NUMBER, _FLAG = "string", "int64", "float64", "bool"
_ROW: Features = {"demonstration": _TEXT, "turn": _TEXT, "intent": _TEXT}
_MARKS: Features = {"marks": _TEXT, "marked_screenshot": _TEXT}
_CANDIDATE: Features = {"tag": _TEXT, "attributes": _TEXT, "backend_node_id": _TEXT}


def yaml_lines(features: Features) -> list[str]:
    """Lines of the card's YAML under `dataset_info`
    (https://huggingface.co/docs/datasets/main/en/about_dataset_features)."""
    return ["dataset_info:", "  config_name: default", "  features:", *_fields(features, "  ")]


def _fields(features: Features, indent: str) -> Iterator[str]:
    for name, feature in features.items():
        yield f"{indent}- name: {name}"
        yield from _type(feature, f"{indent}  ")


def _type(feature: Feature, indent: str) -> Iterator[str]:
    if isinstance(feature, str):
        yield f"{indent}dtype: {feature}"
    elif isinstance(feature, Mapping):
        yield f"{indent}struct:"
        yield from _fields(feature, indent)
    elif isinstance(feature[0], str):
        yield f"{indent}list: {feature[0]}"
    else:
        yield f"{indent}list:"
        if not isinstance(feature[0], Mapping):
            raise TypeError("a list of lists has no form here")
        yield from _fields(feature[0], indent)


def trajectories(options: Options) -> Features:
    """Of a step; `html`, `screenshot` and `marked_screenshot` are paths or null."""
    observation: dict[str, Feature] = {
        "id": _TEXT, "state_turn": _TEXT, "url": _TEXT, "title": _TEXT, "tab": _INTEGER, "viewport_width": _INTEGER,
        "viewport_height": _INTEGER, "html": _TEXT, "screenshot": _TEXT, "screenshot_status": _TEXT,
        **(_MARKS if options.set_of_marks else {}), **({"axtree": _TEXT} if options.axtree else {})}
    return {"demonstration": _TEXT, "task": _TEXT, "turn": _TEXT, "intent": _TEXT,
            "utterances": [{"speaker": _TEXT, "utterance": _TEXT}], "observation": observation, "action": _TEXT,
            "left_out": _INTEGER, "outcome": _TEXT, "report": _TEXT, "next_observation": _TEXT,
            "done": _FLAG}


def chat(options: Options) -> Features:
    """Of a sample; the `text` of an image is null."""
    return {"messages": [{"role": _TEXT, "content": [{"type": _TEXT, "text": _TEXT}]}], "images": [_TEXT], **_ROW,
            **({"marks": _TEXT} if options.set_of_marks else {}), **({"axtree": _TEXT} if options.axtree else {})}


def mind2web(options: Options) -> Features:
    """Of a task."""
    action: dict[str, Feature] = {
        "action_uid": _TEXT, "raw_html": _TEXT, "cleaned_html": _TEXT,
        "operation": {"op": _TEXT, "original_op": _TEXT, "value": _TEXT},
        "pos_candidates": [{**_CANDIDATE, "is_original_target": _FLAG, "is_top_level_target": _FLAG}],
        "neg_candidates": [_CANDIDATE], "turn": _TEXT, "viewport": _TEXT, "screenshot": _TEXT, "mhtml": _TEXT,
        **(_MARKS if options.set_of_marks else {}), **({"axtree": _TEXT} if options.axtree else {})}
    return {"annotation_id": _TEXT, "website": _TEXT, "domain": _TEXT, "subdomain": _TEXT, "confirmed_task": _TEXT,
            "demonstration": _TEXT, "actions": [action], "action_reprs": [_TEXT]}


def label_studio() -> Features:
    """Of a task; a region has a rectangle, choices or a text."""
    value: Features = {"x": _NUMBER, "y": _NUMBER, "width": _NUMBER, "height": _NUMBER, "rotation": _INTEGER,
                       "rectanglelabels": [_TEXT], "choices": [_TEXT], "text": [_TEXT]}
    region: Features = {"to_name": _TEXT, "original_width": _INTEGER, "original_height": _INTEGER,
                        "image_rotation": _INTEGER, "id": _TEXT, "from_name": _TEXT, "type": _TEXT, "value": value}
    data: Features = {"image": _TEXT, "task": _TEXT, "said": _TEXT, "url": _TEXT, "title": _TEXT, **_ROW, "text": _TEXT}
    answer: Features = {**region, "value": {"choices": [_TEXT], "text": [_TEXT], "number": _INTEGER},
                        "meta": {"text": [_TEXT]}}
    return {"data": data, "annotations": [{"result": [answer]}],
            "predictions": [{"model_version": _TEXT, "result": [region]}]}


def agentnet() -> Features:
    """Of a task; scores that nobody gave are null."""
    step: Features = {
        "index": _INTEGER, "image": _TEXT,
        "value": {"observation": _TEXT, "thought": _TEXT, "action": _TEXT, "code": _TEXT, "last_step_correct": _FLAG,
                  "last_step_redundant": _FLAG, "reflection": _TEXT},
        "demotape": {"turn": _TEXT, "intent": _TEXT, "timestamp": _NUMBER, "redacted": _FLAG, "trusted": _FLAG}}
    return {"task_id": _TEXT, "instruction": _TEXT, "task_completed": _FLAG, "alignment_score": _INTEGER,
            "efficiency_score": _INTEGER, "task_difficulty": _INTEGER, "natural_language_task": _TEXT,
            "actual_task": _TEXT, "reason": _TEXT, "traj": [step],
            "demotape": {"recording": _TEXT, "actor": _TEXT, "agent": _TEXT, "started_at": _TEXT}}
