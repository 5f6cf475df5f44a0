"""What the values of a proof are once they were read and checked, as in types.py."""

from datetime import datetime
from typing import NotRequired, TypedDict


class TurnProof(TypedDict):
    """TurnProofSchema."""

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
    """MissingSchema."""

    method: str
    url: str
    count: int


class Proof(TypedDict):
    """ProofSchema."""

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
