"""Pictures that come late, or never: the browser drops frames that nobody takes in time, as on a busy machine."""

import asyncio
import signal
from collections.abc import Iterator
from contextlib import contextmanager

import psutil

from tests.recorder.browser.test_pictures import ANIMATED, assert_good_pictures_show_it, press_beside_an_animation
from tests.recorder.browser.test_state import picture
from tests.support.samples.sessions import painted

PAGE = """<body style='background:red'><button id=b>B</button><script>let n = 0, on = true;
requestAnimationFrame(function f() {
  if (!on) return; document.body.style.paddingTop = n++ % 9 + 'px'; requestAnimationFrame(f)
})</script>"""


@contextmanager
def held_up(chrome) -> Iterator[None]:
    """The extension's process does nothing meanwhile."""
    profile = f"--user-data-dir={chrome.folder / 'profile'}"
    processes = {process.pid: process for process in psutil.process_iter(["cmdline", "ppid"])}

    def is_of_this(process: psutil.Process | None) -> bool:
        while process and profile not in (process.info["cmdline"] or []):
            process = processes.get(process.info["ppid"])
        return process is not None

    (it,) = [process for process in processes.values()
             if "--extension-process" in (process.info["cmdline"] or []) and is_of_this(process)]
    it.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        it.send_signal(signal.SIGCONT)


def test_a_frame_that_was_dropped_is_not_taken_for_one_that_never_was(chrome, site):
    """The newest frame before the click is red, and what turned the page blue was dropped: a later frame shows it."""
    site.pages["/"] = PAGE

    async def user_actions(page):
        await chrome.seen(1)
        await page.wait_for_timeout(300)
        with held_up(chrome):
            await asyncio.sleep(0.7)
            await page.evaluate("on = false; document.body.style.background = 'blue'")
            await painted(page)
            await asyncio.sleep(0.1)
        await page.locator("#b").click()
        await page.wait_for_timeout(500)

    assert any([shows_blue(chrome.record(user_actions, url=site.origin + "/")) for _ in range(3)])


def test_a_tab_whose_first_frame_came_late_has_no_clock_of_its_own(chrome, site):
    """That frame was painted before the page; by when it came it would be of the page that was clicked."""
    site.pages["/"] = "<body style='background:red'>"
    site.pages["/two"] = "<body style='background:blue'><button id=b>B</button>"

    async def user_actions(page):
        await chrome.seen(1)
        second = await page.context.new_page()
        with held_up(chrome):
            await second.goto(site.origin + "/two")
            await painted(second)
            await asyncio.sleep(0.5)
        await chrome.seen(2)
        await second.locator("#b").click()
        await page.wait_for_timeout(500)

    shows_blue(chrome.record(user_actions, url=site.origin + "/"))


def shows_blue(session) -> bool:
    """Whether the click has a good picture, which is blue then: none is better than one of another moment."""
    (turn,) = [turn for turn in session.turns if turn["intent"] == "click"]
    if turn["state"]["screenshot"] is None or turn["state"]["screenshot_status"] != "good":
        return False
    blue, _, red = picture(session, turn)[500, 500]
    assert blue > 200 and red < 50
    return True


def test_what_changes_beside_an_animation_is_not_taken_for_unpainted(chrome, site):
    site.pages["/"] = ANIMATED

    async def user_actions(page):
        await chrome.seen(1)
        await press_beside_an_animation(page, 4)

    session = chrome.record(user_actions, url=site.origin + "/")
    assert_good_pictures_show_it(session.recording, 4)
