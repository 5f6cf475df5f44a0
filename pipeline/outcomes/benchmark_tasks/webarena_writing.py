"""Outcome checks as a task of WebArena-Verified (version 1.2.3); inexpressible checks are named."""

from collections.abc import Mapping, Sequence
from typing import Any

import re2

from pipeline.outcomes.checking import check as held
from pipeline.outcomes.checking import unfit
from pipeline.outcomes.evidence import Evidence, Request
from pipeline.outcomes.folding import Undecided, is_pattern
from pipeline.outcomes.network_events import is_navigation
from pipeline.outcomes.responses import flatten_checks, structured_answer, task_type
from schemas import InputError
from schemas.types.outcome import Match, Outcome, OutcomeCheck, Value

from .webarena_verified import EVENT, NO_ANSWER, RESPONSE, SITES, STATUSES, read

_SCHEMAS: dict[str, dict[str, str]] = {
    **{name: {"type": name} for name in ("string", "number", "boolean")},
    **{name: {"type": "string", "format": name} for name in ("currency", "date", "month", "duration", "url")},
    "list": {"type": "string", "format": "string_list"}}
_ANY_CASE = "(?i)"


class _LeftOutError(Exception):
    """Why a check cannot be said."""


def write(outcome: Outcome, evidence: Evidence, intent: str, start_urls: Sequence[str], sites: Mapping[str, str],
          task_id: int = 0) -> tuple[dict[str, Any], list[str]]:
    """Outcome checks of a session as a task, and what of them it cannot say. `sites`: addresses of its sites by
    placeholder. Raises InputError when nothing can be said, or a site is none of WebArena-Verified's."""
    known = [f"__{name}__" for name in SITES]
    if not sites or not set(sites) <= set(known):
        raise InputError(f"pass the sites with --site, as {known[4]}=ADDRESS; choose from {', '.join(known)}")
    if evidence.requests is None:
        raise InputError("the network of this session, which WebArena-Verified evaluates, was not recorded; record "
                         "with --replayable")
    writing = _Writing(outcome, evidence, sites)
    entries, left = writing.entries()
    task: dict[str, Any] = {
        "sites": [name.strip("_").lower() for name in sites], "task_id": task_id, "intent_template_id": 0,
        "start_urls": [writing.with_placeholders(start_url) for start_url in start_urls], "intent": intent or "-",
        "intent_template": intent or "-", "instantiation_dict": {}, "revision": 1,
        "eval": [entry for entry, _ in entries]}
    wrong = _not_expressible(task, [check for _, check in entries], evidence, sites)
    task["eval"] = [entry for number, entry in enumerate(task["eval"]) if number not in wrong]
    if len(task["eval"]) < 2 and not writing.answers:
        raise InputError("none of the outcome checks can be said in WebArena-Verified's task format: "
                         + "; ".join([*left, *wrong.values()]))
    return task, [*left, *wrong.values()]


def _not_expressible(task: dict[str, Any], checks: list[OutcomeCheck | None], evidence: Evidence,
                     sites: Mapping[str, str]
              ) -> dict[int, str]:
    """Entries that do not hold of the session, or cannot be decided, where the check that they are made of does."""
    answer = structured_answer(evidence.answer, str(task["eval"][0]["expected"]["task_type"]).upper())
    session = Evidence(evidence.pages, answer, evidence.requests)
    again = read(task, "the written task", sites).outcome["checks"]
    return {number: f"{_named(check)}: the network of the recording does not tell it"
            for number, (check, reread) in enumerate(zip(checks, again, strict=True))
            if check and number and held(check, evidence).holds and not held(reread, session).holds}


