"""Types of the values of a labelling scheme, after reading and validation.

Written by `python -m schemas.write_types` from the schemas; change those.
"""

from typing import Any, NotRequired, TypedDict


class Question(TypedDict):
    """QuestionSchema: A question of a labelling scheme."""

    name: str
    question: str
    scope: str
    kind: str
    options: NotRequired[list[str]]
    minimum: NotRequired[int]
    maximum: NotRequired[int]
    low: NotRequired[str]
    high: NotRequired[str]
    required: NotRequired[bool]
    intents: NotRequired[list[str]]
    when: NotRequired[dict[str, list[str | int]]]
    hint: NotRequired[str]


class Scheme(TypedDict):
    """SchemeSchema: A labelling scheme: the questions in the order in which they are asked."""

    questions: list[Question]


class QuestionAnswer(TypedDict):
    """QuestionAnswerSchema: A person's answer to a question of a labelling scheme."""

    question: str
    turn: NotRequired[str]
    value: str | int | list[Any]
    annotator: str
    scheme: int
    independent: bool
    prelabel: NotRequired[str]


class Prelabel(TypedDict):
    """PrelabelSchema: An answer that a model or a file suggests."""

    demonstration: str
    question: str
    turn: NotRequired[str]
    value: str | int | list[Any] | None
