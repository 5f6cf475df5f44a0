"""Tasks of WebArena-Verified (version 1.2.3): its task JSON as outcome checks.

What its evaluators look at and outcome checks do not (headers, cookies, contents of answers, some formats of values) is
named and never guessed: that part of the task is `unknown`, with the reason.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

import re2

from pipeline.outcomes.addresses import address_of
from pipeline.outcomes.folding import Undecided, is_pattern
from pipeline.outcomes.values import check_value, compiled
from schemas import VERSIONS, InputError
from schemas.files import validated
from schemas.formats.outcome import FORMAT, TASK_TYPES, OutcomeSchema
from schemas.types.outcome import DataItem, Match, Outcome, OutcomeCheck, Value

from .visual_web_arena import Task

SITES = ("GITLAB", "MAP", "REDDIT", "SHOPPING_ADMIN", "SHOPPING", "WIKIPEDIA", "HOMEPAGE")
STATUSES = ("SUCCESS", "ACTION_NOT_ALLOWED_ERROR", "PERMISSION_DENIED_ERROR", "NOT_FOUND_ERROR",
            "DATA_VALIDATION_ERROR", "UNKNOWN_ERROR")
RESPONSE, EVENT = "AgentResponseEvaluator", "NetworkEventEvaluator"
NO_ANSWER = -1  # its status of a request that had none
_PLACEHOLDER = re.compile(rf"__(?:{'|'.join(SITES)})__")
_TYPES = {"string": "string", "number": "number", "integer": "number", "boolean": "boolean", "currency": "currency",
          "date": "date", "month": "month", "duration": "duration", "url": "url", "string_list": "list"}
_OF_RESPONSE = {"evaluator", "ordered", "results_schema", "expected"}
_OF_EVENT = {"evaluator", "expected", "last_event_only", "ignored_query_params", "ignored_query_params_patterns",
             "post_data_schema", "ignored_post_data_params_patterns", "should_not_exist"}
_OF_EXPECTED = {"url", "query_params", "post_data", "response_status", "http_method"}
_STEP = re.compile(r"\.([A-Za-z_]\w{0,200})|\[(\d{1,6})\]|\['([^'.]{1,200})'\]")
_ALL_BUT = re.compile(r"\^\(\?!(.{1,4000})\)\.[*+]\$")
_NAME = re.compile(r"(?:[\w-]|\\[^\w])+\$")


class _UnsaidError(Exception):
    """Why outcome checks cannot say a part of a task."""


def is_task(content: Any) -> bool:
    """Whether the content of a task file is a task of WebArena-Verified."""
    return isinstance(content, dict) and isinstance(content.get("eval"), list)


def read(content: dict[str, Any], where: str, sites: Mapping[str, str] | None = None) -> Task:
    """A task of a task file; `where` names it in errors. `sites`: addresses of its sites by placeholder, such as
    `__SHOPPING__`. Raises InputError that names the field."""
    reading = _Reading(content, where, sites or {})
    outcome: Outcome = {"format": FORMAT, "version": VERSIONS[FORMAT], "checks": reading.checks()}
    validated(outcome, OutcomeSchema(), where)
    starts = content.get("start_urls")
    return Task(str(content.get("task_id", "")), reading.shown(content.get("intent")),
                tuple(reading.shown(start) for start in starts) if isinstance(starts, list) else (), outcome,
                tuple(reading.notes))


class _Reading:
    """One task while it is read."""

    def __init__(self, task: dict[str, Any], where: str, sites: Mapping[str, str]):
        self._eval, self._where, self.notes = task["eval"], where, list[str]()
        named = task.get("sites")
        self._own = {f"__{str(name).strip('_').upper()}__" for name in (named if isinstance(named, list) else ())}
        self._sites = {name: address.rstrip("/") for name, address in sites.items()}
        self._type = ""

    def checks(self) -> list[OutcomeCheck]:
        responses = [evaluator for evaluator in self._eval if isinstance(evaluator, dict)
                     and evaluator.get("evaluator") == RESPONSE]
        if not responses:
            raise self._wrong("eval", f"a list with an {RESPONSE}")
        for number, evaluator in enumerate(self._eval):
            if not isinstance(evaluator, dict) or evaluator.get("evaluator") not in (RESPONSE, EVENT):
                raise self._wrong(f"eval.{number}.evaluator", f"{RESPONSE} or {EVENT}")
            if not isinstance(evaluator.get("expected"), dict):
                raise self._wrong(f"eval.{number}.expected", "an object")
        self._type = self._task_type(responses[0]["expected"], f"eval.{self._eval.index(responses[0])}")
        return [self._check(evaluator, f"eval.{number}") for number, evaluator in enumerate(self._eval)]

    def shown(self, text: Any) -> str:
        """A text of the task with the addresses of its sites, where they are known."""
        return _PLACEHOLDER.sub(lambda match: self._sites.get(match[0], match[0]), str(text or ""))

    def _wrong(self, field: str, expected: str) -> InputError:
        return InputError(f"{self._where}: field {field}: must be {expected}")

    def _task_type(self, expected: dict[str, Any], field: str) -> str:
        task_type = expected.get("task_type", expected.get("performed_operation"))
        if not isinstance(task_type, str) or task_type.upper() not in TASK_TYPES:
            raise self._wrong(f"{field}.expected.task_type", " or ".join(TASK_TYPES))
        return task_type.upper()

    def _check(self, entry: dict[str, Any], field: str) -> OutcomeCheck:
        try:
            return self._response(entry, field) if entry["evaluator"] == RESPONSE else self._event(entry)
        except (_UnsaidError, Undecided) as error:
            self.notes.append(f"{field}: is not evaluated: {error}")
            return {"kind": "unknown", "reason": f"{field}: {error}"}

    # --- The answer

    def _response(self, entry: dict[str, Any], field: str) -> OutcomeCheck:
        expected, status = entry["expected"], str(entry["expected"].get("status", "")).upper()
        kind = self._task_type(expected, field)
        if status not in STATUSES:
            raise self._wrong(f"{field}.expected.status", " or ".join(STATUSES))
        _only(entry, _OF_RESPONSE)
        _only(expected, {"task_type", "performed_operation", "status", "retrieved_data"})
        if "retrieved_data" not in expected:
            raise _UnsaidError("retrieved_data is not there, so its evaluator accepts no answer")
        check: OutcomeCheck = {"kind": "response", "task_type": kind, "task_status": status}
        data = expected["retrieved_data"]
        if self._type != "RETRIEVE":
            if data:
                raise _UnsaidError("data of a task that retrieves none")
            return check
        schema = entry.get("results_schema") or {}
        if data and (not isinstance(data, list) or schema.get("type", "array") != "array"):
            raise _UnsaidError("its data are not as results_schema says, so its evaluator accepts none")
        check["data"] = [self._item(item, schema.get("items") or {}) for item in data or ()]
        return check | {"ordered": True} if entry.get("ordered") else check  # type: ignore[return-value]

    def _item(self, item: Any, schema: dict[str, Any]) -> DataItem:
        if schema.get("type") != "object":
            if item is None:
                raise _UnsaidError("a datum that is null")
            return {"value": self._value(item, schema)}
        if not isinstance(item, dict) or not item:
            raise _UnsaidError("a datum that is no object, as results_schema says")
        kinds = schema.get("properties") or {}
        return {"members": {str(name): self._value(value, kinds.get(name) or {}) for name, value in item.items()}}

    def _value(self, expected: Any, schema: dict[str, Any]) -> Value:
        """A value that is wanted, or alternatives of it."""
        format = schema.get("format") or schema.get("type") or "string"
        if schema.get("type") in ("array", "object") or format not in _TYPES:
            raise _UnsaidError(f"values of the format {format} are not compared")
        value: Value = {"type": _TYPES[format]}
        alternatives = expected if isinstance(expected, list) else [expected]
        if isinstance(expected, list) and len(expected) < 2:
            raise _UnsaidError("a list of one alternative, which its evaluator takes for a mistake")
        if None in alternatives and isinstance(expected, list):
            raise _UnsaidError("an alternative that is null")
        for alternative in alternatives:
            self._add(value, alternative)
        return _checked(value)

    def _add(self, value: Value, expected: Any) -> None:
        if isinstance(expected, dict | list):
            raise _UnsaidError("an alternative that is no text, number, true or false")
        if is_pattern(expected):
            if value["type"] != "string" or _PLACEHOLDER.search(expected):
                raise _UnsaidError(f"a pattern of a {value['type']}")
            value.setdefault("patterns", []).append(expected)
            return
        if value["type"] == "url" and not str(expected).lower().startswith(("git@", "ssh://")):
            raise _UnsaidError("an address in an answer, other than of a repository over SSH")
        value.setdefault("any_of", []).append(self._rendered(expected) if isinstance(expected, str) else expected)

    # --- Network events

    def _event(self, entry: dict[str, Any]) -> OutcomeCheck:
        _only(entry, _OF_EVENT)
        expected = entry["expected"]
        _only(expected, _OF_EXPECTED)
        method = expected.get("http_method", "GET")
        if not isinstance(method, str) or method != method.upper():
            raise _UnsaidError("its method is not in capital letters")
        addresses = self._addresses(expected.get("url"))
        navigation = self._type == "NAVIGATE" and method == "GET"
        status = expected.get("response_status", 200)
        check: OutcomeCheck = {
            "kind": "request", "method": method, "match": {"value": addresses},
            "events": "navigation" if navigation else "last" if entry.get("last_event_only", True) else "any",
            "status": 0 if status == NO_ANSWER else status}
        self._query(entry, check, self._parameters(expected))
        if expected.get("post_data"):
            check["body"] = self._body(entry, expected["post_data"])
        if not entry.get("should_not_exist"):
            return check
        if navigation:
            raise _UnsaidError("that there is no navigation at all")
        return {"kind": "not", "checks": [{"kind": "request", "events": "any", "method": method, "status": None,
                                           "match": check["match"]}]}

    def _addresses(self, url: Any) -> Value:
        value: Value = {"type": "url"}
        if isinstance(url, list) and len(url) < 2:
            raise _UnsaidError("a list of one address, which its evaluator takes for a mistake")
        for url_ in url if isinstance(url, list) else [url]:
            if not isinstance(url_, str) or not url_:
                raise _UnsaidError("its address is no text")
            if is_pattern(url_):
                if _PLACEHOLDER.search(url_, 2):
                    raise _UnsaidError("a site's placeholder inside a pattern")
                value.setdefault("patterns", []).append(self._rendered(url_))
            elif not _PLACEHOLDER.match(url_):
                raise _UnsaidError("an address of none of the task's sites")
            else:
                address = self._rendered(url_)
                address_of(address)
                value.setdefault("any_of", []).append(address)
        return _checked(value)

    def _parameters(self, expected: dict[str, Any]) -> dict[str, str]:
        """Parameters that are wanted, by name, as they are compared."""
        parameters, url = expected.get("query_params"), expected["url"]
        if parameters is None:
            alternatives = [{} if is_pattern(address) else dict(address_of(self._rendered(address)).parameters)
                    for address in (url if isinstance(url, list) else [url])]
            if any(alternative != alternatives[0] for alternative in alternatives):
                raise _UnsaidError("alternatives of the address with other parameters")
            return alternatives[0]
        if not isinstance(parameters, dict) or any(
                not isinstance(values, list) or any(not isinstance(alternative, str) for alternative in values)
                for values in parameters.values()):
            raise _UnsaidError("query_params that are no lists of texts")
        return {name: sorted(self._rendered(alternative).lower().strip() for alternative in values)[0] if values else ""
                for name, values in parameters.items()}

    def _query(self, entry: dict[str, Any], check: OutcomeCheck, wanted: dict[str, str]) -> None:
        """What parameters must be, and which others may be there."""
        patterns = list(entry.get("ignored_query_params_patterns") or ())
        names = list(entry.get("ignored_query_params") or ())
        but = _all_but(patterns[0]) if len(patterns) == 1 and not names else None
        if but is None:
            check["ignored"] = [f"^{re2.escape(name)}$" for name in names] + [f"(?i){pattern}" for pattern in patterns]
            tests = [_compiled(pattern) for pattern in check["ignored"]]
            wanted = {name: value for name,
                      value in wanted.items() if not any(pattern.search(name) for pattern in tests)}
        else:
            if others := [name for name in wanted if name not in but]:
                raise _UnsaidError(f"parameter {others[0]} is wanted and ignored")
            wanted = {name: "" for name in but} | wanted
        query: dict[str, Match] = {}
        for name, value in wanted.items():
            query[name] = {"value": _checked({"type": "parameter", "patterns": [value]} if is_pattern(value) else
                                             {"type": "parameter", "any_of": [value]})}
        if query:
            check["query"] = query

    def _body(self, entry: dict[str, Any], wanted: Any) -> dict[str, Match]:
        schema = entry.get("post_data_schema") or {"type": "object"}
        if not isinstance(wanted, dict) or schema.get("type") != "object":
            raise _UnsaidError("post_data that is no object")
        ignored = [_compiled(pattern) for pattern in entry.get("ignored_post_data_params_patterns") or ()]
        kinds, body = schema.get("properties") or {}, dict[str, Match]()
        for name, value in wanted.items():
            if not any(pattern.search(name) for pattern in ignored):
                body[_path(name)] = {"value": self._value(value, kinds.get(name) or {})}
        if not body:
            raise _UnsaidError("post_data of which all is ignored")
        return body

    def _rendered(self, text: str) -> str:
        """A text with the addresses of the task's sites instead of placeholders."""
        for name in _PLACEHOLDER.findall(text):
            if name not in self._own:
                raise _UnsaidError(f"{name} is none of the task's sites")
            if name not in self._sites:
                raise _UnsaidError(f"the address of {name} is unknown; pass it with --site {name}=URL")
        return self.shown(text)


