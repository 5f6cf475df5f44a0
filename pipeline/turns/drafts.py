"""A turn in the making, and what its parts are compared by."""

from dataclasses import dataclass, field
from typing import Any

from schemas.types.recordings import Element, Event


@dataclass
class Draft:
    """A turn in the making."""

    intent: str
    arguments: dict[str, Any]
    element: Element | None
    first: Event
    events: list[Event] = field(default_factory=list)
    dropped: bool = False

    @property
    def uid(self) -> str | None:
        return uid_of(self.element)

    @property
    def end(self) -> float:
        return max(event["time"] for event in self.events)

    def add_events(self, events: list[Event]) -> None:
        """Name more events as its own."""
        known = {event["seq"] for event in self.events}
        self.events += [event for event in events if event["seq"] not in known]


def uid_of(element: Element | None) -> str | None:
    """The id of an element; None without one."""
    return element["uid"] if element else None


def letters(text: str) -> str:
    """The letters and digits of a text, in one case: what stays when a page puts it in another form."""
    return "".join(character for character in text.casefold() if character.isalnum())