class _Writing:
    """One task while it is written."""

    def __init__(self, outcome: Outcome, evidence: Evidence, sites: Mapping[str, str]):
        self._checks, self._evidence = flatten_checks(outcome["checks"]), evidence
        self._sites = sorted(((address.rstrip("/"), name) for name, address in sites.items()), reverse=True,
                             key=lambda pair: len(pair[0]))
        self._type = task_type(self._checks)
        self.answers = False

    def entries(self) -> tuple[list[tuple[dict[str, Any], OutcomeCheck | None]], list[str]]:
        """The evaluators, the one of the answer first, each with its check; and what cannot be said."""
        written: list[tuple[dict[str, Any], OutcomeCheck | None]] = []
        left = list[str]()
        answer: tuple[dict[str, Any], OutcomeCheck | None] | None = None
        for check in self._checks:
            try:
                if check["kind"] in ("response", "answer"):
                    if answer:
                        raise _LeftOutError("a second check of the answer")
                    answer = self._answered(check), check
                    self.answers = True
                else:
                    written.append(({"evaluator": EVENT} | self._event(check), check))
            except (_LeftOutError, Undecided) as error:
                left.append(f"{_named(check)}: {error}")
        if answer is None:
            answer = _response(self._type, "SUCCESS", None, {"type": "null"}), None
        return [answer, *written], left

    def with_placeholders(self, text: str) -> str:
        """A text with the placeholders of sites instead of their addresses."""
        for address, name in self._sites:
            text = text.replace(address, name)
        return text

    # --- The answer

    def _answered(self, check: OutcomeCheck) -> dict[str, Any]:
        if check["kind"] == "answer":
            return _response("RETRIEVE", "SUCCESS", [_alone(self._exact(check["match"]))],
                             {"type": "array", "items": _SCHEMAS["string"]})
        if check["task_status"] not in STATUSES:
            raise _LeftOutError(f"there is no status {check['task_status']}")
        data = check.get("data")
        if not data:
            return _response(check["task_type"], check["task_status"], None, {"type": "null"})
        schemas, values = [], []
        for item in data:
            if "value" in item:
                schema, value = self._value(item["value"])
            else:
                members = {name: self._value(member) for name, member in item["members"].items()}
                schema = {"type": "object",
                          "properties": {name: value_schema for name, (value_schema, _) in members.items()}}
                value = {name: value_schema for name, (_, value_schema) in members.items()}
            schemas.append(schema)
            values.append(value)
        if any(schema != schemas[0] for schema in schemas):
            raise _LeftOutError("data of several types")
        ordered = {"ordered": True} if check.get("ordered") else {}
        return ordered | _response(check["task_type"], check["task_status"], values,
                                   {"type": "array", "items": schemas[0]})

    def _value(self, value: Value) -> tuple[dict[str, Any], Any]:
        """The JSON Schema of a value, and the value, or alternatives of it."""
        if value["type"] not in _SCHEMAS:
            raise _LeftOutError(f"a value of the type {value['type']}")
        alternatives = [*value.get("any_of", []), *value.get("patterns", [])]
        if len(alternatives) > 1 and None in alternatives:
            raise _LeftOutError("an alternative that is null")
        return _SCHEMAS[value["type"]], _alone([self.with_placeholders(alternative) if isinstance(alternative, str)
                                                else alternative
                                                for alternative in alternatives])

    def _exact(self, match: Match) -> list[str]:
        """The texts that a match wants; raises where it wants more than one of them."""
        if match.keys() != {"exact"} or any(map(is_pattern, match["exact"])):
            raise _LeftOutError("only exact texts and values can be said")
        return [self.with_placeholders(text) for text in match["exact"]]

    # --- Network events

    def _event(self, check: OutcomeCheck) -> dict[str, Any]:
        match check["kind"]:
            case "url":
                return self._page(check)
            case "request":
                return self._network_entry(check) if "events" in check else self._request(check)
            case "not" if check["checks"][0]["kind"] == "request":
                return self._none(check["checks"][0])
        raise _LeftOutError(f"WebArena-Verified has nothing for {check['kind']}")

    def _page(self, check: OutcomeCheck) -> dict[str, Any]:
        """The address where a session ends: its last navigation."""
        if self._type != "NAVIGATE":
            raise _LeftOutError("only a task of nothing but navigation says where a session ends")
        navigations = [request for request in self._evidence.requests or () if is_navigation(request)]
        addresses = self._addresses_with_placeholders(self._exact(check["match"]))
        return {"expected": {"url": _alone(addresses), "http_method": "GET",
                             "response_status": _status(navigations[-1:])}}

    def _request(self, check: OutcomeCheck) -> dict[str, Any]:
        """A request by the rules of our own: any of a session, whatever other parameters it has."""
        method = check.get("method", "").upper()
        if not method:
            raise _LeftOutError("a request of any method")
        if method == "GET" and self._type == "NAVIGATE":
            raise _LeftOutError("of a task of nothing but navigation only the last one is looked at")
        similar = [request for request in self._evidence.requests or () if not unfit(check, request)]
        expected: dict[str, Any] = {"url": _alone(self._addresses_with_placeholders(self._exact(check["match"]))),
                                    "http_method": method}
        status = check["status"] if "status" in check else _status(similar[-1:])
        if status is None:
            raise _LeftOutError("an answer of any status")
        expected["response_status"] = status or NO_ANSWER
        query = {name: self._exact(match_) for name, match_ in check.get("query", {}).items()}
        if any(len(match_) > 1 for match_ in query.values()):
            raise _LeftOutError("alternatives of a parameter")
        if query:
            expected["query_params"] = query
        if "body" in check:
            expected["post_data"] = {_key(name, similar[-1:]): _alone(self._exact(match_))
                                     for name, match_ in check["body"].items()}
        return {"last_event_only": False, "ignored_query_params_patterns": [_others(query)], "expected": expected}

    def _network_entry(self, check: OutcomeCheck) -> dict[str, Any]:
        """A request as its evaluators find them."""
        method, navigation = check.get("method", ""), check["events"] == "navigation"
        if not method or navigation != (self._type == "NAVIGATE" and method == "GET"):
            raise _LeftOutError("which requests are looked at follows there from the type of the task and the method")
        if check.get("status") is None:
            raise _LeftOutError("an answer of any status")
        expected: dict[str, Any] = {"url": self._url(check["match"]), "http_method": method,
                                    "response_status": check["status"] or NO_ANSWER, "query_params": {}}
        for name, match in check.get("query", {}).items():
            value = match.get("value", {"type": ""})
            alternatives = [*value.get("any_of", []), *value.get("patterns", [])]
            if value["type"] != "parameter" or len(alternatives) != 1:
                raise _LeftOutError("alternatives of a parameter")
            expected["query_params"][name] = [self.with_placeholders(alternatives[0])]
        entry: dict[str, Any] = {"last_event_only": check["events"] != "any", "expected": expected}
        if "body" in check:
            values = {_key(name, ()): self._value(match["value"]) if "value" in match else
                      (_SCHEMAS["string"], _alone(self._exact(match))) for name, match in check["body"].items()}
            expected["post_data"] = {name: value for name, (_, value) in values.items()}
            entry["post_data_schema"] = {"type": "object", "properties": {
                name: schema for name, (schema, _) in values.items()}}
        return entry | _ignored(check)

    def _none(self, check: OutcomeCheck) -> dict[str, Any]:
        """That there is no such request, whatever was answered."""
        if check.get("status", 0) is not None or check.keys() - {"kind", "events", "method", "status", "match"} or (
                check.get("events") != "any" or not check.get("method") or (
                    self._type == "NAVIGATE" and check["method"] == "GET")):
            raise _LeftOutError("that there is no request is said of all of a method and an address only")
        return {"should_not_exist": True, "expected": {"url": self._url(check["match"]),
                                                       "http_method": check["method"]}}

    def _url(self, match: Match) -> Any:
        value = match.get("value")
        if value is None or value["type"] != "url" or match.keys() != {"value"}:
            return _alone(self._addresses_with_placeholders(self._exact(match)))
        return _alone([*self._addresses_with_placeholders(map(self.with_placeholders, value.get("any_of", []))),
                       *map(self.with_placeholders, value.get("patterns", []))])

    def _addresses_with_placeholders(self, addresses: Any) -> list[str]:
        """Addresses that begin with a site's placeholder; raises for others."""
        rewritten = list(addresses)
        for address in rewritten:
            if not address.startswith(tuple(name for _, name in self._sites)):
                raise _LeftOutError(f"{address} belongs to none of the sites; pass its site with --site")
            if "#" in address:
                raise _LeftOutError("requests tell no part of an address after #")
        return rewritten


