"""`python -m benchmarks.privacy --sessions`: personal data on pages that are recorded in a real Chromium, looked for in
all that is exported of them: in text, HAR, MHTML, Parquet, and in pictures by OCR and by template; secrets also in the
recordings themselves, video included."""

import asyncio
import json
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import cv2
import numpy
from playwright.async_api import Browser, BrowserContext, Page, Playwright, ViewportSize, async_playwright

from benchmarks.privacy.exports import Picture, frames, pictures, stands_in, texts
from benchmarks.privacy.pages import NOT_COVERED, PIXELS, Canary, Scene, scenes
from pipeline import process
from pipeline.export import FORMATS, Source, export
from pipeline.export.source import secret_digests_of
from recorder import Recorder, Recording
from recorder.browser import launch
from recorder.package.receiving import receive
from tests.support import chrome
from tests.support.samples.sessions import painted
from tests.support.services.site import Site

_SIZE: ViewportSize = {"width": 800, "height": 600}
_TEMPLATE_ELSEWHERE = ("title", "password that the page repeats")  # what the element shows is not the value


@dataclass
class Session:
    """A scene as it was recorded, one way or the other; `templates`: how canaries are painted, by value."""

    scene: Scene
    way: str
    recording: Recording
    templates: dict[str, numpy.ndarray]


@dataclass
class Found:
    """What was looked for and what was found, by kind of place."""

    placed: Counter[str] = field(default_factory=Counter)
    readable: dict[str, Counter[str]] = field(default_factory=dict)
    pictures: int = 0
    left_out: int = 0

    def note(self, session: Session, canary: Canary, where: Iterable[str]) -> None:
        """A canary was looked for, and can be read in these kinds of file."""
        self.placed[canary.place] += 1
        for each in dict.fromkeys(where):
            self.readable.setdefault(canary.place, Counter())[each] += 1


async def _act(page: Page, scene: Scene) -> None:
    """Scroll and press at once, by the wheel, and calmly."""
    if scene.password:
        await page.click("#p")
        await page.keyboard.type(scene.password)
        await asyncio.sleep(0.4)
        await page.click("#go")
        await page.wait_for_url("**/two*")
    if scene.popup:
        async with page.expect_popup() as opened:
            await page.click(scene.popup)
        popup = await opened.value
        await popup.wait_for_load_state()
        await popup.click("#go")
        await popup.close()
    for pause in (0, 0.3):
        await page.evaluate("scrollTo({ top: 0, behavior: 'instant' })")
        await asyncio.sleep(pause)
        await page.click("#go")
    await page.mouse.wheel(0, -400)
    await page.mouse.click(700, 300)
    await page.evaluate("scrollTo({ top: 0, behavior: 'instant' })")
    for _ in range(2):
        await asyncio.sleep(0.6)
        await painted(page)
        await page.mouse.click(780, 300)


def _serve(scene: Scene) -> Site:
    site = Site()
    site.pages |= {path: content.replace("OTHER", site.other_origin) if isinstance(content, str) else content
                   for path, content in scene.files.items()}
    return site


async def _by_recorder(browser: Browser, scene: Scene, folder: Path) -> Session:
    site = _serve(scene)
    context = await browser.new_context(viewport=_SIZE, device_scale_factor=scene.density)
    templates = await _templates(await context.new_page(), scene, site)
    await context.close()
    context = await browser.new_context(viewport=_SIZE, device_scale_factor=scene.density)
    directory = folder / f"recorder-{scene.name.replace(' ', '-')}"
    async with Recorder(context, directory, har=True, mhtml=True):
        page = await context.new_page()
        await page.goto(site.origin + "/")
        await painted(page)
        await _act(page, scene)
    await context.close()
    site.close()
    return Session(scene, "recorder", Recording(directory), templates)


async def _by_extension(panel: chrome.Panel, context: BrowserContext, scene: Scene, folder: Path) -> Session:
    site, page = _serve(scene), await context.new_page()
    templates = await _templates(page, scene, site)
    name = f"extension-{scene.name.replace(' ', '-')}"
    started = await panel.ask("start", task="benchmark", window=await panel.window_of(page))
    await page.goto(site.origin + "/")
    await painted(page)
    await asyncio.sleep(0.5)
    await _act(page, scene)
    await panel.ask("stop")
    package = await panel.package(started["id"], folder / f"{name}.zip")
    await page.close()
    site.close()
    receive(package, folder / name)
    return Session(scene, "extension", Recording(folder / name), templates)


async def _templates(page: Page, scene: Scene, site: Site) -> dict[str, numpy.ndarray]:
    """Each canary's element as the browser paints it."""
    await page.goto(site.origin + "/")
    await painted(page)
    found = {}
    for canary in scene.canaries:
        element = page.locator(canary.selector).first
        if (canary.place in _TEMPLATE_ELSEWHERE or not canary.selector.startswith("#")
                or not await element.is_visible()):
            continue
        content = await element.screenshot(scale="device")
        found[canary.value] = cv2.imdecode(numpy.frombuffer(content, numpy.uint8), cv2.IMREAD_GRAYSCALE)
    return found


