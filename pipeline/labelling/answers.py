"""Answers to the questions of a labelling scheme: which are asked, which values are valid, which are missing.

Answers are a mapping from `(question, turn)` to the value; `turn` is empty for those of the demonstration. Values by
kind: an option; a list of options, in the scheme's order; a whole number; a text; a list of spans, each with the ids of
its `first` and `last` turn.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from schemas import InputError, types
from schemas.formats.scheme import CHOICE, SCALE, SEVERAL, SPAN, TURN, possible_answers

Key = tuple[str, str]
Answers = Mapping[Key, Any]
TEXT_LENGTH = 4000
MAX_SPANS = 50


def question_of(scheme: types.Scheme, name: str) -> types.Question:
    """The question of a name; raises InputError."""
    question = next((question for question in scheme["questions"] if question["name"] == name), None)
    if question is None:
        raise InputError(f"field question: unknown question {name[:40]!r}")
    return question


def checked_value(question: types.Question, value: Any) -> Any:
    """A value as it is stored; None where there is no answer (null, no option, no text). Raises InputError naming the
    question."""
    name, kind = question["name"], question["kind"]
    if value is None:
        return None
    if kind == SCALE:
        if not isinstance(value, int) or isinstance(value, bool) or value not in possible_answers(question):
            raise InputError(f"question {name}: must be a whole number from {question['minimum']} to "
                             f"{question['maximum']}")
        return value
    if kind == SEVERAL:
        return _checked_options(question, value)
    if kind == SPAN:
        return _checked_spans(name, value)
    if not isinstance(value, str):
        raise InputError(f"question {name}: must be a text")
    if kind == CHOICE:
        _require_options(question, [value] if value else [])
        return value or None
    text = value.strip()
    if len(text) > TEXT_LENGTH:
        raise InputError(f"question {name}: must have at most {TEXT_LENGTH} characters")
    return text or None


def require_turns(question: types.Question, value: Any, turns: Iterable[types.Turn]) -> None:
    """Raises InputError for a span whose turns do not exist or are in the wrong order; `value`: a valid one."""
    if question["kind"] != SPAN or not value:
        return
    indexes = {turn["id"]: index for index, turn in enumerate(turns)}
    for span in value:
        for end in ("first", "last"):
            if span[end] not in indexes:
                raise InputError(f"question {question['name']}: unknown turn {span[end][:80]!r}")
        if indexes[span["first"]] > indexes[span["last"]]:
            raise InputError(f"question {question['name']}: a span ends before it begins")


def changed_spans(spans: list[dict[str, str]], change: str, turn: str) -> list[dict[str, str]]:
    """Spans after a step of an annotator at a turn: `begin` adds one of this turn alone, `extend` has the last one end
    here, `remove` takes the last one away. Raises InputError for another step and where there is no span."""
    if change == "begin":
        return [*spans, {"first": turn, "last": turn}]
    if change not in ("extend", "remove") or not spans:
        raise InputError("field span: begin a span first" if not spans else "field span: begin, extend or remove")
    return [*spans[:-1], *([spans[-1] | {"last": turn}] if change == "extend" else [])]


def is_applicable(question: types.Question, turn: types.Turn | None, answers: Answers) -> bool:
    """Whether a question is asked of a turn, or with None of the demonstration, in view of other answers."""
    if (question["scope"] == TURN) != (turn is not None):
        return False
    if turn is not None and (turn["dropped"] or _intent(turn) not in question.get("intents", [_intent(turn)])):
        return False
    return all(_fulfils(values, name, turn, answers) for name, values in question.get("when", {}).items())


def applicable(scheme: types.Scheme, turn: types.Turn | None, answers: Answers) -> list[types.Question]:
    """The questions that are asked of a turn, or with None of the demonstration."""
    return [question for question in scheme["questions"] if is_applicable(question, turn, answers)]


def missing(scheme: types.Scheme, turns: Iterable[types.Turn], answers: Answers) -> Iterator[Key]:
    """The required questions without an answer: of the demonstration, then of the turns in order."""
    required = [question for question in scheme["questions"] if question.get("required")]
    of_turns = [question for question in required if question["scope"] == TURN]
    for question in required:
        key = (question["name"], "")
        if is_applicable(question, None, answers) and key not in answers:
            yield key
    for turn in turns if of_turns else ():
        for question in of_turns:
            key = (question["name"], turn["id"])
            if key not in answers and is_applicable(question, turn, answers):
                yield key


def _fulfils(values: list[str | int], name: str, turn: types.Turn | None, answers: Answers) -> bool:
    """Whether a question has one of these answers, for this turn or else for the demonstration."""
    of_turn = answers.get((name, turn["id"])) if turn is not None else None
    answer = answers.get((name, "")) if of_turn is None else of_turn
    options = answer if isinstance(answer, list) else [answer]
    return any(option in values for option in options)


def _intent(turn: types.Turn) -> str:
    return "say" if turn["type"] == "chat" else turn["intent"]


def _checked_options(question: types.Question, value: Any) -> list[str] | None:
    if not isinstance(value, list) or not all(isinstance(option, str) for option in value):
        raise InputError(f"question {question['name']}: must be a list of options")
    _require_options(question, value)
    return [option for option in question["options"] if option in value] or None


def _checked_spans(name: str, value: Any) -> list[dict[str, str]] | None:
    if not isinstance(value, list) or len(value) > MAX_SPANS or not all(
            isinstance(span, dict) and span.keys() == {"first", "last"}
            and all(isinstance(turn, str) for turn in span.values()) for span in value):
        raise InputError(f"question {name}: must be a list of at most {MAX_SPANS} spans, each with first and last")
    return value or None


def _require_options(question: types.Question, values: list[str]) -> None:
    if unknown := [value for value in values if value not in question["options"]]:
        raise InputError(f"question {question['name']}: unknown option {unknown[0][:60]!r}; choose from "
                         f"{', '.join(question['options'])}")
