"""Groups a recording's events into gestures: the events of one physical action, and their consequences."""

from dataclasses import dataclass, field

from schemas.types.recordings import Element, Event

_CHECKABLE = ("checkbox", "radio")
_PICKED = ("date", "time", "month", "week", "datetime-local", "color", "range")


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


def _is_editable(attributes: dict[str, str]) -> bool:
    return attributes.get("contenteditable", "false").lower() in ("", "true", "plaintext-only")
