"""The history of a demonstration: recorded beside curated turns, and the log of edits."""

import json
from dataclasses import dataclass

from flask import Blueprint, render_template
from flask_babel import gettext as _
from flask_babel import lazy_gettext as _l

from curator_web.access.services import services
from curator_web.db.models.core import Edit
from curator_web.demonstrations.library import library
from curator_web.demonstrations.workflow import editing
from curator_web.web.shell.display_names import SPEAKER_WORDS
from pipeline.outcomes import wording
from pipeline.turns.edits import in_force
from pipeline.turns.video_placement import without_video
from schemas import types

from .presentation import ReviewView, TurnView, clock

blueprint = Blueprint("history", __name__)
SHOWN = 300  # characters of a value
_LEFT_OUT = {"dropped", "checks", "events"}
_DID = {"drop": _l("Dropped"), "restore": _l("Restored"), "move": _l("Moved"), "set_intent": _l("Intent changed"),
        "set_arguments": _l("Arguments changed"), "set_utterance": _l("Utterance changed"),
        "set_speaker": _l("Speaker changed"), "retarget": _l("Another target"),
        "set_screenshot": _l("Another picture"), "set_screenshot_status": _l("Picture marked"),
        "add": _l("Chat turn added"), "merge": _l("Merged"), "split": _l("Split"), "settle": _l("Warning dismissed"),
        "place_video": _l("Video placed"), "set_task": _l("Task changed"), "set_outcome": _l("Outcome checks"),
        "label": _l("Label"), "end_before": _l("Split here"), "begin_at": _l("Split off"), "join": _l("Joined"),
        "undo": _l("Undone"), "redo": _l("Redone")}


@dataclass(frozen=True)
class Difference:
    """One turn that is not as it was recorded. `what`: new, dropped, moved, edited, merged away; `fields`: (name,
    before, after) of each change."""

    turn: TurnView | None
    label: str
    what: tuple[str, ...]
    fields: tuple[tuple[str, str, str], ...] = ()


@dataclass(frozen=True)
class LogLine:
    """One edit of the log; `turn`: the one it is about, if that is still there; `part`: the demonstration that it was
    made to, where that was joined to this one."""

    edit: Edit
    turn: TurnView | None
    undone: bool
    part: str | None = None

    @property
    def did(self) -> str:
        """What was done, in words."""
        op = self.edit.content["op"]
        if op == "add" and self.edit.content["added"]["type"] == "browser":
            return _("Action added")
        return str(_DID.get(op, op))

    @property
    def what(self) -> str:
        """What it was done to, where that is no one turn."""
        several = self.edit.content.get("turns")
        text = _("%(count)s turns", count=len(several)) if several else self.edit.content.get("task", "")
        if self.edit.content["op"] == "set_outcome":
            text = "; ".join(wording.describe_outcome(self.edit.content["outcome"])) or _("none")
        if self.edit.content["op"] == "label":
            said = ", ".join(self.edit.content["said"]) or _("none")
            text = f"{self.edit.content['label']}: {said}"
        if self.edit.content["op"] == "join":
            text = " ".join(part for part in (self.edit.content["other"], text) if part)
        return text if len(text) <= SHOWN else text[:SHOWN] + "…"


@blueprint.get("/demonstrations/<demonstration_id>/changes")
def changes(demonstration_id: str) -> str:
    """The recorded turns and the curated ones compared, and every edit ever made."""
    review = library.review(services().db, demonstration_id)
    review_view = ReviewView(review)
    log = editing.edit_log(services().db, demonstration_id)
    in_force_numbers = {number for number, __ in in_force(review.edits)}
    part_of = _of_parts(review.edits)
    turns: dict[str | None, TurnView] = {turn.id: turn for turn in review_view.turns}
    lines = [LogLine(edit, turns.get(edit.content.get("turn")),
                     edit.number not in in_force_numbers and edit.content["op"] not in ("undo", "redo"),
                     part_of.get(edit.number))
             for edit in reversed(log)]
    return render_template("review/changes.html", row=review_view.row,
                           differences=differences(review.recorded, review_view), log=lines,
                           task=review.task, first_task=review.base["task"])


def _of_parts(edits: list[types.Edit]) -> dict[int, str]:
    """Which edits of the log, by number, were made to parts that were joined, and to which."""
    parts: dict[int, str] = {}
    for number, edit in enumerate(edits, 1):
        if edit["op"] == "join":  # the ones within it come later and count
            parts |= {number_: edit["other"] for number_ in range(number + 1, number + 1 + edit["edits"])}
    return parts


def differences(base: list[types.Turn], review_view: ReviewView) -> list[Difference]:
    """Every turn that a person changed, in the curated order; then those that were merged into others."""
    rows = [Difference(turn, f"{SPEAKER_WORDS.get(turn.kind, turn.kind)} {turn.label}", _change_names(turn),
                       _fields(turn))
            for turn in review_view.turns if _change_names(turn)]
    present = {turn.id for turn in review_view.turns}
    merged = [Difference(None, _said(turn), ("merged into another",))
              for turn in base if turn["id"] not in present]
    return rows + merged


def _said(turn: types.Turn) -> str:
    return _("%(kind)s at %(time)s", kind=turn.get("intent", "say"), time=clock(turn["timestamp"]))


def _change_names(turn: TurnView) -> tuple[str, ...]:
    if turn.original is None:
        return ("new",)
    dropped = {(False, True): ("dropped",), (True, False): ("restored",)}.get(
        (turn.original["dropped"], turn.turn["dropped"]), ())
    return (*dropped, *(("moved",) if turn.moved else ()), *(("edited",) if _fields(turn) else ()))


def _fields(turn: TurnView) -> tuple[tuple[str, str, str], ...]:
    if turn.original is None:
        return ()
    before, after = (_flat(without_video(turn_)) for turn_ in (turn.original, turn.turn))
    return tuple((name, before.get(name, ""), after.get(name, ""))
                 for name in dict.fromkeys([*before, *after]) if before.get(name, "") != after.get(name, ""))


def _flat(value: object, name: str = "") -> dict[str, str]:
    """All that a turn says, by dotted names, as text."""
    if isinstance(value, dict):
        return {key: text for part, inner in value.items() if name or part not in _LEFT_OUT
                for key, text in _flat(inner, f"{name}.{part}" if name else part).items()}
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return {name: text if len(text) <= SHOWN else text[:SHOWN] + "…"}
