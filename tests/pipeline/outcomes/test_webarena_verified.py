"""Tasks of WebArena-Verified: each rule read and scored as its evaluators do, what is not said named, and written back.

benchmarks.webarena_verified holds the scores against the package itself.
"""

import json

import pytest

from pipeline.outcomes.benchmark_tasks import webarena_verified, webarena_writing
from pipeline.outcomes.checking import score
from pipeline.outcomes.evidence import Evidence, PageState, Request
from pipeline.outcomes.network_events import is_navigation, member, posted
from pipeline.outcomes.responses import spoken_answer, structured_answer
from pipeline.outcomes.values import compiled
from schemas import InputError
from schemas.files import validated
from schemas.formats.outcome import OutcomeSchema

SHOP = "http://127.0.0.1:7770"
SITES = {"__SHOPPING__": SHOP, "__SHOPPING_ADMIN__": SHOP + "/admin"}
FORM, JSON = "application/x-www-form-urlencoded", "application/json; charset=utf-8"
PAGE = (("Accept", "text/html,*/*"),)


def asked(method, path, status=200, body="", kind=FORM, headers=(), time=0.0):
    told = (("content-type", kind),) if body else PAGE if method == "GET" else ()
    return Request(method, (path if "://" in path else SHOP + path), status, body.encode(), time, (*told, *headers))


def task(*events, kind="mutate", status="SUCCESS", data=None, schema=None, **more):
    response = {"evaluator": "AgentResponseEvaluator", "results_schema": schema or {"type": "null"},
                "expected": {"task_type": kind, "status": status, "retrieved_data": data}} | more
    return {"sites": ["shopping", "shopping_admin"], "task_id": 5, "start_urls": ["__SHOPPING__/start"],
            "intent": "Look at __SHOPPING__", "eval": [response, *events]}


def event(url="__SHOPPING__/orders", method="POST", *, expected=None, **more):
    return {"evaluator": "NetworkEventEvaluator", "expected": {"url": url, "http_method": method, **(expected or {})},
            **more}


def answered(kind="mutate", status="SUCCESS", data=None):
    return json.dumps({"task_type": kind, "status": status, "retrieved_data": data})


def scored(content, requests=(), answer=None):
    kind = content["eval"][0]["expected"]["task_type"]
    timed = tuple(Request(each.method, each.url, each.status, each.body, number, each.headers)
                  for number, each in enumerate(requests))
    outcome = webarena_verified.read(content, "task.json", SITES).outcome
    return score(outcome,
                 Evidence([PageState(SHOP + "/", lambda: "")], answered(kind) if answer is None else answer, timed))


ORDER = asked("POST", "/orders", 302, "lamp=Floor+lamp&size=m&n=2")
CART = json.dumps({"items": [{"name": "Lamp", "n": 2}], "note": json.dumps({"text": "gift"}), "tags": ["a", "b"],
                   "none": None, "paid": True})
REDIRECTED = {"response_status": 302}


