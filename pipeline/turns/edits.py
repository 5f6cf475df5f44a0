"""Edits: the current turn list is always the fold of the base list and the log of edits.

The log is append-only. `undo` takes back the last edit that stands, `redo` brings back the last one undone,
and any other edit makes what was undone unreachable, as in every editor.
"""

from collections.abc import Callable, Iterable

from schemas import EditSchema, InputError
from schemas.demonstration import BrowserTurnSchema, ChatTurnSchema
from schemas.files import validated


def apply_edits(turns: list[dict], edits: Iterable[dict]) -> list[dict]:
    """Turns after the edits; the input is left as it is. Raises InputError naming the edit that does not fit."""
    current = [dict(turn) for turn in turns]
    for number, edit in standing(edits):
        current = _settled(_apply(current, edit, f"edit {number}"), edit)
    return current


def append(turns: list[dict], edits: list[dict], edit: dict) -> list[dict]:
    """The log with one more edit, checked against the turns. Raises InputError when it does not fit."""
    return appended(turns, edits, edit)[0]


def appended(turns: list[dict], edits: list[dict], edit: dict) -> tuple[list[dict], list[dict]]:
    """As `append`, with the turns after that edit."""
    edit = validated(edit, EditSchema(), "edit")
    done, undone = undo_depths(edits)
    if (edit["op"] == "undo" and not done) or (edit["op"] == "redo" and not undone):
        raise InputError(f"edit: nothing to {edit['op']}")
    log = [*edits, edit]
    return log, apply_edits(turns, log)


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
    if edit["op"] == "add":
        return _add(turns, edit, where)
    index = _place(turns, edit["turn"], where, "turn")
    if edit["op"] == "move":
        return _move(turns, index, edit["after"], where)
    if edit["op"] == "merge":
        return _merge(turns, index, edit, where)
    if edit["op"] == "split":
        return _split(turns, index, edit, where)
    changed = _CHANGES[edit["op"]](turns[index], edit)
    if edit["op"] not in ("drop", "restore", "settle"):
        changed = validated(changed, _SCHEMAS[changed["type"]], where)
    return [*turns[:index], changed, *turns[index + 1:]]


def _settled(turns: list[dict], edit: dict) -> list[dict]:
    """What a check asked for was done: the check goes."""
    return [turn | {"checks": [one for one in turn["checks"] if one.get("fix") != edit]}
            if any(one.get("fix") == edit for one in turn["checks"]) else turn for turn in turns]


def _place(turns: list[dict], name: str, where: str, field: str) -> int:
    index = next((i for i, turn in enumerate(turns) if turn["id"] == name), None)
    if index is None:
        raise InputError(f"{where}: field {field}: no turn {name!r} in this demonstration")
    return index


def _add(turns: list[dict], edit: dict, where: str) -> list[dict]:
    added = edit["added"]
    if added["type"] != "chat" or added["id"] != edit["turn"]:
        raise InputError(f"{where}: field added: must be a chat turn with the id that field turn names")
    if any(turn["id"] == added["id"] for turn in turns):
        raise InputError(f"{where}: field turn: there is a turn {added['id']!r} already")
    return _move([*turns, dict(added)], len(turns), edit["after"], where)


def _merge(turns: list[dict], index: int, edit: dict, where: str) -> list[dict]:
    """Typing into one field that was told as two turns: the first keeps its state and gets the last text."""
    first, other = turns[index], turns[_place(turns, edit["other"], where, "other")]
    uids = [(turn.get("element") or {}).get("uid") for turn in (first, other)]
    if first is other or any(turn.get("intent") != "textInput" for turn in (first, other)) or uids[0] != uids[1]:
        raise InputError(f"{where}: field other: only two turns of typing into the same field can be merged")
    joined = first | {"arguments": other["arguments"], "events": sorted({*first["events"], *other["events"]}),
                      "checks": [*first["checks"], *other["checks"]]}
    return [joined if turn is first else turn for turn in turns if turn is not other]


def _split(turns: list[dict], index: int, edit: dict, where: str) -> list[dict]:
    """One turn of typing told as two; every event stays named by one of them."""
    turn, added = turns[index], edit["added"]
    later = set(added.get("events", ()))
    if turn.get("intent") != "textInput" or added.get("intent") != "textInput" or not later < set(turn["events"]):
        raise InputError(f"{where}: field added: must be typing with some of the events of the turn that is split")
    if any(each["id"] == added["id"] for each in turns):
        raise InputError(f"{where}: field added: there is a turn {added['id']!r} already")
    first = validated(turn | {"arguments": edit["arguments"], "events": [e for e in turn["events"] if e not in later]},
                  _SCHEMAS["browser"], where)
    return [*turns[:index], first, dict(added), *turns[index + 1:]]


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


def _settle(turn: dict, edit: dict) -> dict:
    return turn | {"checks": [one for one in turn["checks"] if one["kind"] != edit["check"]]}


def _set_screenshot(turn: dict, edit: dict) -> dict:
    if not turn.get("state"):
        raise InputError("edit: field turn: this turn has no state that a picture could belong to")
    state = turn["state"]
    taken = state.get("screenshot_taken", state["screenshot"])  # the first one that was taken stays known
    return turn | {"state": state | {
        "screenshot": edit["screenshot"], "screenshot_time": edit["screenshot_time"], "screenshot_status": "good",
        "screenshot_source": edit["source"], "screenshot_taken": taken}}


_SCHEMAS = {"chat": ChatTurnSchema(), "browser": BrowserTurnSchema()}
_CHANGES: dict[str, Callable[[dict, dict], dict]] = {
    "drop": lambda turn, edit: turn | {"dropped": True},
    "restore": lambda turn, edit: turn | {"dropped": False},
    "set_intent": lambda turn, edit: turn | {"intent": edit["intent"], "arguments": edit["arguments"]},
    "set_arguments": lambda turn, edit: turn | {"arguments": edit["arguments"]},
    "retarget": lambda turn, edit: turn | {"element": edit["element"]},
    "set_screenshot": _set_screenshot,
    "set_screenshot_status": _set_screenshot_status,
    "settle": _settle,
    "set_utterance": lambda turn, edit: turn | {"utterance": edit["utterance"]},
    "set_speaker": lambda turn, edit: turn | {"speaker": edit["speaker"]},
}
