"""AgentNet (OpenCUA): `<split>.jsonl`, one task for each demonstration, with a picture and code of pyautogui a step.

Coordinates are shares of the picture. Each step has a picture, so that actions without a good one have no form.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from pipeline.export.grammars import computer_use
from pipeline.export.grammars.acts import Act, NoForm, Session, picture_size
from pipeline.export.model_input.prompt import in_words
from pipeline.export.source import File, Line, Options, Source, Tally
from pipeline.export.states import States
from pipeline.privacy.redacting import has_redactions
from schemas import UID_ATTRIBUTE
from schemas.actors import actor_of
from schemas.files import dump_line
from schemas.types.recordings import Size, Turn, TurnState

from . import features, layouts
from .card import Counted, Words
from .croissant import Description
from .lines import LineFiles, WriteOnce

_ABOUT = """One task a demonstration, in the layout of AgentNet: `traj` has its steps, each with the picture before it
(`image`: a file in `images/`) and code of pyautogui, with coordinates as shares of the picture. Nobody scored the
steps: scores are null. `demotape` of a step has the turn's id, intent and time, and marks code from which values were
removed (`redacted`)."""
_SHARE_DIGITS = 6
_CLICKS = {"left_click": "click", "right_click": "rightClick", "middle_click": "middleClick",
           "double_click": "doubleClick", "mouse_move": "moveTo"}
_KEYS = {"Return": "enter", "BackSpace": "backspace", "Page_Up": "pageup", "Page_Down": "pagedown", "plus": "+",
         "super": "win"}  # names of xdotool that differ from pyautogui's otherwise than in case
_COMPLETED = {"success": True, "failure": False}


class Writer(LineFiles):
    """Writes the tasks of each split, and what describes them at the end."""

    def words(self) -> Words:
        return Words("turn", "intent", _ABOUT)

    def row_types(self) -> features.Features:
        return features.agentnet()

    def description(self, files: Mapping[str, str]) -> Description:
        return layouts.tasks_of_steps(files, self.options.screenshots or "jpg")


def samples(source: Source, options: Options, tally: Tally) -> Iterator[File | Line | Counted]:
    """The task of one demonstration, after its pictures; nothing where no turn has a form."""
    task = _Task(source, options, tally)
    row = task.row()
    yield from task.once.take_waiting()
    if row["traj"]:
        yield Line(f"{source.split}.jsonl", dump_line(row), tally.turns)
        yield from task.counted


class _Task:
    """Makes the steps of one demonstration."""

    def __init__(self, source: Source, options: Options, tally: Tally):
        self.states = States(source, UID_ATTRIBUTE, options, "jpg")
        self.source, self.tally = self.states.source, tally
        tally.redacted += self.states.known.counts
        self.once = WriteOnce()
        self.counted: list[Counted] = []
        self._completed = _COMPLETED.get(source.about.get("labels", {}).get("outcome", ""))
        self._steps: list[dict[str, Any]] = []

    def row(self) -> dict[str, Any]:
        """The whole task."""
        turns = self.source.turns
        session = Session(turns, self.source.recording, self.states.known)
        state: TurnState | None = None
        for index, turn in enumerate(turns):
            own = turn["state"] if turn["type"] == "browser" else None
            state = own or state
            picture = self.states.picture(state) if state and state["screenshot_status"] == "good" else None
            size = picture_size(picture)
            act = session.act(index, self.states.page(own) if own else None, size)
            try:
                self._add(act, self._code(act, size, is_last=index == len(turns) - 1), picture)
            except NoForm as reason:
                self.tally.left_out[str(reason)] += 1
        self.tally.pictures_left_out = len(self.states.pictures_left_out)
        task, recording = self.source.demonstration["task"], self.source.recording
        provenance = recording.manifest.get("provenance", {})
        return {"task_id": self.source.id, "instruction": task, "task_completed": self._completed,
                "alignment_score": None, "efficiency_score": None, "task_difficulty": None,
                "natural_language_task": task, "actual_task": "", "reason": "",
                "traj": self._steps, "demotape": {
                    "recording": recording.id, "actor": actor_of(provenance), "agent": provenance.get("agent", ""),
                    "started_at": recording.manifest["started_at"].isoformat(timespec="milliseconds")}}

    def _code(self, act: Act, size: Size | None, *, is_last: bool) -> str:
        """The code of a turn; raises NoForm."""
        if act.turn["type"] == "chat" and not (is_last and act.turn["speaker"] == "navigator"):
            raise NoForm("chat: only the task and the navigator's last utterance have a form")
        if size is None:
            raise NoForm(f"{act.intent}: no good picture")
        if act.turn["type"] == "chat":
            status = "failure" if self._completed is False else "success"
            return f"computer.terminate(status={status!r}, answer={act.turn['utterance']!r})"
        return "\n".join(line for action in computer_use.actions(act) for line in _lines(action, size))

    def _add(self, act: Act, code: str, picture: bytes | None) -> None:
        turn = act.turn
        name = f"{self.source.name}-{len(self._steps):04d}.{self.states.kind}"
        path = self.once.path(f"images/{name}", picture or b"")
        thought = turn.get("agent", {}).get("reasoning", "") if turn["type"] == "browser" else ""
        value = {"observation": "", "thought": thought, "action": _words(turn), "code": code, "last_step_correct": None,
                 "last_step_redundant": None, "reflection": ""}
        about = {"turn": turn["id"], "intent": act.intent, "timestamp": float(turn["timestamp"]),
                 "redacted": has_redactions(code.encode()), "trusted": turn.get("trusted", True)}
        self._steps.append({"index": len(self._steps), "image": path.removeprefix("images/"), "value": value,
                            "demotape": about})
        self.counted.append(Counted(act.intent, "good"))
        self.tally.turns += 1


def _words(turn: Turn) -> str:
    """What was done, in words."""
    return turn["utterance"] if turn["type"] == "chat" else in_words(turn)[1:-1]


def _lines(action: Mapping[str, Any], size: Size) -> Iterator[str]:
    """The code of one action of computer use."""
    name = action["action"]
    if name in _CLICKS:
        modifiers = [_key(key) for key in str(action.get("text", "")).split("+") if key]
        yield from (f"pyautogui.keyDown({key!r})" for key in modifiers)
        yield f"pyautogui.{_CLICKS[name]}({_point(action['coordinate'], size)})"
        yield from (f"pyautogui.keyUp({key!r})" for key in reversed(modifiers))
    elif name == "left_click_drag":
        yield f"pyautogui.moveTo({_point(action['start_coordinate'], size)})"
        yield f"pyautogui.dragTo({_point(action['coordinate'], size)}, button='left')"
    elif name == "scroll":
        way, clicks = action["scroll_direction"], action["scroll_amount"]
        function = "scroll" if way in ("up", "down") else "hscroll"  # up and right are positive
        yield f"pyautogui.{function}({clicks if way in ('up', 'right') else -clicks}, " \
              f"{_point(action['coordinate'], size)})"
    elif name == "type":
        yield f"pyautogui.write(message={action['text']!r})"
    else:
        keys = [_key(key) for key in str(action["text"]).split("+")]
        yield f"pyautogui.hotkey({keys!r})" if len(keys) > 1 else f"pyautogui.press(keys={keys[0]!r})"


def _point(pixels: list[int], size: Size) -> str:
    return f"x={round(pixels[0] / size['width'], _SHARE_DIGITS)}, y={round(pixels[1] / size['height'], _SHARE_DIGITS)}"


def _key(name: str) -> str:
    return _KEYS.get(name, name if len(name) == 1 else name.lower())
