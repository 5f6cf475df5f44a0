"""How long the page's main thread is blocked by recording, beside rrweb-snapshot and CDP DOMSnapshot.

    python -m benchmarks.capture [--pages DIR] [--actions N] [--rounds N] [--only blocked|wall|machine]

On pages from 264 to 50,000 elements a driver clicks with trusted input; every click changes the page a little. What is
counted is what the browser's own trace says: the time of each `pointerdown` dispatch (the capture script's listener
and the binding: what the person's action waits for), and all script of the page's thread per action (every event,
timer and idle callback, less what the page does without the recorder). In the same run, on the same page, with the same
clicks under the same trace: a listener that calls rrweb-snapshot's `snapshot(document)`; and, by the clock,
`DOMSnapshot.captureSnapshot`. Then the wall time of one scripted session over several pages with the recorder and
without, in turns: paced like a quick driver, and as fast as the browser takes it; the mean ratio with its 95 %
interval. At last what the machine feels of it (`benchmarks/machine.py`): processor time on pages that only paint, and
the time from a click to the next page's first byte, and to its load, from a server that shares the machine, with
@rrweb/record and Playwright's tracing beside it.
"""

import argparse
import asyncio
import json
import statistics
import subprocess
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from playwright.async_api import Browser, Page, async_playwright

from demotape.site import serve
from recorder import Recorder
from recorder.browser import launch

from . import machine

PAGES = ("about.html", "index.html", "library/index.html", "glossary.html", "library/typing.html", "library/os.html",
         "genindex-P.html", "contents.html", "genindex-all.html")
_PEERS = Path(__file__).resolve().parent / "node_modules"
_RRWEB_PACKAGES = ("rrweb-snapshot@2.2.2", "@rrweb/record@2.1.6")
_CHANGE = """() => {
  let count = 0;
  const spots = [...document.querySelectorAll('p, li, dd, td')];
  addEventListener('pointerdown', () => {
    const spot = spots[(count++ * 7919) % spots.length];
    spot.classList.toggle('touched');
    spot.append(' ' + count);
  });
}"""


def default_pages() -> Path:
    """HTML of Debian's package python3-doc."""
    for path in (Path("/usr/share/doc/python3/html"), *Path("/usr/share/doc").glob("python3.*/html")):
        if (path / "contents.html").exists():
            return path
    raise SystemExit("capture: no pages; install the Debian package python3-doc or give --pages")


def rrweb_script(path: str) -> str:
    """A browser build of rrweb by its path below `node_modules`, fetched by npm once."""
    if not (_PEERS / path).exists():
        subprocess.run(["npm", "install", "--prefix", str(_PEERS.parent), "--no-save", "--no-package-lock",
                        "--ignore-scripts", "--loglevel=error", *_RRWEB_PACKAGES], check=True,
                       stdout=subprocess.DEVNULL)
    return (_PEERS / path).read_text(encoding="utf-8")


async def trace(browser: Browser, page: Page, work: Callable[[], Awaitable[None]]) -> list[dict]:
    """Main-thread events of the browser's trace while `work` runs."""
    session = await browser.new_browser_cdp_session()
    events: list[dict] = []
    done = asyncio.Event()
    session.on("Tracing.dataCollected", lambda data: events.extend(data["value"]))
    session.on("Tracing.tracingComplete", lambda _: done.set())
    await session.send("Tracing.start", {"transferMode": "ReportEvents", "traceConfig": {
        "includedCategories": ["devtools.timeline"]}})
    await work()
    await session.send("Tracing.end")
    await done.wait()
    await session.detach()
    return events


def durations(events: list[dict], name: str, kind: str | None = None) -> list[float]:
    """Durations in ms of the trace's events of one name (and DOM event type)."""
    return [event["dur"] / 1000 for event in events if event["name"] == name and "dur" in event
            and (kind is None or event["args"].get("data", {}).get("type") == kind)]


