"""Types of the values of outcome checks, after reading and validation.

Written by `python -m schemas.write_types` from the schemas; change those.
"""

from typing import Any, NotRequired, TypedDict


class Value(TypedDict):
    """ValueSchema: A value of a type, compared as WebArena-Verified does; one alternative must fit."""

    type: str
    any_of: NotRequired[list[Any]]
    patterns: NotRequired[list[str]]


class Match(TypedDict):
    """MatchSchema: What a text must be; of several members, all must hold."""

    exact: NotRequired[list[str]]
    includes: NotRequired[list[list[str]]]
    excludes: NotRequired[list[str]]
    one_of: NotRequired[list[str]]
    numbers: NotRequired[list[list[str]]]
    fuzzy: NotRequired[str]
    value: NotRequired[Value]


class DataItem(TypedDict):
    """DataItemSchema: One of the data that are wanted of a structured answer: a value, or an object of values."""

    value: NotRequired[Value]
    members: NotRequired[dict[str, Value]]


class OutcomeCheck(TypedDict):
    """OutcomeCheckSchema: One outcome check: a group of others, or something that holds or does not."""

    kind: str
    checks: NotRequired[list["OutcomeCheck"]]
    match: NotRequired[Match]
    page: NotRequired[str]
    css: NotRequired[str]
    attribute: NotRequired[str]
    expression: NotRequired[str]
    before: NotRequired[list[str]]
    picture: NotRequired[str]
    least: NotRequired[float]
    method: NotRequired[str]
    query: NotRequired[dict[str, Match]]
    body: NotRequired[dict[str, Match]]
    status: NotRequired[int | None]
    events: NotRequired[str]
    ignored: NotRequired[list[str]]
    task_type: NotRequired[str]
    task_status: NotRequired[str]
    data: NotRequired[list[DataItem]]
    ordered: NotRequired[bool]
    reason: NotRequired[str]


class Checkpoint(TypedDict):
    """CheckpointSchema: Something that must hold on the way."""

    name: str
    check: OutcomeCheck


class Outcome(TypedDict):
    """OutcomeSchema: outcome.json: what makes a task done."""

    format: str
    version: int
    checks: list[OutcomeCheck]
    checkpoints: NotRequired[list[Checkpoint]]
    difficulty: NotRequired[str]
