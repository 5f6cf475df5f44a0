"""Generated values, and generated tasks with generated requests, for benchmarks.webarena_verified."""

import json
import random
from typing import Any

from pipeline.outcomes.evidence import Request

_TEXTS: dict[str, list[Any]] = {
    "string": ["Floor lamp", "floor-lamp", "Zoë", "“Zoe”", "Zoe.", "a  b", "N/A", "", "café", "Buffalo–Niagara",  # noqa: RUF001
               "123-4567", "™Lamp", "ﬁne", "lamp!", "'lamp'", "Lamp ", "^lamp$", "^l.*p$", "^[a-z ]+$", "日本",
               "tab\there", "it’s", "its", "0", "10", "naïve—yes", "x\u00a0y", "1,234", "true",  # noqa: RUF001
               "http://127.0.0.1:7004/a", "__SHOPPING__/a", "Straße", "№ 5", "5€", 0, 1, True, None, 2.5],
    "number": [0, 1, 12, 12.0, 12.5, -3, 1234, "12", "12.0", "1,234", "1 234", "1234.00", "twelve", "twenty-three",
               "abc", "", "1e3", "-3", "$12", "12%", "nan", None, True, False, "1_0", "+5", "12 items", 10**9, "−3"],  # noqa: RUF001
    "boolean": [True, False, 1, 0, "yes", "No", "TRUE", "f", "on", "off", "maybe", "", None, "y", "0", "1", 2, "yes."],
    "currency": ["$12.99", "12.99", "12,99", "1,234.50", "1.234,50", "1,234", "$1,234", "-5", "-$5", "$-5", "free",
                 "12", "12.9", "12.8", "13.09", "13.1", "USD 12.99", "12.99 USD", "€12.99", "£12", "about 12", "12.",
                 "$.75", "50%", "1 234", "12.99-13.99", 12.99, 12, 0, "abc", None, "12.99.", "1.234.567",
                 "1,234,567.8", "12.99, 13", True, "$12.99 each", "price: 12.99", ".5", "US$12.99"],
    "date": ["2023-01-15", "2023/1/15", "01/15/2023", "1/15/2023", "15/01/2023", "Jan 15, 2023", "January 15, 2023",
             "15 January 2023", "15 Jan 2023", "Jan 15th, 2023", "2023-01-15T10:00", "tomorrow", "15", "2023",
             "Jan 2023", "05/06/2023", "2023-15-01", "", "n/a", "Sunday", "2023-1-5", "5 May 2023", "May 5, 2023",
             "Jan 15,2023", None, 20230115, "20230115", "I do not know", "2023-02-30", "2/29/2024", "2024-02-29"],
    "month": ["Jan", "January", "1", "01", 1, 12, 13, "13", "JANUARY", "Sept", "sep", "foo", "", "Jan 2023", None,
              "May", "0", "december", "1.0", 2.0],
    "duration": ["01:33:00", "1h 33m", "1h33m", "93 minutes", "93 min", "1 hour 33 minutes", "1 hour, 33 minutes",
                 "1.55 hours", "5580", "5580s", "1:33", "93", "1h", "60m", "10:58:00", "2 days", "", "soon", "30 min",
                 "34 minutes", "3 hours", "180 minutes", "200 minutes", "1:33 hours", "45 s", None, 93, "1 hr 33 mins"],
    "string_list": ["1,2,3", "3,2,1", "1, 2,3,", "a,B", "b,a", "", None, "1", 1, "1,2,2"],
    "url": ["git@__SSH_HOST__:a/b.git", "git@host:a/b.git", "ssh://git@host:2222/a/b.git", "git@host:A/b.git",
            "http://h/a", "no idea", "git@host", "git@x:2222/a/b.git", "https://h/a/b.git", "git@host:/a/b.git", ""]}
_PATHS = ("/", "/orders", "/orders/", "/Orders", "/orders/7", "/a%20b", "/a b", "/x//y", "/x/./y", "/x/../y", "/é",
          "/a;b=1", "/a%2Fb", "/orders.css", "/q!$&'()*+,;=:@", *["/orders"] * 12)
