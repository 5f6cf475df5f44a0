"""Events to turns: small rules, one for each kind of gesture, then rules that join a turn to the one before.

The table of rules stands in docs/actions.md. Pure: the same events give the same turns. Every event is named by
one turn at most; those that are nobody's action (a key that only moves the focus, a page that scrolls itself) by none.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any, cast

from pipeline.context import Context
from schemas import InputError
from schemas.shared import SILENT_KEYS
from schemas.types.recordings import BrowserTurn, Demonstration, Element, Event, State, TurnState

from .gestures import Gesture, control_kind, group

_DRAG_DISTANCE = 10  # CSS pixels between press and release that make a drag
_SCROLL_GAP = 1.0  # seconds between scrolls of one element that make two
_STEP_KEYS = {"Home", "End", "PageUp", "PageDown", "Enter", "Backspace", "Delete"}
_OWN_NAVIGATIONS = {"typed": "load", "reload": "reload", "back": "back", "forward": "forward"}
_CLICKS = ("click", "auxclick", "contextmenu", "dblclick")


@dataclass
class _Draft:
    """A turn in the making."""

    intent: str
    arguments: dict[str, Any]
    element: Element | None
    first: Event
    events: list[Event] = field(default_factory=list)
    dropped: bool = False

    @property
    def uid(self) -> str | None:
        return _uid(self.element)

    @property
    def end(self) -> float:
        return max(event["time"] for event in self.events)

    def add_events(self, events: list[Event]) -> None:
        """Name more events as its own."""
        known = {event["seq"] for event in self.events}
        self.events += [event for event in events if event["seq"] not in known]


def fold(events: list[Event]) -> list[BrowserTurn]:
    """Turns of a recording's events (Recording.events), in order of time; see DemonstrationSchema for their form."""
    drafts: list[_Draft] = []
    for gesture in group(events):
        rule = _RULES.get(gesture.first["type"], _nothing)
        rest = _without_text_changes(gesture, drafts)
        for draft in rule(rest, drafts) if rest else []:
            was_undone = drafts and drafts[-1].dropped  # what is done anew does not join it
            if was_undone or not any(join(drafts, draft) for join in _JOINS):
                drafts.append(draft)
    return [_turn(draft) for draft in drafts]


def state_of(event: Event) -> TurnState | None:
    """State of a turn from the state of the event that begins it."""
    return None if event["state"] is None else turn_state(event["state"])


def turn_state(state: State) -> TurnState:
    """A state as a turn has it."""
    status = "good" if state["screenshot"] and not state.get("stale") else "broken"
    return cast(TurnState, state | {"video_time": state["screenshot_time"], "screenshot_status": status})


def _turn(draft: _Draft) -> BrowserTurn:
    return {"id": f"turn-{draft.first['seq']}", "type": "browser", "timestamp": draft.first["time"],
            "intent": draft.intent, "arguments": draft.arguments, "element": draft.element,
            "state": state_of(draft.first), "events": sorted(event["seq"] for event in draft.events),
            "checks": [], "dropped": draft.dropped}


def _draft(gesture: Gesture, intent: str, arguments: dict[str, Any], element: Element | None = None) -> _Draft:
    return _Draft(intent, arguments, element, gesture.first, list(gesture.events))


# What becomes of a text field's `change`: the person left the field, so its value is what they typed before.

def _without_text_changes(gesture: Gesture, drafts: list[_Draft]) -> Gesture | None:
    """The gesture without each `change` of a text field that ends typing, which is added to the draft of that typing;
    None when nothing remains."""
    retained: list[Event] = []
    for event in gesture.events:
        if typing := _typing_ended_by(event, drafts):
            _end_typing(typing, event)
        else:
            retained.append(event)
    return Gesture(retained[0], retained[1:]) if retained else None


def _typing_ended_by(event: Event, drafts: list[_Draft]) -> _Draft | None:
    """The last typing in the text field that an event reports a `change` of; None when it is no such event."""
    if event["type"] != "change" or control_kind(event["target"]) != "text":
        return None
    field_uid = _uid(event["target"])
    return next((draft for draft in reversed(drafts) if draft.intent == "textInput" and draft.uid == field_uid), None)


