"""HARs as several programs write them."""

import base64
import json

import pytest

from replay.archive.exchanges import Message, header
from replay.archive.har_reading import read_har
from replay.serving.matching import Session
from schemas import InputError
from tests.replay.archives import given
from tests.replay.serving.test_bodies import multipart

AT = "2024-05-01T10:00:00.000Z"


def entry(url="https://a.example/", method="GET", at=AT, request=None, response=None, **more):
    """An entry; what is not told is as in any HAR."""
    content = {"size": 2, "mimeType": "text/html", "text": "it"}
    return {"startedDateTime": at, "time": 5, "cache": {}, "timings": {},
            "request": {"method": method, "url": url, "headers": [], "cookies": []} | (request or {}),
            "response": {"status": 200, "statusText": "OK", "headers": [], "content": content, "redirectURL": ""}
            | (response or {}), **more}


def named(**headers):
    return [{"name": name.replace("_", "-"), "value": value} for name, value in headers.items()]


@pytest.fixture
def har(tmp_path):
    """Writes a HAR of entries and reads it."""
    def read(*entries):
        path = tmp_path / "a.har"
        path.write_text(json.dumps({"log": {"version": "1.2", "creator": {}, "entries": list(entries)}}))
        return read_har(path)
    return read


def test_an_entry(har):
    archive = har(entry("https://a.example/b?c=d#e", "post", "2024-05-01T12:00:03.5+02:00", {
        "headers": [{"name": ":method", "value": "POST"}, *named(Content_Type="text/plain")],
        "postData": {"mimeType": "text/plain", "text": "sent"}}), entry())
    first, second = archive.exchanges
    assert archive.started == 1_714_557_600 and not archive.notes
    assert (first.number, first.time, first.method, first.url, first.body) == (
        1, 0.0, "GET", "https://a.example/", None)
    assert (second.number, second.time, second.method, second.url, second.body) == (
        2, 3.5, "POST", "https://a.example/b?c=d", b"sent")
    assert (second.status, second.answer(), second.headers) == (200, b"it", (("Content-Type", "text/plain"),))
    assert header(first.answer_headers, "content-type") == "text/html"


CONTENTS = [  # content, status, what is read
    ({"text": base64.b64encode(b"\0\1").decode(), "encoding": "base64", "mimeType": "image/png"}, 200, b"\0\1"),
    ({"text": "ä", "mimeType": "text/html; charset=iso-8859-1"}, 200, "ä".encode()),
    ({"text": "\ud800", "mimeType": "text/html"}, 200, b"?"),
    ({"text": ""}, 200, b""), ({}, 200, None), ({"size": 12}, 200, None), ({"size": 0}, 200, b""),
    ({}, 204, b""), ({"size": -1}, 302, b""), ("none", 200, None), ({"_file": "b.txt"}, 200, b"beside"),
]


@pytest.mark.parametrize("content, status, read", CONTENTS)
def test_contents(har, tmp_path, content, status, read):
    (tmp_path / "b.txt").write_bytes(b"beside")
    archive = har(entry(response={"content": content, "status": status}))
    assert archive.exchanges[0].answer() == read
    assert archive.notes == (() if read is not None else (
        "entry 1: its content was left out; the request is missing",))


def test_content_that_was_left_out_is_taken_from_the_same_request(har):
    left_out, complete = {"content": {"size": 9}}, entry("https://a.example/a.js")
    archive = har(entry("https://a.example/a.js", response=left_out), complete,
                  entry("https://a.example/b.js", response=left_out),
                  entry("https://a.example/c.js", "HEAD", response={"content": {}}))
    assert [(exchange.url[-4:], exchange.answer()) for exchange in archive.exchanges] == [
        ("a.js", b"it"), ("b.js", None), ("c.js", None)]
    assert len(archive.notes) == 2  # of both entries that have none


