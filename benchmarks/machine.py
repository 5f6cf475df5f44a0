"""What recording asks of the machine: processor time on pages that only paint, and how long a server that shares the
machine takes to answer.

Measured with the recorder and without it, in turns, so that what else the machine does weighs on both alike; the server
also with @rrweb/record and with Playwright's tracing in the same round.
"""

import asyncio
import http.server
import random
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, suppress
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
import psutil
from playwright.async_api import Browser, BrowserContext, Page, ViewportSize

from recorder import Recorder

SIZE: ViewportSize = {"width": 1280, "height": 720}
_SETTLING, _WATCHED = 3.0, 6.0  # seconds before, and in which processor time is counted
_STEPS = 6  # pages of the shared server that one session goes through
_TEXT = "<p>Nothing moves in this line of text, nor in any other of this page.</p>" * 30
_SPINNER = ("<style>@keyframes turn { to { transform: rotate(360deg) } } #s { width: 60px; height: 60px; border: 8px"
            " solid #ccc; border-top-color: #36c; border-radius: 50%; animation: turn 1s linear infinite }</style>"
            "<div id=s></div>")
_CANVAS = ("<canvas id=c width=600 height=400></canvas><script>const x = c.getContext('2d'); let n = 0;"
           " function draw() { n++; x.fillStyle = `hsl(${n % 360} 80% 60%)`;"
           " x.fillRect(n * 7 % 600, n * 3 % 400, 80, 60);"
           " requestAnimationFrame(draw) } draw()</script>")
_VIDEO = "<video src=video.webm autoplay muted loop width=640 height=360></video>"
PAGES = {"still": _TEXT, "spinner": _SPINNER + _TEXT, "canvas": _CANVAS + _TEXT, "video": _VIDEO + _TEXT}


def write_pages(folder: Path) -> None:
    """The pages on which processor time is measured, one folder's files."""
    for name, body in PAGES.items():
        (folder / f"{name}.html").write_text(f"<!DOCTYPE html><title>{name}</title>{body}")
    with av.open(str(folder / "video.webm"), "w") as container:
        stream = container.add_stream("libvpx", rate=25)
        stream.width, stream.height, stream.pix_fmt = 640, 360, "yuv420p"
        stream.time_base = Fraction(1, 25)
        for number in range(75):
            picture = np.full((360, 640, 3), number * 3, np.uint8)
            picture[100:200, number * 8:number * 8 + 40] = 255
            container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="bgr24")))
        container.mux(stream.encode())


def processor_time() -> float:
    """Seconds of processor time that this process and all that it has started have taken so far."""
    total = 0.0
    for process in [psutil.Process(), *psutil.Process().children(recursive=True)]:
        try:
            times = process.cpu_times()
        except psutil.NoSuchProcess:
            continue
        total += times.user + times.system
    return total


async def added_cores(browser: Browser, url: str, folder: Path, rounds: int) -> dict[str, float]:
    """Seconds of processor time a second while a page is only looked at: without the recorder, and what it adds."""
    found: dict[bool, list[float]] = {False: [], True: []}
    for number in range(rounds):
        for recorded in (False, True):
            found[recorded].append(await _in_context(browser, _watch(url), folder / f"{number}" if recorded else None))
    without = statistics.median(found[False])
    return {"without": without, "added": statistics.median(found[True]) - without}


def _watch(url: str) -> Callable[[Page], Any]:
    async def watch(page: Page) -> float:
        await page.goto(url)
        await asyncio.sleep(_SETTLING)
        before, start = processor_time(), time.perf_counter()
        await asyncio.sleep(_WATCHED)
        return (processor_time() - before) / (time.perf_counter() - start)
    return watch


async def _in_context(browser: Browser, work: Callable[[Page], Any], directory: Path | None) -> Any:
    """Do work in a new page, recorded to a directory if one is given."""
    context = await browser.new_context(viewport=SIZE)
    try:
        if directory is None:
            return await work(await context.new_page())
        async with Recorder(context, directory):
            return await work(await context.new_page())
    finally:
        await context.close()


