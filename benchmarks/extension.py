"""Does the extension lose anything, and are its pictures from before the effect, at 10 actions a second?

    python -m benchmarks.extension [--flips N] [--pages N] [--actions N] [--seed N] [--keep DIR]

In a Chromium with the unpacked extension loaded: a page that flips at every mousedown is pressed 1,000 times at 10 a
second; printed are the presses that were lost or out of order, the share whose DOM and whose screenshot show the page
before the press, and what of the rest is marked (as stale, or without any). Then a seeded random driver acts
on pages of the package miniwob, and every kept DOM, rendered offline in a fresh browser, is held against its picture.
"""

import argparse
import asyncio
import json
import random
import shutil
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import cv2
import numpy as np
from playwright.async_api import BrowserContext, Page, ViewportSize, async_playwright

from demotape.site import miniwob_folder, serve
from pipeline.turns.folding import fold
from recorder import Recording
from recorder.browser import launch as launch_plain
from recorder.package.receiving import receive
from schemas.types.recordings import BrowserTurn
from tests.support.chrome import Panel, launch

from .driving.driver import WITNESS, Driver
from .driving.offline import compare
from .driving.places import FLIP

_PACE = 0.1  # seconds between two actions
_VIEWPORT = (800, 600)
# When the effect of each press was on the screen, as the browser itself tells (Event Timing, in steps of 8 ms; effects
# that took less than 16 ms are not told).
_SHOWN = """() => { window.shown = []; new PerformanceObserver(list => { for (const {name, startTime, duration} of
  list.getEntries()) if (name === 'mousedown') shown.push([startTime + performance.timeOrigin, duration]) })
  .observe({type: 'event', durationThreshold: 16}) }"""
_STEP = 0.008


class RecordingBrowser:
    """Records what hands do, one recording after the other, in one Chromium."""

    def __init__(self, context: BrowserContext, panel: Panel, folder: Path):
        self.context, self.panel, self.folder = context, panel, folder
        self.recordings: list[Path] = []

    async def record(self, url: str, driver: Callable[[Page], Awaitable[None]]) -> Recording:
        """Record a driver in a new tab."""
        directory = self.folder / f"rec-{len(self.recordings)}"
        page = await self.context.new_page()
        started = await self.panel.ask("start", task="benchmark", window=await self.panel.window_of(page))
        await page.goto(url)
        await page.wait_for_timeout(300)
        await driver(page)
        await self.panel.ask("stop")
        package = await self.panel.package(started["id"], directory.with_suffix(".zip"))
        await self.panel.ask("discard", id=started["id"])
        await page.close()
        for problem in receive(package, directory):
            print(f"  {directory.name}: {problem}")
        self.recordings.append(directory)
        return Recording(directory)


async def flip(recording_browser: RecordingBrowser, url: str, flips: int) -> dict:
    """Press on the flipping page at 10 a second."""
    late: list[float] = []
    shown: list[list[float]] = []

    async def driver(page: Page) -> None:
        await page.evaluate(_SHOWN)
        start = time.perf_counter()
        for number in range(flips):
            await page.mouse.click(200, 200)
            wait = start + (number + 1) * _PACE - time.perf_counter()
            late.append(-wait)
            await asyncio.sleep(max(0.0, wait))
        await page.wait_for_timeout(300)
        shown.extend(await page.evaluate("shown"))

    recording = await recording_browser.record(url, driver)
    clicks = [turn for turn in fold(recording.events) if turn["intent"] == "click"]
    numbers, right, seen, marked, wrong, ages = [], 0, 0, 0, 0, []
    effects = _effects(recording, clicks, shown)
    for before, turn in zip([None, *clicks], clicks, strict=False):
        state = turn["state"]
        dom = recording.blob(state["dom"]).decode()
        number = int(dom.partition("<p ")[2].partition(">")[2].partition("<")[0])
        numbers.append(number)
        if not state["screenshot"] or state["stale"]:
            marked += 1
            continue
        blue, _, red = cv2.imdecode(np.frombuffer(recording.blob(state["screenshot"]), np.uint8), 1)[300, 400]
        good = bool((blue > red) == bool(number % 2))
        right, wrong = right + good, wrong + (not good)
        seen += int(blue > red) in {sum(effect <= turn["timestamp"] + step for effect in effects[:number]) % 2
                                    for step in (-_STEP, 0, _STEP)}
        ages.append(turn["timestamp"] - state["screenshot_time"])
        if not good:
            print(f"  press {number} at {turn['timestamp']:.3f}: the picture of {state['screenshot_time']:.3f} is from "
                  f"before the press at {before['timestamp']:.3f}")
    return {"flips": flips, "told": len(clicks), "lost": len(set(range(flips)) - set(numbers)),
            "out_of_order": sum(one > other for one, other in zip(numbers, numbers[1:], strict=False)),
            "dom_before": sum(number == index for index, number in enumerate(numbers)) / max(flips, 1),
            "picture_before": right / max(flips, 1), "picture_as_seen": seen / max(flips, 1),
            "picture_marked": marked / max(flips, 1),
            "picture_wrong": wrong / max(flips, 1), "picture_age_ms": round(1000 * statistics.median(ages or [0])),
            "seconds": round(flips * _PACE + max(0.0, late[-1] if late else 0.0), 1)}


