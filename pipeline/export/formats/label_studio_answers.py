"""Answers to a project's questions in Label Studio's format: an annotation for each person, and the controls of the
labelling interface (https://labelstud.io/guide/task_format)."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from schemas.formats.scheme import CHOICE, SCALE, SEVERAL, SPAN
from schemas.types import Question, QuestionAnswer

PREFIX = "answer-"  # of a control's name, before the question's
_TARGET = 'toName="screenshot"'


def controls(questions: Iterable[Question]) -> list[str]:
    """The lines of the labelling interface for questions, each a header and a control."""
    lines: list[str] = []
    for question in questions:
        if question["kind"] == SPAN:  # of turns, of which a task has one
            continue
        name = f"name={_quoted(PREFIX + question['name'])} {_TARGET}"
        lines.append(f'  <Header value={_quoted(question["question"])} size="5"/>')
        if question["kind"] in (CHOICE, SEVERAL):
            kind = "single" if question["kind"] == CHOICE else "multiple"
            lines.append(f'  <Choices {name} choice="{kind}" showInline="true">')
            lines += [f"    <Choice value={_quoted(option)}/>" for option in question["options"]]
            lines.append("  </Choices>")
        elif question["kind"] == SCALE:
            lines.append(f'  <Number {name} min="{question["minimum"]}" max="{question["maximum"]}" step="1"/>')
        else:
            lines.append(f'  <TextArea {name} rows="2" maxSubmissions="1" editable="true"/>')
    return lines


def _quoted(text: str) -> str:
    """A value of an attribute of XML."""
    return f'"{escape(text)}"'


def annotations(answers: Iterable[QuestionAnswer], questions: Sequence[Question], turn: str,
                common: dict[str, Any]) -> list[dict[str, Any]]:
    """An annotation for each person who answered about a turn or its demonstration. `common`: what every result has.

    The person's pseudonym is in the `meta` of each result: `completed_by` names accounts of Label Studio.
    """
    kinds = {question["name"]: question["kind"] for question in questions if question["kind"] != SPAN}
    by_person: dict[str, list[dict[str, Any]]] = {}
    for answer in answers:
        if answer.get("turn") in (None, turn) and answer["question"] in kinds:
            name, (type_, value) = PREFIX + answer["question"], _value(kinds[answer["question"]], answer["value"])
            by_person.setdefault(answer["annotator"], []).append(common | {
                "id": name, "from_name": name, "type": type_, "value": value, "meta": {"text": [answer["annotator"]]}})
    return [{"result": results} for _, results in sorted(by_person.items())]


def _value(kind: str, value: Any) -> tuple[str, dict[str, Any]]:
    """The type of a result and its value."""
    if kind == SCALE:
        return "number", {"number": value}
    if kind in (CHOICE, SEVERAL):
        return "choices", {"choices": value if isinstance(value, list) else [value]}
    return "textarea", {"text": [value]}
