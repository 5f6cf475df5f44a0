"""The time line without a browser: what it shows, who may place the video, what is kept and what is refused."""

import json
import re

import pytest

from benchmarks.align.faults import copy
from curator_web import create_app
from curator_web.demonstrations.library import library
from curator_web.demonstrations.workflow.workflow import change_status
from curator_web.web.review.timeline_view import process_options
from demotape.commands.video_location import parse_location
from pipeline import process
from pipeline.cache.inputs import hash_file
from tests.pipeline.align.test_align import MEETING, filmed, session  # noqa: F401  # fixtures
from tests.support.curator.curator_fixtures import ALIGNMENT, filmed_recording, make_recording
from tests.support.curator.edits import edit
from tests.support.curator.team_fixtures import ANN, VAL, add_people, signed_in

PAGE = "/demonstrations/filmed/timeline"
NUMBERS = {"offset": "2.000", "drift": "150.0", "left": "60.0", "top": "50.0", "width": "640.0", "height": "360.0"}


@pytest.fixture
def app(tmp_path):
    made = create_app(data_dir=tmp_path / "data")
    services = made.extensions["demotape"]
    library.import_recording(services.db, services.store, filmed_recording(tmp_path))
    yield made
    services.jobs.close()
    services.db.close()


@pytest.fixture
def client(app):
    return app.test_client()


def demonstration(app, name: str = "filmed") -> dict:
    return library.current(app.extensions["demotape"].db, name)


def sent(client, address: str = PAGE, **numbers: str):
    """Send the page's form as it stands, but for some numbers."""
    text = client.get(address).text
    form = text.partition('id="place-form"')[2]
    hidden = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', form))
    return client.post(address, data=hidden | NUMBERS | numbers)


def test_the_session_is_on_one_line(client):
    text = client.get(f"{PAGE}?turn=t4").text
    for word in ("Actions", "Chat", "Confidence", "Video", "1 action with an uncertain "
                                                           "position", "0:06.0, page not shown"):
        assert word in text
    assert "Speech" not in text and text.count('class="shown') == len(ALIGNMENT["segments"])
    assert 'aria-current="true"' in text.partition('id="row-4"')[2].partition(">")[0]
    for name, value in NUMBERS.items():
        assert re.search(rf'name="{name}" value="{value}"', text), name
    assert "Timeline" in client.get("/demonstrations/filmed").text


def test_the_cursor_stands_at_any_time_and_shows_the_next_screenshot(client):
    text = client.get(f"{PAGE}?at=2.5").text
    assert "before turn 3, click" in text and "0:04.5" in text
    assert "before turn 6, submit" in client.get(f"{PAGE}?at=1e12").text
    for odd in ("nan", "x", "-1e300"):
        assert client.get(f"{PAGE}?at={odd}").status_code == 200
    assert client.get(f"{PAGE}?turn=nobody").status_code == 302


def test_the_videos_frame_is_served(client):
    frames = [client.get(f"/frames/filmed/external/{time}") for time in (1000, 8000, 99_000)]
    assert [frame.status_code for frame in frames] == [200] * 3 and frames[0].data[:2] == b"\xff\xd8"
    assert frames[0].data != frames[1].data and "immutable" not in frames[0].headers["Cache-Control"]
    assert client.get("/frames/filmed/external/999999999999999").status_code == 404
    assert client.get("/frames/nowhere/external/0").status_code == 404


def test_what_is_saved_is_a_persons_word_with_an_author_and_can_be_undone(app, client):
    before = demonstration(app)
    answer = sent(client, offset="2.5", left="100", width="512")
    assert answer.status_code == 303 and answer.location.startswith(PAGE)
    now = demonstration(app)
    assert now["alignment"]["by_hand"] == {
        "offset": 2.5, "drift": 150.0, "duration": 9.0,
        "rectangle": {"left": 100.0, "top": 50.0, "width": 0.4, "height": 0.5}}
    click = now["turns"][2]
    assert click["state"]["video_time"] == pytest.approx(5.5005, abs=1e-3) and click["state"]["confidence"] == 1.0
    assert not any(check["kind"] == "unsure-in-video" for turn in now["turns"] for check in turn["checks"])
    text = client.get(PAGE).text
    assert text.count("set by hand</span>") == 2 and "--video-offset=2.5 --video-drift=150" in text
    changes = client.get("/demonstrations/filmed/changes").text
    assert "Video placed" in changes and "Nothing was changed." in changes, "no turn itself was changed"
    version = re.search(r'name="version" value="(\d+)"', client.get("/demonstrations/filmed").text)[1]
    token = re.search(r'name="csrf_token" value="([^"]+)"', client.get(PAGE).text)[1]
    undone = client.post("/demonstrations/filmed/edits", data={"op": "undo", "version": version, "csrf_token": token})
    assert undone.status_code == 303 and demonstration(app) == before


