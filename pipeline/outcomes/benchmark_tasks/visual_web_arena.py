"""Tasks of VisualWebArena: conversion between its task JSON and outcome checks.

What its evaluators do with a program of their own (`func:`, `lambda:`), or ask a model, is named and never guessed.
Where this differs from the published evaluators stands in `Task.notes`.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from schemas import VERSIONS, InputError
from schemas.files import validated
from schemas.formats.outcome import FORMAT, OutcomeSchema
from schemas.types.outcome import Match, Outcome, OutcomeCheck

OR = " |OR| "
AND = " |AND| "
NOT_POSSIBLE = "N/A"
_EXACT, _PART = "EXACT", "GOLD in PRED"
_REQUIRED = ("exact_match", "must_include", "must_exclude", "required_values", "fuzzy_match")
_SCRIPTS = ("document.", "[...document.")
# Where the blob is of a picture that a task names, by its address; None where it is not at hand.
Find = Callable[[str], str | None]


@dataclass(frozen=True)
class Task:
    """A task with what makes it done. `start_urls`: all that are opened; `notes`: what differs from the published
    evaluators, and what cannot be evaluated."""

    id: str
    intent: str
    start_urls: tuple[str, ...]
    outcome: Outcome
    notes: tuple[str, ...] = ()


def read(content: Any, where: str, find: Find = lambda address: None, sites: Mapping[str, str] | None = None) -> Task:
    """A task of a task file; `where` names it in errors. `sites`: addresses of its sites by placeholder, such as
    `__SHOPPING__`. Raises InputError that names the field."""
    if not isinstance(content, dict) or not isinstance(content.get("eval"), dict):
        raise InputError(f"{where}: field eval: missing; this is not a task of VisualWebArena")
    text = json.dumps(content)
    for name, address in (sites or {}).items():
        text = text.replace(name, json.dumps(address)[1:-1])
    reading = _Reading(json.loads(text), where, find)
    checks = reading.checks()
    outcome: Outcome = {"format": FORMAT, "version": VERSIONS[FORMAT], "checks": checks}
    task = reading.task
    if isinstance(difficulty := task.get("overall_difficulty"), str) and difficulty:
        outcome["difficulty"] = difficulty
    validated(outcome, OutcomeSchema(), where)
    return Task(str(task.get("task_id", "")), str(task.get("intent", "")),
                tuple(str(task.get("start_url", "")).split(AND)), outcome, tuple(reading.notes))


class _Reading:
    """One task while it is read."""

    def __init__(self, task: dict[str, Any], where: str, find: Find):
        self.task, self._eval, self._where, self._find = task, task["eval"], where, find
        self.notes: list[str] = []

    def checks(self) -> list[OutcomeCheck]:
        kinds = self._eval.get("eval_types")
        readers = {"string_match": self._answers, "url_match": self._url, "program_html": self._programs,
                   "page_image_query": self._pictures}
        if not isinstance(kinds, list) or not kinds or any(kind not in readers for kind in kinds):
            raise self._wrong("eval.eval_types", f"a list of {', '.join(readers)}")
        return [check for kind in dict.fromkeys(kinds) for check in readers[kind]()]

    def _wrong(self, field: str, expected: str) -> InputError:
        return InputError(f"{self._where}: field {field}: must be {expected}")

    def _answers(self) -> list[OutcomeCheck]:
        wanted = self._eval.get("reference_answers")
        if not isinstance(wanted, dict) or not wanted:
            raise self._wrong("eval.reference_answers", "an object")
        rest = {name: value for name, value in wanted.items() if name != "fuzzy_match"}
        checks: list[OutcomeCheck] = []
        if rest:
            checks.append({"kind": "answer", "match": self._match(rest, "eval.reference_answers")})
        if "fuzzy_match" not in wanted:
            return checks
        meant = wanted["fuzzy_match"]
        if meant != NOT_POSSIBLE:
            return [*checks, {"kind": "answer", "match": {"fuzzy": _joined(meant)}}]
        impossible: OutcomeCheck = {"kind": "answer", "match": {"exact": [NOT_POSSIBLE]}}
        if not (note := self._eval.get("string_note")):
            return [*checks, impossible]
        return [*checks, {"kind": "any", "checks": [
            impossible, {"kind": "answer", "match": {"fuzzy": str(note)}}]}]

    def _url(self) -> list[OutcomeCheck]:
        wanted, rule = self._eval.get("reference_url"), self._eval.get("url_note") or _EXACT
        if not isinstance(wanted, str) or not wanted:
            raise self._wrong("eval.reference_url", "an address")
        if rule not in (_EXACT, _PART):
            raise self._wrong("eval.url_note", f"{_EXACT} or {_PART}")
        match: Match = {"exact": wanted.split(OR)} if rule == _EXACT else {"includes": [wanted.split(OR)]}
        return [{"kind": "url", "match": match}]

    def _programs(self) -> list[OutcomeCheck]:
        programs = self._eval.get("program_html")
        if not isinstance(programs, list) or not all(isinstance(program, dict) for program in programs):
            raise self._wrong("eval.program_html", "a list of objects")
        return [self._program(program, f"eval.program_html.{number}") for number, program in enumerate(programs)]

    def _program(self, program: dict[str, Any], field: str) -> OutcomeCheck:
        url, locator = str(program.get("url", "last")), str(program.get("locator", "")).strip()
        for name, value in (("url", url), ("locator", locator)):
            if value.startswith(("func:", "lambda:")):
                return self._unknown(field, f"its {name} is a program of the benchmark ({value[:60]})")
        wanted = program.get("required_contents")
        if not isinstance(wanted, dict) or not wanted.keys() & set(_REQUIRED):
            raise self._wrong(f"{field}.required_contents", f"an object with {', '.join(_REQUIRED)}")
        kinds = [name for name in _REQUIRED if name in wanted]
        if len(kinds) > 1:
            self.notes.append(f"{field}: {', '.join(kinds)} must all hold; the published evaluator looks at "
                              f"{kinds[0]} only")
        match = self._match(wanted, f"{field}.required_contents")
        page = {} if url == "last" else {"page": url}
        if not locator:
            return {"kind": "text", "match": match, **page}  # type: ignore[typeddict-item]
        if not locator.startswith(_SCRIPTS):
            raise self._wrong(f"{field}.locator", "empty, or begin with document., [...document., lambda: or func:")
        before = {"before": [str(statement)
                             for statement in program["prep_actions"]]} if program.get("prep_actions") else {}
        return {"kind": "script", "expression": locator, "match": match, **page, **before}  # type: ignore[typeddict-item]

    def _pictures(self) -> list[OutcomeCheck]:
        queries = self._eval.get("page_image_query")
        if not isinstance(queries, list) or not all(isinstance(query_, dict) for query_ in queries):
            raise self._wrong("eval.page_image_query", "a list of objects")
        checks: list[OutcomeCheck] = []
        for number, query in enumerate(queries):
            field, url = f"eval.page_image_query.{number}", str(query.get("eval_image_url", "last"))
            if url.startswith("func:"):
                checks.append(self._unknown(field, f"its address is a program of the benchmark ({url[:60]})"))
                continue
            if query.get("eval_vqa"):
                checks.append(self._unknown(field, "its questions about pictures need a vision model"))
            if named := query.get("eval_fuzzy_image_match"):
                checks.append(self._similar_picture(query, field, named.split(OR) if isinstance(named, str) else named,
                                                    url))
        return checks

    def _similar_picture(self, query: dict[str, Any], field: str, addresses: Sequence[Any], url: str) -> OutcomeCheck:
        name = query.get("eval_image_class") or ""
        rest: dict[str, Any] = {"css": f".{name} img, img.{name}" if name else "img"}
        rest |= {} if url == "last" else {"page": url}
        if "ssim_threshold" in query:
            rest["least"] = query["ssim_threshold"]
        known = [digest for address in addresses if (digest := self._find(str(address)))]
        if len(known) < len(addresses):
            reason = "the picture to compare with is missing; put it beside the task"
            missing = self._unknown(field, reason)
            if not known:
                return missing
        checks: list[OutcomeCheck] = [{"kind": "picture", "picture": digest, **rest} for digest in known]  # type: ignore[typeddict-item]
        if len(known) < len(addresses):
            checks.append(missing)
        return checks[0] if len(checks) == 1 else {"kind": "any", "checks": checks}

    def _unknown(self, field: str, reason: str) -> OutcomeCheck:
        self.notes.append(f"{field}: is not evaluated: {reason}")
        return {"kind": "unknown", "reason": f"{field}: {reason}"}

    def _match(self, wanted: Mapping[str, Any], field: str) -> Match:
        """What a text must be; raises InputError for a rule that there is none of."""
        match: Match = {}
        for name, value in wanted.items():
            alternatives = value if isinstance(value, list) else [value]
            if not alternatives or not all(isinstance(alternative, str | int | float) for alternative in alternatives):
                raise self._wrong(f"{field}.{name}", "a text or a list of texts")
            texts = [str(alternative) for alternative in alternatives]
            match name:
                case "exact_match":
                    match["exact"] = [part for alternative in texts for part in alternative.split(OR)]
                case "must_include":
                    match["includes"] = [alternative.split(OR) for alternative in texts]
                case "must_exclude":
                    match["excludes"] = texts
                case "one_of":
                    match["one_of"] = texts
                case "required_values":
                    match["numbers"] = [alternative.split(OR) for alternative in texts]
                case "fuzzy_match":
                    match["fuzzy"] = _joined(value)
                case _:
                    raise InputError(f"{self._where}: field {field}.{name}: unknown rule")
        return match


def _joined(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def write(outcome: Outcome, intent: str, start_urls: Sequence[str], task_id: int = 0
          ) -> tuple[dict[str, Any], list[str]]:
    """Outcome checks as a task of VisualWebArena, and what of them it cannot say."""
    parts: dict[str, Any] = {"reference_answers": None, "reference_url": "", "program_html": [], "page_image_query": []}
    kinds, left = list[str](), list[str]()
    for number, check in enumerate(_flat(outcome["checks"])):
        kind = _write_check(check, parts)
        if kind:
            kinds.append(kind)
        else:
            left.append(f"check {number + 1}: VisualWebArena has nothing for {check['kind']}")
    if not kinds:
        raise InputError("none of the outcome checks can be expressed in VisualWebArena's task format")
    return {"sites": [], "task_id": task_id, "require_login": False, "storage_state": None,
            "start_url": AND.join(start_urls), "geolocation": None, "intent_template": intent,
            "instantiation_dict": {}, "intent": intent, "image": None, "require_reset": False,
            "reasoning_difficulty": "", "visual_difficulty": "", "overall_difficulty": outcome.get("difficulty", ""),
            "eval": {"eval_types": list(dict.fromkeys(kinds)), **parts}}, left


def _flat(checks: Sequence[OutcomeCheck]) -> list[OutcomeCheck]:
    """The checks without groups of `all`, which is what a task is."""
    return [inner for check in checks for inner in (_flat(check["checks"]) if check["kind"] == "all" else [check])]


def _write_check(check: OutcomeCheck, parts: dict[str, Any]) -> str:
    """Put a check into a task; returns the kind of its evaluator, empty where there is none."""
    match check["kind"]:
        case "answer" if not parts["reference_answers"]:
            parts["reference_answers"] = _rules(check["match"])
            return "string_match"
        case "url" if not parts["reference_url"] and (check["match"].keys() <= {"exact"} or (
                check["match"].keys() <= {"includes"} and len(check["match"]["includes"]) == 1)):
            exact = check["match"].get("exact")
            parts["reference_url"] = OR.join(exact or check["match"]["includes"][0])
            parts["url_note"] = _EXACT if exact else _PART
            return "url_match"
        case "text" | "script" if "one_of" not in check["match"]:
            parts["program_html"].append({"url": check.get("page", "last"), "locator": _locator(check),
                                          **({"prep_actions": check["before"]} if "before" in check else {}),
                                          "required_contents": _rules(check["match"])})
            return "program_html"
    return ""


def _locator(check: OutcomeCheck) -> str:
    if check["kind"] == "script" or "css" not in check:
        return check.get("expression", "")
    value = f"each.getAttribute({json.dumps(check['attribute'])})" if "attribute" in check else "each.innerText"
    return f"[...document.querySelectorAll({json.dumps(check['css'])})].map((each) => {value}).join('\\n')"


def _rules(match: Match) -> dict[str, Any]:
    rules: dict[str, Any] = {}
    if "exact" in match:
        rules["exact_match"] = OR.join(match["exact"])
    for name, wanted in (("must_include", match.get("includes")), ("required_values", match.get("numbers"))):
        if wanted:
            rules[name] = [OR.join(choices) for choices in wanted]
    for name, texts in (("must_exclude", match.get("excludes")), ("one_of", match.get("one_of"))):
        if texts:
            rules[name] = texts
    if "fuzzy" in match:
        rules["fuzzy_match"] = match["fuzzy"]
    return rules
