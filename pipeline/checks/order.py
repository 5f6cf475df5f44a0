"""Checks of the order of turns by time and causality, and of very long pauses."""

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from schemas.types.recordings import BrowserTurn

from .material import Finding, Material

_MAX_GAP_S = 60.0  # seconds


def against_time(material: Material) -> Iterator[Finding]:
    """Actions that stand behind one which happened later."""
    latest = None
    for number, turn in enumerate(material.turns):
        if turn["type"] != "browser":
            continue
        if latest is not None and turn["timestamp"] < latest["timestamp"]:
            before = [other for other in material.turns[:number] if other["timestamp"] <= turn["timestamp"]]
            yield Finding(turn["id"], "against-time", "It comes after an action that happened later.",
                          {"op": "move", "turn": turn["id"], "after": before[-1]["id"] if before else None})
        else:
            latest = turn


def against_tabs(material: Material) -> Iterator[Finding]:
    """Actions in a tab that stand before it was opened or behind its closing."""
    opened = {turn["arguments"]["tab"]: turn for turn in material.actions if turn["intent"] == "tabcreate"}
    known, closed = set(), set()
    moved: set[str] = set()
    for number, turn in enumerate(material.turns):
        if turn["type"] != "browser":
            continue
        tab = _tab(turn)
        if turn["intent"] == "tabcreate":
            known.add(turn["arguments"]["tab"])
        elif turn["intent"] == "tabremove":
            closed.add(turn["arguments"]["tab"])
        elif tab in opened and tab not in known and opened[tab]["id"] not in moved:
            moved.add(opened[tab]["id"])
            yield Finding(opened[tab]["id"], "against-tabs", "Something is done in this tab before it is opened.",
                          {"op": "move", "turn": opened[tab]["id"],
                           "after": material.turns[number - 1]["id"] if number else None})
        elif tab in closed:
            yield Finding(turn["id"], "against-tabs", "It is done in a tab that was closed before.")


def long_gap(material: Material) -> Iterator[Finding]:
    """Turns after a very long time in which nothing happened."""
    for before, after in pairwise(material.turns):
        gap = after["timestamp"] - before["timestamp"]
        if gap > _MAX_GAP_S:
            yield Finding(after["id"], "long-gap", f"Nothing happened for {gap:.0f} seconds before this.")


def _tab(turn: BrowserTurn) -> int | None:
    """The tab in which something is done."""
    if turn["intent"] == "tabswitch":
        return turn["arguments"]["target"]
    return turn["state"]["tab"] if turn["state"] else None


def lost_lines(material: Material) -> Iterator[Finding]:
    """Actions before which lines of the journal cannot be read; the last one, where that is so after all."""
    actions = [turn for turn in material.actions if turn["events"]]
    lost = Counter(next((turn["id"] for turn in actions if min(turn["events"]) > number), actions[-1]["id"])
                   for number in material.broken_lines if actions)
    for name, many in lost.items():
        yield Finding(name, "lost-lines", f"{many} line{'s' * (many > 1)} of the recording about here cannot be read: "
                                          "an action may be missing.")
