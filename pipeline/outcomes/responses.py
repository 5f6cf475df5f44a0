"""Structured answers, as WebArena-Verified has agents give them: the type of the task, its status, and data."""

import json
from collections.abc import Sequence
from typing import Any

from schemas.outcome_types import DataItem, Outcome, OutcomeCheck

from .folding import Undecided
from .texts import shown
from .values import fits

_FENCE = "```"
_CHANGING = ("POST", "PUT", "PATCH", "DELETE")


def response_holds(wanted: OutcomeCheck, answer: str) -> tuple[bool | None, str]:
    """Whether an answer says what it must; None where that cannot be said."""
    given = parsed(answer)
    if not isinstance(given, dict):
        return False, "the answer is no JSON object with task_type, status and retrieved_data"
    try:
        for name, expected in (("task_type", wanted["task_type"]), ("status", wanted["task_status"])):
            value = given.get(name, given.get("performed_operation") if name == "task_type" else None)
            if not isinstance(value, str) or not value.strip() or not fits({"type": "string", "any_of": [expected]},
                                                                           value):
                return False, f"{name} is {shown(str(value))}, not {expected}"
        return _data_hold(wanted["data"], _data(given.get("retrieved_data")), wanted.get("ordered", False)
                          ) if "data" in wanted else (True, "")
    except Undecided as error:
        return None, str(error)


def parsed(answer: str) -> Any:
    """The JSON that an answer is, or that stands between its first fences; the text itself where it is none."""
    inner, closed, _ = answer.partition(_FENCE)[2].partition(_FENCE)
    text = inner.removeprefix("json").strip() if closed else answer.strip()
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def spoken(answer: str, outcome: Outcome) -> str:
    """The structured answer of a person, who says what was asked for and no more: an answer that is no JSON object is
    the data of a task of this type that succeeded. It stays as it is where none is asked for."""
    wanted = [each for each in flat(outcome["checks"]) if each["kind"] == "response"]
    return structured(answer, wanted[0]["task_type"]) if wanted else answer


def structured(answer: str, task_type: str) -> str:
    """An answer in this form, a JSON list as several data; one that has it already stays as it is."""
    given = parsed(answer)
    if isinstance(given, dict):
        return answer
    data = None if task_type != "RETRIEVE" or not answer.strip() else given if isinstance(given, list) else [
        answer.strip()]
    return json.dumps({"task_type": task_type, "status": "SUCCESS", "retrieved_data": data, "error_details": None})


def task_type(checks: Sequence[OutcomeCheck]) -> str:
    """What kind of task it is, by what makes it done."""
    every = flat(checks)
    told = next((each["task_type"] for each in every if each["kind"] == "response"), "")
    if told or any(each["kind"] == "answer" for each in every):
        return told or "RETRIEVE"
    changes = any(each["kind"] == "request" and each.get("method", "").upper() in _CHANGING for each in every)
    return "MUTATE" if changes else "NAVIGATE"


def flat(checks: Sequence[OutcomeCheck]) -> list[OutcomeCheck]:
    """Checks without groups of `all`."""
    return [one for each in checks for one in (flat(each["checks"]) if each["kind"] == "all" else [each])]


def _data(given: Any) -> list[Any]:
    """Data as a list; empty where there are none."""
    if not given and not isinstance(given, bool | int | float):
        return []
    return given if isinstance(given, list) else [given]


def _data_hold(wanted: list[DataItem], given: list[Any], ordered: bool) -> tuple[bool | None, str]:
    if len(wanted) != len(given):
        return False, f"{len(given)} data were answered, not {len(wanted)}"
    free = list(given)
    for number, item in enumerate(wanted, 1):
        looked_at = free[:1] if ordered else free
        found = next((place for place, each in enumerate(looked_at) if _item_fits(item, each)), None)
        if found is None:
            return False, f"datum {number} of those wanted is not in the answer"
        del free[found]
    return True, ""


def _item_fits(item: DataItem, given: Any) -> bool:
    if "value" in item:
        return given is not None and fits(item["value"], given)
    if isinstance(given, str):
        given = parsed_object(given)
    members = item["members"]
    if not isinstance(given, dict) or given.keys() != members.keys():
        return False
    return all(fits(value, given[name]) for name, value in members.items())


def parsed_object(text: str) -> Any:
    """The JSON object that a text is; the text where it is none."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, dict) else text
