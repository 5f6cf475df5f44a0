"""Is every state from before the effect in every place, and is the target in its box in every picture called good?

Five places: the first tab after a rest, a new page at once, a popup, a frame of another site, a browser that was
connected to. In each, what is pressed flips in listeners on window that stop every event. And a page of coloured
buttons, still and moving, on which a driver scrolls to one and presses it at once: its colour must be in its box.
"""

import asyncio
import random
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import cv2
import numpy as np
from playwright.async_api import Browser, BrowserContext, Frame, Page, Playwright, ViewportSize

from pipeline.turns.folding import fold
from recorder import Recorder, Recording
from schemas.chromium import find_chromium, sandbox_arguments

PLACES = ("first tab", "new page", "popup", "frame", "connected")
_VIEWPORT: ViewportSize = {"width": 500, "height": 400}
_POINT = 200, 200  # what is pressed, also inside the frame
_BUTTONS = 60
FLIP = """<!DOCTYPE html><body style="margin:0;background:rgb(255,0,0)"><p id=n>0</p><script>
for (const type of ['pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click']) addEventListener(type, event => {
  event.stopImmediatePropagation(); event.preventDefault();
  if (type !== 'pointerdown') return;
  n.textContent++;
  document.body.style.background = n.textContent % 2 ? 'rgb(0,0,255)' : 'rgb(255,0,0)' }, true)</script>"""
_HOLDERS = {"popup": "<a href=flip.html target=_blank style='font-size:90px'>Open</a>",
            "frame": "<!DOCTYPE html><body style='margin:0'><iframe src={other}/flip.html width=500 height=400 "
                     "style='border:0'></iframe>"}
_SPINNER = ("<style>@keyframes turn { to { transform: rotate(360deg) } }</style><div style='position:fixed;right:0;"
            "top:0;width:50px;height:50px;background:linear-gradient(red,blue);animation:turn 1s linear infinite'>"
            "</div>")
MOVING = {  # what stands before the buttons, and a script
    "still": ("", ""),
    "spinner": (_SPINNER, ""),
    "sticky": ("<div style='position:sticky;top:0;height:60px;background:white'>Head</div>", ""),
    "scroller": ("<div style='height:380px;overflow:auto'>", ""),
    "smooth": ("<style>html { scroll-behavior: smooth }</style>", ""),
    "pushed": ("", "let n = 0; setInterval(() => document.body.style.paddingTop = (n += 70) % 300 + 'px', 300)"),
    "flipping": ("", """const all = [...document.querySelectorAll('button')], was = all.map(b => b.style.background);
        addEventListener('mousedown', () => { all.forEach(b => b.style.background = 'black');
          setTimeout(() => all.forEach((b, i) => b.style.background = was[i]), 150) }, true)"""),
}


def write_pages(folder: Path, other: str) -> None:
    """The pages of all places; `other`: another origin of the same folder."""
    (folder / "flip.html").write_text(FLIP)
    for name, page in _HOLDERS.items():
        (folder / f"{name}.html").write_text(page.format(other=other))
    buttons = "".join(f"<p style='margin:30px'><button id=b{number} style='background:rgb{_colour(number)};width:120px;"
                      "height:40px;border:0;outline:0'></button></p>" for number in range(_BUTTONS))
    for name, (before, script) in MOVING.items():
        (folder / f"{name}.html").write_text(
            f"<!DOCTYPE html><body style='margin:0'>{before}{buttons}<script>{script}</script>")


async def flips(playwright: Playwright, browser: Browser, place: str, origin: str, folder: Path, count: int) -> dict:
    """Press in one place, ten times a second; how many states are from before by DOM, how many pictures are, and how
    many are called good."""
    directory = folder / f"flips-{place}"
    async with _context(playwright, browser, place) as context, Recorder(context, directory):
        page = await _go_to(context, place, origin)
        start = time.perf_counter()
        for number in range(count):
            await page.mouse.click(*_POINT)
            await asyncio.sleep(max(0.0, start + (number + 1) * 0.1 - time.perf_counter()))
    return _held_against(Recording(directory), count)


