"""Evaluation of outcome checks on recorded sessions: each function reads a recording and returns plain values.

Expressions are never run here, so checks that need them are not decided. `part`: from when to when the session counts,
in seconds since the recording started; all of it without.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from recorder.reader import Recording
from schemas import InputError
from schemas.types.outcome import Outcome, OutcomeCheck
from schemas.types.recordings import Turn

from . import proposing
from .checking import score
from .evidence import Evidence, of_recording
from .responses import spoken_answer

_REASON = 300  # characters of one that is kept
_ELEMENTS = 200  # of a page that are offered
Part = tuple[float, float]
_ALL: Part = (-math.inf, math.inf)


@dataclass(frozen=True)
class CheckExamination:
    """What came of a check at the recorded end, and why it is none for this session, empty when it is one."""

    holds: bool | None
    reason: str
    refused: str


@dataclass(frozen=True)
class OfferedText:
    """A text of the last page that a check can be begun with: where it stands, what it says, and the box of its
    element in CSS pixels of the picture, None where that is not known."""

    css: str
    text: str
    box: dict[str, float] | None


def examine_checks(recording: Recording, outcome: Outcome, part: Part = _ALL) -> list[CheckExamination]:
    """Each check at the recorded end and start of its own session; raises InputError when it shows no page."""
    evidence = _evidence(recording, outcome, recording, part)
    result = score(outcome, evidence)
    return [CheckExamination(check.holds, check.reason, proposing.refusal_reason(check.check, evidence))
            for check in result.checks]


def try_on_session(recording: Recording, outcome: Outcome, home: Recording, part: Part = _ALL) -> dict[str, Any]:
    """What the checks of a session say of another one of the same task, as JSON has it. `home`: the recording that they
    are of, in which the pictures are that they name. Raises as `examine_checks` does."""
    evidence = _evidence(recording, outcome, home, part)
    result, last = score(outcome, evidence), evidence.pages[-1].state
    about = recording.manifest.get("provenance", {})
    return {"holds": result.holds, "score": result.value, "reached": result.reached,
            "checks": [{"holds": check.holds, "reason": check.reason[:_REASON]} for check in result.checks],
            "actor": about.get("actor", ""), "agent": about.get("agent", ""),
            "shown": last["screenshot"] if last else None}


def proposals(recording: Recording, turns: Iterable[Turn], part: Part = _ALL) -> list[OutcomeCheck]:
    """Checks that a session suggests by itself, without being run again; raises as `examine_checks` does."""
    return proposing.propose(of_recording(recording).between(*part), turns)


def offered_texts(recording: Recording, part: Part = _ALL) -> list[OfferedText]:
    """Texts of the last page in the order in which they stand there; raises as `examine_checks` does."""
    page = of_recording(recording).between(*part).pages[-1]
    boxes = page.boxes()
    offers = []
    for text in proposing.page_texts(page):
        box = boxes.get(text.uid)
        offers.append(OfferedText(text.css, text.text, dict(box) if box else None))
        if len(offers) == _ELEMENTS:
            break
    return offers


def picture(recording: Recording, css: str, part: Part = _ALL) -> bytes:
    """The picture of what a selector fits on the last page: an image file. Raises InputError when there is none."""
    images = of_recording(recording).between(*part).pages[-1].pictures(css)
    if not images:
        raise InputError("nothing on the last page that fits it has a picture")
    return images[0]


def last_screenshot(recording: Recording, part: Part = _ALL) -> tuple[str, dict[str, int]] | None:
    """The picture of the recorded end, by its blob, and the viewport's size; None without one."""
    state = of_recording(recording).between(*part).pages[-1].state
    if not state or not state["screenshot"]:
        return None
    return state["screenshot"], {"width": state["viewport"]["width"], "height": state["viewport"]["height"]}


def _evidence(recording: Recording, outcome: Outcome, home: Recording, part: Part) -> Evidence:
    evidence = replace(of_recording(recording).between(*part), reference=home.blob)
    actor = recording.manifest.get("provenance", {}).get("actor")
    if actor in ("agent", "script") and not evidence.answer:  # a script says nothing, and older runs kept no answer
        return replace(evidence, answered=False)
    return evidence if actor == "agent" else replace(evidence, answer=spoken_answer(evidence.answer, outcome))