@pytest.mark.parametrize("evaluator, requests, value", [
    (event(expected=REDIRECTED), [ORDER], 1), (event(), [ORDER], 0), (event(expected=REDIRECTED), [], 0),
    (event("__SHOPPING__/ORDERS/", expected=REDIRECTED), [ORDER], 1),
    (event("__SHOPPING__/order", expected=REDIRECTED), [ORDER], 0),
    (event(["__SHOPPING__/x", "^__SHOPPING__/o\\w+$"], expected=REDIRECTED), [ORDER], 1),
    (event("^.*/orders|/x$", expected=REDIRECTED), [ORDER], 1), (event("^/orders$", expected=REDIRECTED), [ORDER], 0),
    (event("__SHOPPING_ADMIN__/x", "PUT"), [asked("PUT", "/admin/x")], 1),
    (event(expected=REDIRECTED), [ORDER, asked("POST", "/orders", 200)], 0),  # the last one counts
    (event(expected=REDIRECTED, last_event_only=False), [ORDER, asked("POST", "/orders", 200)], 1),
    (event(expected=REDIRECTED), [ORDER, asked("GET", "/orders"), asked("POST", "/orders/7")], 1),
    (event("^.*$", "GET", expected={"response_status": 200}), [asked("GET", "/a"), asked("GET", "/a.css", 404)], 1),
    (event(expected={"response_status": -1}), [asked("POST", "/orders", 0)], 1),
    (event(should_not_exist=True), [asked("POST", "/x")], 1), (event(should_not_exist=True), [ORDER], 0),
    (event("__SHOPPING__/s?q=lamp", "GET"), [asked("GET", "/s?q=LAMP&x=")], 1),
    (event("__SHOPPING__/s?q=lamp", "GET"), [asked("GET", "/s?q=lamp&x=1")], 0),
    (event("__SHOPPING__/s?q=lamp", "GET", ignored_query_params=["x"]), [asked("GET", "/s?q=lamp&x=1")], 1),
    (event("__SHOPPING__/s?q=lamp", "GET", ignored_query_params=["x"]), [asked("GET", "/s?q=lamp&X=1")], 0),
    (event("__SHOPPING__/s?q=lamp", "GET", ignored_query_params_patterns=["^x"]), [asked("GET", "/s?q=lamp&X1=1")], 1),
    (event("__SHOPPING__/s?q=lamp", "GET", ignored_query_params_patterns=[".*"]), [asked("GET", "/s?x=1")], 1),
    (event("__SHOPPING__/s", "GET", expected={"query_params": {"q": ["^(a|b)$"]}}, ignored_query_params_patterns=[
        "^(?!q$|page$).*$"]), [asked("GET", "/s?q=B&x=1")], 1),
    (event("__SHOPPING__/s", "GET", ignored_query_params_patterns=["^(?!q$).*$"]), [asked("GET", "/s?q=1")], 0),
    (event("__SHOPPING__/s", "GET", ignored_query_params_patterns=["^(?!q$).*$"]), [asked("GET", "/s?Q=1")], None),
    (event(expected=REDIRECTED | {"post_data": {"lamp": "floor LAMP.", "n": 2}}), [ORDER], 1),
    (event(expected=REDIRECTED | {"post_data": {"lamp": ["x", "^f.*$"], "colour": None}}), [ORDER], 1),
    (event(expected=REDIRECTED | {"post_data": {"lamp": "desk lamp"}}), [ORDER], 0),
    (event(expected=REDIRECTED | {"post_data": {"lamp": "floor lamp", "key": "1"}},
           ignored_post_data_params_patterns=["^key$"]), [ORDER], 1),
    (event(expected={"post_data": {"size": "12.9"}}, post_data_schema={"type": "object", "properties": {
        "size": {"type": "number", "format": "currency"}}}), [asked("POST", "/orders", 200, "size=$12.99")], 1),
    (event(expected={"post_data": {"$.items[0].name": "lamp", "$.note.text": "Gift", "$['items'][0]['n']": "2"}}),
     [asked("POST", "/orders", 200, CART, JSON)], 1),
    (event(expected={"post_data": {"$.items[1].name": "lamp"}}), [asked("POST", "/orders", 200, CART, JSON)], 0),
    (event(expected={"post_data": {"tags": "b", "none": None, "paid": "True"}}),
     [asked("POST", "/orders", 200, CART, JSON)], 1),
    (event(expected={"post_data": {"items": "lamp"}}), [asked("POST", "/orders", 200, CART, JSON)], 0),
    (event(expected={"post_data": {"lamp": "x"}}), [asked("POST", "/orders", 200, '{"lamp": "x"}', "text/plain")], 0),
    (event(expected={"post_data": {"lamp": "x"}}), [asked("POST", "/orders", 200, "[1]", JSON)], 0),
    (event(expected={"post_data": {"lamp": "x"}}), [asked(
        "POST", "/orders", 200, '--B\r\nContent-Disposition: form-data; name="lamp"\r\n\r\nX\r\n--B--\r\n',
        "multipart/form-data; boundary=B")], 1),
    (event(expected={"post_data": {"lamp": "x"}}), [asked("POST", "/orders", 200, "lamp=^.*$")], None),
])
def test_a_network_event(evaluator, requests, value):
    assert scored(task(evaluator), requests).value == value


