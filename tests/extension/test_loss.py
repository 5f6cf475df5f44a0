"""Nothing is lost: the service worker stopped at random, the browser killed, the network gone during an upload."""

import asyncio
import json
import os
import random
import re
import signal
import subprocess
import threading
import zipfile
from pathlib import Path

import cv2
import numpy as np
import pytest
from flask import request
from playwright.async_api import async_playwright
from werkzeug.serving import make_server

from curator_web import create_app
from curator_web.demonstrations.listing.listing import listing
from curator_web.tasks import bank, expected_end
from curator_web.users import Account, add_user, project_settings, projects
from demotape.importing import import_package
from pipeline.verify import verify
from schemas.chromium import sandbox_arguments
from tests.recorder.browser.test_recorder import FLIP
from tests.support.browsers import full_chromium
from tests.support.chrome import ARGUMENTS, Chrome, Panel, extension_id
from tests.support.samples.sessions import painted
from tests.support.waiting import wait_until_async


def lines_of(package: Path) -> list[dict]:
    with zipfile.ZipFile(package) as archive:
        return [json.loads(line) for line in archive.read("journal.jsonl").splitlines()]


def test_the_service_worker_is_stopped_again_and_again(chrome, site, pytestconfig):
    count = 20 if pytestconfig.option.all else 8
    site.pages |= {"/": FLIP + "<a id=a href='/'>Again</a>"}
    dice = random.Random(4)
    stops = []

    async def user_actions(page):
        session = await chrome.context.new_cdp_session(chrome.panel.page)
        await session.send("ServiceWorker.enable")
        session.on("ServiceWorker.workerVersionUpdated", lambda event: stops.extend(
            version for version in event["versions"] if version["runningStatus"] == "stopped"))
        for stop in range(count):
            for _ in range(dice.randint(1, 3)):
                await page.mouse.click(200, 200)
                await asyncio.sleep(dice.uniform(0, 0.06))
            if stop % 4 == 3:
                await page.goto(site.origin + f"/?{stop}")
                await painted(page)
            before = len(stops)
            await chrome.panel.page.evaluate("chrome.runtime.sendMessage({to: 'background', task: 'version'})")
            await asyncio.sleep(dice.uniform(0, 0.05))
            await session.send("ServiceWorker.stopAllWorkers")
            await page.mouse.click(200, 200)
            await wait_until_async(lambda: len(stops) > before, what="the worker's end")  # noqa: B023
        await session.detach()

    clicks = count + sum(hand_clicks(count))
    session = chrome.record(user_actions, url=site.origin + "/")
    lines = lines_of(chrome.folder / f"{chrome.count}.zip")
    assert [line["n"] for line in lines] == list(range(1, len(lines) + 1))
    assert len(stops) >= count
    assert sum(turn["intent"] == "click" for turn in session.turns) == clicks
    assert sum(turn["intent"] == "load" for turn in session.turns) == 1 + count // 4
    assert verify(session.recording.layout.root) == []


def hand_clicks(stops: int) -> list[int]:
    """How often the actions above click before each stop: the same dice."""
    dice, counts = random.Random(4), []
    for _ in range(stops):
        counts.append(dice.randint(1, 3))
        for _ in range(counts[-1] + 1):
            dice.uniform(0, 1)
    return counts