@asynccontextmanager
async def _context(playwright: Playwright, browser: Browser, place: str) -> AsyncIterator[BrowserContext]:
    if place != "connected":
        context = await browser.new_context(viewport=_VIEWPORT)
        yield context
        await context.close()
        return
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        process = subprocess.Popen([find_chromium(playwright.chromium.executable_path), "--headless=new",
                                    "--remote-debugging-port=0", f"--user-data-dir={profile}", "--no-first-run",
                                    *sandbox_arguments(), "about:blank"], stderr=subprocess.PIPE, text=True)
        try:
            assert process.stderr
            address = next(line.split()[-1] for line in process.stderr if "listening on" in line)
            other = await playwright.chromium.connect_over_cdp(address)
            yield other.contexts[0]
            await other.close()
        finally:
            process.terminate()
            process.wait()


async def _go_to(context: BrowserContext, place: str, origin: str) -> Page:
    page = context.pages[0] if context.pages else await context.new_page()
    if place == "popup":
        await page.goto(f"{origin}/popup.html")
        async with context.expect_page() as opened:
            await page.click("a")
        page = await opened.value
        await page.wait_for_load_state()
        return page
    await page.goto(f"{origin}/{'frame' if place == 'frame' else 'flip'}.html")
    if place == "first tab":
        await asyncio.sleep(1)
    return page


def _held_against(recording: Recording, count: int) -> dict:
    clicks = [turn for turn in fold(recording.events) if turn["intent"] == "click"
              and not (turn["element"] and turn["element"]["tag"] == "a")]
    found: Counter[str] = Counter()
    for number, turn in enumerate(clicks):
        state = turn["state"]
        found["dom"] += f"&gt;{number}&lt;/p&gt;" in (text := recording.blob(state["dom"]).decode()) or (
            f">{number}</p>" in text)
        if state["screenshot_status"] != "good":
            found["not good"] += 1
            continue
        blue, _, red = _pixels(recording, state["screenshot"])[300, 400]
        found["right"] += bool((blue > red) == bool(number % 2))
    return {"heard": len(clicks) / count, "dom_before": found["dom"] / count, "not_good": found["not good"] / count,
            "picture_before_or_not_good": (found["right"] + found["not good"]) / count}


async def boxes(browser: Browser, name: str, origin: str, folder: Path, presses: int, seed: int) -> dict:
    """Scroll to buttons and press them at once; how many pictures are called good, and show the button in its box."""
    directory, chosen = folder / f"boxes-{name}", random.Random(seed)
    context = await browser.new_context(viewport=_VIEWPORT)
    async with Recorder(context, directory):
        page: Page | Frame = await context.new_page()
        await page.goto(f"{origin}/{name}.html")
        for _ in range(presses):
            await page.locator(f"#b{chosen.randrange(_BUTTONS)}").click()
            await asyncio.sleep(chosen.choice((0, 0.02, 0.1, 0.3)))
    await context.close()
    recording, good, shown = Recording(directory), 0, 0
    for turn in fold(recording.events):
        state = turn["state"]
        if turn["intent"] != "click" or state["screenshot_status"] != "good":
            continue
        good += 1
        element = turn["element"]
        box, given = element["bbox"], element["attributes"]
        expected = (0, 0, 0) if "black" in given["style"] else _colour(int(given["id"][1:]))
        seen = _pixels(recording, state["screenshot"])[int(box["y"]) + 8, int(box["x"] + box["width"] / 2)][::-1]
        shown += tuple(int(value) for value in seen) == expected
    return {"good": good / presses, "in_box": shown / max(good, 1)}


def _colour(number: int) -> tuple[int, int, int]:
    return 40 + number * 53 % 200, 40 + number * 97 % 200, 40 + number * 31 % 200


def _pixels(recording: Recording, name: str) -> np.ndarray:
    return cv2.imdecode(np.frombuffer(recording.blob(name), np.uint8), cv2.IMREAD_COLOR)
