"""Format of a labelling scheme: the questions that a project asks of its demonstrations and turns, and their answers.

A scheme is written by hand, as YAML or JSON (docs/schemes.md).
"""

from collections.abc import Mapping
from typing import Any

from marshmallow import ValidationError, fields, validate, validates_schema

from schemas import limits
from schemas.intents import INTENTS

from .parts import Strict, flag, integer, listing, string

DEMONSTRATION, TURN = SCOPES = ("demonstration", "turn")
CHOICE, SEVERAL, SCALE, TEXT, SPAN = KINDS = ("choice", "several", "scale", "text", "span")
WITH_OPTIONS = (CHOICE, SEVERAL)
CLOSED_KINDS = (CHOICE, SEVERAL, SCALE)  # whose answers can be conditions
NAME_LENGTH, OPTION_LENGTH, QUESTION_LENGTH = 40, 60, 500
MAX_QUESTIONS, MAX_OPTIONS, MAX_POINTS = 100, 50, 101
_SCALE_END = 1000

# What the fields besides the common ones are for, by kind.
_NEEDS: dict[str, set[str]] = {CHOICE: {"options"}, SEVERAL: {"options"}, SCALE: {"minimum", "maximum"}, TEXT: set(),
                               SPAN: set()}
_MAY: dict[str, set[str]] = {SCALE: {"low", "high"}}
_OF_KINDS = set().union(*_NEEDS.values(), *_MAY.values())


class ConditionField(fields.Field[list[str | int]]):
    """An answer, or a list of alternatives, of which one must be the answer."""

    type_hint = "list[str | int]"

    def _deserialize(self, value: Any, attr: str | None, data: Any, **_: Any) -> list[str | int]:
        values = value if isinstance(value, list) else [value]
        if not values or any(not isinstance(item, str | int) or isinstance(item, bool) for item in values):
            raise ValidationError("Must be an answer or a list of answers.")
        return values


class QuestionSchema(Strict):
    """A question of a labelling scheme."""

    name = string("its name in answers and exports: lower case letters, digits, `_` and `-`, unique in the scheme",
                  validate=[validate.Length(1, NAME_LENGTH), validate.Regexp(
                      r"^[a-z][a-z0-9_-]*$(?!\n)", error="Use lower case letters, digits, _ and -, first a letter.")])
    question = string("the text that annotators read", validate=validate.Length(1, QUESTION_LENGTH))
    scope = string("what it is asked of: the `demonstration`, or each `turn` that is not dropped",
                   validate=validate.OneOf(SCOPES))
    kind = string("`choice` (one of the options), `several` (any of the options), `scale` (a whole number), `text`, "
                  "`span` (stretches of turns)",
                  validate=validate.OneOf(KINDS))
    options = listing(fields.String(validate=validate.Length(1, OPTION_LENGTH)), "choice, several: the options",
                      required=False, validate=validate.Length(1, MAX_OPTIONS))
    minimum = integer("scale: the lowest number", required=False, validate=validate.Range(-_SCALE_END, _SCALE_END))
    maximum = integer("scale: the highest number", required=False, validate=validate.Range(-_SCALE_END, _SCALE_END))
    low = string("scale: the meaning of the lowest number", required=False, validate=validate.Length(1, OPTION_LENGTH))
    high = string("scale: the meaning of the highest number", required=False,
                  validate=validate.Length(1, OPTION_LENGTH))
    required = flag("whether a demonstration can be submitted and approved only with an answer", required=False,
                    load_default=False)
    intents = listing(fields.String(validate=validate.OneOf(tuple(INTENTS))),
                      "scope turn: asked only of turns with one of these intents (`say`: chat)", required=False,
                      validate=validate.Length(1))
    when = fields.Dict(keys=fields.String(), values=ConditionField(), required=False, metadata={
        "description": "asked only if every earlier question named here has this answer, or one of these answers"})
    hint = string("help for annotators", required=False, validate=validate.Length(1, QUESTION_LENGTH))

    @validates_schema
    def _fields_fit_kind(self, data: dict[str, Any], **_: Any) -> None:
        kind, present = data["kind"], data.keys() & _OF_KINDS
        if missing := sorted(_NEEDS[kind] - present):
            raise ValidationError({missing[0]: f"Required by kind {kind}."})
        if extra := sorted(present - _NEEDS[kind] - _MAY.get(kind, set())):
            raise ValidationError({extra[0]: f"Not allowed with kind {kind}."})
        if data["scope"] == DEMONSTRATION and "intents" in data:
            raise ValidationError({"intents": "Allowed with scope turn only."})
        if kind == SPAN and data["scope"] != DEMONSTRATION:
            raise ValidationError({"scope": "Must be demonstration with kind span."})
        options = data.get("options", [])
        if len(set(options)) < len(options):
            raise ValidationError({"options": "Options must be unique."})
        if kind == SCALE and not 0 < data["maximum"] - data["minimum"] < MAX_POINTS:
            raise ValidationError({"maximum": f"Must be 1 to {MAX_POINTS - 1} more than minimum."})


