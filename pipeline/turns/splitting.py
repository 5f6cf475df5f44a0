"""Where a turn of typing can be told as two: after each change of the field's text but the last."""

from recorder.reader import Recording
from schemas import InputError

from .folding import state_of


def breaks(recording: Recording, turn: dict) -> list[dict]:
    """The places at which a `textInput` turn can be split, in order: {event, text}.

    `event`: number of the first event of the second part; `text`: what the field held before it. Empty for other turns.
    """
    if turn.get("intent") != "textInput":
        return []
    events = _events(recording, turn)
    found = []
    for event, after in zip(events, events[1:], strict=False):
        text = event["data"].get("value") if event["type"] == "input" else None
        if text is not None and text != turn["arguments"]["text"] and all(text != each["text"] for each in found):
            found.append({"event": after["seq"], "text": text})
    return found


def split(recording: Recording, turn: dict, event: int) -> dict:
    """The edit that splits a turn before an event that `breaks` names; raises InputError for any other."""
    place = next((each for each in breaks(recording, turn) if each["event"] == event), None)
    if place is None:
        raise InputError(f"field event: turn {turn['id']} cannot be split before event {event}")
    later = [each for each in _events(recording, turn) if each["seq"] >= event]
    known = next((each for each in later if each["state"]), None)
    added = turn | {"id": f"turn-{event}", "timestamp": later[0]["time"], "events": [each["seq"] for each in later],
                    "state": state_of(known) if known else turn["state"], "checks": []}
    return {"op": "split", "turn": turn["id"], "arguments": {"text": place["text"]}, "added": added}


def _events(recording: Recording, turn: dict) -> list[dict]:
    named = set(turn["events"])
    return [event for event in recording.events if event["seq"] in named]
