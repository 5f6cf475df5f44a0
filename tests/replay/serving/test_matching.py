"""Which exchange answers a request: addresses, bodies, and what goes wrong. The order is in test_order.py."""

import json
import sys
from collections import Counter

import pytest
from hypothesis import given as with_any
from hypothesis import settings
from hypothesis import strategies as st

from replay.archive.exchanges import Archive, Recorded, Request
from replay.serving.matching import MIN_SCORE, RULES, Session
from tests.replay.archives import FORM, JSON, SITE, archive, asked, document, given, match, recorded
from tests.replay.serving.test_bodies import form, multipart

UUIDS = "8f14e45f-ceea-467f-9a3b-1d2c3b4a5f60", "c9f0f895-fb98-4b1a-8a4e-77aa01b2c3d4"
NOW = 1_714_550_000  # seconds since 1970

LIKE = [  # recorded address, actual address
    ("/a?q=cats&_=1714550000123", "/a?q=cats&_=1714550009456"),
    ("/a?q=cats&ts=1714550000", "/a?q=cats&ts=1714550009"),
    ("/a?at=2024-05-01T10:00:00Z", "/a?at=2024-05-01T10:00:09.5Z"),
    ("/a?a=1&b=2", "/a?b=2&a=1"),
    ("/a?q=cats", "/a?q=cats&utm_source=mail&gclid=x"),
    ("/a?q=cats&empty=", "/a?q=cats"),
    ("/a?q=cats&csrf_token=abc", "/a?q=cats&csrf_token=def"),
    (f"/a?client={UUIDS[0]}", f"/a?client={UUIDS[1]}"),
    ("/a?r=0.8437261945", "/a?r=0.1293847561"),
    ("/a?callback=jQuery1", "/a?callback=jQuery2"),
    ("/a?a=1&b=2&c=3&d=4&e=5&f=6", "/a?a=1&b=2&c=3&d=4&e=5"),
    ("/drafts/8f14e45fceea467f/x", "/drafts/c9f0f895fb984b1a/x"),
    ("/orders/123456", "/orders/654321"),
    ("/a?token=demotape-secret-3&b=1", "/a?token=hunter2&b=1"),
    ("/a?code=demotape-secret-3&b=1", "/a?code=hunter2&b=1"),
    ("/reset/demotape-secret-3/form", "/reset/abc/form"),
    ("https://SHOP.example:443/a", "https://shop.example/a"),
]
UNLIKE = [
    ("/a?q=cats", "/a?q=dogs"),
    ("/a?page=2", "/a?page=3"),
    ("/a?page=2", "/a"),
    ("/a", "/a?page=2"),
    ("/a?q=cats&page=2", "/a?q=cats"),
    ("/a?day=2024-05-01", "/a?day=2024-05-02"),
    ("/a?q=cats&_=1", "/a?q=dogs&_=1"),
    ("/item/17", "/item/18"),
    ("/item/cats", "/item/dogs"),
    ("/a/123456", "/a/123456/b"),
    ("/a?x=demotape-secret-1", "/a?x="),
    ("http://shop.example/a", "https://shop.example/a"),
    ("https://other.example/a", "https://shop.example/a"),
    ("https://shop.example:8443/a", "https://shop.example/a"),
    ("/a", "/A"),
]


@pytest.mark.parametrize("told, actual", LIKE)
def test_what_varies_by_itself_still_matches(told, actual):
    session = Session(archive(recorded("GET", told, "it")))
    found = match(session, f"GET {actual}")
    assert found and found.exchange.answer() == b"it"
    assert MIN_SCORE <= found.score < 1 or told.startswith("https://SHOP")


@pytest.mark.parametrize("told, actual", UNLIKE)
def test_a_choice_does_not_match(told, actual):
    assert match(Session(archive(recorded("GET", told))), f"GET {actual}") is None


def test_equal_is_exact_and_another_method_is_none():
    session = Session(archive(recorded("GET", "/a?b=1", "it")))
    assert match(session, "GET /a?b=1#part").score == 1.0
    assert match(session, "POST /a?b=1") is match(session, "DELETE /a?b=1") is None


def test_among_alike_ones_the_choice_decides():
    session = Session(archive(*(recorded("GET", f"/a?q={word}&_={NOW}{at}", word) for at, word in
                                ((111, "cats"), (222, "dogs"), (333, "cows")))))
    assert [given(session, f"GET /a?q={word}&_=5") for word in ("dogs", "cows", "cats", "rats")] == [
        "dogs", "cows", "cats", None]


