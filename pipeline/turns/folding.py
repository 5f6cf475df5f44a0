"""Events to turns: small rules, one for each kind of gesture, then rules that join a turn to the one before.

The table of rules stands in docs/actions.md. Pure: the same events give the same turns. Every event is named by
one turn at most; those that are nobody's action (a key that only moves the focus, a page that scrolls itself) by none.
"""

from collections.abc import Callable
from typing import Any, cast

from pipeline.context import Context
from schemas import DemonstrationSchema, InputError
from schemas.files import read_json
from schemas.shared import SILENT_KEYS
from schemas.types.recordings import BrowserTurn, Demonstration, Element, Event, Point, State, TurnState

from .drafts import Draft, letters, uid_of
from .gestures import Gesture, control_kind, group, is_text
from .joining import JOINS
from .scrolls import offsets_reached, wheel_delta

_DRAG_DISTANCE = 10  # CSS pixels between press and release that make a drag
_OWN_NAVIGATIONS = {"typed": "load", "reload": "reload", "back": "back", "forward": "forward"}
_CLICKS = ("click", "auxclick", "contextmenu", "dblclick")
_FILLED_INTENTS = ("textInput", "change")  # of a field that the browser filled in


def fold(events: list[Event]) -> list[BrowserTurn]:
    """Turns of a recording's events (Recording.events), in order of time; see DemonstrationSchema for their form."""
    drafts: list[Draft] = []
    for gesture in group(events):
        rule = _RULES.get(gesture.first["type"], _nothing)
        rest = _without_text_changes(gesture, drafts)
        for draft in rule(rest, drafts) if rest else []:
            was_undone = drafts and drafts[-1].dropped  # what is done anew does not join it
            if was_undone or not any(join(drafts, draft) for join in JOINS):
                drafts.append(draft)
    return [_turn(draft) for draft in drafts]


def state_of(event: Event) -> TurnState | None:
    """State of a turn from the state of the event that begins it."""
    return None if event["state"] is None else turn_state(event["state"])


def turn_state(state: State) -> TurnState:
    """A state as a turn has it."""
    status = "good" if state["screenshot"] and not state.get("stale") else "broken"
    return cast(TurnState, state | {"video_time": state["screenshot_time"], "screenshot_status": status})


def _turn(draft: Draft) -> BrowserTurn:
    turn: BrowserTurn = {
        "id": f"turn-{draft.first['seq']}", "type": "browser", "timestamp": draft.first["time"],
        "intent": draft.intent, "arguments": draft.arguments, "element": draft.element,
        "state": state_of(draft.first), "events": sorted(event["seq"] for event in draft.events),
        "checks": [], "dropped": draft.dropped}
    return turn if draft.first.get("trusted", True) else turn | {"trusted": False}


def _draft(gesture: Gesture, intent: str, arguments: dict[str, Any], element: Element | None = None) -> Draft:
    return Draft(intent, arguments, element, gesture.first, list(gesture.events))


# What becomes of a text field's `change`: the person left the field, so its value is what they typed before.

def _without_text_changes(gesture: Gesture, drafts: list[Draft]) -> Gesture | None:
    """The gesture without each `change` of a text field that ends typing, which is added to the draft of that typing;
    None when nothing remains."""
    retained: list[Event] = []
    for event in gesture.events:
        if typing := _typing_ended_by(event, drafts):
            _end_typing(typing, event)
        else:
            retained.append(event)
    return Gesture(retained[0], retained[1:]) if retained else None


def _typing_ended_by(event: Event, drafts: list[Draft]) -> Draft | None:
    """The last typing in the text field that an event reports a `change` of; None when it is no such event, or that of
    a driver which has set another value by script, such as Selenium's `clear`."""
    if event["type"] != "change" or control_kind(event["target"]) != "text":
        return None
    field_uid = uid_of(event["target"])
    typing = next((draft for draft in reversed(drafts) if draft.intent == "textInput" and draft.uid == field_uid), None)
    if typing and event.get("trusted") is False and not _is_same_text(typing.arguments["text"], event["data"]["value"]):
        return None
    return typing


def _end_typing(typing: Draft, change: Event) -> None:
    """Add a text field's `change` to its typing, with the field's final value if that is what was typed."""
    final = change["data"]["value"]
    if _is_same_text(typing.arguments["text"], final):
        typing.arguments = {"text": final}
    typing.add_events([change])


def _is_same_text(typed: str, final: str) -> bool:
    """Whether a field's final value is what was typed, perhaps put into form by the page (case, spaces, punctuation);
    else the page has put something of its own in its place."""
    return letters(typed) == letters(final)


# One rule a kind of first event. Each returns the turns of the gesture, in order.

def _nothing(gesture: Gesture, drafts: list[Draft]) -> list[Draft]:
    return []


