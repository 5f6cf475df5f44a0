"""Outcome checks of every kind, held against made-up sessions; what cannot be decided is told as such."""

import json

import cv2
import numpy as np
import pytest

from pipeline.outcomes.checking import check, score
from pipeline.outcomes.evidence import Evidence, PageState, Request, fields
from pipeline.outcomes.proposing import propose, refusal_reason
from schemas import InputError
from schemas.files import validated
from schemas.formats.outcome import OutcomeSchema


def picture(shade, size=(80, 60)):
    made = np.full((size[1], size[0], 3), 255, np.uint8)
    cv2.circle(made, (size[0] // 2, size[1] // 2), 10 + shade, (shade * 3, 40, 200), -1)
    return cv2.imencode(".png", made)[1].tobytes()


LAMP, OTHER = picture(5), picture(25)
START = PageState("https://shop.example/", lambda: "<title>Shop</title><h1>Shop</h1><p>No order</p>")
END = PageState("https://shop.example/orders/7", lambda: """<title>Orders</title><h1>Orders</h1>
  <p id=told data-demotape-uid=4>
  Thanks, <b>Ada</b>!<script>no()</script></p><ul><li class=order title=mine>Floor lamp</li>
  <li class=order>Desk &amp; chair</li></ul>
  <div class=photo><img src="/lamp.png"></div><iframe srcdoc="<p id=inner>In a frame</p>"></iframe>""",
           picture=lambda: picture(9, (200, 100)), resource={"https://shop.example/lamp.png": LAMP}.get,
           boxes=lambda: {"4": {"x": 75, "y": 25, "width": 50, "height": 50}}, width=200)
ASKED = (Request("GET", "https://shop.example/search?q=lamp&page=2", 200),
         Request("POST", "https://shop.example/orders", 303, b"lamp=Floor+lamp&size=m&token=demotape-secret-1"),
         Request("PUT", "https://shop.example/api/cart", 200,
                 json.dumps({"items": [{"name": "Lamp", "n": 2}]}).encode()),
         Request("DELETE", "https://shop.example/api/cart/3", 404))
SESSION = Evidence([START, END], "There are 2 lamps", ASKED, {"a" * 64: LAMP, "b" * 64: OTHER}.__getitem__)


def includes(text):
    return {"includes": [[text]]}


@pytest.mark.parametrize("wanted, decided", [
    ({"kind": "url", "match": {"exact": ["https://shop.example/orders/7/"]}}, True),
    ({"kind": "url", "match": includes("/basket")}, False),
    ({"kind": "text", "match": includes("thanks")}, True),
    ({"kind": "text", "match": includes("Desk & chair")}, True),  # the whole page, references resolved
    ({"kind": "text", "match": includes("data-demotape-uid")}, False),  # nothing of ours is in it
    ({"kind": "text", "css": "#told", "match": {"exact": ["Thanks, Ada!"]}}, True),
    ({"kind": "text", "css": "#inner", "match": {"exact": ["In a frame"]}}, True),
    ({"kind": "text", "css": ".order", "match": {"exact": ["Floor lamp\\nDesk & chair"]}}, False),
    ({"kind": "text", "css": ".order", "match": includes("floor lamp")}, True),
    ({"kind": "text", "css": ".order", "attribute": "title", "match": includes("mine")}, True),
    ({"kind": "text", "css": ".none", "match": {"excludes": ["x"]}}, False),
    ({"kind": "text", "css": "p[[", "match": includes("x")}, None),
    ({"kind": "text", "page": "https://shop.example", "match": includes("No order")}, True),
    ({"kind": "text", "page": "https://shop.example/basket", "match": includes("x")}, None),
    ({"kind": "picture", "css": ".photo", "picture": "a" * 64}, True),
    ({"kind": "picture", "css": ".photo img", "picture": "b" * 64}, False),
    ({"kind": "picture", "css": ".photo img", "picture": "b" * 64, "least": 0.1}, True),
    ({"kind": "picture", "css": "#told", "picture": "a" * 64, "least": -1}, True),  # cut out of the screenshot
    ({"kind": "picture", "css": ".order", "picture": "a" * 64}, False),
    ({"kind": "answer", "match": {"includes": [["2"], ["lamp", "lamps"]]}}, True),
    ({"kind": "answer", "match": {"fuzzy": "two"}}, None),
    ({"kind": "request", "match": {"exact": ["https://shop.example/orders"]}, "method": "POST",
      "body": {"lamp": {"exact": ["floor lamp"]}, "size": includes("m")}}, True),
    ({"kind": "request", "match": {"exact": ["https://shop.example/orders"]}, "body": {"colour": includes("m")}},
     False),
    ({"kind": "request", "match": includes("/search"), "query": {"q": {"exact": ["lamp"]}, "page": {
        "numbers": [["> 1"]]}}}, True),
    ({"kind": "request", "match": includes("/api/cart"), "body": {"items.0.n": {"numbers": [["== 2"]]}}}, True),
    ({"kind": "request", "match": includes("/api/cart/3"), "method": "DELETE"}, False),
    ({"kind": "request", "match": includes("/api/cart/3"), "method": "DELETE", "status": 404}, True),
    ({"kind": "script", "expression": "document.title", "match": includes("x")}, None),
    ({"kind": "unknown", "reason": "a model is needed"}, None)])
def test_a_check(wanted, decided):
    validated({"format": "demotape/outcome", "version": 1, "checks": [wanted]}, OutcomeSchema(), "here")
    found = check(wanted, SESSION)
    assert found.holds is decided, found.reason
    assert found.reason


YES, NO, MAYBE = ({"kind": "url", "match": includes("/orders")}, {"kind": "url", "match": includes("/basket")},
                  {"kind": "unknown", "reason": "x"})


@pytest.mark.parametrize("kind, checks, decided", [
    ("all", [YES, YES], True), ("all", [YES, NO, MAYBE], False), ("all", [YES, MAYBE], None),
    ("any", [NO, YES, MAYBE], True), ("any", [NO, NO], False), ("any", [NO, MAYBE], None),
    ("not", [YES], False), ("not", [NO], True), ("not", [MAYBE], None)])
def test_groups(kind, checks, decided):
    found = check({"kind": kind, "checks": checks}, SESSION)
    assert found.holds is decided and found.reason


def test_a_check_that_holds_states_its_observation():
    assert check(YES, SESSION).reason == "the address is “https://shop.example/orders/7”"
    wanted = {"kind": "request", "match": {"exact": ["https://shop.example/orders"]}, "method": "POST"}
    assert check(wanted, SESSION).reason == "the request was POST “https://shop.example/orders”, status 303"
    both = check({"kind": "any", "checks": [NO, YES]}, SESSION)
    assert both.reason == check(YES, SESSION).reason
    negated = check({"kind": "not", "checks": [YES]}, SESSION)
    assert negated.reason == f"the negated check passes: {check(YES, SESSION).reason}"


def test_requests_that_were_not_kept_decide_nothing():
    wanted = {"kind": "request", "match": includes("/orders")}
    assert check(wanted, Evidence([END])).holds is None
    assert check(wanted, Evidence([END], requests=())).holds is False


def test_checkpoints_are_reached_in_order():
    def at(name):
        return {"name": name, "check": {"kind": "url", "match": {"exact": [f"https://shop.example/{name}"]}}}

    pages = [PageState(f"https://shop.example/{name}", str) for name in ("a", "b", "a", "c")]
    for names, reached in ((["a", "b", "c"], 1.0), (["b", "a"], 1.0), (["c", "a"], 0.5), (["x", "a"], 0.0)):
        wanted = {"checks": [YES], "checkpoints": [at(name) for name in names]}
        assert score(wanted, Evidence(pages)).reached == reached
    assert score({"checks": [YES]}, SESSION).reached is None


def test_a_request_counts_for_a_checkpoint_once_it_was_made():
    ordered = {"name": "ordered", "check": {"kind": "request", "match": {"exact": ["https://shop.example/orders"]}}}
    at_a = {"name": "a", "check": {"kind": "url", "match": {"exact": ["https://shop.example/a"]}}}
    pages = [PageState("https://shop.example/a", str, time=1.0), PageState("https://shop.example/b", str)]
    for asked_at, reached in ((0.5, 1.0), (2.0, 0.5)):  # before the page was left, or after it
        session = Evidence(pages, requests=(Request("POST", "https://shop.example/orders", 200, time=asked_at),))
        assert score({"checks": [YES], "checkpoints": [ordered, at_a]}, session).reached == reached


def typed(text):
    return {"type": "browser", "dropped": False, "arguments": {"text": text}}


def test_what_is_proposed_holds_at_the_end_and_not_before():
    found = propose(SESSION, [typed("Floor lamp")])
    assert [each["kind"] for each in found] == ["request", "url", "text", "text", "text"]
    assert found[0]["body"] == {"lamp": {"exact": ["Floor lamp"]}} and found[2]["match"] == includes("Floor lamp")
    assert "secret" not in json.dumps(found)
    assert all(check(each, SESSION).holds and not refusal_reason(each, SESSION) for each in found)
    idle = SESSION.at_start()
    assert not any(check(each, idle).holds for each in found)


def test_a_check_that_says_nothing_is_refused():
    assert "before any action" in refusal_reason({"kind": "url", "match": includes("shop.example")}, SESSION)
    assert "at the recorded end" in refusal_reason(NO, SESSION)
    assert refusal_reason(YES, SESSION) == ""


@pytest.mark.parametrize("wanted, field", [
    ({"kind": "url"}, "match"), ({"kind": "url", "match": {}}, "match"), ({"kind": "melt"}, "kind"),
    ({"kind": "answer", "match": includes("x"), "css": "p"}, "css"), ({"kind": "all"}, "checks"),
    ({"kind": "not", "checks": [YES, YES]}, "checks"), ({"kind": "picture", "picture": "x"}, "picture")])
def test_a_check_that_is_none_is_named(wanted, field):
    with pytest.raises(InputError, match=f"checks.0.{field}"):
        validated({"format": "demotape/outcome", "version": 1, "checks": [wanted]}, OutcomeSchema(), "here")


def test_bodies_of_any_kind_are_read():
    assert fields(b"\xff\xfe&&=;") is not None and fields(b"[" * 100_000) is not None
    assert fields(b'{"a": {"b": [true, null]}}') == {"a.b.0": "true", "a.b.1": "null"}
    parts = [b'Content-Disposition: form-data; name="lamp"\r\n\r\nFloor "lamp" \xc3\xa4',
             b'Content-Disposition: form-data; name="file"; filename="a.txt"\r\nContent-Type: text/plain\r\n\r\nx']
    body = b"".join(b"--x\r\n" + part + b"\r\n" for part in parts) + b"--x--\r\n"
    assert fields(body) == {"lamp": 'Floor "lamp" ä', "file": "a.txt"}
    assert all(isinstance(fields(each), dict) for each in (b"--" + b"x" * 200, b"--x\r\n" * 1000, b"--", b""))
