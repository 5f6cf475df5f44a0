"""Do rendered pages look as the recorded ones did, whatever holds their appearance?

    python -m benchmarks.rendering [--pages N] [--seed N] [--faults N] [--keep DIR]

Seeded small pages, made from the rows of the table "Appearance" in docs/format.md (`pages`), are recorded and rendered
offline. Printed: SSIM of each state's rendered page with its screenshot, the share of at least 0.9, how often the
target is hit, and of the pages below 0.9, among them those made to look different (`--faults`), the share that
`demotape check --rendered` flags itself; then one line of JSON.
"""

import argparse
import asyncio
import json
import shutil
import statistics
import tempfile
from collections import defaultdict
from pathlib import Path

from playwright.async_api import Browser, ViewportSize, async_playwright

from benchmarks.driving.offline import compare
from demotape.site import serve
from pipeline import refresh
from pipeline.rendered_comparison import measure
from recorder import Recorder, Recording
from recorder.browser import launch

from .pages import FAULTS, PAINT, make_page

_VIEWPORT: ViewportSize = {"width": 800, "height": 600}
_PAGES_OF_RECORDING = 10
_PACE_S = 1.0  # before the press on a page, as a person's
_LOW = 0.9  # SSIM under which a page counts as different
_READY_TIMEOUT_MS = 60_000


def write_pages(folder: Path, seed: int, count: int, faults: int, other_origin: str) -> dict[int, list[str]]:
    """Write pages and their files; returns what each contains, by its number."""
    contents: dict[int, list[str]] = {}
    (folder / "paint.js").write_text(PAINT, encoding="utf-8")
    for number in range(seed, seed + count + faults):
        fault = sorted(FAULTS)[number % len(FAULTS)] if number >= seed + count else ""
        documents, files, contents[number] = make_page(number, fault)
        contents[number] += [f"fault: {fault}"] * bool(fault)
        for name, text in documents.items():
            (folder / f"{name}-{number}.html").write_text(text.replace("ORIGIN", other_origin), encoding="utf-8")
        for path, (_, content) in files.items():
            (folder / path.strip("/")).write_bytes(content)
    return contents


async def record(browser: Browser, origin: str, numbers: list[int], directory: Path) -> list[str]:
    """Record a press on the button of each page; returns errors of the pages' own scripts."""
    errors = []
    context = await browser.new_context(viewport=_VIEWPORT)
    async with Recorder(context, directory):
        page = await context.new_page()
        for number in numbers:
            await page.goto(f"{origin}/page-{number}.html")
            for frame in page.frames:
                await frame.wait_for_function("!window.pending", timeout=_READY_TIMEOUT_MS)
                if error := await frame.evaluate("window.failed"):
                    errors.append(f"{number}: {error}")
            await asyncio.sleep(_PACE_S)
            await page.click("#go")
    await context.close()
    return errors


async def run(options: argparse.Namespace, folder: Path) -> tuple[dict, dict[tuple[str, str], float]]:
    site = folder / "site"
    site.mkdir()
    similarities: dict[tuple[str, str], float] = {}
    with serve(site) as origin:
        contents = write_pages(site, options.seed, options.pages, options.faults,
                               origin.replace("127.0.0.1", "localhost"))
        numbers = list(contents)
        recordings = []
        async with async_playwright() as playwright:
            browser = await launch(playwright, headless=True)
            for start in range(0, len(numbers), _PAGES_OF_RECORDING):
                directory = folder / f"recording-{start}"
                part = numbers[start:start + _PAGES_OF_RECORDING]
                for error in await record(browser, origin, part, directory):
                    print(f"  the page's own script failed: {error}", flush=True)
                recordings.append(directory)
            figures = await compare(browser, recordings, _VIEWPORT, similarities=similarities)
            await browser.close()
    return {**figures, "contents": contents}, similarities


def report(folder: Path, figures: dict, similarities: dict[tuple[str, str], float], options: argparse.Namespace
           ) -> dict:
    """Figures of all pages, and by what they contain; and what the product flags itself."""
    contents = figures.pop("contents")
    by_kind: dict[str, list[float]] = defaultdict(list)
    normal, low, flagged = [], [], 0
    for directory in sorted(path for path in folder.glob("recording-*") if path.is_dir()):
        refresh(directory)
        for turn in measure(Recording(directory))["turns"]:
            value = similarities.get((directory.name, turn["id"]))
            if turn["type"] != "browser" or turn["intent"] != "click" or value is None:
                continue
            number = int(turn["state"]["url"].rpartition("-")[2].partition(".")[0])
            is_fault = number >= options.seed + options.pages
            if not is_fault:
                normal.append(value)
                for kind in contents[number]:
                    by_kind[kind].append(value)
            if value < _LOW:
                low.append(number)
                known = any(check["kind"] == "rendered-differently" for check in turn["checks"])
                flagged += known or turn["state"].get("rendered") == "partial" or turn["state"]["animations"] > 0
                print(f"  page {number}: SSIM {value:.3f}{'' if known else ', not flagged'}: "
                      f"{', '.join(contents[number])}")
    for kind, values in sorted(by_kind.items()):
        print(f"  {kind}: {len(values)}, median {statistics.median(values):.4f}, lowest {min(values):.3f}")
    return {"benchmark": "rendering", "seed": options.seed, "pages": len(normal),
            "ssim_median": statistics.median(normal), "ssim_at_least_0.9": sum(v >= _LOW for v in normal) / len(normal),
            "hit_tests": figures["hit_tests"], "target_hit": figures["target_hit"], "below_0.9": len(low),
            "flagged_by_the_product": flagged / len(low) if low else None}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pages", type=int, default=150)
    parser.add_argument("--faults", type=int, default=20, help="pages that are made to look different")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="folder for pages and recordings")
    options = parser.parse_args()
    folder = options.keep or Path(tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    try:
        figures, similarities = asyncio.run(run(options, folder))
        print(json.dumps(report(folder, figures, similarities, options)))
    finally:
        if not options.keep:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
