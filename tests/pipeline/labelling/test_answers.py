"""Answers: which values are valid, which questions are asked, and which required ones lack an answer."""

import pytest

from pipeline.labelling.answers import applicable, changed_spans, checked_value, missing, question_of
from pipeline.labelling.scheme_files import read_scheme
from schemas import InputError

SCHEME = read_scheme("""
questions:
  - {name: success, question: Done, scope: demonstration, kind: choice, options: ["yes", "no"], required: true}
  - {name: causes, question: Why, scope: demonstration, kind: several, options: [a, b, c], required: true,
     when: {success: "no"}}
  - {name: clear, question: Clear, scope: turn, kind: scale, minimum: 0, maximum: 5, intents: [click], required: true}
  - {name: why, question: Why, scope: turn, kind: text, required: true, when: {clear: [0, 1], causes: [b]}}
""")


def turn(name: str, intent: str = "click", dropped: bool = False) -> dict:
    if intent == "say":
        return {"id": name, "type": "chat", "dropped": dropped}
    return {"id": name, "type": "browser", "intent": intent, "dropped": dropped}


TURNS = [turn("t1"), turn("t2", dropped=True), turn("t3", "say"), turn("t4", "load"), turn("t5")]


@pytest.mark.parametrize("name, value, stored", [
    ("success", "yes", "yes"), ("success", "", None), ("success", None, None), ("causes", ["c", "a"], ["a", "c"]),
    ("causes", [], None), ("clear", 0, 0), ("why", "  Because ", "Because"), ("why", "  ", None)])
def test_a_value_is_stored_in_one_form(name, value, stored):
    assert checked_value(question_of(SCHEME, name), value) == stored


@pytest.mark.parametrize("name, value", [
    ("success", "maybe"), ("success", ["yes"]), ("success", 1), ("causes", "a"), ("causes", ["d"]), ("causes", [1]),
    ("clear", 6), ("clear", -1), ("clear", True), ("clear", 1.5), ("clear", "1"), ("why", 3), ("why", "x" * 4001)])
def test_another_value_is_refused_with_the_name_of_the_question(name, value):
    with pytest.raises(InputError, match=f"^question {name}: "):
        checked_value(question_of(SCHEME, name), value)


def names(turn_: dict | None, answers: dict) -> list[str]:
    return [question["name"] for question in applicable(SCHEME, turn_, answers)]


def test_questions_depend_on_scope_intent_and_earlier_answers():
    assert names(None, {}) == ["success"]
    assert names(None, {("success", ""): "no"}) == ["success", "causes"]
    assert names(TURNS[0], {}) == ["clear"] and names(TURNS[1], {}) == names(TURNS[3], {}) == []
    low, causes = {("clear", "t1"): 0}, {("causes", ""): ["a", "b"]}
    assert names(TURNS[0], low | causes) == ["clear", "why"]
    assert names(TURNS[0], low | {("causes", ""): ["a"]}) == names(TURNS[0], causes) == ["clear"]
    assert names(TURNS[4], low | causes) == ["clear"]


def test_missing_answers_are_of_the_demonstration_then_of_turns():
    assert list(missing(SCHEME, TURNS, {})) == [("success", ""), ("clear", "t1"), ("clear", "t5")]
    answers = {("success", ""): "no", ("causes", ""): ["b"], ("clear", "t1"): 1, ("clear", "t5"): 4}
    assert list(missing(SCHEME, TURNS, answers)) == [("why", "t1")]
    assert list(missing(SCHEME, TURNS, answers | {("why", "t1"): "x"})) == []


def test_spans_change_by_steps_at_turns():
    spans = changed_spans(changed_spans([], "begin", "t1"), "extend", "t3")
    assert spans == [{"first": "t1", "last": "t3"}]
    assert changed_spans(spans, "begin", "t5") == [*spans, {"first": "t5", "last": "t5"}]
    assert changed_spans(spans, "remove", "t5") == []
    for change, before in (("extend", []), ("remove", []), ("dance", spans)):
        with pytest.raises(InputError, match="^field span: "):
            changed_spans(before, change, "t1")
