"""Edits: the current turn list is always the fold of the base list and the log of edits.

The log is append-only. `undo` takes back the last edit that stands, `redo` brings back the last one undone,
and any other edit makes what was undone unreachable, as in every editor.
"""

from collections.abc import Callable, Iterable

from schemas import EditSchema, InputError
from schemas.demonstration import BrowserTurnSchema, ChatTurnSchema
from schemas.files import check


def fold(turns: list[dict], edits: Iterable[dict]) -> list[dict]:
    """Turns after the edits; the input is left as it is. Raises InputError naming the edit that does not fit."""
    current = [dict(turn) for turn in turns]
    for number, edit in standing(edits):
        current = _apply(current, edit, f"edit {number}")
    return current


def append(turns: list[dict], edits: list[dict], edit: dict) -> list[dict]:
    """The log with one more edit, checked against the turns. Raises InputError when it does not fit."""
    edit = check(edit, EditSchema(), "edit")
    done, undone = undo_depths(edits)
    if (edit["op"] == "undo" and not done) or (edit["op"] == "redo" and not undone):
        raise InputError(f"edit: nothing to {edit['op']}")
    fold(turns, [*edits, edit])
    return [*edits, edit]


def standing(edits: Iterable[dict]) -> list[tuple[int, dict]]:
    """The edits in force, each with its number in the log from 1."""
    return _stacks(edits)[0]


def undo_depths(edits: Iterable[dict]) -> tuple[int, int]:
    """How many edits can be undone, and how many redone."""
    done, undone = _stacks(edits)
    return len(done), len(undone)


def _stacks(edits: Iterable[dict]) -> tuple[list, list]:
    done, undone = [], []
    for number, edit in enumerate(edits, 1):
        if edit["op"] == "undo":
            if done:
                undone.append(done.pop())
        elif edit["op"] == "redo":
            if undone:
                done.append(undone.pop())
        else:
            done.append((number, edit))
            undone.clear()
    return done, undone


def _apply(turns: list[dict], edit: dict, where: str) -> list[dict]:
    index = next((i for i, turn in enumerate(turns) if turn["id"] == edit["turn"]), None)
    if index is None:
        raise InputError(f"{where}: field turn: no turn {edit['turn']!r} in this demonstration")
    if edit["op"] == "move":
        return _move(turns, index, edit["after"], where)
    changed = _CHANGES[edit["op"]](turns[index], edit)
    if edit["op"] not in ("drop", "restore"):
        changed = check(changed, _SCHEMAS[changed["type"]], where)
    return [*turns[:index], changed, *turns[index + 1:]]


def _move(turns: list[dict], index: int, after: str | None, where: str) -> list[dict]:
    moved, rest = turns[index], turns[:index] + turns[index + 1:]
    if after is None:
        return [moved, *rest]
    place = next((i for i, turn in enumerate(rest, 1) if turn["id"] == after), None)
    if place is None:
        raise InputError(f"{where}: field after: no other turn {after!r} in this demonstration")
    return [*rest[:place], moved, *rest[place:]]


def _set_screenshot_status(turn: dict, edit: dict) -> dict:
    if not turn.get("state"):
        raise InputError("edit: field turn: this turn has no screenshot")
    return turn | {"state": turn["state"] | {"screenshot_status": edit["status"]}}


_SCHEMAS = {"chat": ChatTurnSchema(), "browser": BrowserTurnSchema()}
_CHANGES: dict[str, Callable[[dict, dict], dict]] = {
    "drop": lambda turn, edit: turn | {"dropped": True},
    "restore": lambda turn, edit: turn | {"dropped": False},
    "set_intent": lambda turn, edit: turn | {"intent": edit["intent"], "arguments": edit["arguments"]},
    "set_arguments": lambda turn, edit: turn | {"arguments": edit["arguments"]},
    "retarget": lambda turn, edit: turn | {"element": edit["element"]},
    "set_screenshot_status": _set_screenshot_status,
    "set_utterance": lambda turn, edit: turn | {"utterance": edit["utterance"]},
    "set_speaker": lambda turn, edit: turn | {"speaker": edit["speaker"]},
}
