"""Joins what an agent reported of its steps to the turns that happened in their time. Pure, but for reading the steps.

A step is the time of one announced action (`Recorder.action`); what it caused may arrive a little later. The first of
its turns has the report, each of them the step's number; steps without a turn are listed.
"""

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from pipeline.context import Context
from schemas.types.agent_steps import AgentStep
from schemas.types.recordings import BrowserTurn, Demonstration, Turn

LATE_EFFECTS_S = 1.0  # after the end of a step in which its turns may still begin
CLOCK_TOLERANCE_S = 0.01  # pages and recorder read the time in different processes


def stage(demonstration: Demonstration, context: Context) -> Demonstration:
    """The demonstration with the agent's reports in its turns; unchanged without any."""
    steps = context.recording.agent_steps()
    return join(demonstration, steps) if steps else demonstration


def join(demonstration: Demonstration, steps: Sequence[AgentStep]) -> Demonstration:
    """The same, of given steps in any order."""
    steps = sorted(steps, key=lambda step: step["begin"])
    numbers = _numbers(demonstration["turns"], steps)
    turns: list[Turn] = []
    reported: set[int] = set()
    for turn in demonstration["turns"]:
        number = numbers.get(turn["id"])
        if turn["type"] == "browser" and number is not None:
            turns.append(_with_report(turn, number, None if number in reported else steps[number - 1]))
            reported.add(number)
        else:
            turns.append(turn)
    unmatched = [number for number in range(1, len(steps) + 1) if number not in reported]
    joined: Demonstration = {**demonstration, "turns": turns}
    return {**joined, "unmatched_steps": unmatched} if unmatched else joined


def _numbers(turns: Sequence[Turn], steps: Sequence[AgentStep]) -> dict[str, int]:
    """By turn the number of the step that lists it, or of the last step that began before it, unless that ended long
    before."""
    if any("turns" in step for step in steps):
        return {name: number for number, step in enumerate(steps, 1) for name in step.get("turns", ())}
    begins = [step["begin"] - CLOCK_TOLERANCE_S for step in steps]
    numbers = {}
    for turn in turns:
        number = bisect_right(begins, turn["timestamp"])
        if turn["type"] == "browser" and number and turn["timestamp"] <= steps[number - 1]["end"] + LATE_EFFECTS_S:
            numbers[turn["id"]] = number
    return numbers


def _with_report(turn: BrowserTurn, number: int, step: AgentStep | None) -> BrowserTurn:
    report: dict[str, Any] = {"step": number}
    if step is not None:
        report |= {name: value for name, value in step.items() if name not in ("begin", "end", "turns")}
        report["duration"] = round(step["end"] - step["begin"], 3)
    joined: BrowserTurn = {**turn, "agent": report}  # type: ignore[typeddict-item]
    return joined
