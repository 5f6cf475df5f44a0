"""Format of outcome checks (outcome.json): conditions for a completed task, stored beside a recording."""

import math
from typing import Any

from marshmallow import ValidationError, fields, pre_load, validate, validates_schema

from schemas import limits

from .parts import Strict, digest, flag, integer, listing, nested, newest_version, number, string

FORMAT = "demotape/outcome"
GROUPS = ("all", "any", "not")
KINDS = (*GROUPS, "url", "text", "picture", "answer", "request", "script", "response", "unknown")
EVENTS = ("any", "last", "navigation")
TASK_TYPES = ("RETRIEVE", "MUTATE", "NAVIGATE")
VALUE_TYPES = ("string", "parameter", "number", "boolean", "currency", "date", "month", "duration", "list",
               "url")
_MAX_CHECKS = 1000
_TEXT = validate.Length(max=limits.OUTCOME_TEXT)
# What each kind needs, and what it may have besides.
_NEEDS: dict[str, tuple[set[str], set[str]]] = {
    "all": ({"checks"}, set()), "any": ({"checks"}, set()), "not": ({"checks"}, set()),
    "url": ({"match"}, set()), "text": ({"match"}, {"page", "css", "attribute"}),
    "picture": ({"picture"}, {"page", "css", "least"}), "answer": ({"match"}, set()),
    "request": ({"match"}, {"method", "query", "body", "status", "events", "ignored"}),
    "response": ({"task_type", "task_status"}, {"data", "ordered"}),
    "script": ({"expression", "match"}, {"page", "before"}), "unknown": ({"reason"}, set()),
}


def _non_empty_list(item: fields.Field[Any], description: str) -> fields.List[Any]:
    return listing(item, description, required=False, validate=validate.Length(1, _MAX_CHECKS))


def _alternatives(description: str) -> fields.List[Any]:
    return _non_empty_list(fields.List(fields.String(validate=_TEXT), validate=validate.Length(1, _MAX_CHECKS)),
                           description)


class ScalarField(fields.Field[Any]):
    """A text, a finite number, true, false or null, as JSON has them."""

    type_hint = "Any"

    def _deserialize(self, value: Any, attr: str | None, data: Any, **_: Any) -> Any:
        if not isinstance(value, str | int | float | bool) or value in (math.inf, -math.inf) or value != value:
            raise ValidationError("Must be a text, a number, true, false or null.")
        if isinstance(value, str):
            _TEXT(value)
        return value


class ValueSchema(Strict):
    """A value of a type, compared as WebArena-Verified does; one alternative must fit."""

    type = string("`string`, `number`, `boolean`, `currency` (0.1 more or less), `date`, `month`, `duration` (three "
                  "minutes or a tenth more or less), `url`; `list`: texts between commas, in any order; `parameter`: a "
                  "parameter of an address", validate=validate.OneOf(VALUE_TYPES))
    any_of = _non_empty_list(ScalarField(allow_none=True), "it is one of these; null: there is none")
    patterns = _non_empty_list(fields.String(validate=_TEXT),
                               "the whole of it fits one of these regular expressions (RE2)")

    @validates_schema
    def _require_value(self, value: dict[str, Any], **_: Any) -> None:
        if not value.keys() & {"any_of", "patterns"}:
            raise ValidationError("Must have any_of or patterns.")


class MatchSchema(Strict):
    """What a text must be; of several members, all must hold."""

    exact = _non_empty_list(fields.String(validate=_TEXT), "it is one of these")
    includes = _alternatives("of each list, one is in it")
    excludes = _non_empty_list(fields.String(validate=_TEXT), "none of these is in it")
    one_of = _non_empty_list(fields.String(validate=_TEXT), "at least one of these is in it, anywhere")
    numbers = _alternatives("it is a number for which, of each list, one holds, such as `>= 12`, `< 700`, `== 3`")
    fuzzy = string("it means the same as this; a judge of yours decides, and nobody does without one", required=False,
                   validate=_TEXT)
    value = nested(ValueSchema, "it is this value",
                   required=False)

    @validates_schema
    def _require_condition(self, match: dict[str, Any], **_: Any) -> None:
        if not match:
            raise ValidationError("Must have at least one of exact, includes, excludes, one_of, numbers, fuzzy and "
                                  "value.")


class DataItemSchema(Strict):
    """One of the data that are wanted of a structured answer: a value, or an object of values."""

    value = nested(ValueSchema, "it is this value", required=False)
    members = fields.Dict(keys=fields.String(validate=_TEXT), values=fields.Nested(ValueSchema), metadata={
        "description": "it is an object with these members and no others"})

    @validates_schema
    def _require_one(self, item: dict[str, Any], **_: Any) -> None:
        if len(item) != 1:
            raise ValidationError("Must have either value or members.")