def test_only_what_was_changed_is_said(app, client):
    assert sent(client, left="80").status_code == 303
    assert demonstration(app)["alignment"]["by_hand"].keys() == {"rectangle"}
    assert demonstration(app)["alignment"]["stretches"] == ALIGNMENT["stretches"]
    assert sent(client, left="80.0").status_code == 303
    edits = library.review(app.extensions["demotape"].db, "filmed").edits
    assert len(edits) == 1, "the same number again is no edit"


@pytest.mark.parametrize(("numbers", "wrong"), [
    ({"offset": ""}, {"offset": "Required."}), ({"offset": "soon"}, {"offset": "Give a number."}),
    ({"drift": "nan"}, {"drift": "Give a number."}), ({"drift": "20000"}, {"drift": "Must be from -10000 to 10000."}),
    ({"offset": "1e300"}, {"offset": "Must be from -100000000 to 100000000."}),
    ({"width": "0"}, {"width": "Must be from 13 to 128000."}),
    ({"left": "1e9", "height": "-3"}, {"left": "Must be from -32768 to 32768.", "height": "Must be from 8 to 72000."})])
def test_a_number_that_cannot_be_used_is_told_at_its_field_and_nothing_is_saved(app, client, numbers, wrong):
    before = demonstration(app)
    answer = sent(client, **{"top": "77"} | numbers)
    assert answer.status_code == 400
    told = dict(re.findall(r'<p class="wrong" id="(\w+)-error">([^<]*)</p>', answer.text))
    assert told == wrong
    assert answer.text.count('aria-invalid="true"') == len(wrong) and 'name="top" value="77"' in answer.text
    assert demonstration(app) == before


def test_a_page_that_is_too_old_saves_nothing(app, client):
    text = client.get(PAGE).text
    token = re.search(r'name="csrf_token" value="([^"]+)"', text)[1]
    data = {**NUMBERS, "offset": "3", "version": "1", "csrf_token": token, "selected": ""}
    edit(app.extensions["demotape"].db, "filmed", {"op": "drop", "turn": "t3"}, 1, ANN)
    assert client.post(PAGE, data=data).status_code == 409
    assert client.post(PAGE, data=data | {"csrf_token": ""}).status_code == 400
    assert client.post(PAGE, data={name: value for name, value in data.items() if name != "version"}).status_code == 400
    assert "by_hand" not in demonstration(app)["alignment"]


def test_who_may_not_edit_reads_only(app):
    add_people(app)
    db = app.extensions["demotape"].db
    may = {name: signed_in(app, name) for name in ("ann", "bob", "val", "lea")}
    for client in may.values():
        assert "readonly" not in client.get(PAGE).text
    version = change_status(db, "filmed", "submitted", edit(db, "filmed", {"op": "drop", "turn": "t3"}, 1, ANN).version,
                            ANN)
    for name in ("ann", "bob"):
        text = may[name].get(PAGE).text
        assert text.count("readonly") == 6 and "Read-only:" in text and ">Save<" not in text
        assert sent(may[name], offset="3").status_code == 403, name
    assert sent(may["val"], offset="3").status_code == 303
    assert "readonly" in may["lea"].get(PAGE).text, "the validator is at it now"
    found = demonstration(app)["alignment"]["by_hand"]
    assert found["offset"] == 3.0
    change_status(db, "filmed", "approved", version + 1, VAL)
    assert "reopen it to change it" in may["lea"].get(PAGE).text
    assert sent(may["lea"], offset="4").status_code == 409
    assert app.test_client().get(PAGE).status_code == 303, "who is not signed in"


def test_without_an_external_video_actions_and_chat_are_shown(app, client, tmp_path):
    services = app.extensions["demotape"]
    library.import_recording(services.db, services.store, make_recording(tmp_path))
    text = client.get("/demonstrations/rec-1/timeline").text
    assert "No external video" in text and "Actions" in text and "Chat" in text
    assert "Confidence" not in text and 'id="place"' not in text
    token = re.search(r'name="csrf_token" value="([^"]+)"', client.get(PAGE).text)[1]
    refused = client.post("/demonstrations/rec-1/timeline", data=NUMBERS | {"version": "1", "csrf_token": token})
    assert refused.status_code == 400 and "no external video" in refused.text
    header = {"X-CSRFToken": client.get("/api/token").json["token"]}
    api = client.post("/api/demonstrations/rec-1/edits", headers=header,
                      json={"version": 1, "edit": {"op": "place_video", "place": {"offset": 1.0, "drift": 0.0}}})
    assert api.status_code == 400 and "no external video" in api.text


def imported(app, folder, name: str, **changes) -> str:
    """A filmed recording whose alignment is another, in the app; the address of its time line."""
    path = filmed_recording(folder, recording_id=name)
    content = json.loads((path / "demonstration.json").read_text())
    (path / "demonstration.json").write_text(json.dumps(content | {"alignment": ALIGNMENT | changes}))
    services = app.extensions["demotape"]
    library.import_recording(services.db, services.store, path)
    return f"/demonstrations/{name}/timeline"


