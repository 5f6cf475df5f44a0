"""Structured answers of agents in WebArena-Verified's format: the type of the task, its status, and data."""

import json
from collections.abc import Sequence
from typing import Any

from schemas.types.outcome import DataItem, Outcome, OutcomeCheck

from .folding import Undecided
from .texts import shorten
from .values import fits

_FENCE = "```"
_CHANGING = ("POST", "PUT", "PATCH", "DELETE")


def response_holds(wanted: OutcomeCheck, answer: str) -> tuple[bool | None, str]:
    """Whether an answer says what it must; None where that cannot be said."""
    response = parse_response(answer)
    if not isinstance(response, dict):
        return False, "the answer is not a JSON object with task_type, status and retrieved_data"
    try:
        for name, expected in (("task_type", wanted["task_type"]), ("status", wanted["task_status"])):
            value = response.get(name, response.get("performed_operation") if name == "task_type" else None)
            if not isinstance(value, str) or not value.strip() or not fits({"type": "string", "any_of": [expected]},
                                                                           value):
                return False, f"{name} is {shorten(str(value))}, not {expected}"
        return _data_hold(wanted["data"], _data(response.get("retrieved_data")), wanted.get("ordered", False)
                          ) if "data" in wanted else (True, "")
    except Undecided as error:
        return None, str(error)


def parse_response(answer: str) -> Any:
    """The JSON that an answer is, or that stands between its first fences; the text itself where it is none."""
    inner, closed, _ = answer.partition(_FENCE)[2].partition(_FENCE)
    text = inner.removeprefix("json").strip() if closed else answer.strip()
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def spoken_answer(answer: str, outcome: Outcome) -> str:
    """The structured answer of a person, who says what was asked for and no more: an answer that is no JSON object is
    the data of a task of this type that succeeded. It stays as it is where none is asked for."""
    wanted = [check for check in flatten_checks(outcome["checks"]) if check["kind"] == "response"]
    return structured_answer(answer, wanted[0]["task_type"]) if wanted else answer


def structured_answer(answer: str, task_type: str) -> str:
    """An answer in this form, a JSON list as several data; one that has it already stays as it is."""
    response = parse_response(answer)
    if isinstance(response, dict):
        return answer
    data = None if task_type != "RETRIEVE" or not answer.strip() else response if isinstance(response, list) else [
        answer.strip()]
    return json.dumps({"task_type": task_type, "status": "SUCCESS", "retrieved_data": data, "error_details": None})


def task_type(checks: Sequence[OutcomeCheck]) -> str:
    """What kind of task it is, by what makes it done."""
    every = flatten_checks(checks)
    named = next((check["task_type"] for check in every if check["kind"] == "response"), "")
    if named or any(check["kind"] == "answer" for check in every):
        return named or "RETRIEVE"
    changes = any(check["kind"] == "request" and check.get("method", "").upper() in _CHANGING for check in every)
    return "MUTATE" if changes else "NAVIGATE"


def flatten_checks(checks: Sequence[OutcomeCheck]) -> list[OutcomeCheck]:
    """Checks without groups of `all`."""
    return [inner for check in checks
            for inner in (flatten_checks(check["checks"]) if check["kind"] == "all" else [check])]


def _data(data: Any) -> list[Any]:
    """Data as a list; empty where there are none."""
    if not data and not isinstance(data, bool | int | float):
        return []
    return data if isinstance(data, list) else [data]


def _data_hold(wanted: list[DataItem], items: list[Any], ordered: bool) -> tuple[bool | None, str]:
    if len(wanted) != len(items):
        return False, f"the answer has {len(items)} data, not {len(wanted)}"
    free = list(items)
    for number, item in enumerate(wanted, 1):
        looked_at = free[:1] if ordered else free
        match = next((index for index, candidate in enumerate(looked_at) if _item_fits(item, candidate)), None)
        if match is None:
            return False, f"datum {number} of those wanted is not in the answer"
        del free[match]
    return True, ""


def _item_fits(item: DataItem, actual: Any) -> bool:
    if "value" in item:
        return actual is not None and fits(item["value"], actual)
    if isinstance(actual, str):
        actual = parsed_object(actual)
    members = item["members"]
    if not isinstance(actual, dict) or actual.keys() != members.keys():
        return False
    return all(fits(value, actual[name]) for name, value in members.items())


def parsed_object(text: str) -> Any:
    """The JSON object that a text is; the text where it is none."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, dict) else text
