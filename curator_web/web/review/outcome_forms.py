"""The form of one outcome check: its fields, and the check that a submitted form means.

What a form cannot say (a value of a type, an alternative with a line break) stays in the check as it was, as does all
that stands in the form as it was shown.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from flask_babel import gettext as _
from flask_babel import lazy_gettext as _l

from curator_web.errors import ErrorText
from curator_web.web.shell.display_names import error_words
from pipeline.outcomes.evidence import PageState
from pipeline.outcomes.wording import describe_match
from schemas import InputError
from schemas.files import first_error
from schemas.formats.outcome import TASK_TYPES, OutcomeCheckSchema
from schemas.types.outcome import Match, OutcomeCheck

OR = " || "
# What can be begun anew, in the order in which it is offered: an attribute is a `text` that looks at one.
BEGUN: dict[str, Any] = {"text": _l("Text"), "attribute": _l("Attribute"), "url": _l("Address"),
         "answer": _l("Answer"), "picture": _l("Picture"), "request": _l("Request"), "script": _l("Expression"),
         "response": _l("Structured answer")}
LABELS = {"css": _l("Element (CSS selector)"), "attribute": _l("Attribute"), "page": _l("Page"),
          "exact": _l("Is exactly"), "includes": _l("Contains all of these"), "one_of": _l("Contains one of these"),
          "excludes": _l("Contains none of these"), "numbers": _l("Is a number"), "fuzzy": _l("Means the same as"),
          "least": _l("Similarity (SSIM)"), "method": _l("Method"), "query": _l("Parameters"),
          "body": _l("Fields of its body"), "status": _l("Answered"), "expression": _l("Expression"),
          "before": _l("Run before the expression"), "task_type": _l("Type of the task"), "task_status": _l("Status"),
          "reason": _l("Why")}
HINTS = {"css": _l("such as #total or .price; empty: the whole page"),
         "page": _l("its address; empty: the last page"), "exact": _l("one of these, one per line"),
         "includes": _l("one per line; alternatives separated by ||"), "one_of": _l("one per line"),
         "excludes": _l("one per line"), "fuzzy": _l("decided by a judge; otherwise undecided"),
         "numbers": _l("such as >= 12; one per line, alternatives separated by ||"),
         "least": _l("from 0 to 1; empty: 0.8"), "method": _l("such as POST; empty: any"),
         "query": _l("name = text, one per line"), "body": _l("name = text, one per line"),
         "status": _l("a number, or any; empty: any below 400"), "before": _l("JavaScript, one per line"),
         "expression": _l("JavaScript; it is never run in the review app, so the result is undecided here"),
         "attribute": _l("such as value, href, checked"), "task_status": _l("such as SUCCESS or NOT_FOUND_ERROR")}
MULTILINE_FIELDS = ("exact", "includes", "one_of", "excludes", "numbers", "query", "body", "expression", "before",
                    "reason")
_MATCH = ("includes", "exact", "one_of", "excludes", "numbers", "fuzzy")
_RARE = ("one_of", "excludes", "numbers", "fuzzy", "page", "before")
FIELDS: dict[str, tuple[str, ...]] = {
    "url": ("exact", "includes", "one_of", "excludes"), "text": ("css", *_MATCH, "page"),
    "attribute": ("css", "attribute", *_MATCH, "page"), "picture": ("css", "least", "page"), "answer": _MATCH,
    "request": ("method", "exact", "includes", "query", "body", "status", "one_of", "excludes"),
    "script": ("expression", *_MATCH, "before", "page"), "response": ("task_type", "task_status"),
    "unknown": ("reason",), "all": (), "any": ()}
_NUMBER = re.compile(r"(?:<=|>=|==|<|>) {0,3}-?[0-9][0-9.,]{0,30}")


@dataclass(frozen=True)
class FormField:
    """One field of the form as the template shows it."""

    name: str
    value: str
    error: str

    @property
    def label(self) -> str:
        return str(LABELS[self.name])

    @property
    def hint(self) -> str:
        return str(HINTS.get(self.name, ""))

    @property
    def is_long(self) -> bool:
        return self.name in MULTILINE_FIELDS

    @property
    def options(self) -> tuple[str, ...]:
        """What is chosen from; empty where something is written."""
        return TASK_TYPES if self.name == "task_type" else ()

    @property
    def is_collapsed(self) -> bool:
        """Whether it is hidden until the form is expanded: a field that is seldom used, and empty."""
        return self.name in _RARE and not self.value and not self.error


@dataclass
class CheckForm:
    """The form of a check. `path`: of the one that is changed, empty for a new one; `within`: the group that a new one
    comes into; `name`: of the checkpoint, None for a check at the end; `check`: as it is kept, if it is."""

    kind: str
    values: dict[str, str] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)
    path: str = ""
    within: str = ""
    name: str | None = None
    negated: bool = False
    check: OutcomeCheck | None = None

    @property
    def title(self) -> str:
        groups: dict[str, Any] = {"all": _l("Group"), "any": _l("Group"), "unknown": _l("Cannot be evaluated")}
        return str((groups | BEGUN)[self.kind])

    @property
    def fields(self) -> list[FormField]:
        return [FormField(name, self.values.get(name, ""), self.errors.get(name, "")) for name in FIELDS[self.kind]]

    @property
    def uneditable(self) -> str:
        """What the check asks for besides, which this form cannot change."""
        match: Match = self.check.get("match", {}) if self.check else {}
        return describe_match({"value": match["value"]}) if "value" in match else ""


def of_check(check: OutcomeCheck, path: str, name: str | None) -> CheckForm:
    """The form that shows a check."""
    negated = check["kind"] == "not"
    inner = check["checks"][0] if negated else check
    if inner["kind"] == "not":  # a "not" of a "not": its own check is changed at its own place
        raise InputError(ErrorText("field place: delete the inner “not” first"))
    kind = "attribute" if "attribute" in inner else inner["kind"]
    return CheckForm(kind, values_of(inner), {}, path, "", name, negated, inner)


def values_of(check: OutcomeCheck) -> dict[str, str]:
    """What stands in the fields of a check's form."""
    fields: Mapping[str, Any] = check
    plain = {name: str(fields[name]) for name in ("css", "attribute", "page", "method", "expression", "task_type",
                                                  "task_status", "reason") if name in fields}
    if "least" in check:
        plain["least"] = f"{check['least']:g}"
    if "status" in check:
        plain["status"] = "any" if check["status"] is None else str(check["status"])
    lines = {name: "\n".join(f"{key} = {match['exact'][0]}" for key, match in fields[name].items() if _is_plain(match))
             for name in ("query", "body") if name in fields}
    return plain | lines | {"before": "\n".join(check.get("before", ()))} | _of_match(check.get("match", {}))