def _only(entry: dict[str, Any], known: set[str]) -> None:
    """Raises _UnsaidError for a field that outcome checks have nothing for."""
    if others := [name for name, value in entry.items() if name not in known and value not in (None, False, [], {})]:
        raise _UnsaidError(f"{', '.join(others)}: outcome checks have nothing for that")


def _compiled(pattern: Any) -> Any:
    try:
        return compiled(str(pattern), False)
    except InputError as error:
        raise _UnsaidError(str(error)) from None


def _checked(value: Value) -> Value:
    try:
        check_value(value)
    except InputError as error:
        raise _UnsaidError(str(error)) from None
    return value


def _path(name: str) -> str:
    """A field's name, or the path that a JSONPath without conditions is."""
    if not name.startswith("$"):
        if "." in name or name != name.strip() or is_pattern(name):
            raise _UnsaidError(f"a field of the name {json.dumps(name)[:80]}")
        return name
    steps, offset = list[str](), 1
    while match := _STEP.match(name, offset):
        steps.append(match[1] or match[2] or match[3])
        offset = match.end()
    if offset != len(name) or not steps or steps[0].isdigit():
        raise _UnsaidError(f"the JSONPath {name[:80]}")
    return ".".join(steps)


def _all_but(pattern: Any) -> list[str] | None:
    """The names in a pattern of all names but these, such as `^(?!q$|page$).*$`; None for another pattern."""
    match = _ALL_BUT.fullmatch(pattern) if isinstance(pattern, str) else None
    parts = match[1].split("|") if match else []
    if not parts or not all(_NAME.fullmatch(part) for part in parts):
        return None
    return [re.sub(r"\\(.)", r"\1", part[:-1]) for part in parts]