def _pointer(gesture: Gesture, drafts: list[Draft]) -> list[Draft]:
    first, clicks = gesture.first, gesture.of_type(*_CLICKS)
    if control := _control(gesture):
        return [control]
    if gesture.of_type("dragstart", "drop") or _distance(gesture) >= _DRAG_DISTANCE:
        return [_drag(gesture)]
    if not clicks and (scrolls := gesture.of_type("scroll")):
        return [_scroll_turn(gesture, scrolls)]
    intent = "dblclick" if gesture.of_type("dblclick") else "click"
    return [_draft(gesture, intent, _pointer_arguments(first), first["target"])]


def _key(gesture: Gesture, drafts: list[Draft]) -> list[Draft]:
    first, data = gesture.first, gesture.first["data"]
    if (copied := gesture.of_type("copy", "cut")) and not gesture.of_type("input"):
        return [_draft(gesture, "copy", {"text": copied[-1]["data"]["text"]}, copied[-1]["target"])]
    if pasted := gesture.of_type("paste"):
        return _paste(gesture, pasted[-1], drafts)
    submitted = gesture.of_type("submit")
    if submitted and data["key"] == "Enter":
        return [_draft(gesture, "submit", {}, submitted[-1]["target"])]
    if control := _control(gesture):
        return [control]
    if typed := _typed(gesture):
        return [typed]
    if clicked := gesture.of_type("click"):
        target = clicked[0]["target"]
        return [_draft(gesture, "click", _pointer_arguments(clicked[0]) | {"x": None, "y": None, "keyboard": True},
                       target)]
    if scrolls := gesture.of_type("scroll"):
        return [_scroll_turn(gesture, scrolls)]
    if data["key"] in SILENT_KEYS and not any(event["data"].get("prevented") for event in gesture.events):
        return []
    if data.get("secret"):
        return []
    modifiers = [name for name in data.get("modifiers", []) if name != "Shift" or len(data["key"]) > 1]
    return [_draft(gesture, "press", {"key": "+".join([*modifiers, data["key"]])}, first["target"])]


def _text(gesture: Gesture, drafts: list[Draft]) -> list[Draft]:
    """Text that no key brought, and values that the browser or a list of its own filled in."""
    if pasted := gesture.of_type("paste"):
        return _paste(gesture, pasted[-1], drafts)
    draft = _control(gesture) or _typed(gesture)
    if draft and draft.intent in _FILLED_INTENTS and gesture.first["type"] == "autofill":
        draft.arguments |= {"autofill": True}
    return [draft] if draft else []


def _drop(gesture: Gesture, drafts: list[Draft]) -> list[Draft]:
    """Files from outside are an upload; what another document had dragged ends that drag; else text may have come."""
    first = gesture.first
    if files := first["data"].get("files"):
        return [_draft(gesture, "upload", {"files": files}, first["target"])]
    dragged = next((draft for draft in reversed(drafts) if draft.first["tab"] == first["tab"]), None)
    if dragged and dragged.intent == "drag" and not any(event["type"] == "drop" for event in dragged.events):
        dragged.arguments |= {"to": _point(first)}
        dragged.add_events(gesture.events)
        return []
    return _text(gesture, drafts)


def _wheel(gesture: Gesture, drafts: list[Draft]) -> list[Draft]:
    if scrolls := gesture.of_type("scroll"):
        return [_scroll_turn(gesture, scrolls)]
    handled = next((event for event in gesture.of_type("wheel") if event["data"].get("default_prevented")), None)
    if handled is None:
        return []
    first = gesture.first
    point = {"point": _point(first)} if "x" in first["data"] else {}
    arguments = {**handled["data"]["scroll"], "delta": wheel_delta(gesture), **point}
    return [_draft(gesture, "scroll", arguments, first["target"])]


def _hover(gesture: Gesture, drafts: list[Draft]) -> list[Draft]:
    return [_draft(gesture, "hover", _pointer_arguments(gesture.first), gesture.first["target"])]


def _alone(gesture: Gesture, drafts: list[Draft]) -> list[Draft]:
    """An effect whose cause was not seen: dictation, a method editor, a menu of the browser."""
    first = gesture.first
    if control := _control(gesture):
        return [control]
    if typed := _typed(gesture):
        return [typed]
    if first["type"] in ("copy", "cut"):
        return [_draft(gesture, "copy", {"text": first["data"]["text"]}, first["target"])]
    if first["type"] == "paste":
        return _paste(gesture, first, drafts)
    if first["type"] == "submit":
        return [_draft(gesture, "submit", {}, first["target"])]
    if first["type"] in _CLICKS:
        return [_draft(gesture, "click", _pointer_arguments(first), first["target"])]
    return []


def _navigate(gesture: Gesture, drafts: list[Draft]) -> list[Draft]:
    data = gesture.first["data"]
    intent = _OWN_NAVIGATIONS.get(data["transition"])
    if intent == "load":
        return [_draft(gesture, "load", {"url": data["url"], "transition": data["transition"]})]
    if intent:
        return [_draft(gesture, intent, {})]
    return _consequence(gesture, drafts)


def _consequence(gesture: Gesture, drafts: list[Draft]) -> list[Draft]:
    """What followed from an action belongs to the last one in the same tab."""
    tab = gesture.first["tab"]
    cause = next((draft for draft in reversed(drafts) if draft.first["tab"] == tab), None)
    if cause:
        cause.add_events(gesture.events)
    return []


