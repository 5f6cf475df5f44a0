"""The form of one outcome check: what it means, what is wrong in it, and what it shows; without an app."""

import pytest

from curator_web.web.review.outcome_forms import CheckForm, of_check, read
from schemas import InputError

WRONG = [
    ("url", {}, "match", "Fill in at least one condition"),
    ("text", {"css": "p[[", "includes": "x"}, "css", "Selector"),
    ("attribute", {"css": "a", "includes": "x"}, "attribute", "Required"),
    ("attribute", {"attribute": "href", "includes": "x"}, "css", "Select an element"),
    ("text", {"numbers": "about 3"}, "numbers", "not a comparison"),
    ("request", {"includes": "/", "status": "fine"}, "status", "a number such as 201"),
    ("request", {"includes": "/", "body": "lamp"}, "body", "must be name = text"),
    ("picture", {"least": "2"}, "least", "from 0 to 1"),
    ("picture", {"css": "#nothing"}, "css", "has a picture"),
    ("script", {"includes": "x"}, "expression", "Required"),
    ("response", {"task_type": "RETRIEVE"}, "task_status", "Required"),
    ("response", {"task_type": "DANCE", "task_status": "SUCCESS"}, "task_type", "Must be one of")]
RIGHT = [
    ("url", {"includes": "/orders || /order\r\nhttp"},
     {"kind": "url", "match": {"includes": [["/orders", "/order"], ["http"]]}}),
    ("text", {"css": "#told", "exact": "You ordered a Floor lamp\n"},
     {"kind": "text", "css": "#told", "match": {"exact": ["You ordered a Floor lamp"]}}),
    ("attribute", {"css": "a", "attribute": "href", "includes": "/next"},
     {"kind": "text", "css": "a", "attribute": "href", "match": {"includes": [["/next"]]}}),
    ("request", {"method": "post", "includes": "/orders", "body": "lamp = Floor lamp", "status": "200"},
     {"kind": "request", "method": "POST", "match": {"includes": [["/orders"]]}, "status": 200,
      "body": {"lamp": {"exact": ["Floor lamp"]}}}),
    ("text", {"css": "form", "includes": "Lamp", "negated": "yes"},
     {"kind": "not", "checks": [{"kind": "text", "css": "form", "match": {"includes": [["Lamp"]]}}]}),
    ("script", {"expression": "document.title", "exact": "Thanks", "before": "a()\nb()"},
     {"kind": "script", "expression": "document.title", "match": {"exact": ["Thanks"]}, "before": ["a()", "b()"]})]



def picture(css):
    if css == "#nothing":
        raise InputError("nothing on the last page that fits it has a picture")
    return "a" * 64


@pytest.mark.parametrize("kind, sent, field, told", WRONG)
def test_what_is_wrong_is_told_of_its_field(kind, sent, field, told):
    form = CheckForm(kind)
    assert read(form, sent, picture) is None
    assert told in form.errors[field], form.errors
    assert {name: form.values[name] for name in sent} == sent


def test_a_checkpoint_has_a_name():
    form = CheckForm("url", name="")
    assert read(form, {"includes": "/orders"}, picture) is None and "Describe the checkpoint" in form.errors["name"]
    assert read(CheckForm("url", name=""), {"includes": "/orders", "name": "x"}, picture)


@pytest.mark.parametrize("kind, sent, check", RIGHT)
def test_a_form_says_a_check_and_shows_it(kind, sent, check):
    assert read(CheckForm(kind), sent, picture) == check
    shown = of_check(check, "checks.0", None)
    again = shown.values | ({"negated": "yes"} if shown.negated else {})
    assert read(shown, again, picture) == check  # a form that says what is kept changes nothing
    assert read(of_check(check, "checks.0", None), sent, picture) == check


def test_the_picture_is_taken_anew_only_when_asked():
    check = read(CheckForm("picture"), {"least": "0,5"}, picture)
    assert check == {"kind": "picture", "picture": "a" * 64, "least": 0.5}
    for sent, taken in (({}, 0), ({"anew": "yes"}, 1), ({"css": "h1"}, 1)):
        asked = []
        read(of_check(check, "checks.0", None), {"least": "0.5"} | sent, lambda css, asked=asked: asked.append(css) or
             "b" * 64)
        assert len(asked) == taken