@pytest.mark.parametrize("response, is_empty", [
    ({"content": {"size": -1}, "bodySize": 0}, True), ({"content": {"size": 0}, "bodySize": 40}, False),
    ({"content": {}, "headers": named(Content_Length="0")}, True),
    ({"content": {}, "headers": named(Content_Length="7")}, False), ({"content": {}, "bodySize": -1}, False)])
def test_an_answer_without_text_is_empty_if_a_size_says_so(har, response, is_empty):
    assert (har(entry(response=response)).exchanges[0].answer() == b"") is is_empty


def test_text_is_served_in_the_encoding_that_its_type_tells(har):
    told = {"content": {"text": "ä", "mimeType": "text/html"}, "headers": named(content_type="text/html; charset=big5")}
    assert header(har(entry(response=told)).exchanges[0].answer_headers, "content-type") == "text/html; charset=utf-8"


@pytest.mark.parametrize("name", ["../b.txt", "/etc/passwd", "c/b.txt", "c\\b.txt", "..", "", "link", "none.txt", "c"])
def test_no_file_but_one_beside_it_is_read(har, tmp_path, name):
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "b.txt").write_text("secret")
    (tmp_path / "link").symlink_to(tmp_path / "c" / "b.txt")
    archive = har(entry(response={"content": {"_file": name}}))
    assert archive.exchanges[0].answer() is None
    assert archive.notes[0].startswith("entry 1: field response.content._file: no")


@pytest.mark.parametrize("posted, body", [
    ({"mimeType": "application/x-www-form-urlencoded", "params": [{"name": "a", "value": "b c"}]}, b"a=b+c"),
    ({"mimeType": "a", "text": "AAE=", "encoding": "base64"}, b"\0\1"),
    ({"mimeType": "a"}, None), ("none", None), ({"params": [1, None]}, None), ({"text": 5}, None),
])
def test_what_was_sent(har, posted, body):
    assert har(entry(method="POST", request={"postData": posted})).exchanges[0].body == body


def test_the_fields_of_a_multipart_form(har):
    archive = har(entry(method="POST", request={"postData": {"mimeType": "multipart/form-data; boundary=x", "params": [
        {"name": "note", "value": "hello"}, {"name": "f", "fileName": "a.png", "contentType": "image/png"}]}}))
    sent = multipart("y", ("note", "", "hello"), ("f", "a.png", "content"))
    headers = (("Content-Type", "multipart/form-data; boundary=y"),)
    assert given(Session(archive), "POST https://a.example/", sent, headers) == "it"


TOPS = [  # entries, which of them are documents of a tab
    ([{"request": {"headers": named(sec_fetch_dest=aim)}} for aim in ("document", "iframe")],
     [True, False]),
    ([{"_resourceType": "document", "pageref": "page_1", "response": {"status": 302}},
      {"_resourceType": "document", "pageref": "page_1"}, {"_resourceType": "document", "pageref": "page_1"},
      {"_resourceType": "document", "pageref": "page_2"}, {"_resourceType": "xhr", "pageref": "page_2"}],
     [True, True, False, True, False]),
    ([{"pageref": "page@1", "_frameref": frame, "request": {"headers": named(Accept="text/html,*/*")}}
      for frame in "aba"],
     [True, False, True]),
    ([{"request": {"headers": named(accept="text/html")}}, {"request": {"headers": named(accept="*/*")}}, {}],
     [True, False, False]),
]


@pytest.mark.parametrize("entries, top", TOPS)
def test_documents_of_tabs(har, entries, top):
    assert [one.top for one in har(*(entry(**told) for told in entries)).exchanges] == top


def test_tabs_and_kinds(har):
    archive = har(entry(pageref="page@a", _resourceType="Fetch"), entry(pageref="page@b"), entry(_tab=7),
                  entry(request={"headers": named(sec_fetch_dest="style")}))
    assert [(one.tab, one.kind) for one in archive.exchanges] == [
        (1, "fetch"), (2, "document"), (7, "document"), (1, "stylesheet")]