_QUERIES = ("", "?", "?q=lamp", "?q=Lamp", "?q=lamp&page=2", "?page=2&q=lamp", "?q=", "?q=a&q=b", "?q=b&q=a", "?q=a+b",
            "?q=a%20b", "?q=a%2Bb", "?Q=lamp", "?x[y]=1", "?q=%C3%A9", "?q=%2541", "?&q=lamp&&", "?=x", *[""] * 6)
_PARAMETERS: tuple[dict[str, list[str]] | None, ...] = (
    {"q": ["lamp"]}, {"q": ["LAMP "]}, {"q": []}, {"q": [""]}, {"q": ["^l.*$"]}, {"q": ["^(lamp|)$"]}, {"page": ["2"]},
    {"q": ["lamp"], "page": ["2"]}, {"q": ["a b"]}, {"q": ["b", "a"]}, {"q": ["é"]}, None)
_IGNORED: tuple[dict[str, Any], ...] = (
    {}, {}, {"ignored_query_params": ["page"]}, {"ignored_query_params_patterns": [".*"]},
    {"ignored_query_params_patterns": ["^p", "^Q$"]}, {"ignored_query_params_patterns": ["^(?!q$).*$"]},
    {"ignored_query_params_patterns": ["^(?!q$|page$).*$"]},
    {"ignored_query_params": ["q"], "ignored_query_params_patterns": ["age"]})
_FORM, _JSON, _PARTS = "application/x-www-form-urlencoded", "application/json", "multipart/form-data; boundary=XyZ"
_OBJECT = {"name": "Floor lamp", "n": 2, "price": 12.5, "tags": ["a", "b"], "none": None, "yes": True, "zero": 0,
           "note": {"note": "lgtm", "deep": [{"x": 1}]}}
_BODIES = (
    (_FORM, "name=Floor+lamp&size=m&n=2"), (_FORM + ";charset=UTF-8", "name=floor-lamp&size=M"), (_FORM, "name=&n=0"),
    (_FORM, "name=a&name=b"), (_JSON, json.dumps(_OBJECT)),
    (_JSON, json.dumps({"name": "Floor lamp", "n": "2", "price": "$12.50", "note": json.dumps({"note": "lgtm"})})),
    (_JSON, "[1]"), ("text/plain", '{"name":"Floor lamp"}'), (_JSON, "not json"), (_JSON, '{"name": "^.*$"}'),
    (_PARTS, '--XyZ\r\nContent-Disposition: form-data; name="name"\r\n\r\nFloor lamp\r\n--XyZ--\r\n'),
    (_FORM, "note.note=x&price=12.55&ids=3,1,2"))
_POSTED: tuple[dict[str, Any] | None, ...] = (
    None, None, None, {"name": "floor lamp"}, {"name": "Floor lamp", "size": "m"}, {"n": 2}, {"n": "2"}, {"n": 0},
    {"name": None}, {"missing": None}, {"name": ["a", "floor lamp"]}, {"name": "^floor.*$"}, {"$.note.note": "lgtm"},
    {"$.note.deep[0].x": 1}, {"$['note']['deep'][0]['x']": 1}, {"price": 12.5}, {"tags": "a"}, {"tags": ["b", "z"]},
    {"yes": "true"}, {"none": None, "name": "Floor lamp"}, {"zero": 0}, {"note.note": "x"}, {"name": ""},
    {"ids": "1,2,3"}, {"n": "^\\d+$"}, {"form_key": "x", "name": "floor lamp"}, {"form_key": "x"})
_SCHEMA = {"type": "object", "properties": {"price": {"format": "currency"}, "n": {"type": "number"},
                                            "ids": {"format": "string_list"}}}
_ENDS = ("/orders/\\d+$", "/orders.*$", ".*$", "/x/y$", "/orders|/x$", "/ORDERS$", "/a%20b$", "/(?:orders|)$",
         "/(?!o).*$")
