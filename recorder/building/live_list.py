"""The live list for the recorded person: one plain line for each action, newest last, without typed text.

Simpler than the folding into turns, which is done offline from the whole recording: each event is told as it comes, and
a later event of the same gesture may better the word (a press that ticked a box was a `change`). A line names the
event by which the action can be taken back.
"""

from typing import Any, TypedDict

from recorder.writer import NewEvent
from schemas.addresses import split_address
from schemas.shared import CONTROLS, DELETION_KEYS, LIVE_LIST, NOT_TYPED_IN, SILENT_KEYS
from schemas.types.recordings import Element

_INTENTS, _TRANSITIONS = LIVE_LIST["intents"], LIVE_LIST["transitions"]
_JOINED = frozenset(LIVE_LIST["joined"])  # many events in a row on one element are one line
_SUREST_FIRST = LIVE_LIST["surest_first"]  # intents that may better the first of a gesture
_QUICK = LIVE_LIST["double_click_seconds"]  # between the presses of a double click
_NAME_LIMIT = LIVE_LIST["name_limit"]
_TABS = {"tabcreate", "tabremove", "tabswitch"}
_UNSURE = 99


class NumberedEvent(NewEvent):
    """An event with its number."""

    seq: int


class Line(TypedDict):
    """A line as it is shown; see `LiveList.take`."""

    line: int
    event: int
    time: float
    word: str
    name: str
    undone: bool


class _SourceLine(Line):
    of: tuple[int, str | None]  # number of the tab and uid of the target
    began_by: str
    rank: int


class LiveList:
    """The lines so far. Takes journal events with their number; pure, so that it can be read and tested alone."""

    def __init__(self) -> None:
        self._lines: list[_SourceLine] = []
        self._by_gesture: dict[int, _SourceLine] = {}

    def add_event(self, event: NumberedEvent) -> Line | None:
        """The line that an event adds or changes; None when it changes none.

        A line: `line` its number, `event` of the last event in it, `time`, `word` (an intent), `name` of the target,
        `undone`.
        """
        word = _word(event)
        if not word:
            return None
        gesture = event["gesture"] or event["seq"]
        line = self._by_gesture.get(gesture)
        if line is None:
            line = self._same_as_last(event, word) or self._add(event, word)
        elif line["word"] not in _JOINED and not _better(line, event, word):
            return None
        line["event"] = gesture
        self._by_gesture[gesture] = line
        return _shown(line)

    def undo(self) -> Line | None:
        """Mark the last line that still stands; returns it, or None when there is none."""
        line = next((line for line in reversed(self._lines) if not line["undone"]), None)
        if line is None:
            return None
        line["undone"] = True
        return _shown(line)

    def _add(self, event: NumberedEvent, word: str) -> _SourceLine:
        line: _SourceLine = {"line": len(self._lines) + 1, "event": event["seq"], "time": event["time"], "word": word,
                "name": _name(event), "undone": False, "of": (event["tab"], _uid(event)), "began_by": event["type"],
                "rank": _UNSURE}
        self._lines.append(line)
        return line

    def _same_as_last(self, event: NumberedEvent, word: str) -> _SourceLine | None:
        last = self._lines[-1] if self._lines else None
        if not last or last["undone"] or last["of"] != (event["tab"], _uid(event)) or last["word"] != word:
            return None
        quick = event["type"] == "pointerdown" and event["time"] - last["time"] < _QUICK
        return last if word in _JOINED or quick else None


def _better(line: _SourceLine, event: NumberedEvent, word: str) -> bool:
    """Give a line the word of a later event of its gesture, if that is surer; returns whether it is."""
    ranks = _SUREST_FIRST.get(line["began_by"], ())
    if word not in ranks or ranks.index(word) >= line["rank"]:
        return False
    line |= {"word": word, "name": _name(event), "rank": ranks.index(word)}
    return True


def _word(event: NumberedEvent) -> str | None:
    """The intent that an event is likely to become; None when it shows nothing of its own."""
    kind, data = event["type"], event["data"]
    if kind in ("input", "change"):
        return _value_word(event)
    if kind == "keydown":
        return _key_word(event)
    if kind == "scroll":  # a page that scrolls itself is nobody's action
        return "scroll" if event["gesture"] else None
    if kind == "navigate":
        return _TRANSITIONS.get(data["transition"])
    return _INTENTS.get(kind)


def _value_word(event: NumberedEvent) -> str | None:
    if event["data"].get("files"):
        return "upload"
    if _typed_in(event["target"]):
        return "textInput" if event["type"] == "input" else None
    return "change"


def _key_word(event: NumberedEvent) -> str | None:
    key, modifiers = event["data"]["key"], set(event["data"].get("modifiers", [])) - {"Shift"}
    if key in SILENT_KEYS:
        return "press" if event["data"].get("prevented") else None
    if key == "Character":  # one of a secret
        return None
    tag = event["target"]["tag"] if event["target"] else ""
    if not modifiers and (tag in CONTROLS or _typed_in(event["target"])) and (
            len(key) == 1 or key in DELETION_KEYS or (key == "Enter" and tag != "input")):
        return None  # the text that it brings is told by its `input`
    return "press"


def _typed_in(element: Element | None) -> bool:
    """Whether a person types into it."""
    if not element:
        return False
    attributes = element["attributes"]
    if element["tag"] == "input":
        return attributes.get("type", "text").lower() not in NOT_TYPED_IN
    return element["tag"] == "textarea" or attributes.get("contenteditable", "false").lower() != "false"


def _name(event: NumberedEvent) -> str:
    """What it was done to. Never a value or a key that could be part of one; of an address only the host."""
    data, target = event["data"], event["target"]
    if event["type"] == "keydown" and len(data["key"]) > 1:
        return data["key"]
    if event["type"] == "navigate":
        return (split_address(data["url"]).hostname or "")[:_NAME_LIMIT]
    if event["type"] in _TABS:
        return f"Tab {data['tab']}"
    if event["type"] == "dialog":
        return data["message"][:_NAME_LIMIT]
    if not target:
        return ""
    return (target["name"] or target["role"] or target["tag"])[:_NAME_LIMIT]


def _uid(event: NumberedEvent) -> str | None:
    return event["target"]["uid"] if event["target"] else None


def _shown(line: _SourceLine) -> Line:
    shown: Any = {name: line[name] for name in ("line", "event", "time", "word", "name", "undone")}
    return shown