def _of_match(match: Match) -> dict[str, str]:
    fields: Mapping[str, Any] = match
    values = {name: "\n".join(fields.get(name, ())) for name in ("exact", "one_of", "excludes")}
    values |= {name: "\n".join(OR.join(group) for group in fields.get(name, ())) for name in ("includes", "numbers")}
    return values | {"fuzzy": match.get("fuzzy", "")}


def _is_plain(match: Match) -> bool:
    return match.keys() == {"exact"} and len(match["exact"]) == 1 and "\n" not in match["exact"][0]


def read(form: CheckForm, sent: Mapping[str, str], picture: Callable[[str], str]) -> OutcomeCheck | None:
    """The check that a sent form means; None where something is wrong, which is then told in `form.errors`.

    `form`: as it was shown, with the check that it is about; it takes what was sent. `picture`: the blob of what a
    selector fits on the last page; raises InputError where there is none.
    """
    shown = form.values if form.check else {}
    form.values = {name: _text(sent.get(name, "")) for name in FIELDS[form.kind]}
    form.negated = "negated" in sent
    if form.name is not None:
        form.name = " ".join(sent.get("name", "").split())
        if not form.name:
            form.errors["name"] = _("Describe the checkpoint in a few words.")
    if form.kind in ("all", "any"):
        form.kind = sent.get("kind", form.kind) if sent.get("kind") in ("all", "any") else form.kind
        check: Any = {"kind": form.kind, "checks": form.check["checks"] if form.check else []}
    else:
        check = _read(form, shown)
    another = "picture" not in check or "anew" in sent or form.values.get("css") != shown.get("css", "")
    if form.kind == "picture" and not form.errors and another:
        try:
            check["picture"] = picture(form.values["css"])
        except InputError as error:
            form.errors["css"] = _sentence(error_words(error))
    if not form.errors:
        form.errors = _refused_by_format(check)
    if form.errors:
        return None
    return {"kind": "not", "checks": [check]} if form.negated else check