@pytest.mark.parametrize("evaluator, requests, value", [
    (event("__SHOPPING__/a", "GET"), [asked("GET", "/b"), asked("GET", "/a")], 1),
    (event("__SHOPPING__/a", "GET"), [asked("GET", "/a"), asked("GET", "/b")], 0),  # only the last one counts
    (event("__SHOPPING__/a", "GET"), [asked("GET", "/a"), asked("POST", "/b", body="x=1")], 1),
    (event("__SHOPPING__/a", "POST"), [asked("POST", "/a"), asked("GET", "/b")], 1),
    (event("__SHOPPING__/a", "GET", should_not_exist=True), [asked("GET", "/a")], None)])
def test_where_a_navigation_ends(evaluator, requests, value):
    assert scored(task(evaluator, kind="NAVIGATE"), requests).value == value


def test_which_requests_are_navigations():
    def one(**headers):
        return Request("GET", SHOP, 200, headers=tuple((name.replace("_", "-"), value) for name,
     value in headers.items()))

    person = {"Sec_Fetch_User": "?1", "sec_fetch_dest": "document", "sec_fetch_mode": "navigate", "accept": "text/html"}
    assert is_navigation(one(**person)) and is_navigation(one(accept="text/html, */*"))
    assert not any(map(is_navigation, [one(**person | {"sec_fetch_dest": "iframe"}), one(accept="*/*, text/html"),
                                       Request("POST", SHOP, 200, headers=PAGE)]))


LIST = {"type": "array", "items": {"type": "string"}}
PRICES = {"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string"}, "price": {
    "type": "number", "format": "currency"}}}}


@pytest.mark.parametrize("content, answer, value", [
    (task(), answered(), 1), (task(), answered("Mutate.", "success", ["x"]), 1), (task(), answered("navigate"), 0),
    (task(), f"So:\n```json\n{answered()}\n```", 1), (task(), "done", 0), (task(), "", 0), (task(), "[1]", 0),
    (task(), '{"performed_operation": "MUTATE", "status": "SUCCESS"}', 1), (task(), '{"task_type": "MUTATE"}', 0),
    (task(), '{"task_type": "MUTATE", "status": 1}', 0), (task(), answered("^.*$"), None),
    (task(kind="retrieve", status="NOT_FOUND_ERROR"), answered("retrieve", "NOT_FOUND_ERROR", []), 1),
    (task(kind="retrieve", status="NOT_FOUND_ERROR"), answered("retrieve", "NOT_FOUND_ERROR", ["x"]), 0),
    (task(kind="retrieve", data=["a", "b"], schema=LIST), answered("retrieve", data=["B", "a"]), 1),
    (task(kind="retrieve", data=["a", "b"], schema=LIST, ordered=True), answered("retrieve", data=["B", "a"]), 0),
    (task(kind="retrieve", data=["a", "a"], schema=LIST), answered("retrieve", data=["a", "b"]), 0),
    (task(kind="retrieve", data=["a"], schema=LIST), answered("retrieve", data="A"), 1),
    (task(kind="retrieve", data=["a"], schema=LIST), answered("retrieve", data=["a", "b"]), 0),
    (task(kind="retrieve", data=["a"], schema=LIST), answered("retrieve"), 0),
    (task(kind="retrieve", data=[["a", "b"]], schema=LIST), answered("retrieve", data=["b"]), 1),
    (task(kind="retrieve", data=["日本", "b"], schema=LIST), answered("retrieve", data=["x", "b"]), None),
    (task(kind="retrieve", data=[{"name": "Lamp", "price": 12}], schema=PRICES),
     answered("retrieve", data=[{"price": "$12", "name": "lamp"}]), 1),
    (task(kind="retrieve", data=[{"name": "Lamp", "price": 12}], schema=PRICES),
     answered("retrieve", data=['{"price": 12, "name": "lamp"}']), 1),
    (task(kind="retrieve", data=[{"name": "Lamp", "price": 12}], schema=PRICES),
     answered("retrieve", data=[{"name": "lamp", "price": 12, "more": 1}]), 0)])
