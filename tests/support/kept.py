"""Files of a format's version, stored permanently in tests/data/v<version>: later versions of demotape must open them.

`python -m tests.support.kept make v1` records them with the code as it stands (never again once a version is out);
`python -m tests.support.kept expect v1` writes anew what is expected of them, after a change of the
pipeline's rules or of an export that is meant.
"""

import asyncio
import hashlib
import io
import json
import shutil
import sys
import tarfile
import tempfile
from pathlib import Path

import cv2
import numpy
import pyarrow.parquet
from playwright.async_api import Page, async_playwright

from pipeline import process
from pipeline.export import FORMATS, Source, export
from pipeline.export.manifest import tool_version
from recorder import Recorder, Recording
from recorder.browser import launch
from schemas.files import dump_json

from . import chrome
from .samples.sessions import click_in, painted
from .services.site import Site

DATA = Path(__file__).parents[1] / "data"
TASK = "Order two lamps"
VIEWPORT = {"width": 300, "height": 200}
PAGES = {
    "/": """<!DOCTYPE html><title>Lamps</title><link rel="stylesheet" href="/style.css">
<form action="/done"><label>Name <input id="name" name="name" autocomplete="off"></label>
<label>Lamp <select id="lamp" name="lamp">
<option value="desk">Desk</option><option value="floor">Floor</option></select></label>
<label>Password <input id="password" type="password"></label></form>
<iframe id="frame" src="/frame" width="200" height="50"></iframe>
<p style="margin-top: 10em"><a id="on" href="/done">Order</a>""",
    "/frame": """<!DOCTYPE html><title>Number</title>
<button id="two" onclick="this.textContent = 'Two lamps'">Two</button>""",
    "/done": """<!DOCTYPE html><title>Ordered</title><h1>Thank you</h1>""",
    "/style.css": ("text/css", b"body { background: #fff; font: 16px sans-serif } label { display: block }"),
}


async def user_actions(page: Page) -> None:
    """What the person does: a click, typing, a choice, a password, a click in a frame, a scroll, a link."""
    await page.click("#name")
    await page.keyboard.type("Ada")
    await page.keyboard.press("Tab")
    await page.keyboard.press("f")  # a choice by its first letter: what Playwright selects by itself nobody does
    await page.click("#password")
    await page.keyboard.type("pass-9")
    await painted(page)
    await click_in(page, page.frames[1], "#two")
    await painted(page)
    await page.mouse.wheel(0, 400)
    await page.wait_for_timeout(500)
    await click_in(page, page, "#on")
    await page.wait_for_url("**/done*")
    await painted(page)


def make(folder: Path) -> None:
    """Record and process the kept recording, and save a package of the extension and an export."""
    folder.mkdir(parents=True)
    site = Site(PAGES)
    try:
        asyncio.run(_record(folder / "kept", site.origin))
        asyncio.run(_package(folder / "package.zip", site.origin))
    finally:
        site.close()
    process(folder / "kept")
    _export(folder / "kept", folder / "export", "parquet", screenshots="jpg")
    shutil.rmtree(folder / "kept" / "derived", ignore_errors=True)  # can be made again
    expect(folder)


async def _record(directory: Path, url: str) -> None:
    async with async_playwright() as playwright:
        browser = await launch(playwright, headless=True)
        context = await browser.new_context(viewport=VIEWPORT)
        page = await context.new_page()
        async with Recorder(context, directory, TASK, har=True) as recorder:
            await page.goto(url)
            await painted(page)
            recorder.say("instructor", "Two floor lamps, please")
            await user_actions(page)
            recorder.say("navigator", "Done")
        await browser.close()
        assert not recorder.problems, recorder.problems


