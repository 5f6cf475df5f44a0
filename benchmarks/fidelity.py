"""Is all recorded that a driver does, in order, on the right element, from before its effect, and can it be shown?

    python -m benchmarks.fidelity [--pages N] [--actions N] [--flips N] [--seed N] [--keep DIR]

A seeded random driver acts with trusted input on pages of the package miniwob and on larger pages of Debian's
python3-doc, and keeps its own log. Printed: recall, precision, order and element agreement of the folded turns; the
share of presses on a page that flips at once, at 10 a second, in five places, whose DOM and screenshot show the state
before, and of good screenshots that show the target in its box when it was just scrolled to
(`benchmarks/driving/places.py`); and how every kept DOM, rendered offline in a fresh browser without network, agrees
with its screenshot (SSIM) and its target's box.
"""

import argparse
import asyncio
import json
import random
import shutil
import tempfile
from collections import Counter
from difflib import SequenceMatcher
from pathlib import Path

from playwright.async_api import Browser, Playwright, ViewportSize, async_playwright

from demotape.site import miniwob_folder, serve
from pipeline.turns.folding import fold
from recorder import Recorder, Recording
from recorder.browser import launch
from schemas.types.recordings import BrowserTurn

from .driving import places
from .driving.driver import WITNESS, Driver, UserAction
from .driving.offline import compare

_PACE = 0.1  # seconds between two actions
_VIEWPORT: ViewportSize = {"width": 500, "height": 400}
_DOCS = ("library/functions.html", "library/stdtypes.html", "tutorial/index.html", "genindex-P.html")


def docs_folder() -> Path | None:
    """HTML of Debian's package python3-doc, if it is installed."""
    return next((path for path in Path("/usr/share/doc").glob("python3*/html") if (path / "genindex-P.html").exists()),
                None)


def told(turn: BrowserTurn) -> tuple:
    """A turn as the driver's log would tell it."""
    arguments, intent = turn["arguments"], turn["intent"]
    path = turn["element"]["xpath"] if turn["element"] else None
    detail = {"textInput": arguments.get("text"), "press": arguments.get("key"), "scroll": arguments.get("y"),
              "change": arguments.get("checked", arguments.get("value"))}.get(intent)
    return intent, path, detail


def matches(actions: list[tuple], turns: list[tuple]) -> tuple[int, int]:
    """How many actions are told, in order, by a turn of the same intent and detail; and how many of those also by the
    same element."""
    def keys(items: list[tuple]) -> list[tuple]:
        return [(intent, round(detail) if isinstance(detail, float) else detail) for intent, _, detail in items]

    blocks = SequenceMatcher(None, keys(actions), keys(turns), autojunk=False).get_matching_blocks()
    pairs = [(actions[a + i], turns[b + i]) for a, b, size in blocks for i in range(size)]
    return len(pairs), sum(action[1] == turn[1] for action, turn in pairs)


async def play(browser: Browser, url: str, directory: Path, seed: int, actions: int, *, miniwob: bool
               ) -> list[UserAction]:
    """Let a driver act on one page under the recorder; returns its log."""
    context = await browser.new_context(viewport=_VIEWPORT)
    await context.add_init_script(WITNESS)
    page = await context.new_page()
    driver = Driver(page, random.Random(seed))
    async with Recorder(context, directory):
        await page.goto(url)
        if miniwob:
            await page.evaluate(f"() => {{ Math.seedrandom('{seed}'); core.EPISODE_MAX_TIME = 1e8 }}")
        for number in range(actions):
            if not miniwob and number % 8 == 3:
                await driver.visit_in_a_tab()
            elif not miniwob and number % 6 == 5:
                await driver.wheel(driver.random.choice((-300, 400, 700)))
            elif not await driver.act():
                break
            await asyncio.sleep(_PACE)
    await context.close()
    return driver.actions


