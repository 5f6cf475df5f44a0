"""Check of controls: whether each new value of one is explained by an action."""

from collections.abc import Iterator, Mapping

from schemas.types.recordings import BrowserTurn, State

from .material import Control, Finding, Material

_SENDS = ("click", "dblclick", "submit", "press")  # intents after which a page may empty what was typed
_MAX_NAME_CHARS = 60


def unexplained_change(material: Material) -> Iterator[Finding]:
    """Controls that have another value than before the last action in their tab, though no action was on them.

    A script has set them: a driver's, whose action is missing, or the page's. The states before the actions hold the
    evidence, and the one at the end of the recording. Ignored are controls that nobody can set, lists whose options
    have changed, and fields that a page may have emptied when they were sent.
    """
    shown: dict[int, int] = {}  # tab -> index of the last action with a state there
    for index, turn in enumerate(material.actions):
        state = turn["state"]
        if not state or not state["dom"]:
            continue
        if (before := shown.get(state["tab"])) is not None:
            yield from _findings(material, before, index, state, turn)
        shown[state["tab"]] = index
    last = material.last_state
    if last and last["dom"] and (before := shown.get(last["tab"])) is not None:
        yield from _findings(material, before, len(material.actions), last, material.actions[-1])


def _findings(material: Material, first: int, end: int, after: State, reported: BrowserTurn) -> Iterator[Finding]:
    """Findings of the states before action `first` and after action `end` - 1, noted at the turn `reported`. An action
    on the control that follows explains it, too: drivers empty a field by script before they type in it."""
    state = material.actions[first]["state"]
    if not state or not state["dom"] or not after["dom"] or state["dom"] == after["dom"]:
        return
    old, new = material.controls(state["dom"]), material.controls(after["dom"])
    for uid in _changed(old, new):
        control = new[uid]
        nearby = [*material.actions[first:end], reported]
        if any(_has_set(turn, uid, control.value) for turn in material.actions[:first]):
            continue  # a state of several frames may show late what was done in one of them
        was_sent = not control.value and material.actions[first]["intent"] in _SENDS
        if not was_sent and not _is_explained(control, uid, nearby, {old[uid].group, control.group}):
            name = f"“{control.name[:_MAX_NAME_CHARS]}”" if control.name else f"a control ({control.kind})"
            yield Finding(reported["id"], "unexplained-change",
                          f"The value of {name} has changed before this action, but no action set it: a script of a "
                          "driver or of the page did.")


def _has_set(turn: BrowserTurn, uid: str, value: str) -> bool:
    """Whether an action gave a control this value."""
    element, arguments = turn["element"], turn["arguments"]
    if not element or element["uid"] != uid:
        return False
    return arguments.get("checked") == (value == "checked") if "checked" in arguments else value in (
        arguments.get("text"), arguments.get("value"))


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