def _effects(recording: Recording, clicks: list[BrowserTurn], shown: list[list[float]]) -> list[float]:
    """When the effect of each press was on the screen, in seconds of the recording."""
    start = recording.manifest["started_at"].timestamp()
    told = {round(epoch / 1000 - start, 2): duration / 1000 for epoch, duration in shown}
    return [turn["timestamp"] + next((told[key] for step in (0, -0.01, 0.01)
                                      if (key := round(round(turn["timestamp"], 2) + step, 2)) in told), 0.016)
            for turn in clicks]


async def play(recording_browser: RecordingBrowser, url: str, seed: int, actions: int) -> None:
    """Let a random driver act on one page."""
    async def driver(page: Page) -> None:
        await page.evaluate(f"() => {{ Math.seedrandom('{seed}'); core.EPISODE_MAX_TIME = 1e8 }}")
        player = Driver(page, random.Random(seed))
        for _ in range(actions):
            if not await player.act():
                break
            await asyncio.sleep(_PACE)

    await recording_browser.record(url, driver)


async def run(options: argparse.Namespace, folder: Path) -> dict:
    async with async_playwright() as playwright:
        context = await launch(playwright, folder / "profile", viewport=_VIEWPORT)
        await context.add_init_script(WITNESS)
        async with Panel(context) as panel:
            recording_browser = RecordingBrowser(context, panel, folder)
            (folder / "flip.html").write_text(FLIP)
            with serve(folder) as origin:
                flipped = await flip(recording_browser, f"{origin}/flip.html", options.flips)
            print(json.dumps(flipped))
            names = sorted(path.name for path in (miniwob_folder() / "miniwob").glob("*.html"))
            random.Random(options.seed).shuffle(names)
            played = len(recording_browser.recordings)
            with serve(miniwob_folder()) as origin:
                for index, name in enumerate(names[:options.pages]):
                    await play(recording_browser, f"{origin}/miniwob/{name}", options.seed + index, options.actions)
        await context.close()
        browser = await launch_plain(playwright, headless=True)
        viewport: ViewportSize = {"width": _VIEWPORT[0], "height": _VIEWPORT[1]}
        shown = await compare(browser, recording_browser.recordings[played:], viewport)
        await browser.close()
    return {"benchmark": "extension", "seed": options.seed, **flipped, "pages": options.pages, **shown}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--flips", type=int, default=1000)
    parser.add_argument("--pages", type=int, default=16, help="miniwob pages")
    parser.add_argument("--actions", type=int, default=16, help="actions on each page")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="keep the recordings in this folder")
    options = parser.parse_args()
    folder = options.keep or Path(tempfile.mkdtemp(prefix="demotape-extension-"))
    folder.mkdir(parents=True, exist_ok=True)
    try:
        figures = asyncio.run(run(options, folder))
    finally:
        if not options.keep:
            shutil.rmtree(folder)
    print(json.dumps({key: round(value, 4) if isinstance(value, float) else value for key, value in figures.items()}))


if __name__ == "__main__":
    main()