def test_polling_with_a_cache_buster_goes_on_in_order():
    session = Session(archive(*(recorded("GET", f"/job?_={NOW}{at}", says) for at, says in
                                ((100, "pending"), (200, "running"), (300, "done")))))
    assert [given(session, f"GET /job?_={NOW + 9}{at}") for at in (101, 201, 301, 401)] == [
        "pending", "running", "done", "done"]


def test_what_an_answer_gave_is_a_choice_however_random_it_looks():
    page = document("/", f'<a href="/item/123456">one</a> <a href="/item?id={UUIDS[0]}">two</a>')
    session = Session(archive(page, recorded("GET", "/item/123456", "one"),
                              recorded("GET", f"/item?id={UUIDS[0]}", "two")))
    assert given(session, "GET /item/123456") == "one" and given(session, f"GET /item?id={UUIDS[0]}") == "two"
    assert given(session, "GET /item/654321") is given(session, f"GET /item?id={UUIDS[1]}") is None


def test_a_moment_varies_by_itself_when_it_is_the_one_of_the_request():
    def session(moment):
        return Session(archive(recorded("GET", f"/a?from={moment}", "it", time=60.0), started=float(NOW)))

    assert given(session(NOW + 61), f"GET /a?from={NOW + 99}") == "it"
    assert given(session(NOW - 86_400), f"GET /a?from={NOW - 2 * 86_400}") is None


def test_a_parameter_without_influence_is_learnt_from_the_recording():
    alike = [recorded("GET", f"/ad?slot={slot}&n={n}", f"slot {slot}") for slot, n in
             (("top", 7), ("top", 8), ("side", 9))]
    assert given(Session(archive(*alike)), "GET /ad?slot=top&n=12") == "slot top"
    assert given(Session(archive(*alike)), "GET /ad?slot=foot&n=12") is None
    differing = [recorded("GET", f"/list?page={n}", f"page {n}") for n in (1, 2, 3)]
    assert given(Session(archive(*differing)), "GET /list?page=4") is None
    nothing = [recorded("GET", f"/list?word={word}", "nothing found") for word in ("xyz", "zyx")]
    assert given(Session(archive(*nothing)), "GET /list?word=cats") is None


def test_a_failed_try_before_the_good_one_playwright_40682():
    session = Session(archive(recorded("GET", "/api", None, 0, failure="net::ERR_ABORTED"),
                              recorded("GET", "/api", "good"),
                              recorded("GET", "/gone", None, 0, failure="net::ERR_CONNECTION_REFUSED")))
    assert [given(session, "GET /api"), given(session, "GET /api")] == ["good", "good"]
    assert match(session, "GET /gone").exchange.failure == "net::ERR_CONNECTION_REFUSED"


def test_graphql_by_body_playwright_19948():
    def body(n):
        query = "query Item($id: Int) {\n  item }"
        return json.dumps({"operationName": "Item", "query": query, "variables": {"id": n}})

    session = Session(archive(*(recorded("POST", "/graphql", f"item {n}", body=body(n), headers=JSON)
                                for n in range(20))))
    order = [n * 7 % 20 for n in range(20)]
    assert [given(session, "POST /graphql", body(n), JSON) for n in order] == [f"item {n}" for n in order]
    otherwise = '{"query": "query Item($id:Int){item}", "variables": {"id": 13}, "operationName": "Item"}'
    assert given(session, "POST /graphql", otherwise, JSON) == "item 13"
    assert given(session, "POST /graphql", body(20), JSON) is None


def test_multipart_without_boundary_playwright_31495():
    def ask(boundary, note):
        return (multipart(boundary, ("note", "", note), ("file", "a.png", "content")),
                (("Content-Type", form(boundary)),))

    told = [ask("----WebKitFormBoundaryOne", note) for note in ("first", "second")]
    session = Session(archive(*(recorded("POST", "/up", note, body=body, headers=headers)
                                for note, (body, headers) in zip(("first", "second"), told, strict=True))))
    assert given(session, "POST /up", *ask("----WebKitFormBoundaryTwo", "second")) == "second"
    assert given(session, "POST /up", *ask("----WebKitFormBoundaryTwo", "first")) == "first"
    assert given(session, "POST /up", *ask("----WebKitFormBoundaryTwo", "third")) is None


def test_a_form_that_was_filled_in_otherwise_gets_nothing():
    session = Session(archive(recorded("POST", "/add", "added", body="csrf_token=abc&name=ann", headers=FORM)))
    assert given(session, "POST /add", "csrf_token=xyz&name=ann", FORM) == "added"
    assert given(session, "POST /add", "csrf_token=xyz&name=bob", FORM) is None