@asynccontextmanager
async def _extended(playwright: Playwright, folder: Path) -> AsyncIterator[tuple[chrome.Panel, BrowserContext]]:
    context = await chrome.launch(playwright, folder / "profile")
    async with chrome.Panel(context) as panel:
        yield panel, context
    await context.close()


async def record(folder: Path, seed: int, names: Iterable[str] = ()) -> list[Session]:
    """Record all scenes, or those of some names, by the recorder, and every other one by the extension too."""
    made = [scene for scene in scenes(seed) if not names or scene.name in names]
    async with async_playwright() as playwright:
        browser = await launch(playwright, headless=True)
        sessions = [await _by_recorder(browser, scene, folder) for scene in made]
        await browser.close()
        async with _extended(playwright, folder) as (panel, context):
            flat = [scene for number, scene in enumerate(made) if scene.density == 1 and (number % 2 or scene.password)]
            sessions += [await _by_extension(panel, context, scene, folder) for scene in flat]
    return sessions


def search(sessions: list[Session], folder: Path, *, ocr: bool) -> Found:
    """Export every session in every format, and look for its canaries."""
    found, told = Found(), secret_digests_of(session.recording for session in sessions)
    for session in sessions:
        out = folder / f"export-{ocr}" / session.recording.id
        source = Source(process(session.recording.layout.root), session.recording)
        for format in FORMATS:
            summary = export([source], out / format, format, screenshots="png", set_of_marks=True, secret_digests=told,
                             ocr=ocr)
        found.left_out += summary.pictures_left_out
        shown = [Picture.of(content) for content in pictures(out)]
        found.pictures += len(shown)
        said = list(texts(out))
        for canary in session.scene.canaries:
            template = session.templates.get(canary.value)
            where = [kind for kind, text in said if stands_in(canary.value, text)]
            where += [f"picture by {how}" for each in shown if (how := each.shows(canary.value, template))]
            found.note(session, canary, where)
            if where:
                print(f"readable: {session.way} {session.scene.name}: {canary.place}, {canary.kind} {canary.value!r} "
                      f"in {dict(Counter(where))}{' with --ocr' if ocr else ''}")
    return found


def search_recordings(sessions: list[Session]) -> int:
    """In how many recordings a password that was typed in them can be read: in a file, a blob, a picture, the video."""
    readable = 0
    for session in sessions:
        if not session.scene.password:
            continue
        value, layout = session.scene.password, session.recording.layout
        files = [path.read_bytes() for path in layout.root.rglob("*") if path.is_file()]
        states = [event["state"] for event in session.recording.events if event["state"]]
        blobs = [session.recording.blob(name) for state in states for name in (state["dom"], state["elements"]) if name]
        shown = [Picture.of(session.recording.blob(name)) for name in {state["screenshot"] for state in states} if name]
        shown += list(frames(layout.video)) if layout.video.exists() else []
        where = [value.encode() in content for content in (*files, *blobs)]
        where += [bool(each.shows(value, None)) for each in shown]
        print(f"{session.way}: password looked for in {len(files)} files, {len(blobs)} blobs, {len(shown)} pictures "
              f"and frames: readable in {sum(where)}")
        readable += any(where)
    return readable


def main(seed: int, names: Iterable[str] = ()) -> int:
    """Print the figures; returns the exit status: 1 when something is readable that the documents promise is not."""
    began = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="demotape-privacy-") as name:
        folder = Path(name)
        sessions = asyncio.run(record(folder, seed, names))
        plain, read = (search(sessions, folder, ocr=ocr) for ocr in (False, True))
        secrets = search_recordings(sessions)
    print(f"{'place':34} placed  readable  with --ocr")
    for place in plain.placed:
        print(f"{place:34} {plain.placed[place]:6}  {_told(plain, place):8}  {_told(read, place)}")
    figures = {
        "readable": _readable(plain, lambda place, kind: place not in NOT_COVERED and not _is_pixels(place, kind)),
        "readable_with_ocr": _readable(read, lambda place, kind: place not in NOT_COVERED),
        "readable_in_pixels": _readable(plain, _is_pixels),
        "not_covered": _readable(plain, lambda place, kind: place in NOT_COVERED),
        "not_covered_with_ocr": _readable(read, lambda place, kind: place in NOT_COVERED)}
    print(json.dumps({
        "sessions": len(sessions), "seed": seed, "canaries": plain.placed.total(), **figures,
        "pictures": plain.pictures, "pictures_left_out": plain.left_out, "secrets_in_recordings": secrets,
        "seconds": round(time.perf_counter() - began, 1)}))
    return int(bool(figures["readable"] or figures["readable_with_ocr"] or secrets))


def _is_pixels(place: str, kind: str) -> bool:
    return place in PIXELS and kind.startswith("picture")


def _readable(found: Found, of: Callable[[str, str], bool]) -> dict[str, int]:
    """How many canaries can be read, by their place and the kind of file."""
    return {f"{place}, {kind}": count for place, kinds in found.readable.items() for kind, count in kinds.items()
            if of(place, kind)}


def _told(found: Found, place: str) -> str:
    return ", ".join(f"{kind} {count}" for kind, count in found.readable.get(place, {}).items()) or "0"