def test_an_answer(content, answer, value):
    assert scored(content, answer=answer).value == value


@pytest.mark.parametrize("content, reason", [
    (task(event(expected={"headers": {"referer": "x"}})), "headers: outcome checks have nothing for that"),
    (task(event(expected={"response_content": {"a": 1}})), "response_content"),
    (task(event(expected={"response_cookies": {"a": "b"}})), "response_cookies"),
    (task(event(decode_base64_query=True)), "decode_base64_query"),
    (task(event(query_params_schema={"a": 1})), "query_"),
    (task(event(expected={"post_data": {"a": [1]}})), "a list of one alternative"),
    (task(event(expected={"post_data": {"a": {"b": 1}}})), "no text, number"),
    (task(event(expected={"post_data": {"$.a[?(@.b==1)].c": 1}})), "the JSONPath $.a"),
    (task(event(expected={"post_data": {"a.b": 1}})), 'a field of the name "a.b"'),
    (task(event(expected={"post_data": {"a": 1}}, ignored_post_data_params_patterns=["a"])), "all is ignored"),
    (task(event("http://elsewhere.example/")), "none of the task's sites"),
    (task(event(["__SHOPPING__"])), "one address"),
    (task(event("__GITLAB__/x")), "__GITLAB__ is none of the task's sites"),
    (task(event("^(?!a)b$")), "pattern '^(?!a)b$'"), (task(event("^.*__SHOPPING__$")), "inside a pattern"),
    (task(event("__SHOPPING__/x", "get")), "capital letters"),
    (task(event("__SHOPPING__/x", expected={"query_params": {"a": "b"}})), "no lists of texts"),
    (task(event(["__SHOPPING__/x?a=1", "__SHOPPING__/x"])), "with other parameters"),
    (task(event(expected={"query_params": {"a": ["b"]}}, ignored_query_params_patterns=["^(?!c$).*$"])), "and ignored"),
    (task(kind="retrieve", data=["1 km"], schema={"type": "array", "items": {"format": "distance"}}),
     "format distance"),
    (task(kind="retrieve", data=["many"], schema={"type": "array", "items": {"type": "number"}}),
     "'many' is not a number"),
    (task(kind="retrieve", data=["a"], schema={"type": "null"}), "not as results_schema says"),
    (task(kind="retrieve", data=[None], schema=LIST), "a datum that is null"),
    (task(kind="retrieve", data=["__SHOPPING__/x"], schema={"type": "array", "items": {"format": "url"}}), "over SSH"),
    (task(data=["x"]), "retrieves none"),
    (task(expected={"task_type": "mutate", "status": "SUCCESS"}), "accepts no answer"),
])
def test_what_cannot_be_said_is_named(content, reason):
    found = webarena_verified.read(content, "task.json", SITES)
    assert [each for each in found.notes if reason in each], found.notes
    assert [check for check in found.outcome["checks"] if check["kind"] == "unknown" and reason in check["reason"]]


@pytest.mark.parametrize("change, complaint", [
    ({"eval": []}, "field eval: must be a list with an AgentResponseEvaluator"),
    ({"eval": [{"evaluator": "Other"}, *task()["eval"]]}, "field eval.0.evaluator"),
    ({"eval": [task()["eval"][0] | {"expected": 1}]}, "field eval.0.expected: must be an object"),
    ({"eval": [task()["eval"][0] | {"expected": {"task_type": "x"}}]}, "field eval.0.expected.task_type"),
    ({"eval": [task()["eval"][0] | {"expected": {"task_type": "mutate", "status": 1, "retrieved_data": None}}]},
     "field eval.0.expected.status: must be SUCCESS")])
def test_what_is_no_task_is_told(change, complaint):
    with pytest.raises(InputError, match=complaint):
        webarena_verified.read(task() | change, "task.json", SITES)