def _end_typing(typing: _Draft, change: Event) -> None:
    """Add a text field's `change` to its typing, with the field's final value if that is what was typed."""
    final = change["data"]["value"]
    if _is_same_text(typing.arguments["text"], final):
        typing.arguments = {"text": final}
    typing.add_events([change])


def _is_same_text(typed: str, final: str) -> bool:
    """Whether a field's final value is what was typed, perhaps put into form by the page (case, spaces, punctuation);
    else the page has put something of its own in its place."""
    typed_letters, final_letters = ([character for character in text.casefold() if character.isalnum()]
                                    for text in (typed, final))
    return typed_letters == final_letters


# One rule a kind of first event. Each returns the turns of the gesture, in order.

def _nothing(gesture: Gesture, drafts: list[_Draft]) -> list[_Draft]:
    return []


def _pointer(gesture: Gesture, drafts: list[_Draft]) -> list[_Draft]:
    first, clicks = gesture.first, gesture.of_type(*_CLICKS)
    if control := _control(gesture):
        return [control]
    if gesture.of_type("dragstart", "drop") or _distance(gesture) >= _DRAG_DISTANCE:
        return [_drag(gesture)]
    if not clicks and (scrolls := gesture.of_type("scroll")):
        return [_scroll_turn(gesture, scrolls)]
    intent = "dblclick" if gesture.of_type("dblclick") else "click"
    return [_draft(gesture, intent, _pointer_arguments(first), first["target"])]


def _key(gesture: Gesture, drafts: list[_Draft]) -> list[_Draft]:
    first, data = gesture.first, gesture.first["data"]
    if (copied := gesture.of_type("copy", "cut")) and not gesture.of_type("input"):
        return [_draft(gesture, "copy", {"text": copied[-1]["data"]["text"]}, copied[-1]["target"])]
    if pasted := gesture.of_type("paste"):
        return _paste(gesture, pasted[-1], drafts)
    if submitted := gesture.of_type("submit"):
        return [_draft(gesture, "submit", {}, submitted[-1]["target"])]
    if control := _control(gesture):
        return [control]
    if typed := [event for event in gesture.of_type("input", "change") if control_kind(event["target"]) == "text"]:
        return [_draft(gesture, "textInput", {"text": typed[-1]["data"]["value"]}, _as_before(gesture, typed[-1]))]
    if clicked := gesture.of_type("click"):
        target = clicked[0]["target"]
        return [_draft(gesture, "click", _pointer_arguments(clicked[0]) | {"x": None, "y": None, "keyboard": True},
                       target)]
    if scrolls := gesture.of_type("scroll"):
        return [_scroll_turn(gesture, scrolls)]
    if data["key"] in SILENT_KEYS or data.get("secret"):
        return []
    modifiers = [name for name in data.get("modifiers", []) if name != "Shift" or len(data["key"]) > 1]
    return [_draft(gesture, "press", {"key": "+".join([*modifiers, data["key"]])}, first["target"])]


def _text(gesture: Gesture, drafts: list[_Draft]) -> list[_Draft]:
    """Text that no key brought."""
    if pasted := gesture.of_type("paste"):
        return _paste(gesture, pasted[-1], drafts)
    if typed := gesture.of_type("input"):
        return [_draft(gesture, "textInput", {"text": typed[-1]["data"]["value"]}, _as_before(gesture, typed[-1]))]
    return []


def _wheel(gesture: Gesture, drafts: list[_Draft]) -> list[_Draft]:
    scrolls = gesture.of_type("scroll")
    return [_scroll_turn(gesture, scrolls)] if scrolls else []


def _hover(gesture: Gesture, drafts: list[_Draft]) -> list[_Draft]:
    return [_draft(gesture, "hover", _pointer_arguments(gesture.first), gesture.first["target"])]


def _alone(gesture: Gesture, drafts: list[_Draft]) -> list[_Draft]:
    """An effect whose cause was not seen: dictation, a method editor, a menu of the browser."""
    first = gesture.first
    if control := _control(gesture):
        return [control]
    if first["type"] in ("input", "change") and control_kind(first["target"]) == "text":
        return [_draft(gesture, "textInput", {"text": first["data"]["value"]}, first["target"])]
    if first["type"] == "copy":
        return [_draft(gesture, "copy", {"text": first["data"]["text"]}, first["target"])]
    if first["type"] == "paste":
        return _paste(gesture, first, drafts)
    if first["type"] == "submit":
        return [_draft(gesture, "submit", {}, first["target"])]
    if first["type"] in _CLICKS:
        return [_draft(gesture, "click", _pointer_arguments(first), first["target"])]
    return []


