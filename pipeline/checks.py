"""What a reviewer should look at, each with its reason. One small function a check."""

from collections.abc import Iterator
from itertools import pairwise

from schemas import INTENTS

_LONG_GAP = 60.0  # seconds


def _broken_screenshot(turn: dict) -> Iterator[tuple[str, str]]:
    if turn["state"] and turn["state"]["screenshot_status"] == "broken":
        yield "broken-screenshot", "The screenshot is missing or blank."


def _no_box(turn: dict) -> Iterator[tuple[str, str]]:
    if not INTENTS[turn["intent"]].needs_element:
        return
    element, state = turn["element"], turn["state"]
    if not element:
        yield "no-element", "The action has no target element."
    elif not element["bbox"]:
        yield "no-box", "The target has no box: it was not shown."
    elif state and not _in_viewport(element["bbox"], state["viewport"]):
        yield "outside-viewport", "The target lies outside the viewport."


def _empty_text(turn: dict) -> Iterator[tuple[str, str]]:
    if turn["intent"] == "textInput" and not turn["arguments"]["text"].strip():
        yield "empty-input", "The field was left empty."


_TURN_CHECKS = (_broken_screenshot, _no_box, _empty_text)


def _in_viewport(box: dict, viewport: dict) -> bool:
    return (box["x"] < viewport["width"] and box["y"] < viewport["height"]
            and box["x"] + box["width"] > 0 and box["y"] + box["height"] > 0)


def _gaps(turns: list[dict]) -> dict[str, list[dict]]:
    found = {}
    for before, after in pairwise(turns):
        gap = after["timestamp"] - before["timestamp"]
        if gap > _LONG_GAP:
            reason = f"Nothing happened for {gap:.0f} seconds before this."
            found[after["id"]] = [{"kind": "long-gap", "reason": reason}]
    return found


def stage(demonstration: dict, context) -> dict:
    """Pipeline stage: attach the checks to the turns."""
    gaps = _gaps(demonstration["turns"])
    turns = []
    for turn in demonstration["turns"]:
        found = [{"kind": kind, "reason": reason}
                 for check in (_TURN_CHECKS if turn["type"] == "browser" else ()) for kind, reason in check(turn)]
        turns.append(turn | {"checks": found + gaps.get(turn["id"], [])})
    return demonstration | {"turns": turns}
