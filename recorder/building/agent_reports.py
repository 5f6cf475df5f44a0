"""Writes agent_steps.jsonl: what an agent reports of its actions, without secrets."""

from collections.abc import Callable
from typing import Any

from recorder.privacy.secret_values import Secrets
from recorder.writer import RecordingWriter
from schemas.files import validated
from schemas.formats.agent_steps import AgentStepSchema
from schemas.types.agent_steps import AgentReport, AgentStep

from .pauses import Pauses


class AgentReports:
    """The reports of one recording. `submit` does work in the writer's thread."""

    def __init__(self, writer: RecordingWriter, submit: Callable[[Callable[[], None]], None], secrets: Secrets,
                 pauses: Pauses):
        self._writer, self._submit, self._secrets, self._pauses = writer, submit, secrets, pauses

    def add(self, begin: float, end: float, report: AgentReport) -> None:
        """Keep the report of an action, by the seconds of the recording at which it began and ended; nothing of one
        that began in a pause. Raises InputError, naming the field, for a report that is not valid."""
        line: AgentStep = {**report, "begin": begin, "end": end}
        validated(line, AgentStepSchema(), "report of an action")
        if not self._pauses.is_paused_at(begin):
            self._submit(lambda: self._writer.agent_step(_without_secrets(line, self._secrets)))


def _without_secrets(line: AgentStep, secrets: Secrets) -> Any:
    return {name: secrets.in_text(value) if isinstance(value, str) else value for name, value in line.items()}