def _navigate(gesture: Gesture, drafts: list[_Draft]) -> list[_Draft]:
    data = gesture.first["data"]
    intent = _OWN_NAVIGATIONS.get(data["transition"])
    if intent == "load":
        return [_draft(gesture, "load", {"url": data["url"], "transition": data["transition"]})]
    if intent:
        return [_draft(gesture, intent, {})]
    return _consequence(gesture, drafts)


def _consequence(gesture: Gesture, drafts: list[_Draft]) -> list[_Draft]:
    """What followed from an action belongs to the last one in the same tab."""
    tab = gesture.first["tab"]
    cause = next((draft for draft in reversed(drafts) if draft.first["tab"] == tab), None)
    if cause:
        cause.add_events(gesture.events)
    return []


def _tab(gesture: Gesture, drafts: list[_Draft]) -> list[_Draft]:
    return [_draft(gesture, gesture.first["type"], {"tab": gesture.first["data"]["tab"]})]


def _tabswitch(gesture: Gesture, drafts: list[_Draft]) -> list[_Draft]:
    data = gesture.first["data"]
    return [_draft(gesture, "tabswitch", {"origin": data["origin"], "target": data["tab"]})]


def _dialog(gesture: Gesture, drafts: list[_Draft]) -> list[_Draft]:
    data = gesture.first["data"]
    arguments: dict[str, Any] = {name: data[name] for name in ("kind", "message", "accepted", "text") if name in data}
    return [_draft(gesture, "dialog", arguments)]


def _undo(gesture: Gesture, drafts: list[_Draft]) -> list[_Draft]:
    """The person's mark that an action was a mistake."""
    mistake = gesture.first["data"]["event"]
    for draft in drafts:
        draft.dropped |= any(event["seq"] == mistake for event in draft.events)
    return []


_RULES: dict[str, Callable[[Gesture, list[_Draft]], list[_Draft]]] = {
    "pointerdown": _pointer, "keydown": _key, "beforeinput": _text, "wheel": _wheel, "hover": _hover,
    "navigate": _navigate, "tabcreate": _tab, "tabremove": _tab, "tabswitch": _tabswitch, "dialog": _dialog,
    "download": _consequence, "undo": _undo,
    **dict.fromkeys(("input", "change", "copy", "paste", "submit", *_CLICKS), _alone),
}


# Pieces of rules.

def _control(gesture: Gesture) -> _Draft | None:
    """A control other than a text field that got a new value, or a file field that got files."""
    for event in reversed(gesture.of_type("change", "input")):
        data, kind = event["data"], control_kind(event["target"])
        if data.get("files"):
            return _draft(gesture, "upload", {"files": data["files"]}, event["target"])
        if kind == "checkable":
            return _draft(gesture, "change", {"checked": data["checked"]}, _as_before(gesture, event))
        stepped = gesture.first["type"] == "pointerdown" and _input_type(event["target"]) == "number"
        if kind in ("select", "picked") or (stepped and event["type"] == "input"):
            arguments: dict[str, Any] = {name: data[name] for name in ("value", "label") if name in data}
            return _draft(gesture, "change", arguments, _as_before(gesture, event))
    return None


def _as_before(gesture: Gesture, event: Event) -> Element | None:
    """The element of an event as it was when the gesture began, where that is known."""
    first = gesture.first["target"]
    return first if first and first["uid"] == _uid(event["target"]) else event["target"]


def _uid(element: Element | None) -> str | None:
    return element["uid"] if element else None


def _input_type(element: Element | None) -> str:
    return element["attributes"].get("type", "").lower() if element else ""


def _pointer_arguments(event: Event) -> dict[str, Any]:
    data = event["data"]
    return {"x": data.get("x"), "y": data.get("y"), "button": data.get("button", 0),
            "modifiers": data.get("modifiers", []), "keyboard": False}


