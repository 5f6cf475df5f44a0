"""What the values of outcome checks are once they were read and checked, as in types.py."""

from typing import Any, NotRequired, TypedDict


class Value(TypedDict):
    """ValueSchema."""

    type: str
    any_of: NotRequired[list[Any]]
    patterns: NotRequired[list[str]]


class Match(TypedDict):
    """MatchSchema."""

    exact: NotRequired[list[str]]
    includes: NotRequired[list[list[str]]]
    excludes: NotRequired[list[str]]
    one_of: NotRequired[list[str]]
    numbers: NotRequired[list[list[str]]]
    fuzzy: NotRequired[str]
    value: NotRequired[Value]


class DataItem(TypedDict):
    """DataItemSchema."""

    value: NotRequired[Value]
    members: NotRequired[dict[str, Value]]


class OutcomeCheck(TypedDict):
    """OutcomeCheckSchema."""

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
    """CheckpointSchema."""

    name: str
    check: OutcomeCheck


class Outcome(TypedDict):
    """OutcomeSchema."""

    format: str
    version: int
    checks: list[OutcomeCheck]
    checkpoints: NotRequired[list[Checkpoint]]
    difficulty: NotRequired[str]