class OutcomeCheckSchema(Strict):
    """One outcome check: a group of others, or something that holds or does not."""

    kind = string("`all`, `any` or `not` of `checks`; `url`, `text`, `picture`, `answer`, `request`, `script`, "
                  "`response` (a structured answer); `unknown`: something that cannot be evaluated",
                  validate=validate.OneOf(KINDS))
    checks = listing(fields.Nested(lambda: OutcomeCheckSchema()), "of a group: the checks in it; `not` has one",
                     required=False, validate=validate.Length(1, _MAX_CHECKS))
    match = fields.Nested(MatchSchema, metadata={
        "description": "what the address, the text, the answer or the expression's value must be; of a request: its "
                       "address without the part after ?"})
    page = string("address of the page that is looked at; absent: the last one", required=False, validate=_TEXT)
    css = string("selector of the elements that are looked at; absent: the whole page", required=False, validate=_TEXT)
    attribute = string("name of the attribute that is looked at; absent: the text", required=False, validate=_TEXT)
    expression = string("JavaScript whose value, as text, is looked at; it runs in a world of its own", required=False,
                        validate=_TEXT)
    before = _non_empty_list(fields.String(validate=_TEXT), "JavaScript that is run before the expression")
    picture = digest("blob of the picture that the page, or one of the elements, is like", required=False)
    least = number("how like it must be at least (SSIM); 0.8 where absent", minimum=-1, maximum=1, required=False)
    method = string("method of the request; absent: any", required=False, validate=_TEXT)
    query = fields.Dict(keys=fields.String(validate=_TEXT), values=fields.Nested(MatchSchema), metadata={
        "description": "what parameters of the request's address must be, by name"})
    body = fields.Dict(keys=fields.String(validate=_TEXT), values=fields.Nested(MatchSchema), metadata={
        "description": "what parts of the request's body must be: fields of a form by name, members of JSON by their "
                       "path, such as `order.items.0.name`"})
    status = integer("status of its answer, 0: there was none; absent: any below 400; null: whatever it was",
                     required=False, allow_none=True, validate=validate.Range(min=0, max=999))
    events = string("the request is found as WebArena-Verified finds network events: `any` or only the `last` with "
                    "this method and address, or the last `navigation`, whatever its address; its body is read "
                    "by its content type. Absent: any request", required=False, validate=validate.OneOf(EVENTS))
    ignored = listing(fields.String(validate=_TEXT), "with `events`: regular expressions (RE2) of parameters that may "
                      "be there; all others that `query` does not name must be empty or absent. Without it any may be "
                      "there",
                      required=False, validate=validate.Length(max=_MAX_CHECKS))
    task_type = string("of `response`: `RETRIEVE`, `MUTATE` or `NAVIGATE`", required=False,
                       validate=validate.OneOf(TASK_TYPES))
    task_status = string("of `response`: `SUCCESS`, `NOT_FOUND_ERROR` …", required=False, validate=_TEXT)
    data = listing(fields.Nested(DataItemSchema), "of `response`: the data that are wanted, all and no others; empty: "
                   "none. Absent: whatever they are", required=False, validate=validate.Length(max=_MAX_CHECKS))
    ordered = flag("of `response`: true when the data must stand in this order", required=False)
    reason = string("of `unknown`: why it cannot be evaluated", required=False, validate=_TEXT)

    @validates_schema
    def _require_members(self, check: dict[str, Any], **_: Any) -> None:
        needed, allowed = _NEEDS[check["kind"]]
        members = check.keys() - {"kind"}
        if missing := needed - members:
            raise ValidationError(f"Required by a check of kind {check['kind']}.", min(missing))
        if other := members - needed - allowed:
            raise ValidationError(f"Not allowed in a check of kind {check['kind']}.", min(other))
        if check["kind"] == "not" and len(check["checks"]) != 1:
            raise ValidationError("Must be one check.", "checks")


class CheckpointSchema(Strict):
    """Something that must hold on the way."""

    name = string("what it is, for people", validate=_TEXT)
    check = fields.Nested(OutcomeCheckSchema, required=True, metadata={"description": "what must hold at some moment"})


def _within(check: dict[str, Any]) -> list[dict[str, Any]]:
    """The checks and checkpoints that something holds, as far as it is what it should be."""
    lists = [check.get("checks"), check.get("checkpoints"), [check.get("check")]]
    return [inner for some in lists if isinstance(some, list) for inner in some if isinstance(inner, dict)]


class OutcomeSchema(Strict):
    """outcome.json: what makes a task done."""

    piece = "outcome"

    format = string("always `demotape/outcome`", validate=validate.Equal(FORMAT))
    version = newest_version(FORMAT)
    checks = listing(fields.Nested(OutcomeCheckSchema), "all must hold when the session ends",
                     validate=validate.Length(1, _MAX_CHECKS))
    checkpoints = listing(fields.Nested(CheckpointSchema), "partial credit: what holds on the way, in this order",
                          required=False, validate=validate.Length(max=_MAX_CHECKS))
    difficulty = string("how hard the task is, such as `easy`, `medium`, `hard`; agents' success is told by it",
                        required=False, validate=validate.Length(1, 100))

    @pre_load
    def _require_shallow(self, outcome: Any, **_: Any) -> Any:
        """Before the checks are read, each of which reads those in it."""
        depth, level = 0, [outcome] if isinstance(outcome, dict) else []
        while level:
            depth += 1
            if depth > limits.OUTCOME_DEPTH + 2:  # besides the outcome and the innermost check
                raise ValidationError(f"Groups may be nested at most {limits.OUTCOME_DEPTH} levels deep.", "checks")
            level = [inner for check in level for inner in _within(check)]
        return outcome
