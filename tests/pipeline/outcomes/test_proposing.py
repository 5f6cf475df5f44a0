"""Checks that are proposed tell who did the task from who only came as far as its last step."""

from pipeline.outcomes.checking import check
from pipeline.outcomes.evidence import Evidence, PageState, Request
from pipeline.outcomes.proposing import confirm, propose

COVER = "<div id=cover>START</div><span id=reward>-</span>"
BEGUN = "<div id=query>Find the 2nd word: alpha beta gamma</div><span id=reward>-</span>"
DONE = "<div id=query>Find the 2nd word: alpha beta gamma</div><span id=reward>1.00</span>"
TYPED = [{"type": "browser", "dropped": False, "arguments": {"text": "beta"}}]


def session(*pages, requests=()):
    return Evidence([PageState("http://site.example/", lambda page=page: page, time=float(number))
                     for number, page in enumerate(pages)], requests=requests)


SESSION = session(COVER, BEGUN, BEGUN, DONE, DONE)  # after it was done nothing more changed


def texts(checks):
    return {each["css"] for each in checks if each["kind"] == "text"}


def test_what_came_last_is_proposed_and_what_was_typed():
    found = propose(SESSION, TYPED)
    assert texts(found) == {"#reward", "#query"}
    assert not all(check(each, session(COVER, BEGUN, BEGUN)).holds for each in found)


def test_what_was_typed_alone_is_no_task_where_it_was_there_before():
    found = propose(SESSION, TYPED)
    assert confirm(found, SESSION, SESSION) == found
    failed = session(COVER, BEGUN, DONE.replace("1.00", "-1.00"))
    assert confirm(found, SESSION, failed) == []


def test_a_request_that_changed_something_is_enough():
    asked = (Request("POST", "http://site.example/words", 200, b"word=beta", time=1.5),)
    told = DONE.replace("1.00", "one")
    made, again = session(COVER, BEGUN, BEGUN, told, requests=asked), session(COVER, BEGUN, DONE, requests=asked)
    assert [each["kind"] for each in confirm(propose(made, TYPED), made, again)] == ["request", "text"]