def test_sites_are_put_in_and_one_that_is_not_known_is_named():
    found = webarena_verified.read(task(event()), "task.json", SITES)
    assert (found.id, found.intent, found.start_urls) == ("5", f"Look at {SHOP}", (SHOP + "/start",))
    without = webarena_verified.read(task(event()), "task.json")
    assert "pass it with --site __SHOPPING__=URL" in without.notes[0] and without.intent == "Look at __SHOPPING__"


# --- Written


def written(*checks, requests=(ORDER,), answer="", sites=SITES):
    outcome = {"format": "demotape/outcome", "version": 1, "checks": list(checks)}
    validated(outcome, OutcomeSchema(), "here")
    evidence = Evidence([PageState(SHOP + "/", lambda: "")], answer, tuple(requests))
    return (*webarena_writing.write(outcome, evidence, "Order", [SHOP + "/"], sites, 3), evidence)


def request(method="POST", path="/orders", **more):
    return {"kind": "request", "method": method, "match": {"exact": [SHOP + path]}, **more}


SEARCHED, KEPT = asked("GET", "/s?q=lamp&page=2"), asked("PUT", "/cart", 200, CART, JSON)
ENDED = {"kind": "url", "match": {"exact": [SHOP + "/a?b=1"]}}


@pytest.mark.parametrize("checks, requests, answer, expected", [
    ([request(body={"lamp": {"exact": ["Floor lamp", "x"]}})], [ORDER], "", {
        "url": "__SHOPPING__/orders", "http_method": "POST", "response_status": 302,
        "post_data": {"lamp": ["Floor lamp", "x"]}}),
    ([request("GET", "/s", query={"q": {"exact": ["lamp"]}}), {"kind": "answer", "match": {"exact": ["x"]}}],
     [SEARCHED], "x", {"url": "__SHOPPING__/s", "http_method": "GET", "response_status": 200,
                       "query_params": {"q": ["lamp"]}}),
    ([request("PUT", "/cart", body={"items.0.name": {"exact": ["Lamp"]}}, status=200)], [KEPT], "", {
        "url": "__SHOPPING__/cart", "http_method": "PUT", "response_status": 200,
        "post_data": {"$['items'][0]['name']": "Lamp"}}),
    ([{"kind": "url", "match": {"exact": [SHOP + "/a?b=1"]}}], [asked("GET", "/a?b=1")], "", {
        "url": "__SHOPPING__/a?b=1", "http_method": "GET", "response_status": 200})])
def test_checks_are_written(checks, requests, answer, expected):
    content, left, evidence = written(*checks, requests=requests, answer=answer)
    assert not left and content["eval"][1]["expected"] == expected
    again = webarena_verified.read(content, "written", SITES).outcome
    assert score(again, Evidence(evidence.pages, spoken_answer(answer, again), evidence.requests)).value == 1


@pytest.mark.parametrize("content", [
    task(event(expected=REDIRECTED | {"post_data": {"lamp": ["^f.*$", "x"], "n": 2, "none": None}}, post_data_schema={
        "type": "object", "properties": {"n": {"type": "number"}}}, last_event_only=False)),
    task(event("^__SHOPPING__/s/.*$", "GET", ignored_query_params=["a.b"], ignored_query_params_patterns=["^x"])),
    task(event("__SHOPPING__/s?q=a", "GET", ignored_query_params_patterns=["^(?!q$|page$).*$"])),
    task(event(should_not_exist=True), event(expected={"response_status": -1})),
    task(event("__SHOPPING__/s", "GET"), kind="NAVIGATE"),
    task(kind="retrieve", data=[["a", "^b$"], "c"], schema=LIST, ordered=True),
    task(kind="retrieve", data=[{"name": "Lamp", "price": 12}], schema=PRICES), task(kind="retrieve",
     status="UNKNOWN_ERROR")])
def test_what_was_read_is_written_the_same(content):
    checks = webarena_verified.read(content, "task.json", SITES).outcome["checks"]
    again, left, _ = written(*checks)
    assert not left and webarena_verified.read(again, "written", SITES).outcome["checks"] == checks


