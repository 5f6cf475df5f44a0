"""Outcome checks added, moved, put together and taken apart, and what they are called in words; pure."""

import pytest

from pipeline.outcomes.check_editing import (
    add_check,
    check_at,
    combine_checks,
    move_check,
    name_at,
    remove_check,
    replace_check,
    ungroup_check,
)
from pipeline.outcomes.wording import describe_check, describe_outcome, kind_of
from schemas import InputError
from schemas.files import validated
from schemas.formats.outcome import OutcomeSchema

A, B, C = ({"kind": "url", "match": {"includes": [[name]]}} for name in "abc")


def made(*checks, **more):
    outcome = {"format": "demotape/outcome", "version": 1, "checks": list(checks)} | more
    return validated(outcome, OutcomeSchema(), "here")


def group(*checks, kind="any"):
    return {"kind": kind, "checks": list(checks)}


WAY = [{"name": "begun", "check": A}, {"name": "filled in", "check": group(B, C)}]


def test_checks_are_arranged_and_the_input_stays():
    outcome = made(A, B, C)
    assert add_check(None, A) == made(A)
    assert move_check(outcome, "checks.0", 1)["checks"] == [B, A, C]
    assert move_check(outcome, "checks.0", -1) == outcome
    both = combine_checks(outcome, ["checks.2", "checks.0"], "any")
    assert both["checks"] == [group(A, C), B]
    assert ungroup_check(both, "checks.0")["checks"] == [A, C, B]
    assert add_check(both, B, within="checks.0")["checks"] == [group(A, C, B), B]
    assert check_at(both, "checks.0.1") == C
    assert replace_check(both, "checks.0.1", A)["checks"] == [group(A, A), B]
    assert remove_check(remove_check(both, "checks.0.0"), "checks.0.0") == made(B)  # a group that has none left goes
    negated = made({"kind": "not", "checks": [group(A, B)]})
    assert remove_check(negated, "checks.0.0.1")["checks"] == [{"kind": "not", "checks": [group(A)]}]
    assert remove_check(made(A), "checks.0") is None
    assert outcome == made(A, B, C)


def test_checkpoints_are_arranged():
    outcome = made(A, checkpoints=WAY)
    assert name_at(outcome, "checkpoints.1") == "filled in" and check_at(outcome, "checkpoints.1.1") == C
    assert move_check(outcome, "checkpoints.1", -1)["checkpoints"] == WAY[::-1]
    assert add_check(outcome, B, "done")["checkpoints"][-1] == {"name": "done", "check": B}
    assert replace_check(outcome, "checkpoints.0", C, "other")["checkpoints"][0] == {"name": "other", "check": C}
    assert remove_check(remove_check(outcome, "checkpoints.0"), "checkpoints.0") == made(A)


@pytest.mark.parametrize("change, told", [
    (lambda: remove_check(made(A), "checks.1"), "no longer exists"),
    (lambda: remove_check(made(A), "checks"), "no longer exists"),
    (lambda: remove_check(made(A), "checks.0.0"), "no longer exists"),
    (lambda: move_check(made(A), "checks.-1", 1), "no longer exists"),
    (lambda: check_at(made(A), "format.0"), "no longer exists"),
    (lambda: check_at(made(A), "checks.³"), "no longer exists"),
    (lambda: remove_check(made(A, checkpoints=WAY), "checks.0"), "checkpoints alone"),
    (lambda: add_check(None, A, "begun"), "checkpoints alone"),
    (lambda: add_check(made(A), B, within="checks.0"), "added to a group"),
    (lambda: combine_checks(made(A, B), ["checks.0", "checks.0"], "any"), "at least two checks"),
    (lambda: combine_checks(made(A, B), ["checks.0", "checks.1"], "not"), "all or any"),
    (lambda: combine_checks(made(A, group(B)), ["checks.0", "checks.1.0"], "any"), "of the same list"),
    (lambda: combine_checks(made(A, checkpoints=WAY), ["checkpoints.0", "checkpoints.1"], "any"),
     "reached in order"),
    (lambda: ungroup_check(made(A), "checks.0"), "only a group"),
    (lambda: ungroup_check(made(A, checkpoints=WAY), "checkpoints.1"), "only a group")])
def test_what_cannot_be_is_told(change, told):
    with pytest.raises(InputError, match=told):
        change()


@pytest.mark.parametrize("check, words", [
    (A, "the last page’s address has “a” in it"),
    ({"kind": "text", "match": {"exact": ["x", "y"], "excludes": ["z"]}},
     "the HTML of the page is “x” or “y” and has “z” nowhere in it"),
    ({"kind": "text", "css": "#a", "attribute": "value", "page": "https://a.example", "match": {"numbers": [["> 1"]]}},
     "the attribute value of #a on “https://a.example” is a number > 1"),
    ({"kind": "picture", "css": ".b", "picture": "a" * 64},
     "an image of .b is like the picture (SSIM above 0.8)"),
    ({"kind": "answer", "match": {"value": {"type": "currency", "any_of": [12.5, None]}, "fuzzy": "dear"}},
     "the answer is as a currency “12.5” or “None” and means “dear”, which a judge decides"),
    ({"kind": "request", "method": "POST", "match": {"one_of": ["/o"]}, "body": {"n": {"exact": ["2"]}},
      "status": None},
     "there was a request POST whose address has “/o” in it, anywhere in which n is “2” whatever its answer"),
    ({"kind": "script", "expression": "1 + 1", "match": {"exact": ["2"]}}, "the value of “1 + 1” is “2”"),
    ({"kind": "response", "task_type": "RETRIEVE", "task_status": "SUCCESS", "data": []},
     "the structured answer is RETRIEVE, SUCCESS with 0 data"),
    ({"kind": "unknown", "reason": "a model is needed"}, "cannot be evaluated: a model is needed"),
    ({"kind": "not", "checks": [group(A)]}, "it is not so that at least one of these holds")])
def test_checks_are_told_in_words(check, words):
    assert validated(made(check), OutcomeSchema(), "here") and describe_check(check) == words
    assert kind_of(check)


def test_all_of_an_outcome_is_told():
    outcome = made({"kind": "not", "checks": [group(B, C)]}, checkpoints=WAY[:1], difficulty="hard")
    b, c = (f"the last page’s address has “{name}” in it" for name in "bc")
    assert describe_outcome(outcome) == [f"it is not so that at least one of these holds ({b}; {c})",
                              f"on the way, begun: {describe_check(A)}", "the task is hard"]
    assert describe_outcome(None) == []


def test_groups_in_groups_have_an_end():
    deep = A
    for _ in range(400):
        deep = group(deep, kind="all")
    with pytest.raises(InputError, match="at most 20 levels deep"):
        made(deep)
    deep = A
    for _ in range(20):
        deep = group(deep, kind="all")
    assert made(deep)