class Browser:
    """A Chromium of its own, whose profile outlives it."""

    def __init__(self, playwright, profile: Path):
        self._playwright, self._profile = playwright, profile

    async def __aenter__(self):
        port = self._profile / "DevToolsActivePort"
        port.unlink(missing_ok=True)
        self.process = subprocess.Popen(
            [full_chromium(), *ARGUMENTS, *sandbox_arguments(), f"--allowlisted-extension-id={extension_id()}",
             "--headless", "--remote-debugging-port=0", f"--user-data-dir={self._profile}", "--window-size=800,600",
             "about:blank"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)

        async def there():
            return port.exists() and port.read_text().count("\n")

        await wait_until_async(there, what="the browser's port")
        number, path = port.read_text().splitlines()
        self.browser = await self._playwright.chromium.connect_over_cdp(f"ws://127.0.0.1:{number}{path}")
        self.context = self.browser.contexts[0]
        return self

    def kill(self) -> None:
        """kill -9 of all its processes."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    async def __aexit__(self, *_) -> None:
        if self.process.poll() is None:
            self.kill()


def test_a_killed_browser_loses_nothing_that_was_acknowledged(recording_browser, site, tmp_path):
    site.pages["/"] = FLIP
    profile, package = tmp_path / "profile", tmp_path / "p.zip"
    profile.mkdir()

    async def work():
        async with async_playwright() as playwright:
            async with Browser(playwright, profile) as first:
                page = first.context.pages[0]
                async with Panel(first.context) as panel:
                    await panel.ask("start", task="Survive", window=await panel.window_of(page))
                    await page.goto(site.origin + "/")
                    await painted(page)
                    for _ in range(15):
                        await page.mouse.click(200, 200)
                        await asyncio.sleep(0.03)
                    acknowledged = (await panel.ask("acknowledged"))["line"]
                    first.kill()
            async with Browser(playwright, profile) as second, Panel(second.context) as panel:
                item = panel.page.locator("#kept li")
                await item.wait_for()
                told = await item.inner_text()
                assert await panel.page.locator("#idle").is_visible()
                recording = (await panel.ask("kept"))[0]["id"]
                await panel.package(recording, package)
            return acknowledged, told

    acknowledged, told = recording_browser.run(work())
    assert "Survive" in told and "interrupted" in told
    numbers = [line["n"] for line in lines_of(package)]
    assert numbers == list(range(1, len(numbers) + 1)) and len(numbers) >= acknowledged > 20
    session = Chrome(recording_browser.runner, None, None, tmp_path).read(package, tmp_path / "rec")
    assert session.recording.manifest["status"] == "recovered"
    assert sum(turn["intent"] == "click" for turn in session.turns) >= 13
    assert verify(tmp_path / "rec") == []


class Review:
    """The review app, which can go away and come back on the same port."""

    def __init__(self, data: Path):
        self.app = create_app(data_dir=data, import_package=import_package)
        self.services = self.app.extensions["demotape"]
        self.token = add_user(self.services.db, "ada", "annotator")
        self.port, self.puts = 0, []
        self.app.before_request(self._count)

    def _count(self):
        if "/chunks/" in request.path and request.headers.get("Authorization"):
            self.puts.append(int(request.path.rpartition("/")[2]))
            if len(self.puts) == self.away_after:
                self.leaving = threading.Thread(target=self.leave)
                self.leaving.start()

    away_after = -1
    leaving = None

    def come(self) -> "Review":
        if self.leaving:
            self.leaving.join()
        self.server = make_server("127.0.0.1", self.port, self.app, threaded=True)
        self.port = self.server.port
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02})
        self.thread.start()
        self.here = True
        return self

    def leave(self) -> None:
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()
        self.here = False


@pytest.fixture
def review(tmp_path):
    review = Review(tmp_path / "data").come()
    yield review
    if review.here:
        review.leave()
    review.services.jobs.close()


def test_an_upload_goes_on_when_the_network_is_back(chrome, site, review, tmp_path):
    noise = np.frombuffer(random.Random(1).randbytes(1600 * 1500 * 3), np.uint8).reshape(1500, 1600, 3)
    site.pages |= {"/": "<img id=i src=/big.png width=50 height=50>",
                   "/big.png": ("image/png", cv2.imencode(".png", noise)[1].tobytes())}
    review.away_after = 2
    panel, db = chrome.panel.page, review.services.db
    projects.add(db, "travel", "Travel")
    projects.set_member(db, "travel", "ada", "annotator")

    async def user_actions(page):
        await page.locator("#i").click()
        await wait_until_async(lambda: kept_bytes(chrome, 7_000_000), what="the picture")

    session = chrome.record(user_actions, url=site.origin + "/", task="Send me")

    async def send():
        await panel.locator("#server").fill(f"http://127.0.0.1:{review.port}")
        await panel.locator("#token").fill(review.token)
        await panel.locator("#sign-in button").click()
        await panel.locator("#account", has_text="Signed in as ada").wait_for()
        await panel.get_by_label("Recordings go to").select_option("Travel")
        item = panel.locator("#kept li").first
        await item.get_by_role("button", name="Send").click()
        await item.locator(".tag", has_text="waits for the network").wait_for()
        review.away_after = -1
        review.come()
        await item.locator(".tag", has_text="sent").wait_for()
        await chrome.panel.ask("signOut")

    chrome.runner.run(send())
    rows = listing(db, project="travel").rows
    assert [row.id for row in rows] == [session.recording.id]
    assert len(review.puts) <= len(set(review.puts)) + 1  # only the one that was on its way is sent twice
    assert not list((tmp_path / "data" / "uploads").iterdir())
    assert verify(review.services.store.path(session.recording.id)) == []


async def kept_bytes(chrome, count: int) -> bool:
    return (await chrome.panel.ask("acknowledged"))["bytes"] > count


def set_consent(db, when: str) -> None:
    with db.writing() as session:
        project_settings.change(session, Account("lea", "lead"), {"consent_prompt": when})


def test_the_next_task_is_recorded_and_counts_for_it(chrome, site, review):
    site.pages["/"] = "<button id=b>Go</button>"
    view, db = chrome.panel.page, review.services.db
    lea = Account("lea", "lead")
    one, = bank.propose(db, lea, [{"text": "Find lamps", "url": "https://shop.example/a"}])

    async def work():
        page = await chrome.context.new_page()
        await page.goto(site.origin + "/")
        await view.goto(view.url.partition("?")[0] + f"?window={await chrome.panel.window_of(page)}")
        assert await view.locator("#next-task").is_hidden()
        await view.locator("#server").fill(f"http://127.0.0.1:{review.port}")
        await view.locator("#token").fill(review.token)
        await view.locator("#sign-in button").click()
        await view.locator("#next-task").click()
        await view.locator("#given-at", has_text="Start page: shop.example").wait_for()
        await view.locator("#task").fill("Something else")
        await view.locator("#given").wait_for(state="hidden")
        await view.locator("#next-task").click()
        await view.locator("#given").wait_for()
        assert await view.locator("#task").input_value() == "Find lamps"
        assert await view.locator("#given-answer").is_hidden()
        told = view.locator("#publishing-told")
        await view.locator("#provenance").get_by_text("Yes").click()
        await told.filter(has_text="agreed").wait_for()
        await view.locator("#next-task").click()  # initially, consent is requested before each session
        await told.filter(has_text="not set").wait_for()
        await view.locator("#next-task:enabled").wait_for()  # the form moves no more
        set_consent(db, "person")
        await view.locator("#provenance").get_by_text("Yes").click()
        await told.filter(has_text="agreed").wait_for()
        await view.locator("#task").fill("Something else")
        await view.locator("#given").wait_for(state="hidden")
        await view.locator("#next-task").click()
        await view.locator("#given").wait_for()
        assert await told.text_content() == "agreed"
        await view.locator("#agree").check()  # each account agrees once
        await view.locator("#start").click()
        await view.locator("#state", has_text=re.compile("^Recording$")).wait_for()
        await page.locator("#b").click()
        await view.locator("#lines li").first.wait_for()
        await view.locator("#stop").click()
        item = view.locator("#kept li", has_text="Find lamps").first
        await item.get_by_role("button", name="Send").click()
        await item.locator(".tag", has_text=re.compile("^sent$")).wait_for()
        await view.locator("#next-task").click()
        await view.locator("#idle-notice", has_text="no task is left for you").wait_for()
        two, = bank.propose(db, lea, [{"text": "Find chairs", "answer": "Seven"}])
        expected_end.show_answers(db, lea, True)
        await view.locator("#next-task").click()
        await view.locator("#given-answer", has_text="Expected answer: Seven").wait_for()
        await view.locator("#back summary").click()
        await view.locator("#cannot").click()  # asks for a reason first
        await view.locator("#why-not:invalid").wait_for()
        await view.locator("#why-not").fill("The shop is closed")
        await view.locator("#cannot").click()
        await view.locator("#back").wait_for(state="hidden")
        assert await view.locator("#task").input_value() == ""
        assert [each.reason for each in bank.show(db, lea, two.id)[0].objections] == ["The shop is closed"]
        await page.close()

    async def whole():
        try:
            await work()
        finally:
            await chrome.panel.ask("stop")
            await chrome.panel.ask("signOut")

    chrome.runner.run(whole())
    assert [row.task_id for row in listing(db).rows] == [one.id]
