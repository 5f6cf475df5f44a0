"""What the scripted model of every driver does, and the turns that must come of it."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Action:
    """One action of a driver. `kind`: what it is in the driver's words; `id` of its element; `name`: accessible name;
    `intent` and `value` of the turn that it must become."""

    kind: str
    id: str
    name: str
    value: Any
    intent: str
    expected: Any

    def as_json(self, folder: str) -> dict[str, Any]:
        """The action as a driver's program reads it; files are in `folder`."""
        value = f"{folder}/{self.value}" if self.kind == "upload" else self.value
        return {"kind": self.kind, "id": self.id, "name": self.name, "value": value}


def _fill(element_id: str, name: str, text: str) -> Action:
    return Action("fill", element_id, name, text, "textInput", text)


SCRIPT = (
    _fill("name", "Name", "Ann Lee"), _fill("email", "Email", "ann@example.org"), _fill("note", "Note", "two\nlines"),
    Action("select", "colour", "Colour", "Blue", "change", "b"),
    Action("date", "day", "Day", "2026-03-02", "change", "2026-03-02"),
    Action("range", "bright", "Brightness", "8", "change", "8"),
    Action("check", "gift", "Gift", True, "change", True),
    Action("check", "fast", "Fast", True, "change", True),
    Action("upload", "picture", "Picture", "lamp.png", "upload", ["lamp.png"]),
    Action("click", "count", "Count", None, "click", None),
    Action("click", "inner", "Shadow", None, "click", None),
    _fill("name", "Name", "Bo"), _fill("email", "Email", ""),
    Action("frame_fill", "city", "City", "Rome", "textInput", "Rome"),
    Action("frame_click", "pay", "Pay", None, "click", None),
    Action("drag", "source", "Drag me", "target", "drag", None),
    Action("click", "foot", "Bottom", None, "click", None),
    Action("dialog", "ask", "Ask", True, "click", None),
    Action("press", "name", "Name", "Enter", "submit", None),
    Action("click", "next", "Next page", None, "click", None),
    Action("click", "ok", "OK", None, "click", None),
    Action("back", "", "", None, "back", None),
    Action("click", "count", "Count", None, "click", None),
    _fill("note", "Note", "Thanks"),
)
