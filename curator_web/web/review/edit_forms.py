"""The edit that a form of the review page means.

A form says little, the edit all: what a retarget, a split or another picture brings is read from the recording here.
What a form lacks or has wrong is found by the edit's schema.
"""

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from flask import request

from curator_web.access.services import services
from curator_web.demonstrations.library import library
from curator_web.errors import ErrorText, InputError
from curator_web.sandboxed import list_sandboxed, run_sandboxed
from curator_web.web.shell.forms import converted, parse_arguments
from pipeline.align import alternatives
from pipeline.pages.targets import element_of
from pipeline.turns import splitting
from recorder.reader import Recording
from schemas import BROWSER_INTENTS, types

from . import adding_form

_PLAIN = ("status", "utterance", "speaker", "other", "check")
_ID_SHOWN = 80


@dataclass(frozen=True)
class _EditForm:
    """A sent form and what it is about."""

    review: library.Review
    turn_id: str

    @property
    def turns(self) -> list[types.Turn]:
        return self.review.turns

    @property
    def turn(self) -> types.Turn:
        """The turn that the form names; raises InputError when there is none."""
        for turn in self.turns:
            if turn["id"] == self.turn_id:
                return turn
        raise InputError(ErrorText("field turn: unknown turn %(turn_id)r in this demonstration",
                                   turn_id=self.turn_id[:_ID_SHOWN]))

    @property
    def action(self) -> types.BrowserTurn:
        """The same, which must not be a chat turn."""
        turn = self.turn
        if turn["type"] != "browser":
            raise InputError(ErrorText("field turn: unknown action %(turn_id)r in this demonstration",
                                       turn_id=self.turn_id[:_ID_SHOWN]))
        return turn

    @property
    def recording(self) -> Recording:
        return services().store.open(self.review.row.recording)


def version_from_form() -> int:
    """The version that a change was made on; raises InputError when the form does not say it."""
    version = request.form.get("version", type=int)
    if version is None:
        raise InputError(ErrorText("field version: is required"))
    return version


def edit_from_form(review: library.Review) -> Mapping[str, Any]:
    """The edit that the sent form means; raises InputError for one that cannot be meant."""
    op = request.form.get("op", "")
    form_request = _EditForm(review, request.form.get("turn", ""))
    if op in ("undo", "redo"):
        return {"op": op}
    if op in ("drop", "restore") and "turns" in request.form:
        return {"op": op, "turns": request.form.getlist("turns")}
    if op in _WHOLE_EDITS:
        return _WHOLE_EDITS[op](form_request)
    return {"op": op, "turn": form_request.turn_id} | _FIELDS.get(op, _plain)(form_request)


def _plain(form_request: _EditForm) -> dict[str, Any]:
    return {name: request.form[name] for name in _PLAIN if name in request.form}


def _move(form_request: _EditForm) -> dict[str, Any]:
    """By a place or more: counted from where the turn is now, not from where it was when the page was made, for keys
    can be faster than answers."""
    if "step" not in request.form:
        return {"after": request.form.get("after") or None}
    ids = [turn["id"] for turn in form_request.turns]
    if form_request.turn_id not in ids:
        return {"after": None}  # which the edit's check refuses
    rest = [turn_id for turn_id in ids if turn_id != form_request.turn_id]
    index = min(max(ids.index(form_request.turn_id) + request.form.get("step", 0, int), 0), len(rest))
    return {"after": rest[index - 1] if index else None}


def _intent(form_request: _EditForm) -> dict[str, Any]:
    intent = request.form.get("intent", "")
    if intent not in BROWSER_INTENTS:
        raise InputError(ErrorText("field intent: unknown intent %(intent)r", intent=intent[:40]))
    return {"intent": intent, "arguments": converted(form_request.action, intent)}


def _screenshot(form_request: _EditForm) -> dict[str, Any]:
    """A screenshot of the recording by its blob, or a frame of its own video by the time, which is then kept."""
    recording, turn = form_request.recording, form_request.action
    if "frame" in request.form:
        time, picture = run_sandboxed(alternatives.frame_file, recording, _number("frame"))
        name = services().store.store_blob(recording, picture)
        return {"screenshot": name, "screenshot_time": time, "source": "video"}
    name = request.form.get("screenshot", "")
    for row in list_sandboxed(alternatives.screenshots, recording, turn):
        if row["screenshot"] == name:
            return {"screenshot": name, "screenshot_time": row["time"], "source": "captured"}
    raise InputError(ErrorText("field screenshot: unknown picture at this turn"))


def _add(form_request: _EditForm) -> dict[str, Any]:
    """A new chat turn behind the one that the form names, at its time."""
    name = f"said-{secrets.token_hex(6)}"
    turn: types.ChatTurn = {
            "id": name, "type": "chat", "timestamp": form_request.turn["timestamp"],
            "speaker": request.form.get("speaker", ""), "utterance": request.form.get("utterance", "").strip(),
            "checks": [], "dropped": False}
    if not turn["utterance"]:
        raise InputError(ErrorText("field utterance: is required"))
    return {"op": "add", "turn": name, "after": form_request.turn_id, "added": turn}


def _end_before(form_request: _EditForm) -> dict[str, Any]:
    """The turn from which on another demonstration begins, and its task."""
    return {"task": task} if (task := _task()) else {}


def _task() -> str:
    return " ".join(request.form.get("task", "").split())


def _label(form_request: _EditForm) -> dict[str, Any]:
    """What is said by a label, of the turn that the form names or of the demonstration."""
    said = [value.strip() for value in request.form.getlist("said") if value.strip()]
    target = {"turn": form_request.turn_id} if form_request.turn_id else {}
    return {"op": "label", "label": request.form.get("label", ""), "said": said} | target


def _fix(form_request: _EditForm) -> types.Edit:
    """The edit that a check of the turn offers; the form gives the check's kind."""
    kind = request.form.get("check", "")
    for check in form_request.turn["checks"]:
        if check["kind"] == kind and check.get("fix"):
            return check["fix"]
    raise InputError(ErrorText("field check: no %(kind)r with a fix at this turn; it may have been dismissed",
                               kind=kind[:40]))


def _number(name: str) -> float:
    value = request.form.get(name, type=float)
    if value is None or not abs(value) < 1e9:
        raise InputError(ErrorText("field %(name)s: must be a number of seconds", name=name))
    return value


_FIELDS: dict[str, Callable[[_EditForm], dict[str, Any]]] = {
    "end_before": _end_before,
    "move": _move,
    "retarget": lambda form_request: {"element": list_sandboxed(element_of, form_request.recording,
                                                                form_request.action.get("state") or {},
                                                                request.form.get("uid", ""))},
    "set_arguments": lambda form_request: {"arguments": parse_arguments(form_request.action["intent"], request.form,
                                                                  form_request.action["arguments"])},
    "set_intent": _intent,
    "set_screenshot": _screenshot,
}
_WHOLE_EDITS: dict[str, Callable[[_EditForm], Mapping[str, Any]]] = {
    "add": _add,
    "add_action": lambda form_request: adding_form.edit_of(form_request.review, form_request.turn_id, request.form,
                                                             form_request.recording),
    "fix": _fix,
    "join": lambda form_request: {"op": "join", "other": request.form.get("other", "")} | _end_before(form_request),
    "label": _label,
    "set_task": lambda form_request: {"op": "set_task", "task": _task()},
    "split": lambda form_request: list_sandboxed(splitting.split, form_request.recording, form_request.action,
                                                 int(_number("event"))),
}
