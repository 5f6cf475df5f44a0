"""Bytes per action of a recording, beside the same session in WebLINX layout.

    python -m benchmarks.size [--actions N] [--seed N]

One session: the demo's flight, then a seeded random driver on pages of Debian's python3-doc where it is installed. Ours
is the whole recording without its video, which our WebLINX export does not hold either; with it, it is told apart.
WebLINX's is what that layout keeps of each action: a page (HTML), a picture (PNG) and boxes (JSON), and its replay.
"""

import argparse
import asyncio
import json
import random
import shutil
import tempfile
from pathlib import Path

from playwright.async_api import ViewportSize, async_playwright

from demotape.navigator import book_flight
from demotape.site import miniwob_folder, serve, serve_airline
from pipeline import process
from pipeline.export import Source, export
from recorder import Recorder, Recording
from recorder.browser import launch

from .driving.driver import WITNESS, Driver
from .fidelity import docs_folder

_VIEWPORT: ViewportSize = {"width": 1280, "height": 720}
_PAGES = ("library/functions.html", "tutorial/index.html", "library/json.html")
_PACE = 0.3


async def session(directory: Path, actions: int, seed: int) -> None:
    """Record the session."""
    docs = docs_folder()
    async with async_playwright() as playwright:
        browser = await launch(playwright, headless=True)
        context = await browser.new_context(viewport=_VIEWPORT)
        await context.add_init_script(WITNESS)
        page = await context.new_page()
        with serve_airline() as site, serve(docs or miniwob_folder()) as origin:
            async with Recorder(context, directory):
                await book_flight(page, site)
                for number, name in enumerate(_PAGES if docs else ()):
                    await page.goto(f"{origin}/{name}")
                    driver = Driver(page, random.Random(seed + number))
                    for action in range(actions):
                        if action % 5 == 4:
                            await driver.wheel(driver.random.choice((-300, 400, 700)))
                        else:
                            await driver.act()
                        await asyncio.sleep(_PACE)
        await browser.close()


def size_of(folder: Path) -> int:
    """Bytes of all files below a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def weblinx_bytes(folder: Path) -> tuple[int, int]:
    """Bytes that WebLINX's layout keeps, and its actions: every action has a page, picture and boxes of its own."""
    (demonstration,) = (folder / "demonstrations").iterdir()
    total = actions = 0
    for turn in json.loads((demonstration / "replay.json").read_text())["data"]:
        total += len(json.dumps(turn))
        state = turn.get("state") or {}
        if turn["type"] != "browser" or not state.get("page"):
            continue
        actions += 1
        number = state["page"].split("-")[1]
        for name in (f"pages/{state['page']}", f"screenshots/{state['screenshot']}", f"bboxes/bboxes-{number}.json"):
            total += (demonstration / name).stat().st_size
    return total, actions


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--actions", type=int, default=25, help="actions on each page")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="demotape-size-"))
    try:
        asyncio.run(session(folder / "session", options.actions, options.seed))
        video = (folder / "session" / "video.webm").stat().st_size
        ours = size_of(folder / "session") - video
        demonstration = process(folder / "session")
        export([Source(demonstration, Recording(folder / "session"))], folder / "export", "weblinx")
        theirs, actions = weblinx_bytes(folder / "export")
    finally:
        shutil.rmtree(folder)
    print(f"{actions} actions: {ours / actions:.0f} bytes each, the video {video / actions:.0f}; "
          f"in WebLINX layout {theirs / actions:.0f}")
    print(json.dumps({"benchmark": "size", "actions": actions, "bytes_per_action": round(ours / actions),
                      "video_bytes_per_action": round(video / actions),
                      "weblinx_bytes_per_action": round(theirs / actions), "ratio": round(ours / theirs, 4),
                      "ratio_with_video": round((ours + video) / theirs, 4)}))


if __name__ == "__main__":
    main()
