"""One sample for each turn, for formats of separate turns: the turn, and the state that was on the screen."""

import json
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pipeline.export.model_input.set_of_marks import legend
from pipeline.export.source import Options, Source, Tally
from pipeline.export.states import States, with_box
from schemas import UID_ATTRIBUTE
from schemas.formats.room import ROOM_FIELDS
from schemas.types import QuestionAnswer
from schemas.types.recordings import BrowserTurn, Element, Turn

from .card import Words

WORDS = Words("turn", "intent", """One row a turn: what was said or done, on which element, and the page,
element boxes and screenshot *before* it took effect. `arguments`, `element`, `boxes`, `checks`, `answers`, `report` and
`annotators` are JSON text. Rows without a state of their own carry that of the turn in `state_turn`.""")
NO_PAGE = b"<!DOCTYPE html>\n<html><head></head><body></body></html>"


@dataclass(frozen=True)
class TurnSample:
    """A turn: its key, its fields (always the same keys and types), page, pictures where there are any."""

    key: str
    record: dict[str, Any]
    page: bytes
    picture: bytes | None
    marked: bytes | None


def samples(source: Source, options: Options, tally: Tally, usual: str) -> Iterator[TurnSample]:
    """One sample a turn, chat turns too. `usual`: the pictures' encoding unless the options say otherwise.

    A turn without a state of its own carries that of another, what was known to be on the screen then: chat of the
    last turn at its time, a closed tab of the last turn before it. `state_turn` names that turn; before the first one
    it is empty.
    """
    states = States(source, UID_ATTRIBUTE, options, usual)
    source = states.source
    tally.redacted += states.known.counts
    last = None
    shown_at = _shown_at(source.turns)
    for index, turn in enumerate(source.turns):
        if turn["type"] == "browser" and turn["state"]:
            last = turn
        tally.turns += 1
        yield _sample(source, options, states, index, turn, shown_at(index) if turn["type"] == "chat" else last)
    tally.pictures_left_out = len(states.pictures_left_out)


def _shown_at(turns: list[Turn]) -> Callable[[int], BrowserTurn | None]:
    """For the index of a turn the last one in time that has a state, wherever a reviewer moved either; of those at the
    same time the last before it."""
    pages = sorted(((turn["timestamp"], index, turn) for index, turn in enumerate(turns)
                    if turn["type"] == "browser" and turn["state"]), key=lambda page: page[:2])
    times = [page[:2] for page in pages]

    def shown(index: int) -> BrowserTurn | None:
        count = bisect_left(times, (turns[index]["timestamp"], index))
        return pages[count - 1][2] if count else None
    return shown


def _sample(source: Source, options: Options, states: States, index: int, turn: Turn, carrier: BrowserTurn | None
            ) -> TurnSample:
    state = carrier["state"] if carrier else None
    page = states.page(state) if state else None
    boxes = states.boxes_text(state) if state and page else "{}"
    element = turn["element"] if turn["type"] == "browser" else None
    if element and page and carrier is turn:
        element = {**element, "uid": page.uid(element["frame"], element["uid"])}
        if element["bbox"] and page.has(element["uid"]):
            boxes = with_box(boxes, element["uid"], element["bbox"])
    picture = states.picture(state) if state else None
    status = state["screenshot_status"] if state and picture else "none"
    record = _record(source, index, turn, element, carrier, status, boxes)
    marked = None
    if options.set_of_marks:
        marked, marks = states.with_marks(state) if state else (None, [])
        record["marks"] = json.dumps(legend(marks))
    if options.axtree:
        record["axtree"] = json.dumps(states.tree(state) if state else None)
    return TurnSample(f"{source.name}-{index:04d}", record, page.content if page else NO_PAGE, picture, marked)


def _record(source: Source, index: int, turn: Turn, element: Element | None, carrier: BrowserTurn | None, status: str,
            boxes: str) -> dict[str, Any]:
    """The fields of a sample: always the same keys and types; what varies by intent is packed as JSON text."""
    state: Mapping[str, Any] = (carrier["state"] if carrier else None) or {}
    viewport, scroll = state.get("viewport", {}), state.get("scroll", {})
    return {
        "demonstration": source.id, "recording": source.recording.id, "task": source.demonstration["task"],
        "index": index, "turn": turn["id"], "type": turn["type"], "timestamp": float(turn["timestamp"]),
        "speaker": turn.get("speaker", ""), "utterance": turn.get("utterance", ""),
        "source": turn.get("source", ""),
        "reply_to": turn.get("reply_to", ""), "reactions": json.dumps(turn.get("reactions", [])),
        "room": json.dumps({name: value for name, value in turn.items() if name in ROOM_FIELDS}),
        "intent": turn.get("intent", "say"), "arguments": json.dumps(turn.get("arguments", {})),
        "uid": element["uid"] if element else "", "element": json.dumps(element),
        "state_turn": carrier["id"] if carrier else "", "url": state.get("url", ""), "title": state.get("title", ""),
        "tab": state.get("tab", -1), "viewport_width": viewport.get("width", 0),
        "viewport_height": viewport.get("height", 0), "scroll_x": float(scroll.get("x", 0)),
        "scroll_y": float(scroll.get("y", 0)), "zoom": float(state.get("zoom", 1)),
        "device_pixel_ratio": float(state.get("device_pixel_ratio", 1)), "screenshot_status": status,
        "boxes": boxes, "checks": json.dumps(turn.get("checks", [])), "answers": json.dumps(_answers(source, turn)),
        "report": json.dumps(turn.get("agent")),
        **_provenance(source),
    }


def _answers(source: Source, turn: Turn) -> list[QuestionAnswer]:
    """The answers about a turn and about its demonstration."""
    return [answer for answer in source.demonstration.get("answers", []) if answer.get("turn") in (None, turn["id"])]


def _provenance(source: Source) -> dict[str, Any]:
    """Who acted, under which terms, and who looked at it; empty where it was not told."""
    provenance, review = source.recording.manifest.get("provenance", {}), source.review
    return {"actor": provenance.get("actor", ""), "agent": provenance.get("agent", ""),
            "license": provenance.get("license", ""),
            "consent": {True: "yes", False: "no", None: ""}[provenance.get("consent")], "review_status": review.status,
            "annotators": json.dumps(review.annotators), "validator": review.validator}