def test_what_only_tells_may_tell_anything():
    told = [document("/"), recorded("POST", "https://stats.example/t", "", 204, body='{"w": 1}', headers=JSON)]
    session = Session(archive(*told))
    assert match(session, "POST https://stats.example/t", '{"w": 2, "more": [1]}', JSON).exchange.status == 204
    assert match(session, "POST https://stats.example/t?n=3", '{"w": 2}', JSON) is not None


@pytest.mark.parametrize("status, body, answered", [
    (204, '{"title": "Lam", "text": "It is"}', True), (204, '{"title": "Lamps of brass", "text": ""}', True),
    (204, '{"title": "Engine", "text": "It"}', False), (204, '{"title": "Lamp", "text": "No"}', False),
    (200, '{"title": "Lam", "text": "It"}', False)])
def test_what_is_saved_while_it_is_typed_may_be_less_or_more(status, body, answered):
    session = Session(archive(recorded("PUT", "/draft", "" if status == 204 else "found", status,
                                       body='{"title": "Lamps", "text": "It"}', headers=JSON)))
    assert bool(match(session, "PUT /draft", body, JSON)) is answered


def test_head_gets_what_get_had_and_takes_no_turn():
    session = Session(archive(recorded("GET", "/a", "one"), recorded("GET", "/a", "two")))
    assert [given(session, f"{method} /a") for method in ("HEAD", "HEAD", "GET", "HEAD", "GET")] == [
        "one", "one", "one", "two", "two"]
    assert given(session, "HEAD /b") is None


def test_not_modified_only_when_there_is_nothing_else_and_it_is_asked_for():
    conditional = (("If-None-Match", '"1"'),)
    both = Session(archive(recorded("GET", "/a", b"", 304), recorded("GET", "/a", "it")))
    assert given(both, "GET /a", None, conditional) == "it"
    alone = Session(archive(recorded("GET", "/a", b"", 304)))
    assert match(alone, "GET /a") is None and match(alone, "GET /a", None, conditional).exchange.status == 304


def test_parts_of_a_file_by_their_range():
    parts = [recorded("GET", "/film", part, 206, headers=(("Range", f"bytes={part}"),)) for part in ("0-9", "10-19")]
    session = Session(archive(*parts))
    assert given(session, "GET /film", None, (("range", "bytes=10-19"),)) == "10-19"
    assert given(session, "GET /film", None, (("range", "bytes=0-9"),)) == "0-9"
    assert given(session, "GET /film", None, (("range", "bytes=5-"),)) is not None
    whole = Session(archive(*parts, recorded("GET", "/film", "whole")))
    assert given(whole, "GET /film", None, (("range", "bytes=3-4"),)) == given(whole, "GET /film") == "whole"


def test_one_address_for_documents_and_scripts():
    page, script = (("Accept", "text/html,*/*"),), (("Accept", "application/json"),)
    session = Session(archive(recorded("GET", "/items", "page", headers=page),
                              recorded("GET", "/items", "[]", headers=script)))
    assert [given(session, "GET /items", None, headers) for headers in (script, page, script)] == ["[]", "page", "[]"]
    assert given(session, "GET /items") is not None


CARRIED = [  # recorded address, its answer, actual address, what is carried
    ("/j?callback=jQuery111", "jQuery111({})", "/j?callback=jQuery222", (("jQuery111", "jQuery222"),)),
    (f"/a?id={UUIDS[0]}", f'{{"id":"{UUIDS[0]}"}}', f"/a?id={UUIDS[1]}", (UUIDS,)),
    (f"/a?id={UUIDS[0]}", "{}", f"/a?id={UUIDS[1]}", ()),
    ("/j?callback=cb1", "cb1({})", "/j?callback=cb2", ()),  # too short: it stands in too much
    (f"/drafts/{UUIDS[0]}", f"draft {UUIDS[0]}", f"/drafts/{UUIDS[1]}", (UUIDS,)),
    ("/j?callback=a.b%28c", "a.b%28c", "/j?callback=d.e%28f", (("a.b%28c", "d.e%28f"),)),
]


@pytest.mark.parametrize("told, says, actual, carried", CARRIED)
def test_what_is_put_into_an_answer(told, says, actual, carried):
    assert match(Session(archive(recorded("GET", told, says))), f"GET {actual}").carried == carried


