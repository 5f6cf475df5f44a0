"""A recorder in a live room: a real browser, a real server, and an instructor over a WebSocket."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import cv2
import numpy
import pytest
from click.testing import CliRunner

from curator_web.rooms import messages
from demotape import recording as recording_module
from demotape.cli import main
from pipeline import process
from pipeline.export.source import Source
from pipeline.export.splits import Rule
from pipeline.verify import verify
from recorder import Recorder, Recording
from recorder.room.client import RoomClient
from schemas import InputError
from schemas.formats.room import PICTURE_HEADER
from tests.conftest import painted
from tests.support.curator.room_server import RoomServer
from tests.support.curator.rooms import RoomEnd, RoomGuest, say
from tests.support.waiting import wait_until_async

DEMOTAPE = Path(sys.executable).parent / "demotape"
PAGE = """<!DOCTYPE html><title>Shop</title><body style="margin:0;background:rgb(0,128,0)">
<button id=buy onclick="document.body.style.background='rgb(0,0,200)'">Buy tea</button>
<input id=password type=password value="kettle-4711" style="position:absolute;left:300px;top:200px;width:200px;
height:100px;background:rgb(255,0,0);border:0">"""


@pytest.fixture
def server(tmp_path):
    with RoomServer(tmp_path / "data") as server:
        yield server


@pytest.fixture
def record(recording_browser, site, tmp_path, server):
    """Records in a room while `act(recorder, page, client, instructor)` runs; returns the recording."""
    site.pages.setdefault("/", PAGE)

    def play(act: Callable[..., Awaitable[None]], *, token: str | None = None, **room: Any) -> Recording:
        directory = tmp_path / "rec"
        play.complaints = []
        play.room = server.open_room(instructor="val", **room)["id"]

        async def work() -> None:
            context = await recording_browser.browser.new_context(viewport={"width": 640, "height": 480})
            try:
                page = await context.new_page()
                async with (Recorder(context, directory, task="Buy some tea") as recorder,
                            RoomClient(f"{server.url}rooms/{play.room}", token or server.tokens["ann"], recorder,
                                       play.complaints.append) as client):
                    await page.goto(site.origin + "/")
                    await painted(page)
                    instructor = await asyncio.to_thread(server.instructor, play.room)
                    try:
                        await act(recorder, page, client, instructor)
                    finally:
                        await asyncio.to_thread(instructor.close)
            finally:
                await context.close()

        recording_browser.run(work())
        return Recording(directory)

    return play


def chat_lines(recording: Recording) -> list[dict]:
    return [json.loads(line) for line in recording.layout.chat.read_text().splitlines()]


async def until(end: RoomEnd, kind: str, **fields: Any) -> dict:
    return await asyncio.to_thread(lambda: end.wait_for_type(kind, **fields))


async def settled(instructor: RoomEnd, message_id: str) -> dict:
    """A message that the recorder has written or refused."""
    return await asyncio.to_thread(lambda: instructor.wait_for(
        lambda message: isinstance(message, dict) and message.get("id") == message_id and not (
            message["time"] is None and message["refused"] is None)))


async def measured(instructor: RoomEnd, recorder: Recorder) -> float:
    """The recorder's clock, as an instructor gets it."""
    await until(instructor, "state", state="recording")
    instructor.send({"type": "clock", "sent": 0.0})
    answer = await until(instructor, "clock")
    assert 0 < answer["received"] <= answer["answered"] <= recorder.elapsed
    return answer["answered"]


