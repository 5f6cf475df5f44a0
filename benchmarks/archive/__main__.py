"""Does the network archive have what was sent and received, byte for byte?

    python -m benchmarks.archive [--exchanges N] [--seed N] [--together N] [--keep DIR]

A page and its workers make seeded exchanges of every kind (methods, codings, charsets, sizes up to 50 MB, early ends,
ranges, redirects, forms, files, beacons, caches, event streams, WebSockets) with a server on loopback, recorded with
`--replayable`. Compared byte for byte with what the server sent and received: the recording, its WARC as warcio reads
it, its HAR, both read again by us; and what the page sees when it is served again. Exit code 1 if anything differs.
"""

import argparse
import asyncio
import json
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from playwright.async_api import Page, async_playwright

from pipeline.partial_exchanges import partial_exchanges
from recorder import Recorder, Recording
from recorder.browser import launch
from replay.archive.exchanges import Archive
from replay.archive.har_reading import read_har
from replay.archive.har_writing import write_har
from replay.archive.reading import read_recording
from replay.archive.warc.reading import read_warc
from replay.archive.warc.writing import write_warc
from replay.running.offline import open_browser
from replay.serving.server import ReplayServer

from . import comparing
from .comparing import Difference
from .planning import Planned, plan
from .server import ArchiveServer

_DONE_TIMEOUT_MS = 300_000
_REPLAY_TIMEOUT_MS = 240_000
_LISTED = 40  # differences printed of each part


async def perform(page: Page, disk_file: Path, timeout_ms: int) -> dict[int, str]:
    """Have the page make its exchanges; returns what it saw of each."""
    await page.set_input_files("#disk", disk_file)
    await page.click("#go")
    try:
        await page.wait_for_function("document.title === 'done'", timeout=timeout_ms)
    except Exception:  # what hangs is named
        print(f"  the page did not end: {await page.title()}")
    return {int(number): text for number, text in (await page.evaluate("said")).items()}


async def record(folder: Path, server: ArchiveServer, disk_file: Path) -> dict[int, str]:
    """Record the page's exchanges; returns what it saw."""
    async with async_playwright() as playwright:
        browser = await launch(playwright, headless=True)
        context = await browser.new_context()
        page = await context.new_page()
        async with Recorder(context, folder, task="benchmark", replayable=True, har=True):
            await page.goto(server.origin)
            said = await perform(page, disk_file, _DONE_TIMEOUT_MS)
        await context.close()
        await browser.close()
    return said


async def serve_again(archive: Archive, origin: str, disk_file: Path) -> dict[int, str]:
    """What the page sees when the archive is served to it."""
    async with ReplayServer(archive) as server, async_playwright() as playwright:
        browser = await open_browser(playwright, server, headless=True)
        page = await browser.new_page()
        await page.goto(origin)
        said = await perform(page, disk_file, _REPLAY_TIMEOUT_MS)
        for (method, url), times in server.missing.items():
            print(f"  served again, missing: {method} {url}, {times} times")
        await browser.close()
    return said


def seen_differently(recorded: dict[int, str], again: dict[int, str], planned: list[Planned]) -> list[Difference]:
    """Exchanges of which the page saw something else."""
    return [Difference(item.number, f"{item.kind}/{item.by}",
                       f"the page saw {again.get(item.number, 'nothing')[:150]!r} for "
                       f"{recorded.get(item.number, 'nothing')[:150]!r} {item.ending} {item.coding} {item.read}")
            for item in planned if recorded.get(item.number) != again.get(item.number)]


async def run(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    planned = plan(options.seed, options.exchanges)
    disk_file, path = folder / "ü file.bin", folder / "recording"
    disk_file.write_bytes(bytes(range(256)) * 20)
    with ArchiveServer(planned, options.together) as server:
        began = time.monotonic()
        said = await record(path, server, disk_file)
        seconds = time.monotonic() - began
        entries, carried, origin = list(server.entries), list(server.carried), server.origin
    for item in planned:
        if said.get(item.number, "no end") == "no end":
            print(f"  without an end when recorded: {item.number} {item.kind}/{item.by} {item.method} {item.ending}")
    archive = read_recording(Recording(path))
    warc, har = folder / "exchanges.warc.gz", folder / "exchanges.har"
    write_warc(archive, warc)
    write_har(archive, har)
    parts = {
        "recording": comparing.differences(entries, comparing.of_archive(archive), planned),
        "channels": comparing.channel_differences(carried, archive.channels, planned),
        "warc": comparing.differences(entries, comparing.of_warc(warc), planned, whole=False),
        "har": comparing.differences(entries, comparing.of_har(har), planned, whole=False),
        "network.har": comparing.differences(entries, comparing.of_har(path / "network.har"), planned, whole=False,
                                             decoded=True),
        "warc read again": comparing.lines_differ(archive, read_warc(warc)),
        "har read again": comparing.lines_differ(archive, read_har(har)),
    }
    parts["check"] = comparing.flagged_wrongly(partial_exchanges(Recording(path)), planned)
    if not options.no_replay:
        parts["served again"] = seen_differently(said, await serve_again(archive, origin, disk_file), planned)
    for name, differing in parts.items():
        for difference in differing[:_LISTED]:
            print(f"  {name}: {difference.number} {difference.kind}: {difference.text}")
        print(f"  {name}: {len(differing)} differences: "
              f"{dict(Counter(difference.kind for difference in differing).most_common())}", flush=True)
    return {"benchmark": "archive", "seed": options.seed, "planned": len(planned), "entries": len(entries),
            "websockets": len(carried), "seconds": round(seconds, 1),
            **{name: len(differing) for name, differing in parts.items()}}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--exchanges", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--together", type=int, default=4, help="exchanges at a time")
    parser.add_argument("--no-replay", action="store_true", help="do not serve the archive again")
    parser.add_argument("--keep", type=Path, help="folder for the recording and the files")
    options = parser.parse_args()
    folder = options.keep or Path(tempfile.mkdtemp(prefix="demotape-benchmark-"))
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        figures = asyncio.run(run(options, folder))
    finally:
        if not options.keep:
            shutil.rmtree(folder)
    print(json.dumps(figures))
    parts = [value for name, value in figures.items() if isinstance(value, int) and name not in (
        "seed", "planned", "entries", "websockets")]
    sys.exit(int(any(parts)))


if __name__ == "__main__":
    main()