@pytest.mark.parametrize("check, reason", [
    ({"kind": "text", "match": {"exact": ["x"]}}, "nothing for text"), (ENDED, "only a task of nothing but navigation"),
    (request(path="/x"), "no request of the recording is like that"),
    ({"kind": "request", "match": {"exact": [SHOP]}}, "a request of any method"),
    (request(body={"lamp": {"includes": [["lamp"]]}}), "only exact texts"), (request(status=None), "any status"),
    (request(query={"a": {"exact": ["b", "c"]}}, status=200), "alternatives of a parameter"),
    ({"kind": "request", "method": "POST", "match": {"exact": ["http://x.example/"]}, "status": 1},
     "none of the sites"),
    (request(path="/orders#a", status=200), "no part of an address after #"),
    (request(events="navigation", status=200), "follows there from the type"),
    (request(events="any"), "any status"), ({"kind": "not", "checks": [request()]}, "that there is no request"),
    (request(body={"a.b": {"exact": ["1"]}}), "a field with a dot"),
    (request(events="any", status=302, ignored=["^a"]), "by patterns whatever their letters"),
    ({"kind": "response", "task_type": "MUTATE", "task_status": "BUSY"}, "no status BUSY")])
def test_what_cannot_be_written_is_named(check, reason):
    requests = [ORDER, asked("POST", "/orders", 200, "a.b=1")] if "a.b" in str(check) else [ORDER]
    _, left, _ = written(request(body={"size": {"exact": ["m"]}}), check, requests=requests)
    assert len(left) == 1 and reason in left[0]


def test_what_the_network_does_not_tell_is_left_out():
    """The same text to us, but another one to its evaluator: JSON's 0 is empty there."""
    zero = request("PUT", "/cart", body={"n": {"exact": ["0"]}})
    _, left, _ = written(request(), zero, requests=[ORDER, asked("PUT", "/cart", 200, '{"n": 0}', JSON)])
    assert left == ["check of kind request: the network of the recording does not tell it"]
    with pytest.raises(InputError, match="none of the outcome checks can be said"):
        written({"kind": "text", "match": {"exact": ["x"]}})


@pytest.mark.parametrize("sites", [{}, {"__SHOP__": SHOP}])
def test_sites_are_those_of_the_benchmark(sites):
    with pytest.raises(InputError, match="pass the sites with --site"):
        written(request(), sites=sites)


# --- What a person says


@pytest.mark.parametrize("answer, kind, data", [
    ("12.99 $", "RETRIEVE", ["12.99 $"]), (" 0 ", "RETRIEVE", ["0"]), ('["a", 2]', "RETRIEVE", ["a", 2]),
    ("", "RETRIEVE", None), ("Done", "MUTATE", None)])
def test_a_person_says_the_data(answer, kind, data):
    assert json.loads(structured_answer(answer, kind)) == {"task_type": kind, "status": "SUCCESS",
                                                           "retrieved_data": data,
                                                    "error_details": None}
    assert structured_answer(answered(), kind) == answered()
    assert spoken_answer(answer, {"format": "", "version": 1, "checks": [{"kind": "unknown", "reason": ""}]}) == answer


def test_members_and_bodies_that_are_none():
    body = {"a": {"b": [{"c": 1}, "x"]}, "text": '{"b": "{\\"c\\": 1}"}', "5": {"6": 1}}
    assert [member(body, path) for path in ("a.b.0.c", "a.b.1", "a.b.2", "a.x", "text.b", "text.b.c", "5.6", "a.b.x",
                                            "text.x.y")] == [1, "x", None, None, '{"c": 1}', None, None, None, None]
    assert posted(asked("POST", "/x", body="{" * 5000, kind=JSON)) == {}
    assert posted(asked("POST", "/x", body="--B", kind="multipart/form-data")) == {}
    with pytest.raises(InputError):
        compiled("^" + "(" * 5000 + "$", True)
