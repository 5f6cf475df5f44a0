"""Types of the values of an agent's reports, after reading and validation.

Written by `python -m schemas.write_types` from the schemas; change those.
"""

from typing import NotRequired, TypedDict


class AgentReport(TypedDict):
    """AgentReportSchema: What an agent reports of a step."""

    reasoning: NotRequired[str]
    model: NotRequired[str]
    input_tokens: NotRequired[int]
    output_tokens: NotRequired[int]
    cost: NotRequired[float]
    error: NotRequired[str]
    reward: NotRequired[float]


class AgentStep(AgentReport):
    """AgentStepSchema: One line of agent_steps.jsonl: an action that an agent announced with a report, or a step of
    the log that the agent wrote.
    """

    begin: float
    end: float
    turns: NotRequired[list[str]]


class TurnReport(AgentReport):
    """TurnReportSchema: What the agent reported of the step that a turn belongs to; the first turn of a step has
    all of it.
    """

    step: int
    duration: NotRequired[float]
