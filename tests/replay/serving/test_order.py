"""Whose turn it is among exchanges that fit alike."""

import pytest

from replay.serving.matching import Session
from tests.replay.archives import FORM, JSON, archive, asked, document, given, match, recorded

LIST = [document("/"), recorded("GET", "/list", "old"), recorded("GET", "/list", "old again"),
        recorded("POST", "/add", "added", body="n=1", headers=FORM), recorded("GET", "/list", "new"),
        recorded("POST", "/add", "added", body="n=2", headers=FORM), recorded("GET", "/list", "newest")]
POLLED = [document("/"), *(recorded("GET", "/job", says) for says in ("pending", "pending", "done"))]
LOGIN = [document("/", "to login", 302), document("/login", "form"),
         document("/login", "welcome", 302, "POST", body="u=ann&pw=demotape-secret-1", headers=FORM),
         document("/", "home"), document("/logout", "bye", 302, "POST"), document("/", "to login again", 302)]
RELOADED = [document("/", "first"), recorded("GET", "/api", "1"), document("/", "second"), recorded("GET", "/api", "2")]
TWICE = [document("/cart", "empty"), recorded("POST", "/cart", "one", body="id=7", headers=FORM),
         recorded("POST", "/cart", "two", body="id=7", headers=FORM)]

COURSES = [  # what was recorded, then lines asked and what each has to get
    (LIST, "/:, list:old, list:old again, list:old again, list:old again, add1:added, list:new, list:new, "
           "add2:added, list:newest, list:newest"),
    (LIST, "/:, add1:added, list:new, add2:added, list:newest"),
    (LIST, "/:, list:old, add1:added, add2:added, list:newest"),
    (LIST[:4], "/:, list:old, add1:added, list:old again"),
    (POLLED, "/:, job:pending, job:pending"),
    (POLLED, "/:, job:pending, job:pending, job:done, job:done, job:done"),
    (LOGIN, "/:to login, login:form, signin:welcome, /:home, /:home, logout:bye, /:to login again"),
    (LOGIN, "/:to login, /:to login, login:form, login:form, signin:welcome, /:home"),
    (RELOADED, "/:first, api:1, api:1, /:second, api:2, api:2, /:second"),
    (RELOADED, "/:first, /:second, api:2"),
    (TWICE, "cart:empty, buy:one, buy:two, buy:two, cart:empty"),
]
LINES = {"/": ("GET /",), "list": ("GET /list",), "job": ("GET /job",), "api": ("GET /api",), "login": ("GET /login",),
         "add1": ("POST /add", "n=1", FORM), "add2": ("POST /add", "n=2", FORM), "cart": ("GET /cart",),
         "signin": ("POST /login", "u=ann&pw=hunter2", FORM), "logout": ("POST /logout",),
         "buy": ("POST /cart", "id=7", FORM)}


@pytest.mark.parametrize("told, course", COURSES)
def test_courses(told, course):
    session = Session(archive(*told))
    for _ in range(2):
        steps = [step.split(":") for step in course.split(", ")]
        assert [(name, given(session, *LINES[name])) for name, _ in steps] == [(name, says) for name, says in steps]
        session.reset()


def test_repeated_requests_in_order_playwright_32272():
    session = Session(archive(*(recorded("GET", "/count", str(n)) for n in range(5))))
    assert [given(session, "GET /count") for _ in range(7)] == ["0", "1", "2", "3", "4", "4", "4"]


def test_what_comes_only_later_is_given_when_there_is_nothing_else():
    session = Session(archive(document("/"), document("/b"), recorded("GET", "/late", "late"), document("/c"),
                              recorded("GET", "/late", "later")))
    assert given(session, "GET /late") == "late"
    polled = Session(archive(document("/"), *(recorded("GET", "/job", says) for says in ("pending", "done")),
                             document("/b"), recorded("GET", "/job", "other")))
    assert [given(polled, "GET /job") for _ in range(4)] == ["pending", "done", "done", "done"]


def test_steps_that_come_in_another_order_are_all_found():
    session = Session(archive(document("/"), *(recorded("POST", "/rpc", name, body=f'{{"name":"{name}"}}', headers=JSON)
                                               for name in "abcd")))
    assert [given(session, "POST /rpc", f'{{"name":"{name}"}}', JSON) for name in "dbcaa"] == list("dbcaa")


def test_what_only_tells_is_no_step():
    beacon = recorded("POST", "https://stats.example/t", "", 204, body="x")
    ping = recorded("POST", "/ping", "", 200, kind="ping")
    for telling, line in ((beacon, "POST https://stats.example/t"), (ping, "POST /ping")):
        session = Session(archive(document("/"), recorded("GET", "/list", "early"), telling,
                                  recorded("GET", "/list", "late")))
        given(session, "GET /")
        assert match(session, line, "x" if telling is beacon else None)
        assert [given(session, "GET /list"), given(session, "GET /list")] == ["early", "late"]


def test_graphql_that_only_asks_is_no_step():
    def ask(query):
        return "POST /gql", f'{{"query":"{query}"}}', JSON

    def session(between):
        told = [("query job", "pending"), (between, "x"), ("query job", "done")]
        return Session(archive(document("/"), *(recorded("POST", "/gql", says, body=ask(query)[1], headers=JSON)
                                                for query, says in told)))

    asking = session("query other")
    assert [given(asking, *ask("query job")) for _ in range(2)] == ["pending", "done"]
    changing = session("mutation x")
    given(changing, "GET /")
    assert [given(changing, *ask(query)) for query in ("query job", "query job", "mutation x", "query job")] == [
        "pending", "pending", "x", "done"]


def test_two_tabs_get_what_they_asked_for_themselves():
    def by(page):
        return (("Referer", f"https://shop.example/{page}"),)

    told = [document("/a", tab=1), recorded("GET", "/api", "of a", headers=by("a"), tab=1),
            document("/b", tab=2), recorded("GET", "/api", "of b", headers=by("b"), tab=2)]
    session = Session(archive(*told))
    given(session, "GET /a")
    given(session, "GET /b")
    assert [given(session, "GET /api", None, by(page)) for page in "abba"] == ["of a", "of b", "of b", "of b"]


def test_exchanges_are_taken_by_their_number():
    told = archive(recorded("GET", "/a", "one"), recorded("GET", "/a", "two"))
    session = Session(type(told)(told.exchanges[::-1]))
    assert [session.match(asked("GET", "/a")).exchange.number for _ in range(2)] == [1, 2]
