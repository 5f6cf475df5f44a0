"""Outcome checks on recorded sessions, evaluated and proposed in processes with limits: those parse the pages."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pipeline.isolation import allowance_for, run_isolated
from recorder.reader import Recording
from schemas.types.outcome import Outcome, OutcomeCheck
from schemas.types.recordings import Turn

from .checking import Score
from .checking import score as score_evidence
from .evidence import of_recording
from .expressions import Expressions
from .proposing import confirm, propose, refusal_reason


def score_session(recording: Recording, outcome: Outcome, answer: str) -> Score:
    """Evaluate outcome checks, also expressions, on a recorded session; not for a thread with an event loop. Raises
    InputError when the session shows no page."""
    return _run(recording, _score, outcome, answer)


def examine_session(recording: Recording, outcome: Outcome, answer: str) -> tuple[Score, list[str]]:
    """As `score_session`, with the reason why a passing check is none for this session, for each check; "" for others
    and for those that are."""
    return _run(recording, _examine, outcome, answer)


def propose_checks(recording: Recording, turns: Sequence[Turn], answer: str) -> list[OutcomeCheck]:
    """Propose checks from the changes of a recorded session."""
    return _run(recording, _propose, turns, answer)


def confirm_checks(recording: Recording, proposed: Sequence[OutcomeCheck], again: Recording, answer: str
                   ) -> list[OutcomeCheck]:
    """The proposed checks that also pass in another recording of the same actions."""
    return _run(recording, _confirm, proposed, again, answer)


def write_webarena_task(recording: Recording, outcome: Outcome, answer: str, sites: Mapping[str, str], number: int
                        ) -> tuple[dict[str, Any], list[str]]:
    """Outcome checks as a task of WebArena-Verified, and what it cannot express. Raises InputError."""
    return _run(recording, _write_webarena_task, outcome, answer, sites, number)


def _run(recording: Recording, function: Any, *arguments: Any) -> Any:
    root = recording.layout.root
    return run_isolated(allowance_for(root), str(root), function, recording, *arguments)


def _score(recording: Recording, outcome: Outcome, answer: str) -> Score:
    with Expressions(recording) as evaluate:
        return score_evidence(outcome, replace(of_recording(recording, answer), evaluate=evaluate))


def _examine(recording: Recording, outcome: Outcome, answer: str) -> tuple[Score, list[str]]:
    with Expressions(recording) as evaluate:
        evidence = replace(of_recording(recording, answer), evaluate=evaluate)
        score = score_evidence(outcome, evidence)
        return score, [refusal_reason(result.check, evidence) if result.holds else "" for result in score.checks]


def _propose(recording: Recording, turns: Sequence[Turn], answer: str) -> list[OutcomeCheck]:
    return propose(of_recording(recording, answer), turns)


def _confirm(recording: Recording, proposed: Sequence[OutcomeCheck], again: Recording, answer: str
             ) -> list[OutcomeCheck]:
    return confirm(proposed, of_recording(recording, answer), of_recording(again, answer))


def _write_webarena_task(recording: Recording, outcome: Outcome, answer: str, sites: Mapping[str, str], number: int
                         ) -> tuple[dict[str, Any], list[str]]:
    from .benchmark_tasks import webarena_writing  # here, as it is an optional part

    evidence = of_recording(recording, answer)
    return webarena_writing.write(outcome, evidence, recording.task, [evidence.pages[0].url], sites, number)