class SchemeSchema(Strict):
    """A labelling scheme: the questions in the order in which they are asked."""

    questions = listing(fields.Nested(QuestionSchema), "the questions, in order",
                        validate=validate.Length(max=MAX_QUESTIONS))

    @validates_schema
    def _questions_are_consistent(self, data: dict[str, Any], **_: Any) -> None:
        earlier: dict[str, dict[str, Any]] = {}
        for index, question in enumerate(data["questions"]):
            if problem := _name_problem(question, earlier) or _condition_problem(question, earlier):
                raise ValidationError({"questions": {index: problem}})
            earlier[question["name"]] = question


class AnswerValueField(fields.Field[Any]):
    """The value of an answer, whose form depends on the kind of the question."""

    type_hint = "str | int | list[Any]"

    def _deserialize(self, value: Any, attr: str | None, data: Any, **_: Any) -> Any:
        if not isinstance(value, str | int | list) or isinstance(value, bool):
            raise ValidationError("Must be a text, a whole number or a list.")
        return value


class QuestionAnswerSchema(Strict):
    """A person's answer to a question of a labelling scheme."""

    question = string("name of the question")
    turn = string("id of the turn that it is about; absent for the demonstration", required=False)
    value = AnswerValueField(required=True, metadata={
        "description": "choice: an option; several: a list of options; scale: a whole number; text: a text; span: a "
                       "list of objects with `first` and `last`, the ids of turns"})
    annotator = string("pseudonym of the person")
    scheme = integer("version of the scheme in which it was answered", validate=validate.Range(1, limits.MAX_INTEGER))
    independent = flag("whether nobody else had answered the question where that person could see it")
    prelabel = string("source of the pre-label that it confirms; absent otherwise", required=False)


class PrelabelSchema(Strict):
    """An answer that a model or a file suggests."""

    demonstration = string("id of the demonstration")
    question = string("name of the question")
    turn = string("id of the turn; absent for the demonstration", required=False, load_default="")
    value = AnswerValueField(required=True, allow_none=True, metadata={
        "description": "as of an answer; null removes the suggestion"})


def possible_answers(question: Mapping[str, Any]) -> list[str] | range:
    """What can be chosen for a question of one of CLOSED_KINDS: its options, or the numbers of its scale."""
    if question["kind"] == SCALE:
        return range(question["minimum"], question["maximum"] + 1)
    options: list[str] = question["options"]
    return options


def _name_problem(question: dict[str, Any], earlier: dict[str, dict[str, Any]]) -> dict[str, str] | None:
    return {"name": "Must be unique."} if question["name"] in earlier else None


def _condition_problem(question: dict[str, Any], earlier: dict[str, dict[str, Any]]) -> dict[str, str] | None:
    for name, values in question.get("when", {}).items():
        other = earlier.get(name)
        if other is None:
            return {"when": f"{name[:NAME_LENGTH]} is not an earlier question."}
        if other["kind"] not in CLOSED_KINDS:
            return {"when": f"{name} has the kind {other['kind']}; use one of {', '.join(CLOSED_KINDS)}."}
        if question["scope"] == DEMONSTRATION and other["scope"] == TURN:
            return {"when": f"{name} is asked of turns, this question of the demonstration."}
        possible = possible_answers(other)
        if wrong := [value for value in values if value not in possible]:
            return {"when": f"{str(wrong[0])[:OPTION_LENGTH]!r} is not an answer of {name}."}
    return None
