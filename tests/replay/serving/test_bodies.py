"""How alike bodies of requests are."""

import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from replay.serving import bodies
from replay.serving.bodies import LARGEST, STAND_IN, Tally, fits, likeness, outline
from replay.serving.matching import MIN_SCORE

JSON, FORM, GRAPHQL = "application/json", "application/x-www-form-urlencoded", "application/graphql-response+json"
UUIDS = "8f14e45f-ceea-467f-9a3b-1d2c3b4a5f60", "c9f0f895-fb98-4b1a-8a4e-77aa01b2c3d4"
TIMES = 1_714_550_000_123, 1_714_550_009_456


def multipart(boundary: str, *parts: tuple[str, str, str]) -> bytes:
    """A form of parts: name, file name, content."""
    lines = []
    for name, filename, content in parts:
        placed = f'form-data; name="{name}"' + (f'; filename="{filename}"' if filename else "")
        lines.append(f"--{boundary}\r\nContent-Disposition: {placed}\r\n\r\n{content}\r\n")
    return ("".join(lines) + f"--{boundary}--\r\n").encode()


def form(boundary: str) -> str:
    return f"multipart/form-data; boundary={boundary}"


EQUAL = [  # recorded, actual, content type
    (b'{"a": 1, "b": [1, 2]}', b'{"b":[1,2],"a":1}', JSON),
    (b'{"a": 1}', b'{"a":1.0}', JSON),
    (b'{"query": "query Q {\\n  a\\n}", "operationName": "Q"}', b'{"operationName":"Q","query":"query Q{a}"}', JSON),
    (b'{"query": "{a}"}', b'{"query":"{ a }","variables":{},"operationName":null}', GRAPHQL),
    (b"a=1&b=2", b"b=2&a=1", FORM),
    (b"a=x+y", b"a=x%20y", FORM),
    (multipart("one", ("a", "", "1")), multipart("two", ("a", "", "1")), form("two")),
    (multipart("one", ("f", "p.png", "\0\1")), multipart("two", ("f", "p.png", "\0\1")), form("two")),
    (b'{"a": 1, "b": 2}', b'{"b":2,"a":1}', "text/plain;charset=UTF-8"),  # of navigator.sendBeacon
    (b'{"a": 1, "b": 2}', b'{"b":2,"a":1}', ""),
]
VARIED = [
    (b'{"id": "%s"}' % UUIDS[0].encode(), b'{"id": "%s"}' % UUIDS[1].encode(), JSON),
    (b'{"at": %d}' % TIMES[0], b'{"at": %d}' % TIMES[1], JSON),
    (b'{"at": "2024-05-01T10:00:00.123Z"}', b'{"at": "2024-05-01T10:00:09Z"}', JSON),
    (b'{"csrfToken": "ab", "a": 1}', b'{"csrfToken": "cd", "a": 1}', JSON),
    (b'{"a": 1, "requestId": "x"}', b'{"a": 1}', JSON),
    (b'{"a": 1, "b": null, "c": []}', b'{"a": 1}', JSON),
    (b"csrfmiddlewaretoken=abc&a=1", b"csrfmiddlewaretoken=def&a=1", FORM),
    (b"a=1&t=%d" % TIMES[0], b"a=1&t=%d" % TIMES[1], FORM),
    (multipart("o", ("_token", "", "x")), multipart("t", ("_token", "", "y")), form("t")),
    (multipart("o", ("f", "p.png", "")), multipart("t", ("f", "p.png", "content")), form("t")),  # not told by browsers
    (b"event at 1714550000123 of 8f14e45fceea467f", b"event at 1714550009456 of c9f0f895fb984b1a", "text/plain"),
    (None, b"what the browser did not keep", JSON),
]
FITTED = [
    (b'{"password": "demotape-secret-3", "user": "ann"}', b'{"password": "hunter2", "user": "ann"}', JSON),
    (b'{"pin": "demotape-secret-3"}', b'{"pin": 1234}', JSON),
    (b"password=demotape-secret-12&user=ann", b"user=ann&password=hunter2", FORM),
    (b"password=%5BREDACTED%5D&user=ann", b"user=ann&password=hunter2", FORM),
    (multipart("o", ("pw", "", "demotape-secret-1")), multipart("t", ("pw", "", "hunter2")), form("t")),
    (b"pass demotape-secret-1 now", b"pass hunter2 now", "text/plain"),
    (b"\0demotape-secret-1\0", b"\0hunter2\0", "application/octet-stream"),
]
CHOSEN = [
    (b'{"q": "cats"}', b'{"q": "dogs"}', JSON),
    (b'{"page": 2}', b'{"page": 3}', JSON),
    (b'{"on": true}', b'{"on": 1}', JSON),
    (b'{"a": [1, 2, 3]}', b'{"a": [1, 2]}', JSON),
    (json.dumps({f"f{n}": n for n in range(100)}).encode(), json.dumps({f"f{n}": n for n in range(99)}).encode(), JSON),
    (b'{"query": "query Q{a}", "variables": {"id": 5}}', b'{"query": "query Q{a}", "variables": {"id": 6}}', JSON),
    (b'{"operationName": "A", "query": "query Q{a}"}', b'{"operationName": "B", "query": "query Q{a}"}', JSON),
    (b"day=2024-05-01", b"day=2024-05-02", FORM),
    (b"q=iPhone15ProMax", b"q=Galaxy24Ultra", FORM),
    (b"a=1", b"a=1&b=2", FORM),
    (b"password=demotape-secret-1", b"password=", FORM),
    (b"password=demotape-secret-1&user=ann", b"password=x&user=bob", FORM),
    (multipart("o", ("f", "p.png", "one")), multipart("t", ("f", "q.png", "one")), form("t")),
    (multipart("o", ("f", "p.png", "one")), multipart("t", ("f", "p.png", "two")), form("t")),
    (multipart("o", ("a", "", "1"), ("b", "", "2")), multipart("t", ("a", "", "1")), form("t")),
    (b"hello there", b"good bye", "text/plain"),
    (b"\0\1", b"\0\2", "application/octet-stream"),
    (b"a" * (LARGEST + 1), b"a" * LARGEST + b"b", "text/plain"),
    (b"x", None, JSON),
    (b"{" * 20_000, b"[" * 20_000, JSON),
]