async def _package(path: Path, url: str) -> None:
    with tempfile.TemporaryDirectory() as profile:
        async with async_playwright() as playwright:
            context = await chrome.launch(playwright, Path(profile), viewport=(300, 200))
            async with chrome.Panel(context) as panel:
                page = await context.new_page()
                started = await panel.ask("start", task=TASK, window=await panel.window_of(page))
                await page.goto(url)
                await painted(page)
                await page.click("#name")
                await page.keyboard.type("Ada")
                await click_in(page, page.frames[1], "#two")
                await painted(page)
                await panel.ask("stop")
                await panel.package(started["id"], path)
            await context.close()


def expect(folder: Path) -> None:
    """Write expected.json: what processing and exporting the kept recording gives."""
    with tempfile.TemporaryDirectory() as work:
        (folder / "expected.json").write_bytes(dump_json(outcome(folder / "kept", Path(work))))


def outcome(kept: Path, work: Path) -> dict:
    """SHA-256 of what a kept recording's demonstration and exports say, apart from versions of tools and formats."""
    recording = work / kept.name
    shutil.copytree(kept, recording)
    found = {"demonstration.json": _sha256(_without_versions(process(recording)))}
    for layout in FORMATS:
        # Bytes of what is packed with a loss depend on a library's version.
        options = {"screenshots": "png"} if layout not in ("weblinx", "mind2web") else {}
        target = _export(recording, work / layout, layout, **options)
        for path in sorted(path for path in target.rglob("*") if path.is_file()):
            found[f"{layout}/{path.relative_to(target).as_posix()}"] = _sha256(told(path.name, path.read_bytes()))
    return found


def told(name: str, content: bytes) -> object:
    """What a file says: the bytes, but where a library's version decides how they are packed."""
    if name.endswith(".png"):
        pixels = cv2.imdecode(numpy.frombuffer(content, numpy.uint8), cv2.IMREAD_UNCHANGED)
        return [pixels.shape, hashlib.sha256(pixels.tobytes()).hexdigest()]
    if name.endswith(".parquet"):
        return _rows(pyarrow.parquet.read_table(io.BytesIO(content)).to_pylist())
    if name.endswith(".tar"):
        with tarfile.open(fileobj=io.BytesIO(content)) as tar:
            return [[one.name, _sha256(told(one.name, tar.extractfile(one).read()))] for one in tar.getmembers()]
    if name in ("demotape.json", "metadata.json", "replay.json"):  # weblinx's two name the version that wrote them
        return _without_versions(json.loads(content))
    if name == "manifest.json":
        manifest = _without_versions(json.loads(content))
        manifest["files"] = [[file["path"], file["samples"]] for file in manifest["files"]]
        for each in manifest["demonstrations"]:  # digests of our code, and of what libraries pack
            each.pop("fingerprint", None)
            each.pop("turn_digests", None)
        return {key: value for key, value in manifest.items() if key not in ("tool", "size")}
    if name == "croissant.json":  # sizes and digests are those of packed files
        document = json.loads(content)
        document["distribution"] = [{key: value for key, value in each.items() if key not in ("sha256", "contentSize")}
                                    for each in document["distribution"]]
        return document
    if name == "README.md":
        content = content.replace(f"demotape {tool_version()}".encode(), b"demotape")
    return hashlib.sha256(content).hexdigest()


def _export(recording: Path, target: Path, layout: str, **options) -> Path:
    demonstration = json.loads((recording / "demonstration.json").read_bytes())
    export([Source(demonstration, Recording(recording))], target, layout, **options)
    return target


def _rows(value: object) -> object:
    if isinstance(value, bytes):
        return told("x.png", value) if value.startswith(b"\x89PNG") else hashlib.sha256(value).hexdigest()
    if isinstance(value, list):
        return [_rows(one) for one in value]
    if isinstance(value, dict):
        return {key: _rows(one) for key, one in value.items()}
    return value


def _without_versions(content: dict) -> dict:
    return {key: value for key, value in content.items() if key != "version"}


def _sha256(value: object) -> str:
    if isinstance(value, str) and len(value) == 64:
        return value
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()


if __name__ == "__main__":
    {"make": make, "expect": expect}[sys.argv[1]](DATA / sys.argv[2])