def _read(form: CheckForm, shown: Mapping[str, str]) -> dict[str, Any]:
    """The check, as far as the form is right; what is wrong in it is told in its errors."""
    check: dict[str, Any] = dict(form.check or {}) | {"kind": "text" if form.kind == "attribute" else form.kind}
    match = dict(check.get("match", {}))
    for name, text in form.values.items():
        if text == _text(shown.get(name, "")):
            continue
        into = match if name in _MATCH else check
        try:
            value = _READ.get(name, str)(text) if text else None
        except ValueError as error:
            form.errors[name] = str(error)
            continue
        if name in ("query", "body"):
            retained = {key: match for key, match in check.get(name, {}).items() if not _is_plain(match)}
            value = retained | (value or {}) or None
        into.pop(name, None)
        if value is not None:
            into[name] = None if value == "any" and name == "status" else value
    if "exact" in FIELDS[form.kind]:
        check["match"] = match
        if not match and not form.errors:
            form.errors["match"] = _("Fill in at least one condition.")
    for name in ("attribute", "expression", "task_type", "task_status", "reason"):
        if name in form.values and not form.values[name]:
            form.errors.setdefault(name, _("Required."))
    if form.kind == "attribute" and not form.values["css"]:
        form.errors.setdefault("css", _("Select an element."))
    return check


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.split("\n") if line.strip()]


def _alternatives(text: str) -> list[list[str]]:
    return [[part.strip() for part in line.split(OR.strip()) if part.strip()] for line in _lines(text)]


def _numbers(text: str) -> list[list[str]]:
    alternatives = _alternatives(text)
    if wrong := [number for line in alternatives for number in line if not _NUMBER.fullmatch(number)]:
        raise ValueError(_("“%(text)s” is not a comparison such as >= 12, < 700 or == 3.", text=wrong[0][:40]))
    return alternatives


def _named(text: str) -> dict[str, Match]:
    matches: dict[str, Match] = {}
    for line in _lines(text):
        name, equals, value = line.partition("=")
        if not equals or not name.strip():
            raise ValueError(_("“%(text)s” must be name = text.", text=line[:40]))
        matches[name.strip()] = {"exact": [value.strip()]}
    return matches


def _minimum(text: str) -> float:
    try:
        value = float(text.replace(",", "."))
    except ValueError:
        value = 2.0
    if not 0 <= value <= 1:
        raise ValueError(_("Must be a number from 0 to 1."))
    return value


def _status(text: str) -> int | str:
    if text.lower() == "any":
        return "any"
    if not text.isascii() or not text.isdecimal() or int(text[:6]) > 999:
        raise ValueError(_("Must be a number such as 201, or any."))
    return int(text)


def _css(text: str) -> str:
    try:
        PageState("", lambda: "").elements(text)
    except InputError as error:
        raise ValueError(_sentence(error_words(error))) from None
    return text


_READ: dict[str, Callable[[str], Any]] = {
    "exact": _lines, "one_of": _lines, "excludes": _lines, "before": _lines, "includes": _alternatives,
    "numbers": _numbers, "query": _named, "body": _named, "least": _minimum, "status": _status, "css": _css,
    "method": str.upper}


def _refused_by_format(check: OutcomeCheck) -> dict[str, str]:
    """What the format has against a check, by the field that it stands in."""
    errors = OutcomeCheckSchema().validate(check)
    reasons = {}
    for name, field_errors in errors.items():
        inner = field_errors if name == "match" and isinstance(field_errors, dict) else {name: field_errors}
        for part, messages in inner.items():
            reasons[part if part in LABELS else "match"] = first_error(messages)[1]
    return reasons


def _text(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.replace("\r\n", "\n").split("\n")).strip("\n")


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."
