"""Positions at which a turn of typing can be split: after each change of the field's text except the last."""

from typing import TypedDict

from recorder.reader import Recording
from schemas import InputError
from schemas.types.recordings import BrowserTurn, Edit, Event, Turn

from .folding import state_of


class Break(TypedDict):
    """A place at which typing can be told as two turns; see `breaks`."""

    event: int
    text: str


def breaks(recording: Recording, turn: Turn) -> list[Break]:
    """The places at which a `textInput` turn can be split, in order: {event, text}.

    `event`: number of the first event of the second part; `text`: what the field held before it. Empty for other turns.
    """
    if turn["type"] == "chat" or turn["intent"] != "textInput":
        return []
    events = _events(recording, turn)
    result: list[Break] = []
    for event, after in zip(events, events[1:], strict=False):
        text = event["data"].get("value") if event["type"] == "input" else None
        if text is not None and text != turn["arguments"]["text"] and all(text != existing["text"]
                                                                          for existing in result):
            result.append({"event": after["seq"], "text": text})
    return result


def split(recording: Recording, turn: Turn, event: int) -> Edit:
    """The edit that splits a turn before an event that `breaks` names; raises InputError for any other."""
    break_ = next((candidate for candidate in breaks(recording, turn) if candidate["event"] == event), None)
    if break_ is None or turn["type"] == "chat":
        raise InputError(f"field event: turn {turn['id']} cannot be split before event {event}")
    later = [following for following in _events(recording, turn) if following["seq"] >= event]
    known = next((following for following in later if following["state"]), None)
    added: BrowserTurn = {
        **turn, "id": f"turn-{event}", "timestamp": later[0]["time"],
        "events": [following["seq"] for following in later],
        "state": state_of(known) if known else turn["state"], "checks": []}
    return {"op": "split", "turn": turn["id"], "arguments": {"text": break_["text"]}, "added": added}


def _events(recording: Recording, turn: BrowserTurn) -> list[Event]:
    named = set(turn["events"])
    return [event for event in recording.events if event["seq"] in named]