def test_failures(har):
    archive = har(entry(response={"status": 0, "_error": "net::ERR_ABORTED"}), entry(response={"status": -1}),
                  entry(response={"status": 0, "_failureText": "refused"}),
                  entry(_failure="gone", response={"status": 0}))
    assert [(one.status, one.failure) for one in archive.exchanges] == [
        (0, "net::ERR_ABORTED"), (0, "no answer"), (0, "refused"), (0, "gone")]


def test_redirects_have_their_aim(har):
    archive = har(entry(response={"status": 302, "redirectURL": "/b", "content": {}}))
    assert header(archive.exchanges[0].answer_headers, "location") == "/b"


def test_websockets_and_event_sources(har):
    archive = har(
        entry("wss://a.example/ws", _resourceType="websocket", _webSocketMessages=[
            {"type": "receive", "time": 1_714_557_602.5, "opcode": 2, "data": "AAE="},
            {"type": "send", "time": 1_714_557_601.25, "opcode": 1, "data": "hi"},
            {"type": "send", "opcode": 9, "data": ""}, {"data": 5}, None]),
        entry("https://a.example/events", _eventSourceMessages=[
            {"time": 1_714_557_601, "eventName": "update", "eventId": "7", "data": "x"}]), entry())
    assert [(one.number, one.kind, one.url) for one in archive.channels] == [
        (1, "websocket", "wss://a.example/ws"), (2, "eventsource", "https://a.example/events")]
    assert archive.channels[0].messages == (Message(1.25, "sent", "hi"), Message(2.5, "received", b"\0\1"))
    assert archive.channels[1].messages == (Message(1.0, "received", "x", "update", "7"),)
    assert len(archive.exchanges) == 1


BROKEN = [(None, "has to be an object"), ([], "has to be an object"), ({}, "field request: missing"),
          ({"request": {"method": "GET"}}, "field request.url: missing"),
          ({"request": {"url": "https://a.example/"}}, "field request.method: missing")]


@pytest.mark.parametrize("broken, why", BROKEN)
def test_an_entry_that_cannot_be_read_costs_itself_alone(har, broken, why):
    archive = har(entry(), broken, entry())
    assert len(archive.exchanges) == 2 and archive.notes == (f"entry 2: {why}; skipped",)


def test_what_no_server_answers_is_left_out(har):
    archive = har(*(entry(url) for url in ("data:,x", "blob:https://a.example/1", "chrome-extension://a/b", "http://[")))
    assert not archive.exchanges and not archive.notes


def test_bad_base64_and_times_are_told(har):
    archive = har(entry(response={"content": {"text": "%", "encoding": "base64"}}, at="yesterday"),
                  entry(request={"postData": {"text": "%", "encoding": "base64"}}, at=7))
    assert [(one.time, one.answer(), one.body) for one in archive.exchanges] == [(0, None, None), (0, b"it", b"%")]
    assert archive.notes == ("entry 1: field response.content.text: not base64; its content is skipped",
                             "entry 2: field request.postData.text: not base64; read as text")


@pytest.mark.parametrize("content, why", [
    (b"", "not JSON"), (b"\xff", "not JSON"), (b"[" * 100_000, "not JSON"), (b"[]", "field log: missing"),
    (b'{"log": []}', "field log: missing"), (b'{"log": {}}', "field log.entries: has to be a list")])
def test_what_is_no_har(tmp_path, content, why):
    (tmp_path / "a.har").write_bytes(content)
    with pytest.raises(InputError, match=f"a.har: {why}"):
        read_har(tmp_path / "a.har")
    with pytest.raises(InputError, match="none.har: cannot be read"):
        read_har(tmp_path / "none.har")


def test_a_byte_order_mark_is_passed_over(tmp_path):
    (tmp_path / "a.har").write_text(json.dumps({"log": {"entries": [entry()]}}), encoding="utf-8-sig")
    assert len(read_har(tmp_path / "a.har").exchanges) == 1
