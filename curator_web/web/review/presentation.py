"""View objects of the review page for the templates."""

import hashlib
import json
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any
from urllib.parse import quote

from flask import url_for
from flask_babel import gettext as _

from curator_web.demonstrations.library.library import Review
from curator_web.demonstrations.library.summary import displaced, is_unchanged
from curator_web.errors import ErrorText, NotFound
from curator_web.web.shell.forms import FormField, argument_fields
from curator_web.web.shell.languages import day_and_time
from pipeline.turns.edits import undo_depths
from pipeline.turns.preconditions import merge_obstacle
from schemas import INTENTS, types

from .visits import visit_starts

LABEL_LENGTH = 160
WINDOW_TURNS = 60  # that a page contains; it asks for others when they come into view
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
    """Turns in a row on one page; what has no page, as chat, goes with what stands before it.

    `turns`: those that the page contains; `every`: all of the visit; `number`: of the visit, from 1; `first`: the index
    of its first turn.
    """

    turns: list[TurnView]
    every: Sequence[types.Turn]
    number: int
    first: int

    @property
    def address(self) -> str:
        return next((state["url"] for state in self._states()), "")

    @property
    def title(self) -> str:
        """The page's title, or else its address."""
        title = next((_shorten(state["title"]) for state in self._states() if state["title"].strip()), "")
        return title or _shorten(self.address) or _("No page")

    @property
    def checks(self) -> int:
        """How many turns ask for a look."""
        return sum(bool(turn["checks"]) and not turn["dropped"] for turn in self.every)

    def _states(self) -> Iterator[types.TurnState]:
        return (turn["state"] for turn in self.every if turn["type"] == "browser" and turn["state"])


class ReviewView:
    """A demonstration with one turn selected. Views of turns are made when they are used: a long session has thousands,
    of which a page contains a few."""

    def __init__(self, review: Review, selected: str | None = None):
        """Raises NotFound when there is no turn of the selected id."""
        self.row, self.review = review.row, review
        self.first_task, self.labels = review.base["task"], review.labels
        self.undos, self.redos = undo_depths(review.edits)
        self.locked = self.row.status in ("approved", "invalid")
        self.count = len(review.turns)
        self._views: dict[int, TurnView] = {}
        self.selected = self._find(selected)

    @cached_property
    def turns(self) -> list[TurnView]:
        """All turns."""
        return [self.turn_at(index) for index in range(self.count)]

    @cached_property
    def split_off(self) -> list[TurnView]:
        """What followed, since a split another demonstration's."""
        return [TurnView(turn, number, None, False, False, None)
                for number, turn in enumerate(self.review.elsewhere[1], self.count + 1)]

    @cached_property
    def visits(self) -> list[Visit]:
        """All turns by visit."""
        return self.visits_of(range(self.count))

    @cached_property
    def window(self) -> list[Visit]:
        """The turns around the selected one that a page contains, by visit."""
        index = self.selected.number - 1 if self.selected else 0
        first = max(0, min(index - WINDOW_TURNS // 2, self.count - WINDOW_TURNS))
        return self.visits_of(range(first, min(first + WINDOW_TURNS, self.count)))

    @property
    def is_windowed(self) -> bool:
        """Whether a page contains only some of the turns."""
        return self.count > WINDOW_TURNS

    def visits_of(self, indexes: Iterable[int]) -> list[Visit]:
        """Turns by visit, by their ascending indexes."""
        visits: list[Visit] = []
        starts, now = self.visit_starts, -1
        for index in indexes:
            number = bisect_right(starts, index)
            if number != now:
                end = starts[number] if number < len(starts) else self.count
                first = starts[number - 1]
                visits.append(Visit([], self.review.turns[first:end], number, first))
                now = number
            visits[-1].turns.append(self.turn_at(index))
        return visits

    @cached_property
    def visit_starts(self) -> list[int]:
        """The index of the first turn of each visit."""
        return self.review.derive("visit_starts", lambda: visit_starts(self.review.turns))

    def turn_at(self, index: int) -> TurnView:
        """The view of the turn at an index from 0."""
        if index not in self._views:
            turn = self.review.turns[index]
            number, original = self._base.get(turn["id"], (None, None))
            self._views[index] = TurnView(
                turn, index + 1, number, not is_unchanged(turn, original), turn["id"] in self.moved, original,
                self._typing_before(index), _answered(turn, self._said))
        return self._views[index]

    @cached_property
    def _base(self) -> dict[str, tuple[int | None, types.Turn | None]]:
        return self.review.derive("base", lambda: {
            turn["id"]: (number, turn) for number, turn in enumerate(self.review.base["turns"], 1)}, self.review.base)

    @property
    def numbers(self) -> dict[str, int]:
        """The number of each turn, from 1, by its id."""
        return self.review.derive("numbers", lambda: {
            turn["id"]: number for number, turn in enumerate(self.review.turns, 1)})

    @cached_property
    def moved(self) -> set[str]:
        """Ids of the turns that a person moved."""
        return self.review.derive("moved", lambda: displaced(self.review.base["turns"], self.review.turns,
                                                             self.review.edits))

    @cached_property
    def _said(self) -> dict[str, types.ChatTurn]:
        return self.review.derive("said", lambda: {
            turn["id"]: turn for turn in self.review.turns if turn["type"] == "chat"})

    def _typing_before(self, index: int) -> str | None:
        """The id of the turn right before one, if the two can be merged."""
        if index == 0:
            return None
        before, turn = self.review.turns[index - 1:index + 1]
        return before["id"] if merge_obstacle([before, turn], before["id"], turn["id"]) is None else None

    def _find(self, turn_id: str | None) -> TurnView | None:
        if turn_id is None:
            return self.turn_at(0) if self.count else None
        if turn_id in self.numbers:
            return self.turn_at(self.numbers[turn_id] - 1)
        raise NotFound(ErrorText("unknown turn %(turn_id)r in this demonstration", turn_id=turn_id[:80]))


def _answered(turn: types.Turn, said: Mapping[str, types.ChatTurn]) -> types.ChatTurn | None:
    """The turn that a turn replies to; None where it is no reply, or what it answers is not there."""
    answered = said.get(turn.get("reply_to", "")) if turn["type"] == "chat" else None
    return None if answered is turn else answered


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