_ACCEPT = [[("Accept", "text/html,application/xml")], [("Accept", "*/*")], [("Accept", "*/*")],
           [("accept", "text/html,*/*"), ("Sec-Fetch-User", "?1"), ("sec-fetch-dest", "document"),
            ("sec-fetch-mode", "navigate")],
           [("accept", "text/html,*/*"), ("Sec-Fetch-User", "?1"), ("sec-fetch-dest", "iframe"),
            ("sec-fetch-mode", "navigate")]]


def task_with(wanted: Any, schema: dict[str, Any]) -> dict[str, Any]:
    """A task that asks for one datum."""
    return _task([{"evaluator": "AgentResponseEvaluator", "results_schema": {"type": "array", "items": schema},
                   "expected": {"task_type": "retrieve", "status": "SUCCESS", "retrieved_data": [wanted]}}])


def values(seed: int, count: int) -> list[tuple[dict[str, Any], Any, Any]]:
    """For each type all pairs of its texts, and `count` with noise: a JSON Schema, what is wanted, what is given."""
    chance, found = random.Random(seed), []
    for kind, texts in _TEXTS.items():
        schema = {"type": kind} if kind in ("string", "number", "boolean") else {"type": "string", "format": kind}
        found += [(schema, one, other) for one in texts for other in texts]
        for _ in range(count):
            wanted: Any = [_noisy(chance, texts) for _ in range(2)] if chance.random() < 0.3 else _noisy(chance, texts)
            given: Any = _noisy(chance, texts)
            if chance.random() < 0.2:
                given = chance.choice([[given, _noisy(chance, texts)], [given], {"a": 1},
                                       _noisy(chance, _TEXTS["string"])])
            found.append((schema, wanted, given))
    return found


def _noisy(chance: random.Random, texts: list[Any]) -> Any:
    text = chance.choice(texts)
    if not isinstance(text, str) or chance.random() < 0.6:
        return text
    return chance.choice([text.upper(), text.lower(), " " + text, text + " ", text + ".", f'"{text}"'])


def events(seed: int, count: int, sites: dict[str, str]) -> list[dict[str, Any]]:
    """Tasks with the entries of a HAR, often with one that comes near what is wanted, and an answer."""
    chance = random.Random(seed)
    return [_case(chance, sites) for _ in range(count)]


def requests(entries: list[dict[str, Any]]) -> tuple[Request, ...]:
    """The requests of entries of a HAR."""
    return tuple(Request(
        each["request"]["method"], each["request"]["url"], max(0, each["response"]["status"]),
        each["request"].get("postData", {}).get("text", "").encode(), float(number),
        tuple((one["name"], one["value"]) for one in each["request"]["headers"]))
        for number, each in enumerate(entries))


def _task(evaluators: list[dict[str, Any]]) -> dict[str, Any]:
    return {"sites": ["shopping", "shopping_admin"], "task_id": 1, "intent_template_id": 1, "intent": "x",
            "start_urls": ["__SHOPPING__"], "intent_template": "x", "instantiation_dict": {}, "revision": 1,
            "eval": evaluators}


def _case(chance: random.Random, sites: dict[str, str]) -> dict[str, Any]:
    kind = chance.choice(["navigate", "mutate", "mutate", "mutate", "retrieve"])
    event = _event(chance)
    entries = [_entry(chance, sites) for _ in range(chance.randrange(1, 6))]
    if chance.random() < 0.75 and (near := _near(chance, event, sites)):
        entries.insert(chance.randrange(len(entries) + 1), near)
        if chance.random() < 0.5:
            entries = entries[:entries.index(near) + 1]
    response = {"evaluator": "AgentResponseEvaluator", "results_schema": {"type": "null"},
                "expected": {"task_type": kind, "status": "SUCCESS", "retrieved_data": None}}
    return {"task": _task([response, event]), "answer": _answer(chance, kind), "entries": entries}


