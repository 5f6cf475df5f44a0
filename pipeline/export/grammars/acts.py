"""The input of a grammar for a turn: the turn, and its context (tabs, scroll offsets, the picture)."""

from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.export.formats.weblinx_turns import history_url
from pipeline.pages.dom import Page
from pipeline.privacy.redacting import Redactor
from recorder import Recording
from recorder.pictures import size_of
from schemas.types.recordings import Box, Point, Size, Turn

_MODIFIERS = ("Control", "Shift", "Alt", "Meta")


class NoForm(Exception):
    """A grammar has no form for an action; the text is the reason."""


@dataclass(frozen=True)
class Act:
    """A turn as grammars see it.

    `uid`: the target's in the page; None without a target or where the page does not have it. `moved`: by how much a
    scroll went, CSS pixels. `place`: the place among the open tabs, from 0, of the tab that is shown or closed.
    `opened`: the page opened the tab, nobody else. `focused`: the turn before was in the same field. `url`: where back,
    forward and reload led to. `picture`: size of the picture, pixels, None where there is no good one; `scale`: its
    pixels in a CSS pixel.
    """

    turn: Turn
    uid: str | None = None
    moved: Point | None = None
    tab_index: int | None = None
    opened: bool = False
    focused: bool = False
    url: str | None = None
    picture: Size | None = None
    scale: float = 1.0

    @property
    def intent(self) -> str:
        return "say" if self.turn["type"] == "chat" else self.turn["intent"]

    @property
    def box(self) -> Box | None:
        """The target's box, top-level CSS pixels."""
        element = self.turn["element"] if self.turn["type"] == "browser" else None
        return element["bbox"] if element else None

    def target(self) -> str:
        """The target's uid; raises NoForm where there is none."""
        if self.uid is not None:
            return self.uid
        if self.turn["type"] == "browser" and self.turn["element"]:
            raise NoForm(f"{self.intent}: target missing from the page")
        raise NoForm(f"{self.intent}: no element")


class Session:
    """Goes through the turns of one demonstration in order, and keeps what later ones depend on."""

    def __init__(self, turns: Sequence[Turn], recording: Recording, known: Redactor):
        self._turns, self._recording, self._known = turns, recording, known
        self._openers = {event["seq"]: event["data"].get("origin") for event in recording.events
                         if event["type"] == "tabcreate"}
        created = {turn["arguments"]["tab"] for turn in turns
                   if turn["type"] == "browser" and turn["intent"] == "tabcreate"}
        self.tabs = sorted(_tabs(turns) - created)
        self._offsets: dict[tuple[int, tuple[str, ...], str], Point] = {}
        self._field: tuple[tuple[str, ...], str] | None = None

    def act(self, index: int, page: Page | None, picture: Size | None) -> Act:
        """The turn of that number; each is asked for once, in order. `page`: of its own state."""
        turn = self._turns[index]
        if turn["type"] == "chat":
            return Act(turn)
        element, state, intent = turn["element"], turn["state"], turn["intent"]
        uid = None
        if element and page and page.has(page_uid := page.uid(element["frame"], element["uid"])):
            uid = page_uid
        field = (tuple(element["frame"]), element["uid"]) if element else None
        focused, self._field = field is not None and field == self._field, field
        scale = picture["width"] / state["viewport"]["width"] if picture and state and state["viewport"]["width"] else 1
        return Act(turn, uid, self._moved(turn) if intent == "scroll" else None, self._tab_index(turn),
                   any(self._openers.get(event) is not None for event in turn["events"]), focused,
                   history_url(self._turns, index, self._recording, self._known), picture, scale)

    def _tab_index(self, turn: Turn) -> int | None:
        """Where the tab of a turn stands among those that are open; keeps count of them."""
        if turn["type"] == "chat" or turn["intent"] not in ("tabcreate", "tabremove", "tabswitch"):
            return None
        tab = turn["arguments"]["target" if turn["intent"] == "tabswitch" else "tab"]
        if turn["intent"] == "tabcreate":
            self.tabs = sorted({*self.tabs, tab})
        index = self.tabs.index(tab) if tab in self.tabs else None
        if turn["intent"] == "tabremove" and index is not None:
            del self.tabs[index]
        return index

    def _moved(self, turn: Turn) -> Point | None:
        """From where it was when it was last known; a part of the page from its beginning; where the page handles the
        wheel, how far it was turned. None without a state."""
        if turn["type"] == "chat" or turn["state"] is None:
            return None
        state, element, to = turn["state"], turn["element"], turn["arguments"]
        if delta := to.get("delta"):
            return {"x": delta["x"], "y": delta["y"]}
        before: Point = {"x": 0.0, "y": 0.0}
        if element is None or (not element["frame"] and element["tag"] in ("html", "body")):
            before = state["scroll"]
        else:
            key = state["tab"], tuple(element["frame"]), element["uid"]
            before = self._offsets.get(key, before)
            self._offsets[key] = {"x": to["x"], "y": to["y"]}
        return {"x": to["x"] - before["x"], "y": to["y"] - before["y"]}


def picture_size(picture: bytes | None) -> Size | None:
    """Size of a picture of ours, pixels."""
    size = size_of(picture) if picture else None
    return {"width": size[0], "height": size[1]} if size else None


def split_keys(keys: str) -> tuple[list[str], str]:
    """Modifiers and key of what a press has as its key: `Control+Shift+a`."""
    modifiers = []
    while (name := next((name for name in _MODIFIERS if keys.startswith(f"{name}+")), None)) and keys != f"{name}+":
        modifiers.append(name)
        keys = keys[len(name) + 1:]
    return modifiers, keys


def _tabs(turns: Sequence[Turn]) -> set[int]:
    """All tabs that turns tell of."""
    tabs: set[int] = set()
    for turn in turns:
        if turn["type"] == "browser":
            arguments = turn["arguments"]
            numbers = (arguments.get("tab"), arguments.get("target"), arguments.get("origin")) if turn[
                "intent"].startswith("tab") else ()
            tabs.update(tab for tab in (*numbers, turn["state"]["tab"] if turn["state"] else None) if tab is not None)
    return tabs