def _response(kind: str, status: str, data: Any, schema: dict[str, Any]) -> dict[str, Any]:
    return {"evaluator": RESPONSE, "results_schema": schema,
            "expected": {"task_type": kind.lower(), "status": status, "retrieved_data": data}}


def _alone(alternatives: list[Any]) -> Any:
    return alternatives[0] if len(alternatives) == 1 else alternatives


def _status(similar: Sequence[Request]) -> int:
    if not similar:
        raise _LeftOutError("no request of the recording is like that, so how it is answered is not known")
    return similar[0].status


def _key(name: str, similar: Sequence[Request]) -> str:
    """The name of a field, or the JSONPath of a member."""
    if name.startswith("$") or is_pattern(name) or "'" in name:
        raise _LeftOutError(f"a field of the name {name[:80]}")
    kinds = [value for request in similar for key, value in request.headers if key.lower() == "content-type"]
    if "." not in name:
        return name
    if similar and not any("json" in kind for kind in kinds):
        raise _LeftOutError("a field with a dot in its name")
    first, *rest = name.split(".")
    return "$" + "".join(f"[{step}]" if step.isdigit() else f"['{step}']" for step in (first, *rest))


def _others(query: Mapping[str, Any]) -> str:
    """A pattern of all names but those of a query."""
    return f"^(?!{'|'.join(re2.escape(name) + '$' for name in query)}).*$" if query else ".*"


def _ignored(check: OutcomeCheck) -> dict[str, Any]:
    if "ignored" not in check:
        return {"ignored_query_params_patterns": [_others(check.get("query", {}))]}
    names, patterns = list[str](), list[str]()
    for pattern in check["ignored"]:
        name = pattern[1:-1].replace("\\", "")
        if pattern.startswith(_ANY_CASE):
            patterns.append(pattern.removeprefix(_ANY_CASE))
        elif pattern == f"^{re2.escape(name)}$":
            names.append(name)
        else:
            raise _LeftOutError("parameters are ignored there by patterns whatever their letters")
    return {"ignored_query_params": names, "ignored_query_params_patterns": patterns}


def _named(check: OutcomeCheck) -> str:
    return f"check of kind {check['kind']}"