async def run(options: argparse.Namespace, folder: Path) -> dict:
    found: Counter[str] = Counter()
    misses: list[str] = []
    recordings: list[Path] = []
    async with async_playwright() as playwright:
        browser = await launch(playwright, headless=True)

        async def one(name: str, url: str, seed: int, miniwob: bool) -> None:
            directory = folder / f"rec-{len(recordings)}"
            actions = [(action.intent, action.path, action.detail)
                     for action in await play(browser, url, directory, seed, options.actions, miniwob=miniwob)]
            recordings.append(directory)
            turns = [told(turn) for turn in fold(Recording(directory).events)][1:]
            good, same = matches(actions, turns)
            found.update(actions=len(actions), turns=len(turns), matched=good, elements=same)
            if good < max(len(actions), len(turns)) or same < good:
                misses.append(name)
                print(f"  {name}: {len(actions)} done, {len(turns)} told, {good} agree, {same} on the same element")
                if options.verbose:
                    for action in actions:
                        print("    did ", action)
                    for turn in turns:
                        print("    told", turn)

        names = sorted(path.name for path in (miniwob_folder() / "miniwob").glob("*.html"))
        random.Random(options.seed).shuffle(names)
        with serve(miniwob_folder()) as origin:
            for index, name in enumerate(names[:options.pages]):
                if options.match not in name:
                    continue
                await one(name, f"{origin}/miniwob/{name}", options.seed + index, True)
        docs = docs_folder()
        if docs and not options.only:
            with serve(docs) as origin:
                for index, name in enumerate(_DOCS):
                    if options.match not in name:
                        continue
                    await one(name, f"{origin}/{name}", options.seed + index, False)
        placed = await _places(playwright, browser, folder, options) if options.flips else {}
        shown = await compare(browser, recordings, _VIEWPORT) if not options.no_render else {}
        await browser.close()
    return {"benchmark": "fidelity", "seed": options.seed, "pages": len(recordings), "actions": found["actions"],
            "recall": found["matched"] / max(found["actions"], 1),
            "precision": found["matched"] / max(found["turns"], 1),
            "element_agreement": found["elements"] / max(found["matched"], 1), "pages_with_misses": misses,
            "flips": options.flips, **placed, **shown}


async def _places(playwright: Playwright, browser: Browser, folder: Path, options: argparse.Namespace) -> dict:
    """Figures of the five places, and of the boxes; the worst of each first."""
    pages = folder / "pages"
    pages.mkdir(exist_ok=True)
    flips, boxes = {}, {}
    with serve(pages) as origin:
        places.write_pages(pages, origin.replace("127.0.0.1", "localhost"))
        for place in places.PLACES:
            flips[place] = await places.flips(playwright, browser, place, origin, folder, options.flips)
            print(f"  {place}: {flips[place]}", flush=True)
        for name in places.MOVING:
            boxes[name] = await places.boxes(browser, name, origin, folder, max(options.flips // 10, 10), options.seed)
            print(f"  {name} buttons: {boxes[name]}", flush=True)
    worst = {figure: min(found[figure] for found in flips.values())
             for figure in ("heard", "dom_before", "picture_before_or_not_good")}
    return {**worst, "good_with_target_in_box": min(found["in_box"] for found in boxes.values()),
            "places": flips, "boxes": boxes}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pages", type=int, default=64, help="miniwob pages")
    parser.add_argument("--actions", type=int, default=32, help="actions on each page")
    parser.add_argument("--flips", type=int, default=1000, help="presses in each place")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--match", default="", help="only pages with this in their name")
    parser.add_argument("--only", action="store_true", help="miniwob pages only")
    parser.add_argument("--no-render", action="store_true")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--keep", type=Path, help="keep the recordings in this folder")
    options = parser.parse_args()
    folder = options.keep or Path(tempfile.mkdtemp(prefix="demotape-fidelity-"))
    folder.mkdir(parents=True, exist_ok=True)
    try:
        figures = asyncio.run(run(options, folder))
    finally:
        if not options.keep:
            shutil.rmtree(folder)
    print(json.dumps({key: round(value, 4) if isinstance(value, float) else value for key, value in figures.items()}))


if __name__ == "__main__":
    main()
