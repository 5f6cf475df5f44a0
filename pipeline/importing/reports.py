"""What an agent reports of a step, from foreign data."""

from collections.abc import Mapping
from typing import Any

from schemas import limits
from schemas.formats.agent_steps import TurnReportSchema

_TEXTS = ("reasoning", "model", "error")


def agent_report(stated: Mapping[str, Any]) -> dict[str, Any]:
    """A report with the fields of TurnReport that are stated and valid: long texts are cut, other values omitted."""
    report = {name: str(value)[:limits.AGENT_TEXT] if name in _TEXTS else value
              for name, value in stated.items() if value not in (None, "")}
    invalid = TurnReportSchema().validate(report, partial=("step",))
    return {name: value for name, value in report.items() if name not in invalid}
