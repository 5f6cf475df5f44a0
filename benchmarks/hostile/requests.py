"""Hostile edits and bodies of requests."""

import json
import random
from typing import Any

from tests.support.samples.packages import TARGET

from .corpus import VALUES, deep, spoilt


def edits(random_: random.Random, values: list[Any], turns: list[str]) -> dict[str, Any]:
    """One edit and the version that it is said to be made on, spoilt as often as not."""
    turn = random_.choice(turns)
    click = {"x": 1.0, "y": 2.0, "button": 0, "modifiers": [], "keyboard": False}
    added = {
        "id": f"new-{random_.randrange(10**9)}",
        "type": "chat",
        "timestamp": 1.0,
        "speaker": "navigator",
        "utterance": "x",
        "checks": [],
        "dropped": False,
    }
    edit = random_.choice(
        (
            {"op": "drop", "turn": turn},
            {"op": "restore", "turn": turn},
            {"op": "move", "turn": turn, "after": random_.choice((None, *turns))},
            {"op": "set_intent", "turn": turn, "intent": "click", "arguments": click},
            {"op": "set_arguments", "turn": turn, "arguments": click},
            {"op": "retarget", "turn": turn, "element": TARGET},
            {"op": "set_utterance", "turn": turn, "utterance": "x"},
            {
                "op": "set_screenshot",
                "turn": turn,
                "screenshot": "0" * 64,
                "screenshot_time": 1.0,
                "source": "captured",
            },
            {"op": "set_screenshot_status", "turn": turn, "status": "good"},
            {"op": "set_speaker", "turn": turn, "speaker": "navigator"},
            {"op": "add", "turn": added["id"], "after": turn, "added": added},
            {"op": "merge", "turn": turn, "other": random_.choice(turns)},
            {"op": "split", "turn": turn, "arguments": {"text": "x"}, "added": added},
            {"op": "settle", "turn": turn, "check": "x"},
            {"op": "undo"},
            {"op": "redo"},
        )
    )
    return {
        "version": 1,
        "edit": spoilt(random_, edit, values, random_.randint(1, 2)) if random_.random() < 0.8 else edit,
    }


def body(random_: random.Random, values: list[Any]) -> bytes:
    """The body of a request, as bytes: JSON that is none, too deep, too long, too odd."""
    return random_.choice(
        (
            lambda: deep(random_.choice((10, 2_000, 100_000)), random_.choice(("[", '{"a":'))).encode(),
            lambda: b"9" * 6000,
            lambda: b'{"version":' + b"9" * 5000 + b"}",
            lambda: b'"\\ud800"',
            lambda: b"\xff\xfe",
            lambda: b"",
            lambda: b"NaN",
            lambda: b"{" * 5,
            lambda: json.dumps(random_.choice((*VALUES, *values))).encode(),
            lambda: b'{"version":1e999,"edit":{}}',
            lambda: json.dumps(
                {"version": random_.choice(VALUES), "edit": random_.choice((*VALUES, *values)), "status": "approved"}
            ).encode(),
        )
    )()
