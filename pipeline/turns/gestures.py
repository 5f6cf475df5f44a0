"""Groups a recording's events into gestures: the events of one physical action, and their consequences."""

from dataclasses import dataclass, field

from schemas.types.recordings import Element, Event

_CHECKABLE = ("checkbox", "radio")
_PICKED = ("date", "time", "month", "week", "datetime-local", "color", "range")

# Types of events that may begin a gesture which becomes no turn, with the reason; all others always become one.
LEFT_OUT = {
    "keydown": "a key that only moves the focus or modifies others, or one of a secret",
    "beforeinput": "text that the page did not let into the field",
    "autofill": "a field that the browser looked at and did not fill in",
    "input": "a value of what is no control", "change": "a value of what is no control",
    "drop": "what was dropped brought neither files nor text",
    "wheel": "nothing scrolled, and the page did not handle the wheel",
    "scroll": "the page or a driver scrolled",
    "pointerup": "a press that began outside the page", "dragstart": "a press that began outside the page",
    "dragend": "a press that began outside the page",
    "navigate": "a navigation that follows from no action", "download": "a download that follows from no action",
    "screenshot": "the recorder's own", "pause": "the recorder's own", "resume": "the recorder's own",
    "undo": "the recorder's own", "mhtml": "the recorder's own", "sleep": "the recorder's own",
}


@dataclass
class Gesture:
    """A gesture's first event, which has the state before all of it, and the events that followed from it."""

    first: Event
    rest: list[Event] = field(default_factory=list)

    @property
    def events(self) -> list[Event]:
        return [self.first, *self.rest]

    def of_type(self, *types: str) -> list[Event]:
        """Its events of these types, in order."""
        return [event for event in self.events if event["type"] in types]


def group(events: list[Event]) -> list[Gesture]:
    """Gestures in the order in which they began. Every event is in exactly one."""
    gestures: dict[int, Gesture] = {}
    for event in sorted(events, key=lambda event: (event["time"], event["seq"])):
        if event["gesture"] in gestures:
            gestures[event["gesture"]].rest.append(event)
        else:
            gestures[event["seq"]] = Gesture(event)
    return list(gestures.values())


def control_kind(element: Element | None) -> str:
    """How a person works a control: text, checkable, picked (date, colour, range), select, file, or "" for others."""
    if not element:
        return ""
    attributes = element["attributes"]
    if element["tag"] == "select":
        return "select"
    if element["tag"] == "textarea" or _is_editable(attributes):
        return "text"
    if element["tag"] != "input":
        return ""
    kind = attributes.get("type", "text").lower()
    if kind in _CHECKABLE:
        return "checkable"
    if kind in _PICKED:
        return "picked"
    if kind in ("file", "button", "submit", "reset", "image", "hidden"):
        return "file" if kind == "file" else ""
    return "text"


def is_text(event: Event) -> bool:
    """Whether an event tells the text of a field or an editor. One with an EditContext, or in a document that is
    editable as a whole, shows in no attribute that it is one."""
    kind, element = control_kind(event["target"]), event["target"]
    return kind == "text" or (kind == "" and event["type"] == "input" and "value" in event["data"]
                              and element is not None and element["tag"] not in ("input", "button"))


def _is_editable(attributes: dict[str, str]) -> bool:
    return attributes.get("contenteditable", "false").lower() in ("", "true", "plaintext-only")
