"""Checks of targets: existence, visibility, presence in the page; empty input; hovering without effect."""

import re
from collections.abc import Iterator
from itertools import pairwise, zip_longest

from schemas import INTENTS, UID_ATTRIBUTE
from schemas.types.recordings import Box, BrowserTurn, Size

from .material import Finding, Material

_QUOTE = rb'(?:"|&(?:amp;)*(?:quot|#34);)'  # frames' documents stand escaped in their frame element, at any depth
_SUBMITTED = 1.0  # seconds after a click in which a submit is its effect


def without_position(material: Material) -> Iterator[Finding]:
    """Actions whose target is missing, has no box or lies out of sight."""
    for turn in material.actions:
        if not INTENTS[turn["intent"]].acts_on_element:
            continue
        element, state = turn["element"], turn["state"]
        if not element:
            yield Finding(turn["id"], "no-element", "The action has no target element.")
        elif not element["bbox"]:
            if material.lacks("boxes"):
                continue
            yield Finding(turn["id"], "no-box", "The target has no box: it was not shown.")
        elif state and state["viewport"]["width"] and not _in_viewport(element["bbox"], state["viewport"]):
            yield Finding(turn["id"], "outside-viewport", "The target is outside the viewport.")


def missing_from_page(material: Material) -> Iterator[Finding]:
    """Targets that the DOM before the action does not hold, or a DOM that is missing."""
    for turn in material.actions:
        if turn["state"] and any("dom" in material.lost_blobs.get(number, ()) for number in turn["events"]):
            yield Finding(turn["id"], "not-in-page", "The page before the action is missing: it was being recorded "
                                                     "when the machine stopped.")
        elif turn["element"] and turn["state"] and turn["state"]["dom"]:
            uid = re.escape(turn["element"]["uid"].encode())
            mark = UID_ATTRIBUTE.encode() + b"=" + _QUOTE + uid + _QUOTE
            page = material.dom(turn["state"]["dom"])
            if page and not re.search(mark, page):
                yield Finding(turn["id"], "not-in-page", "The target is not in the page as it was before the action.")


def empty_input(material: Material) -> Iterator[Finding]:
    """Typing that left a field empty."""
    for turn in material.actions:
        if turn["intent"] == "textInput" and not turn["arguments"]["text"].strip():
            yield Finding(turn["id"], "empty-input", "The field was left empty.", {"op": "drop", "turn": turn["id"]})


def idle_hover(material: Material) -> Iterator[Finding]:
    """Hovers after which the page is what it was."""
    for turn, after in zip_longest(material.actions, material.actions[1:]):
        if turn["intent"] != "hover":
            continue
        events = [material.events[number] for number in turn["events"] if number in material.events]
        unchanged = any(event["data"].get("changed") is False for event in events)
        if unchanged or (after and _same_page(turn, after)):
            yield Finding(turn["id"], "idle-hover", "The page is the same after this hover: it opened nothing.",
                          {"op": "drop", "turn": turn["id"]})


def doubled_submit(material: Material) -> Iterator[Finding]:
    """A submit that the click before it caused."""
    for turn, after in pairwise(material.actions):
        clicked, sent = turn["element"], after["element"]
        if (turn["intent"] == "click" and after["intent"] == "submit" and clicked and sent
                and after["timestamp"] - turn["timestamp"] < _SUBMITTED and clicked["frame"] == sent["frame"]
                and (clicked["uid"] == sent["uid"] or clicked["xpath"].startswith(sent["xpath"].rstrip("/") + "/"))):
            yield Finding(after["id"], "doubled-submit", "The click right before it submitted this form already.",
                          {"op": "drop", "turn": after["id"]})


def _same_page(turn: BrowserTurn, after: BrowserTurn) -> bool:
    before_state, after_state = turn["state"], after["state"]
    return bool(before_state and after_state and before_state["tab"] == after_state["tab"] and before_state["dom"]
                and before_state["dom"] == after_state["dom"])


def _in_viewport(box: Box, viewport: Size) -> bool:
    return (box["x"] < viewport["width"] and box["y"] < viewport["height"]
            and box["x"] + box["width"] > 0 and box["y"] + box["height"] > 0)