def test_both_sides_of_the_chat_are_turns_of_the_recording(record, server):
    async def act(recorder, page, client, instructor):
        now = await measured(instructor, recorder)
        first = say("Press the button", began=now - 0.2, sent=now, uncertainty=0.02)
        for _ in range(2):
            instructor.send(first)
        written = await until(instructor, "chat", id=first["id"], time=now)
        assert written["refused"] is None
        await page.click("#buy")
        recorder.say("navigator", "Done")
        await until(instructor, "chat", speaker="navigator", text="Done")
        typo, wrong, future = say("Thnk you"), say("Wrong room"), say("Later", sent=1e6, uncertainty=0.1)
        recorder.say("navigator", "", "your_turn")
        await until(instructor, "chat", speaker="navigator", text="")
        with pytest.raises(InputError, match="success goes with"):
            recorder.say("navigator", "", "help", True)
        done = say("Well done", "done", success=True)
        edit, deletion = say("Thank you", "edit", typo["id"]), say("", "delete", wrong["id"])
        for message in (done, typo, wrong, future, edit, deletion):
            instructor.send(message)
            shown = await settled(instructor, message["id"])
            assert shown["time"] <= recorder.elapsed

    recording = record(act)
    lines = chat_lines(recording)
    assert [(line["speaker"], line["utterance"]) for line in lines] == [
        ("instructor", "Press the button"), ("navigator", "Done"), ("navigator", ""), ("instructor", "Well done"),
        ("instructor", "Thnk you"),
        ("instructor", "Wrong room"), ("instructor", "Later"), ("instructor", "Thank you"), ("instructor", "")]
    assert lines[0]["uncertainty"] == 0.02 and lines[0]["began"] < lines[0]["time"] <= lines[0]["received"]
    assert recording.manifest["room"] == {"id": record.room, "pictures": True}
    assert recording.manifest["status"] == "complete" and verify(recording.layout.root) == []
    assert [(line["signal"], line.get("success")) for line in lines if "signal" in line] == [
        ("your_turn", None), ("done", True)]
    demonstration = process(recording.layout.root)
    assert [turn.get("utterance") or turn["intent"] for turn in demonstration["turns"]] == [
        "load", "Press the button", "click", "Done", "Well done", "Thank you", "Later"]
    assert demonstration["labels"] == {"outcome": ["success"]}
    assert [each["speaker"] for each in demonstration["signals"]] == ["navigator", "instructor"]
    stored = messages.all_of(server.db, record.room)
    assert [each["refused"] for each in stored] == [None] * 9 and all(each["time"] is not None for each in stored)
    assert server.room(record.room).ended_at and server.room(record.room).recording == recording.manifest["id"]


def test_nothing_is_lost_or_written_twice_when_the_server_is_gone_for_a_while(record, server):
    async def act(recorder, page, client, instructor):
        await measured(instructor, recorder)
        first = say("One")
        instructor.send(first)
        await until(instructor, "chat", id=first["id"], time=None)
        await asyncio.to_thread(server.stop)
        recorder.say("navigator", "You are gone")
        await page.click("#buy")
        await asyncio.to_thread(server.start)
        again = await asyncio.to_thread(server.instructor, record.room)
        try:
            await until(again, "chat", text="You are gone")
            second = say("Two")
            again.send(second)
            again.send(first)  # sent again, as its page does
            await settled(again, second["id"])
        finally:
            await asyncio.to_thread(again.close)

    recording = record(act)
    assert sorted(line["utterance"] for line in chat_lines(recording)) == ["One", "Two", "You are gone"]
    assert [each["text"] for each in messages.all_of(server.db, record.room)] == ["One", "You are gone", "Two"]


def test_nothing_of_a_pause_and_no_secret_is_recorded_or_shown(record, server):
    async def act(recorder, page, client, instructor):
        await measured(instructor, recorder)
        colours = []
        for green in (150, 170, 190):
            instructor.send({"type": "painted"})
            await page.evaluate("green => { document.body.style.background = `rgb(0, ${green}, 0)`; }", green)
            picture = await asyncio.to_thread(instructor.wait_for_picture)
            colours.append(colour(picture, 400, 250))
        instructor.send({"type": "painted"})
        assert all(max(each) < 30 for each in colours), colours  # the field is black
        recorder.pause()
        await until(instructor, "state", state="paused")
        for message in (say("In the pause"), say("Before it", sent=0.01, uncertainty=0.01)):
            instructor.send(message)
            shown = await settled(instructor, message["id"])
            assert shown["refused"] == ("paused" if message["text"] == "In the pause" else None)
        await page.evaluate("document.body.style.background = 'rgb(200, 0, 200)'")
        await painted(page)
        pictures_before = [each for each in instructor.received if isinstance(each, bytes)]
        await page.evaluate("document.body.style.background = 'rgb(0, 0, 200)'")
        # What the recorder knows of the screen when the pause ends is what the recording goes on from.
        def is_blue() -> bool:
            blue, _, red = pixel(recorder.tabs[0].ring.newest.image, 20, 400)
            return blue > 150 and red < 30

        await wait_until_async(is_blue)
        recorder.resume()
        await until(instructor, "state", state="recording")
        for _ in range(10):  # one from before the pause may be on its way
            picture = await asyncio.to_thread(instructor.wait_for_picture)
            instructor.send({"type": "painted"})
            if colour(picture, 20, 400)[0] > 150:
                break
        assert colour(picture, 20, 400)[0] > 150  # blue: the page as it is after the pause
        shown = [colour(each, 20, 400) for each in instructor.received if isinstance(each, bytes)]
        assert not any(blue > 100 and red > 100 for blue, _, red in shown) and len(shown) > len(pictures_before)
        secret = say("The password is kettle-4711")
        instructor.send(secret)
        await settled(instructor, secret["id"])

    recording = record(act)
    assert [line["utterance"] for line in chat_lines(recording)] == ["Before it", "The password is [REDACTED]"]


