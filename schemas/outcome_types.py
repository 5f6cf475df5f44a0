"""What the values of outcome checks are once they were read and checked, as in types.py."""

from typing import NotRequired, TypedDict


class Match(TypedDict):
    """MatchSchema."""

    exact: NotRequired[list[str]]
    includes: NotRequired[list[list[str]]]
    excludes: NotRequired[list[str]]
    one_of: NotRequired[list[str]]
    numbers: NotRequired[list[list[str]]]
    fuzzy: NotRequired[str]


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
    status: NotRequired[int]
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