@pytest.mark.parametrize("recorded, actual, content_type", EQUAL)
def test_equal_by_value(recorded, actual, content_type):
    assert likeness(recorded, actual, content_type) >= 0.999
    assert likeness(actual, actual, content_type) == 1.0


@pytest.mark.parametrize("recorded, actual, content_type", VARIED + FITTED)
def test_what_varies_by_itself_or_fits_a_stand_in_is_above_the_threshold(recorded, actual, content_type):
    assert MIN_SCORE <= likeness(recorded, actual, content_type) < 0.999


@pytest.mark.parametrize("recorded, actual, content_type", CHOSEN)
def test_one_choice_is_below_the_threshold(recorded, actual, content_type):
    assert likeness(recorded, actual, content_type) < MIN_SCORE


@pytest.mark.parametrize("recorded, actual, content_type", EQUAL + VARIED[:9])
def test_what_is_worth_a_comparison_has_the_same_outline(recorded, actual, content_type):
    assert outline(recorded, content_type) == outline(actual, content_type)


@pytest.mark.parametrize("recorded, actual, content_type", CHOSEN[:3] + CHOSEN[5:8])
def test_outlines_of_choices_differ(recorded, actual, content_type):
    assert outline(recorded, content_type) != outline(actual, content_type)


def test_the_more_is_equal_the_more_alike():
    recorded = b'{"a": 1, "b": 2, "c": 3}'
    nearest = [likeness(recorded, actual, JSON) for actual in
               (recorded, b'{"a": 1, "b": 2, "c": 4}', b'{"a": 1, "b": 3, "c": 4}', b'{"x": 0}')]
    assert nearest == sorted(nearest, reverse=True) and len(set(nearest)) == 4


