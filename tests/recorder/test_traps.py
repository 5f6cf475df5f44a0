"""Every row of the table of traps in a rested tab, and immediately after a page appears: a new page, a popup, a frame
of another site, a browser that was connected to. All rows of a place are one recording, each in its own tab.

`make test` runs each row in one of the recorder's places and one of the extension's, in rotation; `make test-all` runs
every row in every place. Each page changes itself in a listener on window that comes first, so a state from after the
effect is recognised.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import pytest
from playwright.async_api import BrowserContext, Page, async_playwright

from pipeline.turns.folding import fold
from recorder import Recorder, Recording
from tests.support.samples.sessions import painted, reached
from tests.support.samples.trap_table import TRAPS
from tests.support.samples.traps import InFrame, Trap, line
from tests.support.waiting import wait_until_async

FIRST = ("<!DOCTYPE html><script>for (const type of ['pointerdown', 'mousedown', 'keydown']) "
         "window.addEventListener(type, event => event.key === 'Control' || "
         "document.documentElement.classList.add('acted-' + type), true)</script>")
RECORDER_PLACES = ("rested", "new page", "popup", "frame", "connected")
EXTENSION_PLACES = ("rested", "popup", "frame")
NAVIGATE_THE_PAGE = (25, 26)  # rows in which the page itself goes elsewhere, which no frame survives
HOME = "<!DOCTYPE html><title>Home</title><a id=link href=/ target=_blank>Open</a>"


async def to_place(place: str, home: Page, site) -> tuple[Page, Page | InFrame]:
    """The page of a row, and what its selectors are looked up in."""
    if place == "popup":
        async with home.context.expect_page() as opened:
            await home.click("#link")
        page = await opened.value
        await page.wait_for_load_state()
        return page, page
    page = await home.context.new_page()
    await page.goto(site.origin + ("/frame" if place == "frame" else "/"))
    if place == "rested":
        await painted(page)
    if place != "frame":
        return page, page
    await reached(page, page.frames[1])
    return page, InFrame(page, page.frames[1])


async def go_through(place: str, home: Page, site, rows, settled: Callable[[], Awaitable]) -> list[int]:
    """Do all rows; returns how many tabs each opened. `settled`: waits until what was done is recorded, as nobody
    closes a tab within milliseconds of going back in it."""
    counts = []
    for trap in rows:
        site.pages |= {"/": FIRST + trap.page, "/two": "<title>Two</title><h1>Two</h1>",
                       "/frame": f"<body style='margin:0'><iframe src='{site.other_origin}/' width=700 height=500 "
                                 "style='border:0'>"}
        known = list(home.context.pages)
        page, here = await to_place(place, home, site)
        if "autofocus" in trap.page:
            await here.locator("[autofocus]").focus()
        await trap.user_actions(here)
        await painted(page)
        await settled()
        opened = [other for other in home.context.pages if other not in known]
        for other in reversed(opened):
            await other.close()
        counts.append(len(opened))
    return counts


def rows_of(recording: Recording, counts: list[int], missing_fails: bool) -> Iterator[tuple[list[str], bool]]:
    """Of each row: its turns as lines, its first tab being tab 1, without those that brought that tab there and closed
    it; and whether the first state of an action is from before its effect. The extension may have no state yet in a
    frame that has just come: that is from no time, unless `missing_fails`."""
    tabs = {event["seq"]: event["tab"] for event in recording.events}
    turns, before = fold(recording.events), 1
    for count in counts:
        own = [turn for turn in turns if before < tabs[turn["events"][0]] <= before + count]
        lines = [line(turn | {"arguments": _counted_from(turn["arguments"], before)}) for turn in own]
        states = [turn["state"] for turn in own if turn["element"] and turn["state"]]
        known = [state["dom"] for state in states[:1] if state["dom"] or missing_fails]
        yield _after_it_came(lines), not any(_after(recording, dom) for dom in known)
        before += count


def _after(recording: Recording, dom: str | None) -> bool:
    """Whether a state is from after the effect, or not there."""
    text = recording.blob(dom).decode() if dom else "acted-key"
    return any(f"acted-{name}" in text for name in ("pointerdown", "mousedown", "key"))


def _counted_from(arguments: dict, before: int) -> dict:
    return {name: value - before if name in ("tab", "origin", "target") else value
            for name, value in arguments.items()}


def _after_it_came(lines: list[str]) -> list[str]:
    closed = next((number for number, each in enumerate(lines) if each.startswith("tabremove")), len(lines))
    rest = lines[:closed]
    for coming in ("tabcreate tab=1", "load url='/'", "load url='frame'", "tabswitch origin=.* target=1"):
        place = next((number for number, each in enumerate(rest[:2]) if re.fullmatch(coming, each)), None)
        if place is not None:
            del rest[place]
    return rest


@pytest.fixture
def as_in_a_rested_tab(site):
    """Checks what a driver recorded of all rows."""
    def check(recording: Recording, counts: list[int], rows, turns: str = "turns") -> None:
        for trap, (lines, before) in zip(rows, rows_of(recording, counts, turns == "turns"), strict=True):
            assert (trap.extension != trap.turns) == bool(trap.why)
            assert lines == getattr(trap, turns), f"{trap.number}: {trap.does}"
            assert before, f"{trap.number}: {trap.does}"
    site.pages["/home"] = HOME
    return check


def rows_in(place: str, places: Sequence[str], everything: bool) -> list[Trap]:
    """The rows of a place: all that can be done there, or those whose turn it is there."""
    rows = []
    for index, trap in enumerate(TRAPS):
        possible = [name for name in places if name != "frame" or trap.number not in NAVIGATE_THE_PAGE]
        if place in possible and (everything or place == possible[index % len(possible)]):
            rows.append(trap)
    return rows


@pytest.fixture
def recorder_rows(pytestconfig):
    return lambda place: rows_in(place, RECORDER_PLACES, pytestconfig.option.all)


def test_every_row_has_its_turn_in_one_place_of_the_recorder_and_one_of_the_extension():
    for places in (RECORDER_PLACES, EXTENSION_PLACES):
        rotated = [rows_in(place, places, False) for place in places]
        assert sorted(id(trap) for rows in rotated for trap in rows) == sorted(map(id, TRAPS))
        assert min(map(len, rotated)) > len(TRAPS) / len(places) / 2


async def recorded(context: BrowserContext, place: str, site, folder: Path, rows: list[Trap]) -> list[int]:
    home = context.pages[0] if context.pages else await context.new_page()
    await home.goto(site.origin + "/home")
    async with Recorder(context, folder) as recorder:
        async def settled() -> None:
            await wait_until_async(lambda: not any(tab._navigations.history._one_by_one.locked()
                                                   for tab in recorder.tabs))

        counts = await go_through(place, home, site, rows, settled)
    return counts


@pytest.mark.parametrize("place", RECORDER_PLACES[:-1])
def test_the_recorder(recording_browser, site, tmp_path, as_in_a_rested_tab, recorder_rows, place):
    rows = recorder_rows(place)

    async def run():
        context = await recording_browser.browser.new_context(viewport={"width": 800, "height": 600})
        counts = await recorded(context, place, site, tmp_path / "rec", rows)
        await context.close()
        return counts

    counts = recording_browser.run(run())
    as_in_a_rested_tab(Recording(tmp_path / "rec"), counts, rows)


def test_a_browser_that_was_connected_to(recording_browser, chromium_address, site, tmp_path, as_in_a_rested_tab,
                                         recorder_rows):
    rows = recorder_rows("connected")

    async def run():
        async with async_playwright() as playwright:
            context = (await playwright.chromium.connect_over_cdp(chromium_address)).contexts[0]
            return await recorded(context, "connected", site, tmp_path / "rec", rows)

    counts = recording_browser.run(run())
    as_in_a_rested_tab(Recording(tmp_path / "rec"), counts, rows)


@pytest.mark.parametrize("place", EXTENSION_PLACES)
def test_the_extension(chrome, site, tmp_path, as_in_a_rested_tab, pytestconfig, place):
    rows, counts = rows_in(place, EXTENSION_PLACES, pytestconfig.option.all), []

    async def work():
        home = await chrome.context.new_page()
        await home.goto(site.origin + "/home")
        started = await chrome.panel.ask("start", task="test", window=await chrome.panel.window_of(home))
        counts.extend(await go_through(place, home, site, rows, partial(asyncio.sleep, 0)))
        await chrome.panel.ask("stop")
        await chrome.panel.package(started["id"], tmp_path / "rec.zip")
        await home.close()

    chrome.runner.run(work())
    session = chrome.read(tmp_path / "rec.zip", tmp_path / "rec")
    assert session.problems == []
    as_in_a_rested_tab(session.recording, counts, rows, "extension")
