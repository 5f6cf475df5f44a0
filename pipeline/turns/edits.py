"""Edits: the current turn list is always the fold of the base list and the log of edits.

The log is append-only. `undo` takes back the last edit that stands, `redo` brings back the last one undone,
and any other edit makes what was undone unreachable, as in every editor. A demonstration that is split in two ends
before a turn (`end_before`); the other one has the same log to there, then begins at that turn (`begin_at`), and its
undo goes back no further. Where both are joined again (`join`), the edits that the other one had since then stand
behind that edit: they are done to its turns alone, and undone with it.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from schemas import EditSchema, InputError
from schemas.files import validated
from schemas.formats.demonstration import BrowserTurnSchema, ChatTurnSchema
from schemas.types.outcome import Outcome
from schemas.types.recordings import BrowserTurn, ChatTurn, Edit, Turn

from .preconditions import BY_HAND as BY_HAND
from .preconditions import require_manual, require_preconditions
from .turn_changes import WITH_POINTER as WITH_POINTER
from .turn_changes import retarget, set_screenshot, set_screenshot_status, settle
from .video_placement import apply_placement

_ENDS = ("end_before", "begin_at")  # where a demonstration that was split ends, and where the other one begins
_NOT_INCREMENTAL = (*_ENDS, "join", "undo", "redo")  # what they lead to follows from all edits, not from the last turns
_SCHEMA = EditSchema()
_Unchecked = dict[str, Any]  # a turn that an edit is made to; its schema looks at it afterwards


def apply_edits(turns: list[Turn], edits: Iterable[Edit]) -> list[Turn]:
    """Turns after the edits; the input is left as it is. Raises InputError naming the edit that does not fit."""
    return fold_edits([turn.copy() for turn in turns], edits)


def fold_edits(turns: list[Turn], edits: Iterable[Edit]) -> list[Turn]:
    """As `apply_edits`, but turns that no edit changes are those of the input, for readers that change none."""
    log = list(edits)
    fold = _Fold([*turns], [], [], fix_ops=_fix_ops(turns, log))
    _fold(fold, log)
    return fold.turns


def fold_new_edits(turns: list[Turn], edits: Sequence[Edit], earlier: int) -> list[Turn] | None:
    """Turns after more edits, before which the log has `earlier` others; None where these turns are not enough to fold
    them, as for undo."""
    if any(edit["op"] in _NOT_INCREMENTAL for edit in edits):
        return None
    for number, edit in enumerate(edits, earlier + 1):
        turns = _settle_checks(_apply(turns, edit, f"edit {number}"), edit)
    return turns


def apply_edit(turns: list[Turn], edit: Edit) -> list[Turn]:
    """Turns after one more edit that splits and joins no demonstration. Raises InputError where it does not fit, or its
    preconditions do not hold (`preconditions`)."""
    edit = validated(edit, _SCHEMA, "edit")
    require_preconditions(turns, edit, "edit")
    return _settle_checks(_apply(turns, edit, "edit"), edit)


def append(turns: list[Turn], edits: list[Edit], edit: Edit) -> list[Edit]:
    """The log with one more edit. Raises InputError when it does not fit the turns, or its preconditions do not hold
    (`preconditions`): an edit that an earlier version stored still folds, but is not made again."""
    return append_edit(turns, edits, edit)[0]


def append_edit(turns: list[Turn], edits: list[Edit], edit: Edit, joined: Sequence[Edit] = (),
                current: list[Turn] | None = None) -> tuple[list[Edit], list[Turn]]:
    """As `append`, with the turns after that edit, of which unchanged ones are those of the input.

    `joined`: for `join` the edits of the other demonstration; `current`: the turns after `edits`, if they are known.
    """
    edit = validated(edit, _SCHEMA, "edit")
    done, undone = undo_depths(edits)
    if (edit["op"] == "undo" and not done) or (edit["op"] == "redo" and not undone):
        raise InputError(f"edit: nothing to {edit['op']}")
    if len(joined) != edit.get("edits", 0):
        raise InputError(f"edit: field edits: must be {len(joined)}, the number of edits that follow")
    log = [*edits, edit, *joined]
    if current is not None and edit["op"] not in _NOT_INCREMENTAL:
        where = f"edit {len(log)}"
        require_preconditions(current, edit, where, turns)
        return log, _settle_checks(_apply(current, edit, where), edit)
    fold = _Fold([*turns], [], [], recorded=turns, new_edit=len(edits) + 1, fix_ops=_fix_ops(turns, log))
    _fold(fold, log)
    return log, fold.turns


def standing(edits: Iterable[Edit]) -> list[tuple[int, Edit]]:
    """The edits in force that were made to this demonstration, each with its number in the log from 1."""
    return _stacks(edits)[0]


def in_force(edits: Iterable[Edit]) -> list[tuple[int, Edit]]:
    """As `standing`, and after a `join` in force also the edits of the demonstration that it joined."""
    log = list(edits)
    numbers = [number for first, edit in standing(log) for number in range(first, _last(first, edit) + 1)]
    return [(number, log[number - 1]) for number in numbers]


def task_after(task: str, edits: Iterable[Edit]) -> str:
    """What the navigator was asked to do, in the words of the last edit that stands."""
    return next((edit["task"] for _, edit in reversed(standing(edits))
                 if edit["op"] in ("set_task", "join") and "task" in edit), task)


def outcome_after(outcome: Outcome | None, edits: Iterable[Edit]) -> Outcome | None:
    """What makes the task done, by the last edit that stands; None where nothing says it, or what said it was of an end
    that is another demonstration's since a split. With a join it is what that says: of the other's end."""
    for _, edit in reversed(standing(edits)):
        if edit["op"] in ("set_outcome", "end_before", "join"):
            outcome = edit.get("outcome")
            break
    return outcome


def labels_after(labels: dict[str, list[str]], edits: Iterable[Edit]) -> dict[str, list[str]]:
    """What is said of the demonstration itself, after the edits that stand."""
    for _, edit in standing(edits):
        if edit["op"] == "label" and "turn" not in edit:
            labels = _apply_label(labels, edit)
    return labels


def _apply_label(labels: dict[str, list[str]], edit: Edit) -> dict[str, list[str]]:
    rest = {name: values for name, values in labels.items() if name != edit["label"]}
    return rest | {edit["label"]: edit["said"]} if edit["said"] else rest


def _label_turn(turn: _Unchecked, edit: Edit) -> _Unchecked:
    labels = _apply_label(turn.get("labels", {}), edit)
    without = {name: value for name, value in turn.items() if name != "labels"}
    return without | {"labels": labels} if labels else without


def undo_depths(edits: Iterable[Edit]) -> tuple[int, int]:
    """How many edits can be undone, and how many redone."""
    done, undone = _stacks(edits)
    return len(_since_beginning(done)), len(undone)


def _since_beginning(done: list[tuple[int, Edit]]) -> list[tuple[int, Edit]]:
    """The edits in force that were made since the demonstration was split off."""
    begins = [position for position, (_, edit) in enumerate(done, 1) if edit["op"] == "begin_at"]
    return done[begins[-1]:] if begins else done


def made_since_beginning(edits: Iterable[Edit]) -> list[Edit]:
    """The edits in force of a demonstration that was split off another, made since; of any other all of them."""
    return [edit for _, edit in _since_beginning(standing(edits))]


def turns_of_others(turns: list[Turn], edits: Iterable[Edit]) -> tuple[list[Turn], list[Turn]]:
    """The turns that are other demonstrations' since a split: those before where this one begins, and those from where
    it ends on, as they were then."""
    log = list(edits)
    if not any(edit["op"] in _ENDS for edit in log):
        return [], []
    fold = _Fold(turns, [], [], fix_ops=_fix_ops(turns, log))
    _fold(fold, log)
    return fold.before, [turn for following, index in reversed(fold.behind) for turn in following[index:]]


def _stacks(edits: Iterable[Edit]) -> tuple[list[tuple[int, Edit]], list[tuple[int, Edit]]]:
    done: list[tuple[int, Edit]] = []
    undone: list[tuple[int, Edit]] = []
    own = 1  # the number of the next edit that is no joined one's
    for number, edit in enumerate(edits, 1):
        if number < own:
            continue
        own = _last(number, edit) + 1
        if edit["op"] == "undo":
            if done and done[-1][1]["op"] != "begin_at":
                undone.append(done.pop())
        elif edit["op"] == "redo":
            if undone:
                done.append(undone.pop())
        else:
            done.append((number, edit))
            undone.clear()
    return done, undone


def _last(number: int, edit: Edit) -> int:
    """The number of the last edit that came with this one."""
    return number + edit.get("edits", 0)


@dataclass
class _Fold:
    """Turns while edits are made to them; those before where they begin; and of each split that stands, the nearest
    last, the turns before it was made and the place of the one that the other demonstration begins at. `fix_ops`: the
    ops of fixes that checks offer. `new_edit`: the number of the edit whose preconditions are required; 0: none."""

    turns: list[Turn]
    before: list[Turn]
    behind: list[tuple[list[Turn], int]]
    fix_ops: frozenset[str]
    recorded: Sequence[Turn] = ()
    new_edit: int = 0


def _fold(fold: _Fold, edits: list[Edit], made: int = 0) -> None:
    """Make these edits, before which the log has `made` others."""
    for number, edit in standing(edits):
        where = f"edit {made + number}"
        if made + number == fold.new_edit:
            require_preconditions(fold.turns, edit, where, fold.recorded)
        if edit["op"] == "join":
            _join(fold, edits[number:_last(number, edit)], made + number, where)
        elif edit["op"] in _ENDS:
            index = _turn_index(fold.turns, edit["turn"], where, "turn")
            if edit["op"] == "begin_at":
                fold.before += fold.turns[:index]
            else:
                fold.behind.append((fold.turns, index))
            fold.turns = _part(fold.turns, index, edit["op"], where)
        else:
            turns = _apply(fold.turns, edit, where)
            fold.turns = _settle_checks(turns, edit) if edit["op"] in fold.fix_ops else turns


def _join(fold: _Fold, edits: list[Edit], made: int, where: str) -> None:
    """The turns behind the last split stand here again, as these edits of the other demonstration leave them; what
    answers a turn on the other side is a reply again."""
    if not fold.behind:
        raise InputError(f"{where}: field other: this demonstration does not end before another one")
    following, index = fold.behind.pop()
    other = _Fold(_part(following, index, "begin_at", where), [], fold.behind, fold.fix_ops)
    _fold(other, edits, made)
    turns = [*fold.turns, *other.turns]
    said = {turn["id"] for turn in turns if turn["type"] == "chat"}
    if twice := {turn["id"] for turn in fold.turns} & {turn["id"] for turn in other.turns}:
        raise InputError(f"{where}: field other: both contain a turn {min(twice)!r}")
    replies = {turn["id"]: turn["reply_to"] for turn in following if turn["type"] == "chat" and "reply_to" in turn}
    fold.turns = [turn if turn["type"] == "browser" or replies.get(turn["id"]) not in said
                  else {**turn, "reply_to": replies[turn["id"]]} for turn in turns]


def _apply(turns: list[Turn], edit: Edit, where: str) -> list[Turn]:
    if edit["op"] == "add":
        return _add(turns, edit, where)
    if edit["op"] == "place_video":
        return [apply_placement(turn, edit["place"]) for turn in turns]
    if edit["op"] in ("set_task", "set_outcome"):
        return turns
    if edit["op"] == "label" and "turn" not in edit:
        return turns
    if "turns" in edit:
        return _set_dropped(turns, edit, where)
    index = _turn_index(turns, edit["turn"], where, "turn")
    if edit["op"] == "move":
        return _move(turns, index, edit["after"], where)
    if edit["op"] == "merge":
        return _merge(turns, index, edit, where)
    if edit["op"] == "split":
        return _split(turns, index, edit, where)
    turn: Any = turns[index]
    changed: Any = _CHANGES[edit["op"]](turn, edit)
    if edit["op"] not in ("drop", "restore", "settle"):
        changed = validated(changed, _SCHEMAS[changed["type"]], where)
    return [*turns[:index], changed, *turns[index + 1:]]


def _set_dropped(turns: list[Turn], edit: Edit, where: str) -> list[Turn]:
    """Several turns dropped or restored at once, and so undone at once too."""
    wanted, there = set(edit["turns"]), {turn["id"] for turn in turns}
    if missing := sorted(wanted - there):
        raise InputError(f"{where}: field turns: no turn {missing[0]!r} in this demonstration")
    return [turn | {"dropped": edit["op"] == "drop"} if turn["id"] in wanted else turn for turn in turns]


def _fix_ops(turns: Iterable[Turn], edits: Iterable[Edit]) -> frozenset[str]:
    """The ops of all fixes that checks of turns, recorded or added, offer: an edit of another op is no fix."""
    added = [edit["added"] for edit in edits if "added" in edit]
    return frozenset(check["fix"]["op"] for turn in (*turns, *added) for check in turn.get("checks", ())
                     if check.get("fix"))


def _settle_checks(turns: list[Turn], edit: Edit) -> list[Turn]:
    """What a check asked for was done: the check goes."""
    return [turn | {"checks": [check for check in turn["checks"] if check.get("fix") != edit]}
            if turn["checks"] and any(check.get("fix") == edit for check in turn["checks"]) else turn for turn in turns]


def _turn_index(turns: list[Turn], name: str, where: str, field: str) -> int:
    index = next((i for i, turn in enumerate(turns) if turn["id"] == name), None)
    if index is None:
        raise InputError(f"{where}: field {field}: no turn {name!r} in this demonstration")
    return index


def _add(turns: list[Turn], edit: Edit, where: str) -> list[Turn]:
    added = edit["added"]
    if added["id"] != edit["turn"]:
        raise InputError(f"{where}: field added: must have the id in the field turn")
    if any(turn["id"] == added["id"] for turn in turns):
        raise InputError(f"{where}: field turn: a turn {added['id']!r} already exists")
    if added["type"] == "browser":
        require_manual(added, where)
    answered = added.get("reply_to")
    if answered is not None and not any(turn["id"] == answered and turn["type"] == "chat" for turn in turns):
        raise InputError(f"{where}: field added.reply_to: no chat turn {answered!r} in this demonstration")
    return _move([*turns, added.copy()], len(turns), edit["after"], where)


def _merge(turns: list[Turn], index: int, edit: Edit, where: str) -> list[Turn]:
    """Two turns of typing into one field become one, where the earlier was, with its state and the text of the later;
    the id and the labels are those of the turn that is named first."""
    named, other = turns[index], turns[_turn_index(turns, edit["other"], where, "other")]
    if (named is other or named["type"] == "chat" or other["type"] == "chat"
            or not named["intent"] == other["intent"] == "textInput" or _uid(named) != _uid(other)):
        raise InputError(f"{where}: field other: only two turns of typing into the same field can be merged")
    earlier, later = (named, other) if index < turns.index(other) else (other, named)
    joined: BrowserTurn = {
        **earlier, "id": named["id"], "arguments": later["arguments"], "dropped": named["dropped"],
        "events": sorted({*named["events"], *other["events"]}), "checks": [*named["checks"], *other["checks"]]}
    joined.pop("labels", None)
    if "labels" in named:
        joined["labels"] = named["labels"]
    return [joined if turn is earlier else turn for turn in turns if turn is not later]


def _uid(turn: BrowserTurn) -> str | None:
    return turn["element"]["uid"] if turn["element"] else None


def _split(turns: list[Turn], index: int, edit: Edit, where: str) -> list[Turn]:
    """One turn of typing told as two; every event stays named by one of them."""
    turn, added = turns[index], edit["added"]
    if (turn["type"] == "chat" or added["type"] == "chat" or not turn["intent"] == added["intent"] == "textInput"
            or not set(added["events"]) < set(turn["events"])):
        raise InputError(f"{where}: field added: must be typing with some of the events of the turn that is split")
    if any(existing["id"] == added["id"] for existing in turns):
        raise InputError(f"{where}: field added: a turn {added['id']!r} already exists")
    later = set(added["events"])
    events = [event for event in turn["events"] if event not in later]
    first = validated(turn | {"arguments": edit["arguments"], "events": events}, _SCHEMAS["browser"], where)
    return [*turns[:index], first, added.copy(), *turns[index + 1:]]


def _part(turns: list[Turn], index: int, op: str, where: str) -> list[Turn]:
    """The turns on one side of a split; what answers one on the other side is no reply any more."""
    if index == 0:
        raise InputError(f"{where}: field turn: this is the first turn, so the demonstration cannot be split here")
    remaining = turns[:index] if op == "end_before" else turns[index:]
    said = {turn["id"] for turn in remaining if turn["type"] == "chat"}
    return [turn if turn["type"] == "browser" or turn.get("reply_to", turn["id"]) in said else _no_reply(turn)
            for turn in remaining]


def _no_reply(turn: ChatTurn) -> ChatTurn:
    alone = turn.copy()
    del alone["reply_to"]
    return alone


def _move(turns: list[Turn], index: int, after: str | None, where: str) -> list[Turn]:
    moved, rest = turns[index], turns[:index] + turns[index + 1:]
    if after is None:
        return [moved, *rest]
    position = next((i for i, turn in enumerate(rest, 1) if turn["id"] == after), None)
    if position is None:
        raise InputError(f"{where}: field after: no other turn {after!r} in this demonstration")
    return [*rest[:position], moved, *rest[position:]]


_SCHEMAS = {"chat": ChatTurnSchema(), "browser": BrowserTurnSchema()}
_CHANGES: dict[str, Callable[[_Unchecked, Edit], _Unchecked]] = {
    "drop": lambda turn, edit: turn | {"dropped": True},
    "restore": lambda turn, edit: turn | {"dropped": False},
    "set_intent": lambda turn, edit: turn | {"intent": edit["intent"], "arguments": edit["arguments"]},
    "set_arguments": lambda turn, edit: turn | {"arguments": edit["arguments"]},
    "retarget": retarget,
    "set_screenshot": set_screenshot,
    "set_screenshot_status": set_screenshot_status,
    "settle": settle,
    "label": _label_turn,
    "set_utterance": lambda turn, edit: turn | {"utterance": edit["utterance"]},
    "set_speaker": lambda turn, edit: turn | {"speaker": edit["speaker"]},
}
