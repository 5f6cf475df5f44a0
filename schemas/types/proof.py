"""Types of the values of a proof, after reading and validation.

Written by `python -m schemas.write_types` from the schemas; change those.
"""

from datetime import datetime
from typing import NotRequired, TypedDict


class TurnProof(TypedDict):
    """TurnProofSchema: What came of one turn; likenesses are of the state after it and the recorded one, from 0 to
    1.
    """

    turn: str
    intent: str
    verdict: str
    reason: str
    seconds: float
    by: list[str]
    score: NotRequired[float | None]
    elements: NotRequired[float | None]
    texts: NotRequired[float | None]
    picture: NotRequired[float | None]
    shown: NotRequired[str | None]


class Missing(TypedDict):
    """MissingSchema: A request that was not recorded, and so was answered 504."""

    method: str
    url: str
    count: int


class Proof(TypedDict):
    """ProofSchema: proof.json: what came of running a demonstration again."""

    format: str
    version: int
    demonstration: str
    recording: str
    made_at: datetime
    demotape: str
    browser: str
    live: bool
    verdict: str
    last: str
    seconds: float
    recorded_seconds: float
    turns: list[TurnProof]
    missing: list[Missing]
