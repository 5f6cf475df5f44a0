"""The page of a live room in a real Chromium: chat, clock, pictures, and what it does when the line breaks."""

import re
import time
from collections.abc import Iterator

import cv2
import numpy
import pytest
from playwright.sync_api import Page, expect

from curator_web.rooms import messages
from schemas.formats.room import PICTURE_HEADER
from tests.support.curator.room_server import RoomServer
from tests.support.curator.rooms import RoomEnd, receipt, state
from tests.support.waiting import wait_until


@pytest.fixture
def running(tmp_path) -> Iterator[RoomServer]:
    with RoomServer(tmp_path / "data") as running:
        yield running


@pytest.fixture
def opened(running) -> dict:
    return running.open_room(task="Find lamps")


@pytest.fixture
def page(browser, running, opened) -> Iterator[Page]:
    """The page of an instructor who has followed the link."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(running.url.rstrip("/") + opened["link"].removeprefix("http://localhost"))
    page.get_by_role("button", name="Enter the room").press("Enter")
    expect(page.locator("#state")).to_have_text("Waiting for the navigator's recorder")
    yield page
    context.close()


class ScriptedRecorder:
    """A recorder that answers questions for its clock, which began `offset_s` before time.monotonic()."""

    def __init__(self, running: RoomServer, room: str):
        self.end = RoomEnd(f"{running.url}rooms/{room}/record", token=running.tokens["ann"])
        self._began = time.monotonic() - 100.0
        self.end.send(state("rec-1"))

    @property
    def elapsed(self) -> float:
        return time.monotonic() - self._began

    def answer_clock(self, count: int = 1) -> None:
        for _ in range(count):
            question = self.end.wait_for_type("clock")
            self.end.send({**question, "received": self.elapsed, "answered": self.elapsed})

    def take_chat(self) -> dict:
        message = self.end.wait_for_type("chat")
        self.end.send(receipt(message["id"], message["sent"]))
        return message


def jpeg(colour: tuple[int, int, int]) -> bytes:
    return cv2.imencode(".jpg", numpy.full((90, 160, 3), colour, numpy.uint8))[1].tobytes()


def colour_of(page: Page) -> list[int]:
    return page.evaluate("[...document.getElementById('picture').getContext('2d').getImageData(80, 45, 1, 1).data]")


def test_an_instructor_writes_edits_and_deletes(running, opened, page):
    recorder = ScriptedRecorder(running, opened["id"])
    expect(page.locator("#state")).to_have_text("Recording")
    expect(page.locator("#text")).to_be_disabled()  # the recorder's clock is not known yet
    recorder.answer_clock(3)
    expect(page.locator("#text")).to_be_enabled()
    before = recorder.elapsed
    page.locator("#text").press_sequentially("Open the shop")
    page.keyboard.press("Enter")
    expect(page.locator("#messages .fate")).to_contain_text("waiting for the recorder")
    message = recorder.take_chat()
    assert message["text"] == "Open the shop" and message["uncertainty"] < 1
    assert before - message["uncertainty"] <= message["began"] <= message["sent"] <= recorder.elapsed + message[
        "uncertainty"]
    expect(page.locator("#messages .fate")).to_contain_text("in the recording at 1:4")
    page.get_by_role("button", name="Edit").click()
    page.locator("#text").fill("Open the lamp shop")
    page.keyboard.press("Enter")
    assert recorder.take_chat()["changes"] == message["id"]
    expect(page.locator("#messages .words")).to_have_text("Open the lamp shop")
    expect(page.locator("#messages .fate")).to_contain_text("edited, in the recording")
    page.get_by_role("button", name="Delete").click()
    assert recorder.take_chat()["kind"] == "delete"
    expect(page.locator("#messages li.deleted")).to_have_count(1)
    page.get_by_role("button", name="Your turn").press("Enter")
    signal = recorder.take_chat()
    assert (signal["kind"], signal["text"], signal["success"]) == ("your_turn", "", None)
    page.locator("#text").fill("The lamp is sold out")
    page.get_by_role("button", name="Task is not possible").click()
    signal = recorder.take_chat()
    assert (signal["kind"], signal["text"], signal["success"]) == ("done", "The lamp is sold out", False)
    expect(page.locator("#messages .words").last).to_have_text("Task is not possible: The lamp is sold out")
    expect(page.locator("#text")).to_have_value("")
    recorder.end.send(state("rec-1", "paused"))
    expect(page.locator("#state")).to_have_text("Paused: nothing is recorded")
    expect(page.locator("#text")).to_be_disabled()
    expect(page.get_by_role("button", name="Your turn")).to_be_disabled()
    recorder.end.send(state("rec-1", "ended"))
    expect(page.locator("#state")).to_have_text("The session has ended")


def test_pictures_are_shown_and_acknowledged(running, opened, page):
    recorder = ScriptedRecorder(running, opened["id"])
    recorder.end.wait_for_type("pictures", wanted=True)
    for number, colour in enumerate(((0, 0, 255), (0, 255, 0), (255, 0, 0)), 1):
        recorder.end.send(PICTURE_HEADER.pack(number, 1.5 * number, 1280, 720) + jpeg(colour))
        expect(page.locator("#picture")).to_have_attribute("data-number", str(number))
        wait_until(lambda shown=colour[::-1]: all(
            abs(value - wanted) < 12 for value, wanted in zip(colour_of(page), shown, strict=False)))
    assert page.locator("#picture").get_attribute("data-time") == "4.5"
    recorder.end.send(PICTURE_HEADER.pack(4, 6.0, 1280, 720) + b"\xff\xd8\xffdamaged")
    recorder.end.wait_for_type("painted")
    recorder.end.send(PICTURE_HEADER.pack(5, 7.0, 1280, 720) + jpeg((9, 9, 9)))
    expect(page.locator("#picture")).to_have_attribute("data-number", "5")


def test_an_instructor_points_with_the_mouse_and_with_keys(running, opened, page):
    recorder = ScriptedRecorder(running, opened["id"])
    recorder.end.wait_for_type("pictures", wanted=True)  # before the page asks for the clock
    recorder.answer_clock(2)
    expect(page.locator("#point")).to_be_disabled()  # there is no picture yet
    recorder.end.send(PICTURE_HEADER.pack(7, 1.5, 1280, 720) + jpeg((0, 200, 0)))
    page.locator("#point").click()
    box = page.locator("#area").bounding_box()
    recorder.end.send(PICTURE_HEADER.pack(8, 2.5, 1280, 720) + jpeg((200, 0, 0)))
    page.mouse.move(box["x"] + box["width"] / 4, box["y"] + box["height"] / 4)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, steps=4)
    page.mouse.up()
    expect(page.locator("#point-hint")).to_have_text("Your next message points here")
    assert page.locator("#picture").get_attribute("data-number") == "7", "the picture stands still"
    page.keyboard.type("This part")  # the text has the focus
    page.keyboard.press("Enter")
    message = recorder.take_chat()
    assert message["text"] == "This part" and message["region"]["picture"] == 7
    assert [message["region"][name] for name in ("x", "y", "width", "height")] == pytest.approx([0.25] * 4, abs=0.01)
    expect(page.locator("#messages .fate")).to_contain_text("points at the screen")
    expect(page.locator("#picture")).to_have_attribute("data-number", "8")
    page.locator("#point").press("Enter")
    for key in ("ArrowRight", "ArrowDown", "ArrowDown", "Escape", "Enter", "ArrowLeft", "Shift+ArrowRight", "Enter"):
        page.keyboard.press(key)
    page.keyboard.type("And here")
    page.keyboard.press("Enter")
    region = recorder.take_chat()["region"]
    assert [region[name] for name in ("x", "y", "width", "height")] == pytest.approx([0.48, 0.5, 0.02, 0])
    page.keyboard.type("And nowhere")
    page.keyboard.press("Enter")
    assert recorder.take_chat()["region"] is None


def test_what_is_written_while_the_server_restarts_arrives_once(running, opened, page):
    recorder = ScriptedRecorder(running, opened["id"])
    recorder.answer_clock(2)
    expect(page.locator("#text")).to_be_enabled()
    page.locator("#text").fill("Before")
    page.keyboard.press("Enter")
    recorder.take_chat()
    running.stop()
    expect(page.locator("#state")).to_have_text("No connection; reconnecting")
    for text in ("First", "Second"):
        page.locator("#text").fill(text)
        page.keyboard.press("Enter")
    expect(page.locator("#messages li", has_text="sending")).to_have_count(2)
    running.start()
    again = ScriptedRecorder(running, opened["id"])
    assert [again.take_chat()["text"] for _ in range(2)] == ["First", "Second"]
    expect(page.locator("#messages .fate", has_text=re.compile("in the recording"))).to_have_count(3)
    assert [each["text"] for each in messages.all_of(running.db, opened["id"])] == ["Before", "First", "Second"]
    page.reload()
    expect(page.locator("#messages .fate", has_text=re.compile("in the recording"))).to_have_count(3)


def test_without_its_pass_the_page_opens_for_nobody(running, page):
    page.context.clear_cookies()
    assert page.goto(f"{running.url}instruct").status == 404


def test_a_page_of_another_site_cannot_connect(running, opened, page):
    """The browser sends the cookie along where it is of the same site: another port of this machine."""
    page.goto("about:blank")
    live = f"{running.url.replace('http', 'ws', 1)}instruct/live"
    assert page.evaluate("""url => new Promise(done => {
        const socket = new WebSocket(url);
        socket.onopen = () => done("open");
        socket.onerror = () => done("refused");
    })""", live) == "refused"