def _event(chance: random.Random) -> dict[str, Any]:
    method = chance.choice(["GET", "GET", "POST", "POST", "PUT"])
    expected: dict[str, Any] = {"http_method": method, "url": (
        _wanted_address(chance) if chance.random() < 0.85 else [_wanted_address(chance), _wanted_address(chance)])}
    if chance.random() < 0.2:
        expected["response_status"] = chance.choice([302, -1, 404])
    event: dict[str, Any] = {"evaluator": "NetworkEventEvaluator", "expected": expected} | chance.choice(_IGNORED)
    if method != "GET" and (posted := chance.choice(_POSTED)):
        expected["post_data"] = posted
        event |= chance.choice([{}, {}, {"post_data_schema": _SCHEMA}])
    if parameters := chance.choice([None, *_PARAMETERS]):
        expected["query_params"] = parameters
    if chance.random() < 0.3:
        event["last_event_only"] = chance.random() < 0.3
    if chance.random() < 0.1:
        event["should_not_exist"] = True
    if chance.random() < 0.2:
        event["ignored_post_data_params_patterns"] = ["^form_key$"]
    return event


def _wanted_address(chance: random.Random) -> str:
    start = chance.choice(["__SHOPPING__", "__SHOPPING__", "__SHOPPING_ADMIN__", "^__SHOPPING__", "^.*"])
    if start.startswith("^"):
        return start + chance.choice(_ENDS)
    return start + chance.choice(_PATHS) + (chance.choice(_QUERIES) if chance.random() < 0.4 else "")


def _entry(chance: random.Random, sites: dict[str, str]) -> dict[str, Any]:
    base = chance.choice([*[sites["__SHOPPING__"]] * 3, sites["__SHOPPING_ADMIN__"], "http://other.example",
                          sites["__SHOPPING__"] + "1"])
    method = chance.choice(["GET", "GET", "POST", "PUT"])
    return _made(chance, method, base + chance.choice(_PATHS) + chance.choice(_QUERIES), chance.choice(
        [200, 200, 200, 200, 302, 302, 404, -1]), chance.choice(_ACCEPT))


def _near(chance: random.Random, event: dict[str, Any], sites: dict[str, str]) -> dict[str, Any] | None:
    """An entry that comes near what is wanted; none for a pattern."""
    expected = event["expected"]
    url = chance.choice(expected["url"]) if isinstance(expected["url"], list) else expected["url"]
    if url.startswith("^"):
        return None
    for name, address in sites.items():
        url = url.replace(name, address)
    if parameters := expected.get("query_params"):
        told = [f"{name}={values[0]}" for name, values in parameters.items() if values and values[0][:1] != "^"]
        url = url.partition("?")[0] + "?" + "&".join(told)
    elif chance.random() < 0.3:
        url = url.partition("?")[0] + chance.choice(_QUERIES)
    return _made(chance, expected["http_method"], url, expected.get("response_status", 200), _ACCEPT[0])


def _made(chance: random.Random, method: str, url: str, status: int, headers: list[tuple[str, str]]) -> dict[str, Any]:
    request: dict[str, Any] = {"method": method, "url": url.replace(" ", "%20").replace("é", "%C3%A9"),
                               "headers": [{"name": name, "value": value} for name, value in headers]}
    if method != "GET":
        kind, text = chance.choice(_BODIES)
        request["headers"].append({"name": "Content-Type", "value": kind})
        request["postData"] = {"mimeType": kind, "text": text}
    return {"request": request, "response": {"status": status, "headers": [], "redirectURL": "", "content": {}}}


def _answer(chance: random.Random, kind: str) -> str:
    right = json.dumps({"task_type": kind, "status": "SUCCESS", "retrieved_data": None})
    return chance.choice([*[right] * 12, "done", f"```json\n{right.lower()}\n```",
                          json.dumps({"task_type": kind, "status": "NOT_FOUND_ERROR", "retrieved_data": []}),
                          json.dumps({"performed_operation": kind, "status": "Success."}),
                          json.dumps({"task_type": kind, "status": 5}),
                          json.dumps({"task_type": kind, "status": "SUCCESS", "retrieved_data": ["x"]})])
