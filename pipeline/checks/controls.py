"""Check of controls: whether each new value of one is explained by an action."""

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from schemas.types.recordings import BrowserTurn, State

from .material import Control, Finding, Material
from .widgets import is_set_by_widget

_SENDS = ("click", "dblclick", "submit", "press")  # intents after which a page may empty what was typed
_RESTORING = ("back", "forward", "reload")  # transitions after which the browser restores forms
_MAX_NAME_CHARS = 60


def unexplained_change(material: Material) -> Iterator[Finding]:
    """Controls that have another value than before the last action in their tab, though no action was on them.

    A script has set them: a driver's, whose action is missing, or the page's. The states before the actions hold the
    evidence, and the one at the end of the recording. Ignored are controls that nobody can set, lists whose options
    have changed, controls that a person may have set through a widget, fields that a page may have emptied because it
    sent them, and values that were restored after a step through the history or a reload.
    """
    for findings in _by_state(material):
        yield from findings


def count_unexplained_changes(material: Material, limit_s: float) -> tuple[int, bool]:
    """The number of such changes, and whether all states were compared within `limit_s` seconds; else there may be
    more."""
    until, count = time.monotonic() + limit_s, 0
    for findings in _by_state(material):
        count += len(findings)
        if time.monotonic() > until:
            return count, False
    return count, True


def _by_state(material: Material) -> Iterator[list[Finding]]:
    """Findings of each state in turn, compared with the one before in its tab."""
    shown: dict[int, int] = {}  # tab -> index of the last action with a state there
    restoring = _Restoring(material)
    for index, turn in enumerate(material.actions):
        state = turn["state"]
        if not state or not state["dom"]:
            continue
        restoring.note(state, turn)
        if (before := shown.get(state["tab"])) is not None:
            yield list(_findings(material, restoring, before, index, state, turn))
        shown[state["tab"]] = index
    last = material.last_state
    if last and last["dom"] and (before := shown.get(last["tab"])) is not None:
        yield list(_findings(material, restoring, before, len(material.actions), last, material.actions[-1]))


class _Restoring:
    """Recognises values that return to a page: the browser restores what was in its form after a step through the
    history or a reload, sometimes after the first action there."""

    def __init__(self, material: Material):
        self._material = material
        self._navigations: dict[int, list[float]] = {}  # times by tab
        for event in material.events.values():
            if event["type"] == "navigate" and event["data"]["transition"] in _RESTORING:
                self._navigations.setdefault(event["tab"], []).append(event["time"])
        self._appeared: dict[str, float] = {}  # uid -> time of the first state with it
        self._had: dict[tuple[int, str, str, str, str], float] = {}  # tab, control, value -> time

    def note(self, state: State, turn: BrowserTurn) -> None:
        """Note what the controls of the state before a turn hold, and what the turn sets; turns in order of time."""
        if not self._navigations or not state["dom"]:
            return
        controls, when = self._material.controls(state["dom"]), turn["timestamp"]
        for uid, control in controls.items():
            self._appeared.setdefault(uid, when)
            self._had.setdefault(_key(state["tab"], control), when)
        if turn["element"] and turn["element"]["uid"] in controls:
            control = controls[turn["element"]["uid"]]
            for value in _values_set(turn):
                self._had.setdefault(_key(state["tab"], replace(control, value=value)), when)

    def has_restored(self, uid: str, control: Control, tab: int) -> bool:
        """Whether a control that came with such a navigation has a value that the same field had before it."""
        earliest = self._had.get(_key(tab, control))
        appeared = self._appeared.get(uid, math.inf)
        return earliest is not None and any(earliest < when < appeared for when in self._navigations.get(tab, ()))


def _key(tab: int, control: Control) -> tuple[int, str, str, str, str]:
    return tab, control.kind, control.name, control.group, control.value


def _findings(material: Material, restoring: _Restoring, first: int, end: int, after: State, reported: BrowserTurn
              ) -> Iterator[Finding]:
    """Findings of the states before action `first` and after action `end` - 1, noted at the turn `reported`. An action
    on the control that follows explains it, too: drivers empty a field by script before they type in it."""
    state = material.actions[first]["state"]
    if not state or not state["dom"] or not after["dom"] or state["dom"] == after["dom"]:
        return
    old, new = material.controls(state["dom"]), material.controls(after["dom"])
    changed = list(_changed(old, new))
    sent = _fields_sent(material, first, [uid for uid in changed if not new[uid].value])
    for uid in changed:
        control = new[uid]
        nearby = [*material.actions[first:end], reported]
        if any(_has_set(turn, uid, control.value) for turn in material.actions[:first]):
            continue  # a state of several frames may show late what was done in one of them
        if restoring.has_restored(uid, control, after["tab"]):
            continue
        if is_set_by_widget(material, uid, control, first, end, (state, after)):
            continue
        if uid not in sent and not _is_explained(control, uid, nearby, {old[uid].group, control.group}):
            name = f"“{control.name[:_MAX_NAME_CHARS]}”" if control.name else f"a control ({control.kind})"
            yield Finding(reported["id"], "unexplained-change",
                          f"The value of {name} has changed before this action, but no action set it: a script of a "
                          "driver or of the page did.")


def _fields_sent(material: Material, first: int, emptied: list[str]) -> set[str]:
    """Of the fields that are empty after action `first`, those that the page may have emptied because it sent them: in
    the same frames, after a submit, a key in one of them, or the first click since one of them was filled in."""
    action = material.actions[first]
    if action["intent"] not in _SENDS or not action["element"]:
        return set()
    group = _frame_group(action["element"]["uid"])
    fields = {uid for uid in emptied if _frame_group(uid) == group}
    is_submit = action["intent"] == "submit" or any(
        seq in material.events and material.events[seq]["type"] == "submit" for seq in action["events"])
    return fields if is_submit or not fields.isdisjoint(_recent_targets(material.actions, first)) else set()


def _recent_targets(actions: Sequence[BrowserTurn], index: int) -> Iterator[str]:
    """Elements of an action and of those before it, back to the last one that may have sent something."""
    for position in range(index, -1, -1):
        element = actions[position]["element"]
        if position < index and actions[position]["intent"] in _SENDS:
            return
        if element:
            yield element["uid"]


def _frame_group(uid: str) -> str:
    """The frame group of an element: frames that have access to each other."""
    return uid.rpartition("-")[0]


def _has_set(turn: BrowserTurn, uid: str, value: str) -> bool:
    """Whether an action gave a control this value."""
    element = turn["element"]
    return element is not None and element["uid"] == uid and value in _values_set(turn)


def _values_set(turn: BrowserTurn) -> list[str]:
    """The value that an action gave a control, as `Control.value`; none for other actions."""
    arguments = turn["arguments"]
    if "checked" in arguments:
        return ["checked" if arguments["checked"] else ""]
    return [arguments[name] for name in ("text", "value") if isinstance(arguments.get(name), str)]


def _changed(old: Mapping[str, Control], new: Mapping[str, Control]) -> Iterator[str]:
    for uid, control in new.items():
        before = old.get(uid)
        if before and before.value != control.value and before.options == control.options and control.is_settable:
            yield uid


def _is_explained(control: Control, uid: str, nearby: list[BrowserTurn], groups: set[str]) -> bool:
    for turn in nearby:
        element = turn["element"]
        if not element:
            continue
        attributes = element["attributes"]
        if element["uid"] == uid or attributes.get("type") == "reset":
            return True
        if control.kind == "radio" and attributes.get("name", "") in groups - {""}:
            return True
    return False