def work_per_action(events: list[dict], actions: int) -> float:
    """All script on the main thread in ms per action: every event's listeners, timers and idle callbacks."""
    return sum(sum(durations(events, name)) for name in ("EventDispatch", "TimerFire", "FireIdleCallback")) / actions


async def click_through(page: Page, actions: int) -> None:
    for number in range(actions):
        await page.mouse.click(20 + number % 5, 300 + number % 7)
        await asyncio.sleep(0.12)


async def measure(browser: Browser, url: str, actions: int, rrweb: str, folder: Path) -> dict:
    """Figures of one page, times in ms."""
    context = await browser.new_context(viewport={"width": 1280, "height": 720})
    page = await context.new_page()
    async with Recorder(context, folder):
        await page.goto(url)
        await page.evaluate(_CHANGE)
        cold = await trace(browser, page, lambda: click_through(page, 1))
        await asyncio.sleep(1)
        events = await trace(browser, page, lambda: click_through(page, actions))
    await context.close()
    context = await browser.new_context(viewport={"width": 1280, "height": 720})
    page = await context.new_page()
    await page.goto(url)
    elements = await page.evaluate("document.querySelectorAll('*').length")
    await page.evaluate(_CHANGE)
    plain = await trace(browser, page, lambda: click_through(page, actions))
    await page.evaluate(rrweb + "; addEventListener('pointerdown', () => rrwebSnapshot.snapshot(document), true)")
    peer = await trace(browser, page, lambda: click_through(page, max(actions // 2, 5)))
    session = await context.new_cdp_session(page)
    cdp = []
    for _ in range(2):
        start = time.perf_counter()
        await session.send("DOMSnapshot.captureSnapshot", {"computedStyles": [], "includeDOMRects": True})
        cdp.append((time.perf_counter() - start) * 1000)
    await context.close()
    blocked = durations(events, "EventDispatch", "pointerdown")
    rrweb_ms = statistics.median(durations(peer, "EventDispatch", "pointerdown"))
    total = work_per_action(events, actions) - work_per_action(plain, actions)
    return {"page": url.partition("//")[2].partition("/")[2], "elements": elements,
            "blocked_ms": statistics.median(blocked), "blocked_max_ms": max(blocked),
            "first_ms": max(durations(cold, "EventDispatch", "pointerdown")), "total_ms": total,
            "rrweb_ms": rrweb_ms, "cdp_ms": min(cdp), "ratio": statistics.median(blocked) / rrweb_ms,
            "total_ratio": total / rrweb_ms}


async def act(page: Page, origin: str, pages: list[str], pace: float) -> float:
    """One scripted session; returns its wall time in seconds."""
    start = time.perf_counter()
    for name in pages:
        await page.goto(f"{origin}/{name}")
        search = page.locator("input[type=search], input[type=text]").first
        for number in range(6):
            await page.mouse.click(20 + number, 300)
            await asyncio.sleep(pace)
            await page.mouse.wheel(0, 200)
            await asyncio.sleep(pace)
        await page.mouse.wheel(0, -5000)
        if await search.count() and await search.is_visible():
            await search.click()
            for key in "dict":
                await page.keyboard.press(key)
                await asyncio.sleep(pace)
    return time.perf_counter() - start


async def wall_ratios(browser: Browser, origin: str, pages: list[str], pace: float, folder: Path, rounds: int
                      ) -> list[float]:
    """Wall time of a session with the recorder, divided by that of the same without, round by round."""
    ratios = []
    for round_ in range(rounds):
        times = {}
        for recorded in (round_ % 2 == 0, round_ % 2 == 1):
            context = await browser.new_context(viewport={"width": 1280, "height": 720})
            page = await context.new_page()
            if recorded:
                async with Recorder(context, folder / f"wall-{pace}-{round_}"):
                    times[True] = await act(page, origin, pages, pace)
            else:
                times[False] = await act(page, origin, pages, pace)
            await context.close()
        ratios.append(times[True] / times[False])
    return ratios


def interval(ratios: list[float]) -> dict[str, float]:
    """Mean of paired ratios, and the half width of its 95 % interval (normal approximation)."""
    spread = statistics.stdev(ratios) if len(ratios) > 1 else float("nan")
    return {"mean": statistics.mean(ratios), "interval": 1.96 * spread / len(ratios) ** 0.5}


async def measure_pages(browser: Browser, pages: Path, actions: int, folder: Path) -> dict:
    """Blocked time on every page, beside the peers."""
    rrweb, rows = rrweb_script("rrweb-snapshot/umd/rrweb-snapshot.min.js"), list[dict]()
    with serve(pages) as origin:
        for name in PAGES:
            if (pages / name).exists():
                rows.append(await measure(browser, f"{origin}/{name}", actions, rrweb, folder / str(len(rows))))
                print("{page:<22}{elements:>7} elements: {blocked_ms:5.1f} ms (at most {blocked_max_ms:.1f}, "
                      "right after the load {first_ms:.1f}), all work {total_ms:5.1f}; rrweb {rrweb_ms:6.1f}, "
                      "cdp {cdp_ms:7.1f}; ratio {ratio:.3f}, of all work {total_ratio:.3f}"
                      .format(**rows[-1]), flush=True)
    return {"worst_ratio": max(row["ratio"] for row in rows),
            "worst_total_ratio": max(row["total_ratio"] for row in rows), "pages": rows}


async def measure_wall(browser: Browser, pages: Path, folder: Path, rounds: int) -> dict:
    """Wall time of a scripted session, paced and unpaced."""
    names, found = [name for name in PAGES if (pages / name).exists()][:6], {}
    with serve(pages) as origin:
        for name, pace in (("wall", 0.1), ("wall_unpaced", 0.0)):
            found[name] = interval(await wall_ratios(browser, origin, names, pace, folder, rounds))
            print(f"{name}: {found[name]['mean']:.3f} of the session without the recorder, "
                  f"± {found[name]['interval']:.3f}", flush=True)
    return found


async def measure_machine(browser: Browser, folder: Path, rounds: int) -> dict:
    """What the machine feels of the recorder."""
    pages, cores = folder / "machine", {}
    pages.mkdir()
    machine.write_pages(pages)
    with serve(pages) as origin:
        for name in machine.PAGES:
            cores[name] = await machine.added_cores(browser, f"{origin}/{name}.html", folder / f"cores-{name}", 3)
            print(f"{name} page: {cores[name]['added']:.2f} cores more than the {cores[name]['without']:.2f} without "
                  "the recorder", flush=True)
    rrweb, answers = rrweb_script("@rrweb/record/umd/record.min.js"), dict[str, dict]()
    for recorder, figures in (await machine.answers(browser, folder, rounds, rrweb)).items():
        answers[recorder] = {name: interval(ratios) for name, ratios in figures.items()}
        for name, ratio in answers[recorder].items():
            print(f"{recorder}: click to {name.replace('_', ' ')} on a shared machine: {ratio['mean']:.2f} ± "
                  f"{ratio['interval']:.2f}")
    return {"added_cores": max(figures["added"] for figures in cores.values()), "cores": cores, "answers": answers}


async def run(options: argparse.Namespace, folder: Path) -> dict:
    found: dict = {}
    async with async_playwright() as playwright:
        browser = await launch(playwright, headless=True)
        if options.only in (None, "blocked"):
            found |= await measure_pages(browser, options.pages or default_pages(), options.actions, folder)
        if options.only in (None, "wall"):
            found |= await measure_wall(browser, options.pages or default_pages(), folder, options.rounds)
        if options.only in (None, "machine"):
            found |= await measure_machine(browser, folder, options.rounds)
        await browser.close()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pages", type=Path)
    parser.add_argument("--actions", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=20, help="of sessions with the recorder and without")
    parser.add_argument("--only", choices=("blocked", "wall", "machine"))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="demotape-capture-") as folder:
        found = asyncio.run(run(options, Path(folder)))
    found = json.loads(json.dumps(found), parse_float=lambda text: round(float(text), 3))
    print(json.dumps({"benchmark": "capture"} | found))


if __name__ == "__main__":
    main()
