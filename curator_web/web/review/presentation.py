"""View objects of the review page for the templates."""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any
from urllib.parse import quote

from flask import url_for
from flask_babel import gettext as _

from curator_web.demonstrations.library.library import Review
from curator_web.demonstrations.library.summary import changed, displaced
from curator_web.errors import ErrorText, NotFound
from curator_web.web.shell.forms import FormField, argument_fields
from curator_web.web.shell.languages import day_and_time
from pipeline.turns.edits import undo_depths
from pipeline.turns.preconditions import merge_obstacle
from schemas import INTENTS, types

LABEL_LENGTH = 160
BROWSERS = (("Edg", "Edge"), ("OPR/", "Opera"), ("Firefox/", "Firefox"), ("Chrome/", "Chrome"), ("Safari/", "Safari"))
SYSTEMS = (("Android", "Android"), ("iPhone", "iOS"), ("iPad", "iOS"), ("Windows", "Windows"), ("Mac OS", "macOS"),
           ("CrOS", "ChromeOS"), ("Linux", "Linux"))


@dataclass(frozen=True)
class TurnView:
    """One turn in its place."""

    turn: types.Turn
    number: int
    base_number: int | None
    changed: bool
    moved: bool
    original: types.Turn | None
    merges_into: str | None = None  # id of the typing into the same field right before it
    answered: types.ChatTurn | None = None  # the turn that it replies to

    @property
    def id(self) -> str:
        return self.turn["id"]

    @property
    def is_chat(self) -> bool:
        return self.turn["type"] == "chat"

    @property
    def kind(self) -> str:
        """The intent, or the speaker."""
        return self.turn["speaker"] if self.turn["type"] == "chat" else self.turn["intent"]

    @property
    def spoken(self) -> bool:
        """Whether it was said aloud, and may have been heard wrong."""
        return self.turn["type"] == "chat" and self.turn.get("source") == "speech"

    @property
    def family(self) -> str:
        """Which colour the kind has."""
        return "say" if self.turn["type"] == "chat" else INTENTS[self.turn["intent"]].family

    @property
    def state(self) -> Mapping[str, Any]:
        return (self.turn["state"] if self.turn["type"] == "browser" else None) or {}

    @property
    def flags(self) -> Iterator[tuple[str, str]]:
        """What is said of it beside its label, in words, each with its kind: dropped, changed or check."""
        if self.turn["dropped"]:
            yield "dropped", _("dropped")
        if self.by_hand:
            yield "changed", _("added")
        elif self.changed:
            yield "changed", _("edited")
        if self.moved:
            yield "changed", _("moved")
        if checks := len(self.turn["checks"]):
            yield "check", _("Warnings: %(count)s", count=checks)
        if self.state.get("screenshot_status") == "broken":
            yield "dropped", _("broken picture")

    @cached_property
    def label(self) -> str:
        """What the turn acted on, in a few words."""
        if self.turn["type"] == "chat":
            return self.turn["utterance"]
        return _shorten(target_name(self.turn["element"]) or _value(self.turn) or self.state.get("title") or "")

    @property
    def detail(self) -> str:
        """What was entered or chosen, when the label does not say it."""
        value = "" if self.turn["type"] == "chat" else _shorten(_value(self.turn))
        return "" if value == self.label else value

    @property
    def by_hand(self) -> bool:
        """Whether it is an action that somebody added, as no event tells of it."""
        return self.original is None and self.turn["type"] == "browser" and not self.turn["events"]

    @property
    def quote(self) -> str:
        """The beginning of what it replies to; empty when it is no reply."""
        return _shorten(self.answered["utterance"]) if self.answered else ""

    @property
    def reactions(self) -> list[types.Reaction]:
        return self.turn.get("reactions", []) if self.turn["type"] == "chat" else []

    @property
    def time(self) -> str:
        return clock(self.turn["timestamp"])

    @cached_property
    def fields(self) -> list[FormField]:
        return [] if self.turn["type"] == "chat" else argument_fields(self.turn["intent"], self.turn["arguments"])

    @cached_property
    def original_fields(self) -> dict[str, FormField]:
        """The form as the pipeline made it, to show what a fix replaced; empty for an unchanged intent or turn."""
        if (not self.original or self.original["type"] == "chat" or self.turn["type"] == "chat"
                or self.original["intent"] != self.turn["intent"]):
            return {}
        return {field.name: field for field in argument_fields(self.original["intent"], self.original["arguments"])}

    @property
    def first_fix(self) -> types.Check | None:
        """The first check that has a fix ready."""
        return next((check for check in self.turn["checks"] if check.get("fix")), None)

    @property
    def size(self) -> tuple[int, int]:
        """The screenshot's place on the page, in CSS pixels."""
        viewport = self.state.get("viewport") or {}
        return viewport.get("width") or 1280, viewport.get("height") or 720

    @property
    def box(self) -> types.Box | None:
        element = self.turn["element"] if self.turn["type"] == "browser" else None
        return element["bbox"] if element else None

    @property
    def uid(self) -> str | None:
        """The uid of what the turn acted on."""
        element = self.turn["element"] if self.turn["type"] == "browser" else None
        return element["uid"] if element else None

    @property
    def points(self) -> list[tuple[float, float]]:
        """Where the pointer was: once, or for a drag where it began and where it ended."""
        if self.turn["type"] == "chat" or self.family != "pointer":
            return []
        arguments = self.turn["arguments"]
        ends = [arguments["from"], arguments["to"]] if self.kind == "drag" else [arguments]
        return [(point["x"], point["y"]) for point in ends if None not in (point["x"], point["y"])]

    @cached_property
    def key(self) -> str:
        """Changes with the turn's content, so that a field on the page is replaced exactly when it is outdated."""
        return "t" + hashlib.sha256(json.dumps(self.turn, sort_keys=True).encode()).hexdigest()[:12]