def test_what_a_body_has_otherwise_is_put_into_an_answer():
    session = Session(archive(recorded("POST", "/rpc", f"did {UUIDS[0]}", body=f'{{"id":"{UUIDS[0]}"}}', headers=JSON)))
    assert match(session, "POST /rpc", f'{{"id":"{UUIDS[1]}"}}', JSON).carried == (UUIDS,)


def test_a_value_that_was_carried_over_is_known_from_then_on():
    """A client's own state goes to another site, which sends it back by a redirect."""
    recorded_state, state = "kX9fQ2mZ7vB4tR8wL1pY", "aB3dE5gH7jK9mN2pQ4sT"
    back = f"/back?state={recorded_state}&code=demotape-secret-2"
    session = Session(archive(
        document("/"), document(f"/sign-in?app=x&state={recorded_state}", status=302,
                                answer_headers=(("Location", back),)), document(back, "in")))
    assert match(session, f"GET /sign-in?app=x&state={state}").carried == ((recorded_state, state),)
    assert given(session, f"GET /back?state={state}&code=demotape-secret-2") == "in"
    session.reset()
    assert given(session, f"GET /back?state={state}&code=demotape-secret-2") is None


HOSTILE = ["http://[", "http://[::1", "", "x", "/a?" + "&".join(["a=1"] * 5000), "/" * 10_000,
           "https://shop.example:x/",
           "/a?\ud800=\udfff", "https://" + "a" * 10_000, "/\0", "data:,x", "//", "/a?q=demotape-secret-1", "?"]


@pytest.mark.parametrize("url", HOSTILE)
def test_hostile_addresses(url):
    session = Session(archive(recorded("GET", "/a?q=1"), recorded("GET", url or "http://]"),
                              recorded("POST", "/x", body="[" * 10_000, headers=JSON)))
    session.match(Request("GET", url))
    session.match(asked("GET", url))
    session.match(Request("POST", SITE + "/x", JSON, b'{"a":' * 10_000))


_QUERIES = st.builds("/{}?{}={}".format, st.sampled_from("ab"), st.text(max_size=3), st.text(max_size=12))
_KNOWN = st.sampled_from(("/a?q=1", "/a?q=2&_=1714550000123", "/i/123456", *HOSTILE[:4]))
_URLS = _KNOWN | st.text(max_size=20) | _QUERIES
_HEADERS = st.lists(st.tuples(st.sampled_from(("content-type", "range", "Accept", "referer")), st.text(max_size=12)),
                    max_size=3).map(tuple)
_BODIES = st.none() | st.binary(max_size=30) | st.sampled_from((b'{"query":"{a}"}', b"a=1&b=2", b"[" * 2000))
_METHODS = st.sampled_from(("GET", "POST", "HEAD", "get", ""))
_RECORDED = st.builds(recorded, _METHODS, _URLS, st.none() | st.just("it"), st.sampled_from((0, 200, 204, 206, 304)),
                      body=_BODIES, headers=_HEADERS, top=st.booleans(), tab=st.integers(1, 2))


@settings(max_examples=60, deadline=None)
@with_any(st.lists(_RECORDED, max_size=6),
          st.lists(st.builds(Request, _METHODS, _URLS | _URLS.map(SITE.__add__), _HEADERS, _BODIES), max_size=8))
def test_no_request_crashes(exchanges, requests):
    session = Session(archive(*exchanges))
    for request in requests:
        found = session.match(request)
        assert found is None or MIN_SCORE <= found.score <= 1


def test_a_hundred_thousand_exchanges_cost_a_match_no_more_than_a_thousand():
    def calls(count: int) -> int:
        exchanges = tuple(Recorded(n, 0.0, "GET", f"{SITE}/list/{n // 50}?page={n}&_={NOW}{n % 1000:03}", 200,
                                   str(n).encode)
                          for n in range(count))
        session = Session(Archive(exchanges))
        lines = [f"GET /list/{n // 50}?page={n}&_={NOW}{busy:03}" for n in (3, 57, 990) for busy in (n, n + 1)]
        assert all(match(session, line) for line in lines)  # what is learnt of a place is learnt once
        counted: Counter[str] = Counter()
        sys.setprofile(lambda frame, event, told: counted.update((event,)))
        try:
            for line in lines:
                match(session, line)
        finally:
            sys.setprofile(None)
        return counted["call"] + counted["c_call"]

    assert calls(100_000) < calls(1000) * 1.5


def test_the_rules_are_told_once_each():
    assert len(dict(RULES)) == len(RULES)
