"""Toolbar and panel are true: the offscreen document ends, the disk is full, the window is closed, Stop is pressed."""

import asyncio
import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.async_api import async_playwright

from pipeline.verify import verify
from tests.recorder.browser.test_recorder import FLIP
from tests.support import chrome as browsers
from tests.support.samples.sessions import painted
from tests.support.waiting import wait_until_async

BADGE = "chrome.action.getBadgeText({})"
SCRIPTS = "chrome.scripting.getRegisteredContentScripts().then(scripts => scripts.length)"
CLOSE = "chrome.offscreen.closeDocument()"


@contextmanager
def small_disk(folder: Path) -> Iterator[None]:
    """A disk of 150 MB in a folder."""
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=150m", "tmpfs", str(folder)]
    if subprocess.run(command, capture_output=True).returncode:
        pytest.skip("a small disk cannot be mounted here (needs root)")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(path: Path) -> None:
    """Write a file until there is no room."""
    with pytest.raises(OSError, match="No space"), path.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))


@pytest.fixture
def play(recording_browser, site, tmp_path):
    """Runs work on (context, panel, page) in a Chromium of its own; the panel records the page's window."""
    site.pages["/"] = FLIP

    def run(work):
        async def whole():
            async with async_playwright() as playwright:
                context = await browsers.launch(playwright, tmp_path / "profile")
                async with browsers.Panel(context) as panel:
                    page = await context.new_page()
                    await page.goto(site.origin + "/")
                    view = panel.page
                    await view.goto(view.url.partition("?")[0] + f"?window={await panel.window_of(page)}")
                    await page.bring_to_front()
                    await view.locator("#task").fill("Survive")
                    await view.locator("#start").click()
                    await view.locator("#state", has_text=re.compile("^Recording$")).wait_for()
                    await painted(page)
                    answer = await work(context, panel, page)
                await context.close()
                return answer

        return recording_browser.run(whole())

    return run


async def press(panel, page, count: int) -> None:
    """Click so many times; the panel shows each once it is on disk."""
    before = await panel.page.locator("#lines li").count()
    for _ in range(count):
        await page.mouse.click(200, 200)
        await painted(page)
    await wait_until_async(lambda: shows_lines(panel, before + 1), what="lines in the panel")


async def shows_lines(panel, count: int) -> bool:
    return await panel.page.locator("#lines li").count() >= count


def read(recording_browser, path, name: str):
    return browsers.Chrome(recording_browser.runner, None, None, path).read(path / f"{name}.zip", path / name)


def clicks_of(session) -> int:
    return sum(turn["intent"] == "click" for turn in session.turns)


def test_the_end_of_the_offscreen_document_is_shown_and_one_key_goes_on(play, recording_browser, tmp_path):
    async def work(context, panel, page):
        view = panel.page
        worker = await browsers.service_worker(context)
        await press(panel, page, 3)
        assert await worker.evaluate(BADGE) == "REC"
        acknowledged = (await panel.ask("acknowledged"))["line"]
        begun = time.monotonic()
        await worker.evaluate(CLOSE)

        async def says_so():
            return await worker.evaluate(BADGE) == "!" and "nterrupted" in await view.locator("#state").inner_text()

        await wait_until_async(says_so, what="the interruption")
        passed = time.monotonic() - begun
        await view.locator("#ending-text", has_text="interrupted").wait_for()
        assert await view.locator("#task").input_value() == "Survive"
        await wait_until_async(lambda: worker.evaluate(f"{SCRIPTS}.then(count => count === 0)"), what="no scripts")
        kept = await panel.ask("kept")
        await view.bring_to_front()
        await view.keyboard.press("Alt+r")
        await view.locator("#state", has_text=re.compile("^Recording$")).wait_for()
        assert await view.locator("#ending").is_hidden() and await worker.evaluate(BADGE) == "REC"
        await page.bring_to_front()
        await press(panel, page, 2)
        await panel.ask("stop")
        both = await panel.ask("kept")
        await panel.package(kept[0]["id"], tmp_path / "one.zip")
        (second,) = [each["id"] for each in both if each["id"] != kept[0]["id"]]
        await panel.package(second, tmp_path / "two.zip")
        return passed, acknowledged, kept

    passed, acknowledged, kept = play(work)
    assert passed < 5 and [each["status"] for each in kept] == ["interrupted"]
    first, second = (read(recording_browser, tmp_path, name) for name in ("one", "two"))
    assert first.recording.manifest["status"] == "recovered" and acknowledged > 3
    assert clicks_of(first) == 3 and clicks_of(second) == 2
    assert second.recording.task == "Survive"
    assert verify(tmp_path / "one") == [] and verify(tmp_path / "two") == []


