"""Format of what an agent reports of its steps: agent_steps.jsonl, and the same in turns."""

from marshmallow import fields, validate

from schemas import limits

from .parts import Strict, integer, listing, number, recording_time, string


def _reported(description: str) -> fields.String:
    return string(description, required=False, validate=validate.Length(max=limits.AGENT_TEXT))


def _tokens(description: str) -> fields.Integer:
    return integer(description, required=False, validate=validate.Range(0, limits.MAX_INTEGER))


class AgentReportSchema(Strict):
    """What an agent reports of a step."""

    reasoning = _reported("why the agent chose the action")
    model = _reported("name of the model")
    input_tokens = _tokens("tokens that the model read")
    output_tokens = _tokens("tokens that the model wrote")
    cost = number("cost of the model's calls in US dollars", minimum=0, required=False)
    error = _reported("why the step failed")
    reward = number("reward of the step", required=False)


class AgentStepSchema(AgentReportSchema):
    """One line of agent_steps.jsonl: an action that an agent announced with a report, or a step of
    the log that the agent wrote."""

    piece = "agent step"

    begin = recording_time("seconds since the recording started, when the action was announced")
    end = recording_time("the same, when the announcement ended")
    turns = listing(string("a turn"), "ids of the turns of a step of the agent's own log; without it, the turns "
                    "in its time", required=False)


class TurnReportSchema(AgentReportSchema):
    """What the agent reported of the step that a turn belongs to; the first turn of a step has all of it."""

    step = integer("number of the step, from 1", validate=validate.Range(1, limits.MAX_INTEGER))
    duration = number("seconds that the step took", minimum=0, required=False)
