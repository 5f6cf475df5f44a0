"""Random edits of a small demonstration, for tests of what holds after any sequence of them."""

import copy
import random
from typing import Any

from pipeline.turns.edits import append, apply_edits
from recorder.writer import RecordingWriter
from schemas import InputError
from tests.support.curator.curator_fixtures import action, chat, element, pointer

LABELS = [{"name": "quality", "scope": "turn", "kind": "single", "options": ["to", "town"], "hint": ""}]
TEXTS = ["a", "to", "town", "tow"]
ARGUMENTS: dict[str, dict[str, Any]] = {
    "click": pointer(), "hover": pointer(3, 3), "press": {"key": "Enter"}, "textInput": {"text": "w"}}
_FIELD = '<input data-demotape-uid="9">'


def editable_turns(writer: RecordingWriter) -> list[dict[str, Any]]:
    """Eleven turns, with four turns of typing into one field and a click without a target."""
    def typing(number: int, text: str, events: list[int]) -> dict[str, Any]:
        return action(writer, number, "textInput", {"text": text}, _FIELD, events=events)
    return [chat(1, "instructor", "Book"),
            action(writer, 2, "load", {"url": "https://a.example/", "transition": "typed"}, element=None),
            action(writer, 3, "click", pointer(), _FIELD), typing(4, "Anc", [40, 41, 42]),
            typing(5, "Anchorage", [50, 51]), chat(6, "navigator", "Done?"),
            action(writer, 7, "click", pointer(), _FIELD), action(writer, 8, "click", pointer(900, 700), element=None),
            typing(9, "Seattle", [90, 91, 92, 93]), typing(10, "Seattle Tac", [100]),
            action(writer, 11, "submit", {}, element=element(uid="12", tag="button"))]


def random_log(base: list[dict[str, Any]], rng: random.Random, steps: int, tag: str,
               kinds: list[str] | None = None) -> list[dict[str, Any]]:
    """A log of at most so many edits that fit; `tag`: begin of the ids of what is added."""
    log: list[dict[str, Any]] = []
    for step in range(steps):
        edit = propose(rng, apply_edits(base, log), f"{tag}{step}", kinds)
        try:
            log = append(base, log, edit) if edit else log
        except InputError:
            continue
    return log


def propose(rng: random.Random, turns: list[dict[str, Any]], name: str, kinds: list[str] | None = None
            ) -> dict[str, Any] | None:
    """A random edit, which may not fit; None where there is no turn for it."""
    kind = rng.choice(kinds or [*_PROPOSALS])
    return _PROPOSALS[kind](rng, turns, name)


def _actions(turns: list[dict[str, Any]], *intents: str) -> list[dict[str, Any]]:
    return [turn for turn in turns if turn["type"] == "browser" and (not intents or turn["intent"] in intents)]


def _any(rng: random.Random, turns: list[dict[str, Any]]) -> str:
    return rng.choice(turns)["id"]


def _after(rng: random.Random, turns: list[dict[str, Any]], name: str = "") -> str | None:
    return rng.choice([None, *(turn["id"] for turn in turns if turn["id"] != name)])


def _move(rng, turns, name):
    moved = _any(rng, turns)
    return {"op": "move", "turn": moved, "after": _after(rng, turns, moved)}


def _set_arguments(rng, turns, name):
    turn = rng.choice(_actions(turns))
    arguments = {"textInput": {"text": rng.choice(TEXTS)}, "click": pointer(rng.randint(0, 900), 3),
                 "hover": pointer(rng.randint(0, 900), 3)}.get(turn["intent"])
    return arguments and {"op": "set_arguments", "turn": turn["id"], "arguments": arguments}


def _set_intent(rng, turns, name):
    intent = rng.choice([*ARGUMENTS])
    return {"op": "set_intent", "turn": _any(rng, _actions(turns)), "intent": intent, "arguments": ARGUMENTS[intent]}


def _set_chat(rng, turns, name):
    lines = [turn for turn in turns if turn["type"] == "chat"]
    field, value = rng.choice([("utterance", rng.choice(TEXTS)), ("speaker", rng.choice(["instructor", "navigator"]))])
    return {"op": f"set_{field}", "turn": _any(rng, lines), field: value}


def _add_line(rng, turns, name):
    added = chat(1, "navigator", rng.choice(TEXTS)) | {"id": f"x{name}"}
    if rng.random() < 0.3:
        added["reply_to"] = _any(rng, [turn for turn in turns if turn["type"] == "chat"])
    return {"op": "add", "turn": added["id"], "after": _after(rng, turns), "added": added}


def _add_typing(rng, turns, name):
    added = {**copy.deepcopy(rng.choice(_actions(turns))), "id": f"y{name}", "events": [], "checks": [],
             "dropped": False, "intent": "textInput", "arguments": {"text": rng.choice(TEXTS)}, "element": element()}
    added.pop("labels", None)
    return {"op": "add", "turn": added["id"], "after": _after(rng, turns), "added": added}


def _merge(rng, turns, name):
    typed = _actions(turns, "textInput")
    if len(typed) < 2:
        return None
    index = rng.randrange(len(typed) - 1)
    first, other = typed[index:index + 2] if rng.random() < 0.7 else rng.sample(typed, 2)
    return {"op": "merge", "turn": first["id"], "other": other["id"]}


def _split(rng, turns, name):
    long = [turn for turn in _actions(turns, "textInput") if len(turn["events"]) > 1]
    if not long:
        return None
    turn = rng.choice(long)
    events = turn["events"][rng.randint(1, len(turn["events"]) - 1):]
    return {"op": "split", "turn": turn["id"], "arguments": {"text": rng.choice(TEXTS)},
            "added": {**copy.deepcopy(turn), "id": f"turn-{events[0]}", "events": events, "checks": []}}


def _set_picture(rng, turns, name):
    turn = _any(rng, _actions(turns))
    if rng.random() < 0.3:
        return {"op": "set_screenshot_status", "turn": turn, "status": rng.choice(["good", "broken"])}
    return {"op": "set_screenshot", "turn": turn, "screenshot": rng.choice(_actions(turns))["state"]["screenshot"],
            "screenshot_time": rng.choice([1.0, 2.0]), "source": rng.choice(["captured", "video"])}


_PROPOSALS = {
    "drop": lambda rng, turns, name: {"op": "drop", "turn": _any(rng, turns)},
    "restore": lambda rng, turns, name: {"op": "restore", "turn": _any(rng, turns)},
    "drop_two": lambda rng, turns, name: {"op": "drop", "turns": [turn["id"] for turn in rng.sample(turns, 2)]},
    "move": _move, "set_arguments": _set_arguments, "set_intent": _set_intent, "set_chat": _set_chat,
    "retarget": lambda rng, turns, name: {"op": "retarget", "turn": _any(rng, _actions(turns)),
                                          "element": element(uid=rng.choice("789"))},
    "untarget": lambda rng, turns, name: {"op": "retarget", "turn": _any(rng, _actions(turns)), "element": None},
    "label": lambda rng, turns, name: {"op": "label", "turn": _any(rng, turns), "label": "quality",
                                       "said": rng.choice([[], ["to"], ["town"]])},
    "add_line": _add_line, "add_typing": _add_typing, "merge": _merge, "split": _split, "set_picture": _set_picture}
TYPING_KINDS = ["merge", "merge", "split", "split", "split", "set_arguments", "add_typing", "move", "drop", "restore",
                "retarget"]