def test_a_value_that_an_answer_gave_does_not_vary_by_itself():
    recorded, actual = (b'{"id": "%s"}' % one.encode() for one in UUIDS)
    assert likeness(recorded, actual, JSON, Tally(lambda value: value == UUIDS[0])) < MIN_SCORE


def test_large_uploads_are_compared_without_their_boundary():
    content = "x" * (LARGEST * 2)
    one, other = multipart("o", ("f", "a.bin", content)), multipart("t", ("f", "a.bin", content))
    assert likeness(one, other, form("t")) == 0.999


@pytest.mark.parametrize("recorded, actual, does", [
    ("demotape-secret-1", "x", True), ("demotape-secret-1", "", False), ("[REDACTED]", "x", True),
    ("Bearer demotape-secret-1", "Bearer abc", True), ("Bearer demotape-secret-1", "Basic abc", False),
    ("a-demotape-secret-1-b-demotape-secret-2-c", "a-1-b-2-c", True),
    ("a-demotape-secret-1-b-demotape-secret-2-c", "a-1-c", False),
    ("demotape-secret-1demotape-secret-2", "ab", True), ("demotape-secret-1demotape-secret-2", "a", False),
    ("demotape-secret-1", "two\nlines", False), ("plain", "other", False),
])
def test_stand_ins(recorded, actual, does):
    assert fits(recorded, actual) is does


def test_graphql_that_only_asks():
    assert bodies.is_query(b'{"query": "query A { a }"}')
    assert bodies.is_query(b'[{"query": "{ a }"}, {"query": "query { b }"}]')
    assert not bodies.is_query(b'{"query": "mutation A { a }"}')
    assert not bodies.is_query(b'{"query": "query A { a } mutation B { b }"}')
    assert not bodies.is_query(b'{"query": "shoes"}')
    assert not bodies.is_query(b"[" * 20_000 + b'"query"')


def test_deep_json_is_compared_as_text():
    deep = b'{"a":' * 10_000 + b"1" + b"}" * 10_000
    assert likeness(deep, deep + b" ", JSON) < MIN_SCORE
    assert outline(deep, JSON) == outline(deep, JSON)


def test_hostile_bodies_take_linear_time():
    began = time.thread_time()
    for recorded, actual, content_type in (
            (b"--" + b"\n--a" * 50_000, b"--a\n" + b"--a\n" * 50_000, form("a")),
            (b"demotape-secret-1" * 5_000, b"x" * 75_000, "text/plain"),
            (b"demotape-secret-1a" * 5_000, b"ab" * 40_000, "text/plain"),
            (b"a=1&" * 25_000, b"a=2&" * 25_000, FORM)):
        likeness(recorded, actual, content_type)
    assert time.thread_time() - began < 3


@settings(max_examples=80, deadline=None)
@given(st.binary(max_size=200) | st.none(), st.binary(max_size=200) | st.none(),
       st.sampled_from((JSON, FORM, GRAPHQL, "text/plain", "multipart/form-data; boundary=a", "", "\0", "image/png")))
def test_any_bodies_have_a_likeness(recorded, actual, content_type):
    assert 0 <= likeness(recorded, actual, content_type) <= 1
    outline(actual or b"", content_type)


@settings(max_examples=30, deadline=None)
@given(st.recursive(st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
                    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20))
def test_json_is_like_itself_however_it_is_written(value):
    one, other = json.dumps(value).encode(), json.dumps(value, indent=2, sort_keys=True).encode()
    assert likeness(one, other, JSON) >= 0.999
    assert STAND_IN.fullmatch("demotape-secret-12")