def test_without_pictures_the_recording_says_so_and_goes_to_its_split(record, server):
    async def act(recorder, page, client, instructor):
        await measured(instructor, recorder)
        await page.click("#buy")
        await painted(page)
        message = say("Well done")
        instructor.send(message)
        await until(instructor, "chat", id=message["id"])
        assert not any(isinstance(each, bytes) for each in instructor.received)
        instructor.send(say("Here", region={"picture": 1, "x": 0.5, "y": 0.5, "width": 0, "height": 0}))
        assert "only an instructor who sees the screen" in await asyncio.to_thread(instructor.wait_for_end)

    recording = record(act, pictures=False)
    assert recording.manifest["room"] == {"id": record.room, "pictures": False}
    source = Source(process(recording.layout.root), recording)
    assert Rule(seed=1).assign(source).split == "test_vis"


def test_the_recording_goes_on_where_the_server_refuses(record, server):
    async def act(recorder, page, client, instructor):
        await wait_until_async(lambda: record.complaints)
        recorder.say("navigator", "Alone")

    recording = record(act, token="not-a-token")
    assert record.complaints == [
        "room: the server refuses the connection (status 401); the recording continues without the room"]
    assert [line["utterance"] for line in chat_lines(recording)] == ["Alone"]


def test_the_command_opens_a_room_and_records_in_it(server, site, tmp_path):
    site.pages["/"] = PAGE
    environment = os.environ | {"PYTHONUNBUFFERED": "1", "DEMOTAPE_TOKEN": server.tokens["ann"], "COLUMNS": "200"}
    recording = subprocess.Popen(
        [DEMOTAPE, "record", site.origin + "/", "--headless", "--out", tmp_path / "rec", "--task", "Buy tea",
         "--room", server.url], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        env=environment)
    assert "it works once" in recording.stdout.readline()
    link = recording.stdout.readline().strip()
    assert link.startswith(f"{server.url}room-links/")
    with RoomGuest(link) as guest:
        guest.wait_for_type("state", state="recording")
        message = say("Press the button")
        guest.send(message)
        shown = guest.wait_for_type("chat", id=message["id"])
        while shown["time"] is None:
            shown = guest.wait_for_type("chat", id=message["id"])
        os.killpg(recording.pid, signal.SIGINT)
        guest.wait_for_type("state", state="ended")
    output, errors = recording.communicate()
    assert recording.returncode == 0 and errors == "" and "Recorded" in output
    assert [line["utterance"] for line in chat_lines(Recording(tmp_path / "rec"))] == ["Press the button"]


def test_an_existing_room_gives_its_task(server, monkeypatch, tmp_path):
    asked = []

    async def record(url, directory, task, **options):
        asked.append((task, options["room"].url))
        raise InputError("nobody is here")

    monkeypatch.setattr(recording_module, "record", record)
    address = f"{server.url}rooms/{server.open_room(task='Find lamps', instructor='val')['id']}"
    for token, room, expected in (
            (server.tokens["ann"], address, "nobody is here"), (server.tokens["ann"], address + "x", "Unknown room"),
            ("", address, "set DEMOTAPE_TOKEN"), ("wrong", address, "nknown token"),
            (server.tokens["ann"], "file:///etc/passwd", "must be the address"),
            (server.tokens["ann"], "room-1", "must be the address")):
        done = CliRunner(env={"COLUMNS": "200", "CI": "1"}).invoke(
            main, ["record", "http://127.0.0.1:9/", "--headless", "--out", str(tmp_path / "rec"), "--token", token,
                   "--room", room])
        assert done.exit_code == 2 and expected in done.output, done.output
    assert asked == [("Find lamps", address)]


def colour(picture: bytes, x: int, y: int) -> list[int]:
    """Blue, green and red of a pixel; x and y in CSS pixels."""
    _, _, width, height = PICTURE_HEADER.unpack(picture[:PICTURE_HEADER.size])
    assert (width, height) == (640, 480)
    return pixel(picture[PICTURE_HEADER.size:], x, y)


def pixel(content: bytes, x: int, y: int) -> list[int]:
    image = cv2.imdecode(numpy.frombuffer(content, numpy.uint8), cv2.IMREAD_COLOR)
    return [int(value) for value in image[y, x]]