@dataclass(frozen=True)
class Visit:
    """Turns in a row on one page; what has no page, as chat, goes with what stands before it."""

    turns: list[TurnView]

    @property
    def address(self) -> str:
        return next((turn.state["url"] for turn in self.turns if turn.state), "")

    @property
    def title(self) -> str:
        """The page's title, or else its address."""
        titles = (turn.state["title"] for turn in self.turns if turn.state)
        title = next((_shorten(title) for title in titles if title.strip()), "")
        return title or _shorten(self.address) or _("No page")

    @property
    def checks(self) -> int:
        """How many turns ask for a look."""
        return sum(bool(turn.turn["checks"]) and not turn.turn["dropped"] for turn in self.turns)


class ReviewView:
    """A demonstration with one turn selected."""

    def __init__(self, review: Review, selected: str | None = None):
        """Raises NotFound when there is no turn of the selected id."""
        self.row, self.review = review.row, review
        new: tuple[int | None, types.Turn | None] = (None, None)
        base: dict[str, tuple[int | None, types.Turn | None]] = {
            turn["id"]: (number, turn) for number, turn in enumerate(review.base["turns"], 1)}
        turns = review.turns
        touched = changed(review.base["turns"], turns)
        moved = displaced(review.base["turns"], turns, review.edits)
        said = {turn["id"]: turn for turn in turns if turn["type"] == "chat"}
        self.turns = [TurnView(turn, number, base.get(turn["id"], new)[0], turn["id"] in touched,
                               turn["id"] in moved, base.get(turn["id"], new)[1], into, _answered(turn, said))
                      for number, (turn, into) in enumerate(zip(turns, _typing_before(turns), strict=True), 1)]
        self.split_off = [TurnView(turn, number, None, False, False, None)  # what followed, since a split elsewhere
                          for number, turn in enumerate(review.elsewhere[1], len(turns) + 1)]
        self.visits = _visits(self.turns)
        self.first_task, self.labels = review.base["task"], review.labels
        self.undos, self.redos = undo_depths(review.edits)
        self.selected = self._find(selected)
        self.locked = self.row.status in ("approved", "invalid")

    def _find(self, turn_id: str | None) -> TurnView | None:
        if turn_id is None:
            return self.turns[0] if self.turns else None
        for turn in self.turns:
            if turn.id == turn_id:
                return turn
        raise NotFound(ErrorText("unknown turn %(turn_id)r in this demonstration", turn_id=turn_id[:80]))


def _visits(turns: list[TurnView]) -> list[Visit]:
    """The turns by visit: of one tab at one address, whatever its fragment."""
    visits: list[Visit] = []
    now: tuple[int, str] | None = None
    for turn in turns:
        page = (turn.state["tab"], turn.state["url"].partition("#")[0]) if turn.state else now
        if not visits or (now is not None and page != now):
            visits.append(Visit([]))
        now = page
        visits[-1].turns.append(turn)
    return visits


