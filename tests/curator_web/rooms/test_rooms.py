"""Live rooms over real WebSockets: who may enter, messages exactly once and in order, pictures to those who may see."""

import http.client
import json
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from urllib.parse import urlsplit

import pytest
from sqlalchemy import update
from websockets.exceptions import InvalidStatus

from curator_web import create_app
from curator_web.db.models.room_models import Room, RoomLink
from curator_web.rooms import messages
from curator_web.tasks import bank
from curator_web.users import projects, tokens
from curator_web.users.projects import set_member
from tests.support.curator.curator_fixtures import serving
from tests.support.curator.rooms import RoomEnd, cookie_of, picture, receipt, say, state
from tests.support.curator.team_fixtures import LEA, add_people, csrf, signed_in


@pytest.fixture
def app(tmp_path, db_url):
    app = create_app(db_url, tmp_path / "data", room_connections=6)
    app.tokens = add_people(app)
    app.db = app.extensions["demotape"].db
    yield app
    app.db.close()


@pytest.fixture
def url(app) -> Iterator[str]:
    with serving(app) as address:
        yield address


@pytest.fixture
def ends() -> Iterator[list[RoomEnd]]:
    opened: list[RoomEnd] = []
    yield opened
    for end in opened:
        end.close()


def bearer(app, name: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {app.tokens[name]}"}


def open_room(app, **body) -> dict:
    answer = app.test_client().post("/api/rooms", json=body, headers=bearer(app, "ann"))
    assert answer.status_code == 201, answer.text
    return answer.json


def refused(address: str, **options) -> int:
    """The HTTP status with which a connection is refused."""
    with pytest.raises(InvalidStatus) as error:
        RoomEnd(address, **options)
    return error.value.response.status_code


def session(app, url: str, ends: list[RoomEnd], **body) -> tuple[str, RoomEnd, RoomEnd]:
    """A room with its recorder and its instructor, a member."""
    room = open_room(app, instructor="val", **body)["id"]
    recorder = RoomEnd(f"{url}rooms/{room}/record", token=app.tokens["ann"])
    instructor = RoomEnd(f"{url}rooms/{room}/live", token=app.tokens["val"])
    ends += [recorder, instructor]
    recorder.send(state("rec-1"))
    instructor.wait_for_type("state", state="recording")
    return room, recorder, instructor


def test_a_message_is_stored_delivered_and_in_the_recording(app, url, ends):
    room, recorder, instructor = session(app, url, ends)
    sent = say("Open the shop", began=1.0, sent=2.5, uncertainty=0.01)
    for _ in range(3):  # a message that is sent again is the same one
        instructor.send(sent)
    stored = instructor.wait_for_type("chat", id=sent["id"])
    assert (stored["number"], stored["time"], stored["speaker"], stored["sent"]) == (1, None, "instructor", 2.5)
    assert recorder.wait_for_type("chat")["text"] == "Open the shop"
    for _ in range(2):
        recorder.send(receipt(sent["id"], 2.5))
    assert instructor.wait_for(lambda message: message.get("time") == 2.5)["id"] == sent["id"]
    own = {**say("Done"), "speaker": "navigator", "time": 3.0}
    for _ in range(2):
        recorder.send(own)
    assert instructor.wait_for_type("chat", id=own["id"])["time"] == 3.0
    recorder.wait_for_type("stored", id=own["id"])
    edit, deletion = say("Open the lamp shop", "edit", sent["id"]), say("", "delete", sent["id"])
    instructor.send(edit)
    instructor.send(deletion)
    assert [recorder.wait_for_type("chat", id=each["id"])["changes"] for each in (edit, deletion)] == [sent["id"]] * 2
    assert [(each["number"], each["kind"], each["speaker"]) for each in messages.all_of(app.db, room)] == [
        (1, "say", "instructor"), (2, "say", "navigator"), (3, "edit", "instructor"), (4, "delete", "instructor")]


def test_what_was_not_written_is_delivered_after_a_break_in_order(app, url, ends):
    room, recorder, instructor = session(app, url, ends)
    first = say("One")
    instructor.send(first)
    recorder.wait_for_type("chat", id=first["id"])
    recorder.close()  # it has not acknowledged the message
    instructor.wait_for_type("state", state="waiting")
    later = [say(str(number)) for number in range(2, 6)]
    for message in later:
        instructor.send(message)
    instructor.wait_for_type("chat", id=later[-1]["id"])
    again = RoomEnd(f"{url}rooms/{room}/record", token=app.tokens["ann"])
    ends.append(again)
    again.send(state("rec-1"))
    again.wait_for_type("chat", id=later[-1]["id"])
    assert [each["text"] for each in again.received if each["type"] == "chat"] == ["One", "2", "3", "4", "5"]
    again.send(receipt(first["id"], 1.0))
    again.send(receipt(later[0]["id"], None, "paused"))
    instructor.wait_for_type("chat", id=later[0]["id"], refused="paused")
    reloaded = RoomEnd(f"{url}rooms/{room}/live", token=app.tokens["val"])
    ends.append(reloaded)
    reloaded.wait_for_type("chat", id=later[-1]["id"])
    assert [(each["text"], each["time"], each["refused"]) for each in reloaded.received if each["type"] == "chat"] == [
        ("One", 1.0, None), ("2", None, "paused"), *((str(number), None, None) for number in (3, 4, 5))]
    again.send(state("rec-1", "ended"))
    again.wait_for_type("ended")
    assert {each["refused"] for each in messages.all_of(app.db, room)[2:]} == {"ended"}


REGION = {"picture": 1, "x": 0.25, "y": 0.5, "width": 0.1, "height": 0.0}


def test_a_message_that_points_is_stored_and_delivered_with_its_region(app, url, ends):
    room, recorder, instructor = session(app, url, ends)
    sent = say("This one", region=REGION)
    instructor.send(sent)
    assert recorder.wait_for_type("chat")["region"] == REGION
    assert [each["region"] for each in messages.all_of(app.db, room)] == [REGION]
    for content in (say("x", region=REGION | {"x": 1.5}), say("x", region=REGION | {"picture": 0}),
                    say("x", "edit", sent["id"], region=REGION)):
        instructor.send(content)
        instructor.wait_for_end()
        instructor = RoomEnd(f"{url}rooms/{room}/live", token=app.tokens["val"])
        ends.append(instructor)
    own = {**say("Here", region=REGION), "speaker": "navigator", "time": 1.0}
    recorder.send(own)
    assert "only an instructor who sees the screen" in recorder.wait_for_end()


def test_signals_are_messages_with_a_kind_and_a_success(app, url, ends):
    room, recorder, instructor = session(app, url, ends)
    sent = [say("", "your_turn"), say("Which one?", "help"), say("", "done", success=True)]
    for message in sent:
        instructor.send(message)
        got = recorder.wait_for_type("chat", id=message["id"])
        assert (got["kind"], got["text"], got["success"]) == (message["kind"], message["text"], message.get("success"))
    own = {**say("sold out", "done", success=False), "speaker": "navigator", "time": 1.0}
    recorder.send(own)
    assert instructor.wait_for_type("chat", id=own["id"])["success"] is False
    assert [each["kind"] for each in messages.all_of(app.db, room)] == ["your_turn", "help", "done", "done"]
    for wrong in (say("", "done"), say("x", success=True), say("", "edit", sent[1]["id"]), say("", "finished")):
        instructor.send(wrong)
        instructor.wait_for_end()
        instructor = RoomEnd(f"{url}rooms/{room}/live", token=app.tokens["val"])
        ends.append(instructor)


def test_who_is_free_gets_a_room_with_the_next_task(app):
    task, = bank.add_all(app.db, "main", [{"text": "Buy a desk lamp", "url": "https://shop.example"}])
    ann = signed_in(app, "ann")
    page = ann.post("/rooms/next", data={"csrf_token": csrf(ann, "/rooms")}).text
    assert "It works once" in page
    room = page.split("--room http://localhost/rooms/")[1].split("<")[0]
    answer = app.test_client().get(f"/api/rooms/{room}", headers=bearer(app, "ann")).json
    assert answer["task"] == "Buy a desk lamp" and answer["task_name"] == f"main/{task.id}"
    bob = signed_in(app, "bob")
    answer = bob.post("/rooms/next", data={"csrf_token": csrf(bob, "/rooms")})
    assert answer.status_code == 404 and "o task is left" in answer.text


def test_the_clock_of_the_recorder_is_measured_by_whoever_asks(app, url, ends):
    _, recorder, instructor = session(app, url, ends)
    instructor.send({"type": "clock", "sent": 100.0})
    question = recorder.wait_for_type("clock")
    recorder.send({"type": "clock", "to": question["to"], "sent": 100.0, "received": 5.0, "answered": 5.1})
    assert instructor.wait_for_type("clock")["received"] == 5.0


def test_a_viewer_gets_the_newest_picture_after_it_has_shown_the_last(app, url, ends):
    room, recorder, instructor = session(app, url, ends)
    recorder.wait_for_type("pictures", wanted=True)
    recorder.send(picture(1))
    assert instructor.wait_for_picture() == picture(1)
    for number in range(2, 6):
        recorder.send(picture(number))
        recorder.wait_for_type("painted")
    instructor.send({"type": "painted"})
    assert instructor.wait_for_picture() == picture(5)  # those between are left out
    observer = RoomEnd(f"{url}rooms/{room}/live", token=app.tokens["lea"])
    ends.append(observer)
    assert observer.wait_for_picture() == picture(5)
    observer.send(say("I am silent"))
    observer.wait_for_end()
    instructor.close()
    recorder.wait_for_type("pictures", wanted=False)


def test_without_pictures_none_reaches_anybody(app, url, ends):
    room, recorder, instructor = session(app, url, ends, pictures=False)
    assert recorder.wait_for_type("pictures") == {"type": "pictures", "wanted": False}
    instructor.send(say("This one", region=REGION))
    assert "only an instructor who sees the screen" in instructor.wait_for_end()
    instructor = RoomEnd(f"{url}rooms/{room}/live", token=app.tokens["val"])
    ends.append(instructor)
    recorder.send(picture(1))
    assert "pictures are not accepted" in recorder.wait_for_end()
    instructor.wait_for_type("state", state="waiting")
    assert not any(isinstance(message, bytes) for message in instructor.received)
    page = signed_in(app, "val").get(f"/rooms/{room}").text
    assert "<canvas" not in page and "does not see the screen" in page


def test_only_those_whose_room_it_is_enter(app, url, ends):
    room = open_room(app, instructor="val")["id"]
    live, record = f"{url}rooms/{room}/live", f"{url}rooms/{room}/record"
    projects.add(app.db, "other", "Other", LEA)
    cookie, origin = cookie_of(url, "val"), url.rstrip("/")
    assert refused(live) == 401
    assert refused(live, token=app.tokens["bob"]) == 404  # a member of the project who has nothing to do with it
    assert refused(record, token=app.tokens["val"]) == 403
    assert refused(live, cookie=cookie, origin="https://evil.example") == 403
    assert refused(live, cookie=cookie) == 403  # a browser always names its origin
    assert refused(live, token=app.tokens["val"], origin="null") == 403
    for scope, status in (("read", 403), ("upload", 403)):
        assert refused(live, token=tokens.add_token(app.db, "val", scope, [scope], None, by="val")) == status
    ends.append(RoomEnd(live, cookie=cookie, origin=origin))
    ends[0].wait_for_type("welcome", role="instructor")
    ends.append(RoomEnd(record, token=tokens.add_token(app.db, "ann", "up", ["upload"], None, by="ann")))
    ends[1].wait_for_type("welcome", role="navigator")
    set_member(app.db, "main", "val", None)
    set_member(app.db, "other", "val", "validator")
    assert refused(live, token=app.tokens["val"]) == 404  # a member of another project
    assert signed_in(app, "val").get(f"/rooms/{room}").status_code == 404


def test_a_link_works_once_in_one_browser(app, url, ends):
    opened = open_room(app, task="Find lamps")
    path = urlsplit(opened["link"]).path
    instructor, late = app.test_client(), app.test_client()
    page = instructor.get(path)
    assert page.status_code == 200 and "Find lamps" in page.text
    assert late.get(path).status_code == 200  # looking at it does not use it
    forged = app.test_client()
    assert forged.post(path, data={}).status_code == 400  # a page of another site has no token
    assert instructor.post(path, data={"csrf_token": csrf(instructor, path)}).headers["Location"] == "/instruct"
    room_page = instructor.get("/instruct")
    assert room_page.status_code == 200 and 'data-role="instructor"' in room_page.text
    assert late.post(path, data={"csrf_token": csrf(late)}).status_code == 409
    assert late.get(path).status_code == 409 and late.get("/instruct").status_code == 404
    cookie, origin = f"demotape={instructor.get_cookie('demotape').value}", url.rstrip("/")
    assert refused(f"{url}instruct/live", cookie=cookie, origin="https://evil.example") == 403
    assert refused(f"{url}instruct/live", origin=origin) == 404
    guest = RoomEnd(f"{url}instruct/live", cookie=cookie, origin=origin)
    ends.append(guest)
    guest.wait_for_type("welcome", role="instructor")
    assert instructor.get("/rooms").status_code == 303  # the pass opens nothing else
    assert signed_in(app, "ann").get(f"/rooms/{opened['id']}").status_code == 200


def test_an_expired_link_and_a_room_that_is_over_are_refused(app, url, ends):
    first, second = open_room(app), open_room(app)
    with app.db.writing() as db:
        db.execute(update(RoomLink).values(expires_at=datetime.now(UTC) - timedelta(seconds=1)))
        db.execute(update(Room).where(Room.id == second["id"]).values(opened_at=datetime.now(UTC) - timedelta(days=2)))
    assert app.test_client().get(urlsplit(first["link"]).path).status_code == 409
    record = f"{url}rooms/{second['id']}/record"
    assert refused(record, token=app.tokens["ann"]) == 409
    room, recorder, instructor = session(app, url, ends)
    other = RoomEnd(f"{url}rooms/{room}/record", token=app.tokens["ann"])
    ends.append(other)
    recorder.wait_for_end()  # another recorder takes its place
    other.send(state("rec-2"))
    assert "another recording" in other.wait_for_end()
    lead = signed_in(app, "lea")
    assert signed_in(app, "wim").post(f"/rooms/{room}/end", data={"csrf_token": "x"}).status_code == 400
    assert lead.post(f"/rooms/{room}/end", data={"csrf_token": csrf(lead, "/")}).status_code == 303
    instructor.wait_for_end()
    assert {"type": "state", "state": "ended"} in instructor.received or instructor.wait_for_type(
        "state", state="ended")
    assert refused(f"{url}rooms/{room}/live", token=app.tokens["val"]) == 409


@pytest.mark.parametrize("content", [
    "no JSON", "[1]", '{"type": "say"}', '{"type": ["chat"]}', '{"type": "chat", "id": "1"}', "[" * 100_000,
    json.dumps(say("x" * 5000)), json.dumps(say("x") | {"id": "../1"}), json.dumps(say("x") | {"sent": 1e300}),
    json.dumps(say("x", "edit", "m-unknown")), json.dumps(receipt("m1", 1.0)), b"\x00\x01"])
def test_what_is_not_valid_ends_the_connection_only(app, url, ends, content):
    room, recorder, instructor = session(app, url, ends)
    instructor.connection.send(content)
    instructor.wait_for_end()
    assert messages.all_of(app.db, room) == []
    ends.append(RoomEnd(f"{url}rooms/{room}/live", token=app.tokens["val"]))
    ends[-1].wait_for_type("state", state="recording")


def test_nobody_changes_what_another_said(app, url, ends):
    _, recorder, instructor = session(app, url, ends)
    own = {**say("Mine"), "speaker": "navigator", "time": 1.0}
    recorder.send(own)
    recorder.wait_for_type("stored")
    instructor.send(say("Yours", "edit", own["id"]))
    assert "only one's own messages" in instructor.wait_for_end()


def test_there_are_no_more_connections_than_the_server_takes(app, url, ends):
    room, *_ = session(app, url, ends)
    for _ in range(4):
        ends.append(RoomEnd(f"{url}rooms/{room}/live", token=app.tokens["lea"]))
        ends[-1].wait_for_type("welcome")
    assert refused(f"{url}rooms/{room}/live", token=app.tokens["lea"]) == 503
    ends.pop().close()
    instructor = ends[1]
    instructor.wait_for(lambda message: message.get("type") == "people" and len(message["people"]) == 5)
    ends.append(RoomEnd(f"{url}rooms/{room}/live", token=app.tokens["lea"]))


def test_many_send_at_once_and_each_message_has_its_number(app, url, ends):
    room, recorder, instructor = session(app, url, ends)
    sent = [say(f"{number}") for number in range(40)]
    own = [{**say(f"own {number}"), "speaker": "navigator", "time": float(number)} for number in range(40)]
    threads = [threading.Thread(target=lambda end=end, all_=all_: [end.send(each) for each in all_])
               for end, all_ in ((instructor, sent), (recorder, own))]
    for thread in threads:
        thread.start()
    recorder.wait_for_type("stored", id=own[-1]["id"])
    recorder.wait_for_type("chat", id=sent[-1]["id"]) if not any(
        each.get("id") == sent[-1]["id"] for each in recorder.received if isinstance(each, dict)) else None
    stored = messages.all_of(app.db, room)
    assert [each["number"] for each in stored] == list(range(1, 81))
    for speaker, all_ in (("instructor", sent), ("navigator", own)):
        assert [each["id"] for each in stored if each["speaker"] == speaker] == [each["id"] for each in all_]


def test_requests_that_are_no_web_socket_are_refused(app, url):
    room = open_room(app, instructor="val")["id"]
    address = f"/rooms/{room}/record"
    assert app.test_client().get(address, headers=bearer(app, "ann")).status_code == 400
    upgrade = {"Upgrade": "websocket", "Connection": "Upgrade"}
    answer = app.test_client().get(address, headers=bearer(app, "ann") | upgrade)
    assert answer.status_code == 400 and "does not support WebSockets" in answer.text  # no socket is handed over
    parts = urlsplit(url)
    plain = http.client.HTTPConnection(parts.hostname, parts.port, timeout=20)
    plain.request("GET", address, headers=bearer(app, "ann") | upgrade)
    assert plain.getresponse().status == 400  # no key
    plain.close()


def test_rooms_can_be_switched_off(tmp_path):
    app = create_app(None, tmp_path / "data", room_connections=0)
    app.tokens = add_people(app)
    assert app.test_client().post("/api/rooms", json={}, headers=bearer(app, "ann")).status_code == 400
    assert "switched off" in signed_in(app, "ann").get("/rooms").text
    app.extensions["demotape"].db.close()


def test_a_room_is_opened_in_the_pages(app):
    ann, val = signed_in(app, "ann"), signed_in(app, "val")
    token = {"csrf_token": csrf(ann, "/rooms")}
    assert ann.post("/rooms", data=token | {"task": "x" * 5000}).status_code == 400
    for name in ("ann", "nobody"):
        answer = ann.post("/rooms", data=token | {"instructor": name})
        assert answer.status_code == 400 and "another member" in answer.text
    named = ann.post("/rooms", data=token | {"task": "Find lamps", "instructor": "val", "pictures": "yes"}).text
    assert "val is the instructor" in named and "demotape record URL --room http://localhost/rooms/" in named
    linked = ann.post("/rooms", data=token | {"task": "Find tables"}).text
    assert "http://localhost/room-links/" in linked and "It works once" in linked
    page = val.get("/rooms").text
    assert "Find lamps" in page and "Find tables" in page
    assert "Find lamps" not in signed_in(app, "bob").get("/rooms").text
