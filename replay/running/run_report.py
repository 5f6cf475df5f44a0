"""The result of a run: a verdict for each turn and for the run."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from .comparing import worst


@dataclass(frozen=True)
class Outcome:
    """The result of one turn. `by`: what the element was found by; `score` from 0 to 1. `elements`, `texts` and
    `picture` (SSIM) say how alike the state after it and the recorded one are, from 0 to 1; None when not known.
    `shown`: the screenshot after it, an image file's bytes."""

    turn: str
    intent: str
    verdict: str
    reason: str
    seconds: float
    by: tuple[str, ...] = ()
    score: float | None = None
    elements: float | None = None
    texts: float | None = None
    picture: float | None = None
    shown: bytes | None = field(default=None, repr=False)


@dataclass
class Result:
    """What came of a run. `verdict`: the worst of its turns'; `last`: of its last state alone; `missing`: requests that
    were not recorded, counted by method and address."""

    verdict: str
    last: str
    outcomes: list[Outcome]
    seconds: float
    recorded_seconds: float
    browser: str
    missing: dict[tuple[str, str], int] = field(default_factory=dict)


def downgrade_edited(result: Result, edited: Mapping[str, str]) -> Result:
    """The same result, in which what is not what the person did is not called the same, though the pages are. `edited`:
    why that is so, by turn."""
    outcomes = [replace(outcome, verdict="equivalent", reason=edited[outcome.turn])
                if outcome.verdict == "same" and outcome.turn in edited else outcome for outcome in result.outcomes]
    return replace(result, outcomes=outcomes, verdict=worst([outcome.verdict for outcome in outcomes]))