class _Application(http.server.BaseHTTPRequestHandler):
    """Pages that take their server some work, as those of an application with a database and templates."""

    def do_GET(self) -> None:
        random.seed(self.path)
        rows = "".join(
            f"<tr><td>{random.getrandbits(60)}</td><td><a href=/{random.getrandbits(30)}>Entry {number}</a></td>"
            f"<td>{sum(random.random() for _ in range(900)):.3f}</td></tr>" for number in range(400))
        body = ("<!DOCTYPE html><title>List</title><style>td { padding: 4px 12px; border-bottom: 1px solid #ddd; "
                "transition: background .2s } tr:hover td { background: #eef }</style>"
                f"<table>{rows}</table>").encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        with suppress(ConnectionError):  # the page was left before it had come
            self.wfile.write(body)

    def log_message(self, *given: Any) -> None:
        """Nothing to standard error."""


def main() -> None:
    """Serve the application until standard input ends; its address is the first line of output."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Application)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    sys.stdin.read()


@contextmanager
def application() -> Iterator[str]:
    """A server in a process of its own that shares the machine; its origin."""
    process = subprocess.Popen([sys.executable, "-m", "benchmarks.machine"], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True)
    assert process.stdin and process.stdout
    try:
        yield process.stdout.readline().strip()
    finally:
        process.stdin.close()
        process.wait()


async def _go_through(page: Page, origin: str) -> list[tuple[float, float]]:
    """Follow links; for each, seconds from the click to the next page's first byte, and to its load."""
    await page.goto(origin)
    times = []
    for number in range(_STEPS):
        link = page.locator("a").nth(number + 2)
        await link.scroll_into_view_if_needed()
        await asyncio.sleep(0.3)
        async with page.expect_navigation(wait_until="load"):
            start = time.time()
            await link.click(no_wait_after=True)
        timing = await page.evaluate("""() => { const [t] = performance.getEntriesByType('navigation');
            return [t.responseStart, t.loadEventStart].map(ms => (performance.timeOrigin + ms) / 1000) }""")
        times.append((timing[0] - start, timing[1] - start))
    return times


async def answers(browser: Browser, folder: Path, rounds: int, rrweb: str) -> dict[str, dict[str, list[float]]]:
    """Rounds of a session on a server that shares the machine: for each recorder, the ratios of each round's mean time
    from click to first byte, and to load, to those of the round without one. `rrweb`: source of @rrweb/record."""
    recorders: dict[str, Callable[[BrowserContext, Path], AbstractAsyncContextManager[None]]] = {
        "plain": _unrecorded, "demotape": _by_demotape, "playwright_trace": _by_playwright,
        "rrweb": lambda context, folder: _by_rrweb(context, folder, rrweb)}
    ratios: dict[str, dict[str, list[float]]] = {name: {"first_byte": [], "load": []} for name in recorders}
    with application() as origin:
        for number in range(-1, rounds):  # the first one only fills caches
            order = list(recorders)[number % len(recorders):] + list(recorders)[:number % len(recorders)]
            means: dict[str, list[float]] = {}
            for name in order:
                context = await browser.new_context(viewport=SIZE)
                async with recorders[name](context, folder / f"server-{name}-{number}"):
                    times = await _go_through(await context.new_page(), origin)
                await context.close()
                means[name] = [statistics.mean(durations) for durations in zip(*times, strict=True)]
            for name in recorders if number >= 0 else ():
                for figure, mean, plain in zip(ratios[name], means[name], means["plain"], strict=True):
                    ratios[name][figure].append(mean / plain)
    del ratios["plain"]
    return ratios


@asynccontextmanager
async def _unrecorded(context: BrowserContext, folder: Path) -> AsyncIterator[None]:
    yield


@asynccontextmanager
async def _by_demotape(context: BrowserContext, folder: Path) -> AsyncIterator[None]:
    async with Recorder(context, folder):
        yield


@asynccontextmanager
async def _by_playwright(context: BrowserContext, folder: Path) -> AsyncIterator[None]:
    """Playwright's own tracing with snapshots and screenshots."""
    await context.tracing.start(screenshots=True, snapshots=True)
    yield
    await context.tracing.stop(path=f"{folder}.zip")


@asynccontextmanager
async def _by_rrweb(context: BrowserContext, folder: Path, source: str) -> AsyncIterator[None]:
    """@rrweb/record from the document's start, each event sent to the driver; it takes no pictures."""
    with open(f"{folder}.jsonl", "w") as file:
        await context.expose_function("keepEvent", lambda line: print(line, file=file))
        await context.add_init_script(
            source + "; rrwebRecord.record({ emit: (event) => keepEvent(JSON.stringify(event)) })")
        yield


if __name__ == "__main__":
    main()