def _tab(gesture: Gesture, drafts: list[Draft]) -> list[Draft]:
    return [_draft(gesture, gesture.first["type"], {"tab": gesture.first["data"]["tab"]})]


def _tabswitch(gesture: Gesture, drafts: list[Draft]) -> list[Draft]:
    data = gesture.first["data"]
    return [_draft(gesture, "tabswitch", {"origin": data["origin"], "target": data["tab"]})]


def _dialog(gesture: Gesture, drafts: list[Draft]) -> list[Draft]:
    data = gesture.first["data"]
    arguments: dict[str, Any] = {name: data[name] for name in ("kind", "message", "accepted", "text") if name in data}
    return [_draft(gesture, "dialog", arguments)]


def _undo(gesture: Gesture, drafts: list[Draft]) -> list[Draft]:
    """The person's mark that an action was a mistake."""
    mistake = gesture.first["data"]["event"]
    for draft in drafts:
        draft.dropped |= any(event["seq"] == mistake for event in draft.events)
    return []


_RULES: dict[str, Callable[[Gesture, list[Draft]], list[Draft]]] = {
    "pointerdown": _pointer, "keydown": _key, "beforeinput": _text, "autofill": _text, "drop": _drop, "wheel": _wheel,
    "hover": _hover,
    "navigate": _navigate, "tabcreate": _tab, "tabremove": _tab, "tabswitch": _tabswitch, "dialog": _dialog,
    "download": _consequence, "undo": _undo,
    **dict.fromkeys(("input", "change", "copy", "cut", "paste", "submit", *_CLICKS), _alone),
}


# Pieces of rules.

def _control(gesture: Gesture) -> Draft | None:
    """A control other than a text field that got a new value, or a file field that got files."""
    for event in reversed(gesture.of_type("change", "input")):
        data, kind = event["data"], control_kind(event["target"])
        if data.get("files"):
            return _draft(gesture, "upload", {"files": data["files"]}, event["target"])
        if kind == "checkable":
            return _draft(gesture, "change", {"checked": data["checked"]}, _as_before(gesture, event))
        stepped = gesture.first["type"] == "pointerdown" and _input_type(event["target"]) == "number"
        if kind in ("select", "picked") or (stepped and event["type"] == "input"):
            names = [name for name in ("value", "chosen_values", "label") if name in data]
            arguments: dict[str, Any] = {name: data[name] for name in names}
            return _draft(gesture, "change", arguments, _as_before(gesture, event))
    return None


def _typed(gesture: Gesture) -> Draft | None:
    """The text that a gesture brought into a field or an editor; None when it brought none."""
    values = [event for event in gesture.of_type("input", "change") if is_text(event)]
    if not values:
        return None
    return _draft(gesture, "textInput", {"text": values[-1]["data"]["value"]}, _as_before(gesture, values[-1]))


def _as_before(gesture: Gesture, event: Event) -> Element | None:
    """The element of an event as it was when the gesture began, where that is known."""
    first = gesture.first["target"]
    return first if first and first["uid"] == uid_of(event["target"]) else event["target"]


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


def _drag(gesture: Gesture) -> Draft:
    ends = [gesture.of_type(kind) for kind in ("drop", "dragend", "pointerup")]  # the surest first
    end = next((events[-1] for events in ends if events), gesture.first)
    return _draft(gesture, "drag", {"from": _point(gesture.first), "to": _point(end)}, gesture.first["target"])


def _point(event: Event) -> Point:
    return {"x": event["data"]["x"], "y": event["data"]["y"]}


def _scroll_turn(gesture: Gesture, scrolls: list[Event]) -> Draft:
    return _draft(gesture, "scroll", {**offsets_reached(gesture, scrolls)}, scrolls[-1]["target"])


def _paste(gesture: Gesture, event: Event, drafts: list[Draft]) -> list[Draft]:
    """A paste into a field that is being typed in belongs to the typing; elsewhere it stands alone."""
    values = gesture.of_type("input")
    last = drafts[-1] if drafts else None
    if values and last and last.intent == "textInput" and last.uid == uid_of(values[-1]["target"]):
        return [_draft(gesture, "textInput", {"text": values[-1]["data"]["value"]}, values[-1]["target"])]
    return [_draft(gesture, "paste", {"text": event["data"]["text"]}, event["target"])]


def stage(demonstration: Demonstration, context: Context) -> Demonstration:
    """Pipeline stage: the turns of the recording's events; of an imported one, those of its source."""
    if context.recording.layout.imported.exists():
        turns = read_json(context.recording.layout.imported, DemonstrationSchema())["turns"]
        return {**demonstration, "turns": turns}
    events = context.recording.events
    if not events and context.recording.broken_lines:
        raise InputError(next(iter(context.recording.broken_lines.values())))
    if not events:
        raise InputError(f"{context.recording.layout.root}: the recording contains no events")
    return {**demonstration, "turns": [*fold(events)]}