def test_a_full_disk_ends_the_recording_with_what_is_on_disk(play, recording_browser, tmp_path):
    ballast = tmp_path / "profile" / "ballast"

    async def work(context, panel, page):
        view = panel.page
        worker = await browsers.service_worker(context)
        await press(panel, page, 3)
        fill(ballast)

        async def is_full():
            await page.mouse.click(200, 200)
            return "Recording ended" in await view.locator("#state").inner_text()

        await wait_until_async(is_full, what="the end of the recording")
        await view.locator("#ending-text", has_text="disk is full").wait_for()
        await view.bring_to_front()
        await view.keyboard.press("Tab")
        assert await view.locator("#ending-text").is_visible() and await worker.evaluate(BADGE) == "!"
        assert await view.evaluate(SCRIPTS) == 0
        await view.locator("#start").click()
        await view.locator("#start:enabled").wait_for()  # refused, or ended in the same way
        await view.locator("#ending-text", has_text="disk is full").wait_for()
        ballast.unlink()

        async def is_recording():
            await view.locator("#start").evaluate("(button) => button.checkVisibility() && button.click()")
            return await view.locator("#state").inner_text() == "Recording"

        await wait_until_async(is_recording, what="a recording, now that there is room")
        await page.bring_to_front()
        await press(panel, page, 2)
        await panel.ask("stop")
        kept = sorted(await panel.ask("kept"), key=lambda facts: facts["started_at"])
        await panel.package(kept[0]["id"], tmp_path / "one.zip")
        await panel.package(kept[-1]["id"], tmp_path / "two.zip")
        return [each["status"] for each in kept]

    with small_disk(tmp_path / "profile"):
        statuses = play(work)
    assert statuses[0] == "interrupted" and statuses[-1] == "kept"
    first, second = (read(recording_browser, tmp_path, name) for name in ("one", "two"))
    assert clicks_of(first) >= 3 and clicks_of(second) == 2
    assert verify(tmp_path / "one") == [] and verify(tmp_path / "two") == []


def test_a_recording_ends_with_its_last_tab(play, recording_browser, tmp_path):
    async def work(context, panel, page):
        view = panel.page
        worker = await browsers.service_worker(context)
        await press(panel, page, 2)
        for other in context.pages:
            if other is not view:
                await other.close()
        await view.locator("#ending-text", has_text="last tab was closed").wait_for()
        await wait_until_async(lambda: worker.evaluate(f"{BADGE}.then(text => text === '!')"), what="the sign")
        kept = await panel.ask("kept")
        await panel.package(kept[0]["id"], tmp_path / "one.zip")
        await view.locator("#dismiss").click()
        await wait_until_async(lambda: worker.evaluate(f"{BADGE}.then(text => text === '')"), what="no sign")
        return kept

    (kept,) = play(work)
    assert kept["status"] == "kept" and clicks_of(read(recording_browser, tmp_path, "one")) == 2


def test_the_panel_says_when_a_page_cannot_be_recorded(play, site):
    async def work(context, panel, page):
        line = panel.page.locator("#cannot-read")
        assert await line.is_hidden()
        await page.goto("chrome://version")
        await line.wait_for()
        await page.goto(site.origin + "/")
        await line.wait_for(state="hidden")
        await panel.ask("stop")

    play(work)


def test_of_two_starts_at_once_one_is_refused(play):
    async def work(context, panel, page):
        await panel.ask("stop")
        window = await panel.window_of(page)
        starts = [panel.ask("start", task=task, window=window) for task in ("one", "two")]
        answers = await asyncio.gather(*starts, return_exceptions=True)
        await panel.ask("stop")
        return answers, len(await panel.ask("kept"))

    answers, count = play(work)
    assert sorted(isinstance(answer, Exception) for answer in answers) == [False, True] and count == 2


def test_stop_is_answered_while_pictures_are_made(play, recording_browser, tmp_path):
    async def work(context, panel, page):
        for _ in range(30):
            await page.mouse.click(200, 200)
        begun = time.monotonic()
        await panel.ask("stop")
        passed = time.monotonic() - begun
        kept = await panel.ask("kept")
        await panel.package(kept[0]["id"], tmp_path / "one.zip")
        return passed

    passed = play(work)
    session = read(recording_browser, tmp_path, "one")
    assert passed < 6 and session.recording.manifest["status"] == "complete" and clicks_of(session) == 30
