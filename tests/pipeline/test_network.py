"""What was asked for between two moments: by the network that was kept to be served again, and by a HAR."""

import json
from datetime import timedelta
from urllib.parse import urlsplit

import pytest

from pipeline import network
from recorder.building.network_log import HarFile
from recorder.reader import Recording
from recorder.writer import RecordingWriter
from schemas import InputError
from tests.support.curator.curator_fixtures import STARTED, manifest
from tests.support.samples.exchanges import SECRET, exchange


def recorded(folder, *lines, option: str = "replayable") -> RecordingWriter:
    writer = RecordingWriter(folder / "rec-1", manifest() | {"options": {option: True}})
    if option == "replayable":
        writer.open_network()
        for each in lines:
            writer.network(each)
    writer.close(STARTED.replace(minute=31))
    return writer


def entry(time: float, **changes) -> dict:
    return {"startedDateTime": (STARTED + timedelta(seconds=time)).isoformat(), "time": 250.0, "_tab": 2,
            "request": {"method": "GET", "url": f"https://air.example/seats?token={SECRET}"},
            "response": {"status": 200, "content": {"size": 42, "mimeType": "application/json", "text": SECRET}},
            } | changes


def test_those_between_are_told_in_order_without_what_is_nobodys_business(tmp_path):
    lines = exchange(1, 0.5), exchange(2, 2.5, answer_headers=[]), exchange(3, 1.0), exchange(4, 3.0)
    writer = recorded(tmp_path, *lines)
    found = network.requests(Recording(writer.layout.root), 1.0, 3.0)
    assert [each["time"] for each in found["requests"]] == [1.0, 2.5] and found["total"] == 2
    assert found["requests"][0] == {
        "time": 1.0, "duration": 0.25, "tab": 1, "method": "POST", "host": "air.example", "path": "/seats",
        "status": 200, "type": "application/json", "size": 42000, "failure": ""}
    assert (found["requests"][1]["type"], found["requests"][1]["size"]) == ("", None)
    assert SECRET not in json.dumps(found)
    assert network.requests(Recording(writer.layout.root), 2.0, None)["total"] == 2


def test_the_size_is_the_bodys_where_no_header_tells_it(tmp_path):
    writer = RecordingWriter(tmp_path / "rec-1", manifest() | {"options": {"replayable": True}})
    writer.open_network()
    writer.network(exchange(1, 0.5, answer_headers=[], answer_body=writer.blob(b"x" * 1234)))
    writer.network(exchange(2, 0.6, answer_headers=[], answer_body="0" * 64))
    writer.close(STARTED.replace(minute=31))
    found = network.requests(Recording(writer.layout.root), 0.0, None)["requests"]
    assert [each["size"] for each in found] == [1234, None]


def test_no_more_are_told_than_can_be_read(tmp_path):
    writer = recorded(tmp_path, *(exchange(number, 300.0 - number) for number in range(1, 251)))
    found = network.requests(Recording(writer.layout.root), 0.0, None)
    assert found["total"] == 250 and [each["time"] for each in found["requests"]] == [
        50.0 + place for place in range(network.MAX_REQUESTS)]


def test_a_har_tells_the_same_and_what_is_no_entry_is_passed_over(tmp_path):
    writer = recorded(tmp_path, option="har")
    har = HarFile(writer.layout.har, "Chromium 1", "1")
    for each in (entry(2.0), {}, entry(1.0, _failure="net::ERR_ABORTED"), entry(1.5) | {"time": float("nan")}, [],
                 entry(1.6, request={"method": "GET", "url": "data:text/plain," + SECRET}), entry(9.0),
                 entry(1.7, startedDateTime="yesterday"), entry(1.8, response=None)):
        har.append(each)
    har.close()
    found = network.requests(Recording(writer.layout.root), 1.0, 3.0)
    assert [(each["time"], each["host"], each["path"]) for each in found["requests"]] == [
        (1.0, "air.example", "/seats"), (1.6, "data", ""), (2.0, "air.example", "/seats")]
    first = found["requests"][0]
    assert (first["failure"], first["type"], first["size"], first["tab"], first["duration"]) == (
        "net::ERR_ABORTED", "application/json", 42, 2, 0.25)
    assert SECRET not in json.dumps(found)


def test_nothing_is_kept_or_the_file_is_damaged(tmp_path):
    writer = recorded(tmp_path, option="video")
    recording = Recording(writer.layout.root)
    assert network.requests(recording, 0.0, None) == {"requests": [], "total": 0}
    writer.layout.network.write_text('{"seq": 1}\n')
    with pytest.raises(InputError, match="network.jsonl, line 1"):
        network.requests(recording, 0.0, None)


def test_of_a_real_session_both_forms_tell_the_same(recording_browser, site):
    site.pages |= {"/seats": ("application/json", b'{"free": 3}'), "/": f"""<button>Seats</button><script>
        const text = async (...asked) => (await fetch(...asked)).text();
        document.querySelector('button').onclick = async () => {{
          await text('/seats?token={SECRET}', {{method: 'POST', body: '{SECRET}'}});
          await text('/gone');
          document.body.append('Done'); }};</script>"""}
    site.headers = {"X-Trace": SECRET}

    async def press(page):
        await page.locator("button").click()
        await page.get_by_text("Done").wait_for()

    layout = recording_browser.record(press, url=site.origin + "/", keep={"har": True, "replayable": True}
                                      ).recording.layout
    recording = Recording(layout.root)
    clicked = next(event["time"] for event in recording.events if event["type"] == "click")
    kept = network.requests(recording, clicked, None)["requests"]
    assert [(each["method"], each["path"], each["status"], each["type"], each["size"]) for each in kept] == [
        ("POST", "/seats", 200, "application/json", 11), ("GET", "/gone", 404, "text/html", 0)]
    assert all(each["host"] == urlsplit(site.origin).netloc and each["time"] >= clicked for each in kept)
    layout.network.unlink()
    of_har = network.requests(recording, clicked, None)["requests"]
    times = ("time", "duration")
    assert [{**each, "time": 0, "duration": 0} for each in of_har] == [
        {**each, "time": 0, "duration": 0} for each in kept]
    assert all(one[name] == pytest.approx(other[name], abs=0.05) for name in times
               for one, other in zip(of_har, kept, strict=True))
    assert SECRET not in json.dumps([kept, of_har])