def _distance(gesture: Gesture) -> float:
    ends = [event["data"] for event in gesture.of_type("pointerup") if "x" in event["data"]]
    start = gesture.first["data"]
    return max((abs(end["x"] - start["x"]) + abs(end["y"] - start["y"]) for end in ends), default=0.0)


def _drag(gesture: Gesture) -> _Draft:
    start = gesture.first["data"]
    end = next((event["data"] for event in reversed(gesture.of_type("drop", "pointerup"))), start)
    return _draft(gesture, "drag", {"from": {"x": start["x"], "y": start["y"]}, "to": {"x": end["x"], "y": end["y"]}},
                  gesture.first["target"])


def _scroll_turn(gesture: Gesture, scrolls: list[Event]) -> _Draft:
    return _draft(gesture, "scroll", dict(scrolls[-1]["data"]["scroll"]), scrolls[-1]["target"])


def _paste(gesture: Gesture, event: Event, drafts: list[_Draft]) -> list[_Draft]:
    """A paste into a field that is being typed in belongs to the typing; elsewhere it stands alone."""
    values = gesture.of_type("input")
    last = drafts[-1] if drafts else None
    if values and last and last.intent == "textInput" and last.uid == _uid(values[-1]["target"]):
        return [_draft(gesture, "textInput", {"text": values[-1]["data"]["value"]}, values[-1]["target"])]
    return [_draft(gesture, "paste", {"text": event["data"]["text"]}, event["target"])]


# Rules that join a turn to the one before; each says whether it did.

def _join_typing(drafts: list[_Draft], new: _Draft) -> bool:
    last = drafts[-1] if drafts else None
    if not (last and new.intent == last.intent == "textInput" and new.uid == last.uid):
        return False
    last.arguments = new.arguments
    last.add_events(new.events)
    return True


def _join_clicks(drafts: list[_Draft], new: _Draft) -> bool:
    """A double click is two clicks and a dblclick: one turn, with the state before the first."""
    last = drafts[-1] if drafts else None
    if not (last and new.intent == "dblclick" and last.intent == "click" and new.uid == last.uid):
        return False
    last.intent = "dblclick"
    last.add_events(new.events)
    return True


def _join_scrolls(drafts: list[_Draft], new: _Draft) -> bool:
    last = drafts[-1] if drafts else None
    if not (last and new.intent == last.intent == "scroll" and new.uid == last.uid
            and new.first["time"] - last.end < _SCROLL_GAP):
        return False
    last.arguments = new.arguments
    last.add_events(new.events)
    return True


def _join_control(drafts: list[_Draft], new: _Draft) -> bool:
    """Opening a list, picking, and stepping through values by keys: one change with the final value."""
    if new.intent != "change" or control_kind(new.element) == "checkable":
        return False
    steps = list(takewhile(lambda draft: draft.uid == new.uid and _steps_through_values(draft), reversed(drafts)))
    if not steps:
        return False
    del drafts[-len(steps):]
    opened = steps[-1]
    for step in [*reversed(steps[:-1]), new]:
        opened.add_events(step.events)
    opened.intent, opened.arguments = "change", new.arguments
    drafts.append(opened)
    return True


def _steps_through_values(draft: _Draft) -> bool:
    key = draft.arguments.get("key", "")
    return not draft.dropped and (draft.intent in ("change", "click") or (
        draft.intent == "press" and (len(key) == 1 or key in _STEP_KEYS or key.startswith("Arrow"))))


def _join_upload(drafts: list[_Draft], new: _Draft) -> bool:
    """The click that opened the file chooser belongs to the upload."""
    last = drafts[-1] if drafts else None
    if not (last and new.intent == "upload" and last.intent == "click" and last.first["tab"] == new.first["tab"]):
        return False
    last.intent, last.arguments, last.element = "upload", new.arguments, new.element
    last.add_events(new.events)
    return True


_JOINS = (_join_typing, _join_clicks, _join_scrolls, _join_control, _join_upload)


def stage(demonstration: Demonstration, context: Context) -> Demonstration:
    """Pipeline stage: the turns of the recording's events."""
    events = context.recording.events
    if not events and context.recording.broken_lines:
        raise InputError(next(iter(context.recording.broken_lines.values())))
    if not events:
        raise InputError(f"{context.recording.layout.root}: the recording contains no events")
    return {**demonstration, "turns": [*fold(events)]}