def test_pauses_of_the_video_are_told_and_each_has_its_part(app, client, tmp_path):
    pauses = [{"begin": 0.0, "end": 4.0, "offset": 2.0, "drift": 0.0},
              {"begin": 4.0, "end": 9.0, "offset": 1.0, "drift": 0.0}]
    address = imported(app, tmp_path, "paused", stretches=pauses)
    text = client.get(f"{address}?at=1.5").text
    assert "the clock has 2 offsets" in text and "0:03.5" in text and text.count('class="shown') == 3
    assert "not in the video" in client.get(f"{address}?at=2.5").text, "while it was paused"
    assert "0:05.5" in client.get(f"{address}?at=4.5").text


def test_a_video_that_nothing_was_found_in_can_be_placed(app, client, tmp_path):
    address = imported(app, tmp_path, "unlike", stretches=[], segments=[])
    text = client.get(address).text
    assert "The recording was not found in the video" in text and "Unknown." in text
    found = dict(re.findall(r'name="(\w+)" value="([^"]*)" step', text))
    whole = {"left": "0.0", "top": "0.0", "width": "960.0", "height": "600.0"}
    assert found == {"offset": "0.000", "drift": "0.0"} | whole
    assert sent(client, address, **found | {"offset": "2"}).status_code == 303
    acting = [turn for turn in demonstration(app, "unlike")["turns"] if turn["type"] == "browser"]
    assert [turn["state"]["video_time"] for turn in acting] == [4.0, 5.0, 6.0, 8.0]


def test_nothing_at_all_is_shown_too(app, client, tmp_path):
    services = app.extensions["demotape"]
    library.import_recording(services.db, services.store,
                             make_recording(tmp_path, recording_id="empty", make_turns=lambda writer: []))
    assert "0 actions, 0 utterances" in client.get("/demonstrations/empty/timeline").text


def test_a_video_that_has_gone_is_told_and_can_be_placed_all_the_same(app, client, tmp_path):
    services = app.extensions["demotape"]
    library.import_recording(services.db, services.store,
                             filmed_recording(tmp_path, recording_id="gone", keep_video=False))
    assert "The video is not stored here" in client.get("/demonstrations/gone/timeline").text
    assert client.get("/frames/gone/external/0").status_code == 404
    assert sent(client, "/demonstrations/gone/timeline", offset="3").status_code == 303


def test_another_video_takes_the_place_of_the_first(app, client, tmp_path):
    services = app.extensions["demotape"]
    held = services.store.open("filmed").layout.external_video
    first, path = held.read_bytes(), tmp_path / "filmed"
    assert first == (tmp_path / "filmed.webm").read_bytes()
    library.import_recording(services.db, services.store, path)
    assert held.read_bytes() == first
    (tmp_path / "filmed.webm").write_bytes(first + b"more")
    note = json.loads((path / "processed.json").read_text())
    note["inputs"]["external video"] = hash_file(tmp_path / "filmed.webm")
    (path / "processed.json").write_text(json.dumps(note))
    library.import_recording(services.db, services.store, path)
    assert held.read_bytes() == first + b"more"


def test_a_word_stays_when_it_is_processed_again_and_processing_follows_it(
        app, client, session, filmed, tmp_path):  # noqa: F811
    services, path = app.extensions["demotape"], tmp_path / "real"
    copy(session, path)
    found = process(path, video=filmed(MEETING)[0])
    name = found["id"]
    library.import_recording(services.db, services.store, path)
    text = client.get(f"/demonstrations/{name}/timeline").text
    known = dict(re.findall(r'name="(\w+)" value="([^"]*)" step', text))
    offset = MEETING.video_time(0.0) + 0.4
    assert sent(client, f"/demonstrations/{name}/timeline", **known | {"offset": f"{offset:.3f}"}).status_code == 303
    word = demonstration(app, name)["alignment"]["by_hand"]
    assert word["offset"] == round(offset, 3) and "rectangle" not in word

    options = re.search(r'<code class="options">(.*?)</code>', client.get(f"/demonstrations/{name}/timeline").text)[1]
    given = dict(option.removeprefix("--video-").split("=") for option in options.split())
    location = parse_location(float(given["offset"]), float(given["drift"]), given.get("rectangle"))
    again = process(path, placement=location)
    assert again["alignment"]["by_hand"] == {"offset": word["offset"], "drift": word["drift"]}
    assert again["turns"] != found["turns"]
    assert library.import_recording(services.db, services.store, path).outcome == "kept"
    assert demonstration(app, name)["alignment"]["by_hand"] == word
    assert process(path) == again


def test_the_options_say_the_same():
    drawn = {"left": -1.5, "top": 0.0, "width": 0.333333, "height": 1.0}
    assert process_options({"offset": -2.5, "drift": 0.0, "rectangle": drawn, "duration": 3.0}) == (
        "--video-offset=-2.5 --video-drift=0 --video-rectangle=-1.5,0,0.333333,1")
    assert process_options({}) == ""
