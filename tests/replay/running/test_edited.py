"""What is not what the person did: each kind of edit, and what is none."""

import copy
from typing import Any

import pytest

from replay.running.edit_differences import edit_reasons


def turn(number: int, intent: str = "click", **other: Any) -> Any:
    return {"id": f"t{number}", "type": "browser", "intent": intent, "arguments": {"x": 1, "y": 2},
            "element": {"uid": f"u{number}", "frame": [], "tag": "a"}, "events": [number], "dropped": False} | other


CHAT: Any = {"id": "c", "type": "chat", "utterance": "Go on", "dropped": False, "events": []}
RECORDED = [turn(1), CHAT, turn(2, "textInput", arguments={"text": "lamp"}), turn(4, events=[4, 6]),
            turn(3, "hover", events=[3]), turn(7, dropped=True), turn(8)]


def change(number: int, **what: Any) -> Any:
    def do(turns: list[Any]) -> None:
        next(each for each in turns if each["id"] == f"t{number}").update(what)
    return do


def swap(one: int, other: int) -> Any:
    def do(turns: list[Any]) -> None:
        turns[one], turns[other] = turns[other], turns[one]
    return do


@pytest.mark.parametrize(("edit", "told"), [
    (lambda turns: None, {}),
    (change(1, checks=[{"kind": "x", "reason": "y"}], labels=[]), {}),
    (lambda turns: turns.remove(CHAT), {}),
    (change(2, arguments={"text": "lamps"}), {"t2": "other arguments were recorded"}),
    (change(2, intent="change"), {"t2": "textInput was recorded"}),
    (change(1, element={"uid": "u9", "frame": [], "tag": "a"}), {"t1": "another element was recorded"}),
    (change(1, element={"uid": "u1", "frame": ["f"], "tag": "a"}), {"t1": "another element was recorded"}),
    (change(1, element=None), {"t1": "another element was recorded"}),
    (change(1, dropped=True), {"t2": "t1, click, is dropped"}),
    (change(8, dropped=True), {"t3": "t8, click, is dropped"}),
    (change(7, dropped=False), {}),
    (lambda turns: [each.update(dropped=True) for each in turns], {}),
    (swap(0, 2), {"t1": "it was moved"}),
    (lambda turns: turns.append(turn(9, events=[])), {"t9": "it was not recorded"}),
])
def test_each_edit_is_told_where_it_is(edit, told):
    turns = copy.deepcopy(RECORDED)
    edit(turns)
    assert edit_reasons(RECORDED, turns) == told


def test_a_part_of_a_session_is_what_was_recorded():
    assert edit_reasons(RECORDED, RECORDED[2:5]) == {}


def test_without_events_nothing_is_known():
    assert edit_reasons([], [turn(1, events=[])]) == {}
