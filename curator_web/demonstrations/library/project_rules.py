"""Checks and intents that a project uses, applied to a demonstration's turns.

The turns are kept as the pipeline made them, so that a check that is in use again is there again.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy.orm import Session

from curator_web.errors import ErrorText, InputError
from curator_web.users import project_settings
from curator_web.users.project_settings import Settings
from pipeline.checks import UNUSED_INTENT
from pipeline.turns.edits import in_force
from schemas import types


def marked(turns: list[types.Turn], settings: Settings, edits: Iterable[types.Edit] = ()) -> list[types.Turn]:
    """The turns with the checks that count. One whose intent is not in use has a check for that, until an edit says
    that it is fine."""
    if settings.counts_as(Settings()):
        return turns
    fine = {edit["turn"] for _, edit in in_force(edits) if edit["op"] == "settle" and edit["check"] == UNUSED_INTENT}
    return [_marked(turn, settings, turn["id"] in fine) for turn in turns]


def demonstration_in(session: Session, project: str, demonstration: types.Demonstration) -> types.Demonstration:
    """A demonstration that nobody has edited, as a project has it."""
    return {**demonstration, "turns": marked(demonstration["turns"], project_settings.settings_of(session, project))}


def require_intent(settings: Settings, turns: list[types.Turn], edit: Mapping[str, Any]) -> None:
    """Raises InputError for an edit that gives a turn an intent which is not in use; one that it has may stay."""
    intent = {"set_intent": edit, "add": edit.get("added", {})}.get(edit["op"], {}).get("intent")
    if intent not in settings.unused_intents:
        return
    turn = next((candidate for candidate in turns if candidate["id"] == edit.get("turn")), None)
    if turn and turn["type"] == "browser" and turn["intent"] == intent:
        return
    raise InputError(ErrorText("field intent: %(intent)s is not in use in this project; choose one of %(which)s",
                               intent=intent, which=", ".join(settings.intents)))


def _marked(turn: types.Turn, settings: Settings, is_fine: bool) -> types.Turn:
    checks = [check for check in turn["checks"]
              if check["kind"] not in settings.unused_checks and check["kind"] != UNUSED_INTENT]
    if (turn["type"] == "browser" and turn["intent"] in settings.unused_intents and not is_fine
            and UNUSED_INTENT not in settings.unused_checks):
        checks.append({"kind": UNUSED_INTENT, "reason": f"The intent {turn['intent']} is not in use in this project."})
    return turn if checks == turn["checks"] else turn | {"checks": checks}