def _answered(turn: types.Turn, said: Mapping[str, types.ChatTurn]) -> types.ChatTurn | None:
    """The turn that a turn replies to; None where it is no reply, or what it answers is not there."""
    answered = said.get(turn.get("reply_to", "")) if turn["type"] == "chat" else None
    return None if answered is turn else answered


def _typing_before(turns: list[types.Turn]) -> list[str | None]:
    """For each turn the id of the one right before it, if the two can be merged."""
    return [None, *(before["id"] if merge_obstacle([before, turn], before["id"], turn["id"]) is None else None
                    for before, turn in zip(turns, turns[1:], strict=False))][:len(turns)]


def addresses(endpoint: str, last: str, **values: Any) -> Callable[[str], str]:
    """For many addresses of an endpoint that differ in what stands last: gives each for its value. To build every one
    by `url_for` takes a fifth of a page's time."""
    url_values: dict[str, Any] = {**values, last: "-"}
    begin = url_for(endpoint, **url_values).removesuffix("-")
    return lambda value: begin + quote(value, safe="")


def edit_summary(edit: types.Edit) -> str:
    """What a fix would do, in a few words for its button."""
    words = {"drop": _("Drop it"), "move": _("Move it"), "set_utterance": _("Correct it"),
             "retarget": _("Change the target"), "set_arguments": _("Correct it"),
             "set_screenshot": _("Change the picture"), "set_intent": _("Change the intent"),
             "set_screenshot_status": _("Mark it broken")}
    return words.get(edit["op"]) or _("Fix it")


def clock(seconds: float) -> str:
    """A time since the start as m:ss.t."""
    tenths = round(seconds * 10)
    sign, tenths = ("−", -tenths) if tenths < 0 else ("", tenths)
    minutes, remainder = divmod(tenths, 600)
    return f"{sign}{minutes}:{remainder // 10:02d}.{remainder % 10}"


def when(time: datetime) -> str:
    """Day and time where the server stands."""
    try:
        local = time.astimezone()
    except (OverflowError, ValueError, OSError):  # the first and last years that there are: no zone has them
        local = time
    return day_and_time(local)


def time_of_day(time: datetime) -> str:
    """Hours, minutes and seconds where the server stands."""
    return f"{time.astimezone():%H:%M:%S}"


def browser_name(agent: str) -> str:
    """A User-Agent header in two words; all browsers name others in it, so the order counts."""
    browser = next((name for mark, name in BROWSERS if mark in agent), _("A program") if agent else _("Unknown"))
    system = next((name for mark, name in SYSTEMS if mark in agent), None)
    return _("%(browser)s on %(system)s", browser=browser, system=system) if system else browser


def target_name(element: types.Element | None) -> str:
    if not element:
        return ""
    return element["name"] or element["text"] or element["attributes"].get("placeholder") or f"<{element['tag']}>"


def _value(turn: types.BrowserTurn) -> str:
    """The argument that says most about a turn."""
    arguments, intent = turn["arguments"], turn["intent"]
    if intent in ("textInput", "copy", "paste"):
        return f"“{arguments['text']}”"
    if intent == "change":
        if arguments.get("checked") is not None and "value" not in arguments:
            return _("checked") if arguments["checked"] else _("not checked")
        return f"“{arguments.get('label') or arguments.get('value') or ''}”"
    if intent == "scroll":
        position = f"{arguments['x']:.0f}, {arguments['y']:.0f}"
        return _("to %(place)s", place=position)
    if intent in ("tabcreate", "tabremove"):
        return _("tab %(number)s", number=arguments["tab"])
    if intent == "tabswitch":
        return _("to tab %(number)s", number=arguments["target"])
    if intent == "upload":
        return ", ".join(arguments["files"])
    if intent == "dialog":
        answer = _("accepted") if arguments["accepted"] else _("dismissed")
        return f"{arguments['message']} ({answer})"
    if intent == "load":
        return arguments["url"].removeprefix("https://").removeprefix("http://")
    return arguments.get("key", "")


def _shorten(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= LABEL_LENGTH else text[:LABEL_LENGTH - 1] + "…"
