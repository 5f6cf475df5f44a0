"""How much memory does the extension's process take, and how long does Stop take, on a page that paints all the time?

    python -m benchmarks.extension_memory [--seconds N] [--size WIDTHxHEIGHT] [--scale N]

A page is recorded whose content changes 30 times a second, in a Chromium with the unpacked extension, at a viewport and
a number of device pixels per CSS pixel; it is pressed twice a second. Printed as one line of JSON: the resident memory
(MB) of the extension's process at each fifth of the time, its maximum, the seconds until Stop was answered and until
the recording could be packed, and the size of its pictures.
"""

import argparse
import asyncio
import json
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import imagesize
import psutil
from playwright.async_api import async_playwright

from demotape.site import serve
from recorder import Recording
from recorder.package.receiving import receive
from tests.support.chrome import Panel, launch

_PAGE = """<!DOCTYPE html><title>Paints</title><body style="margin:0;background:#fff;font:40px sans-serif">
<p id=n></p><div id=d style="position:absolute;width:200px;height:200px;background:teal"></div><script>
let count = 0
setInterval(() => { n.textContent = count++; d.style.left = count * 7 % 900 + 'px' }, 1000 / 30)</script>"""
_MB = 1e6


def extension_process(profile: Path) -> psutil.Process:
    """The process of the extension in the browser with that profile."""
    def of_browser() -> Iterator[psutil.Process]:
        for process in psutil.process_iter(["cmdline"]):
            arguments = process.info["cmdline"] or []
            if f"--user-data-dir={profile}" in arguments and not any(one.startswith("--type=") for one in arguments):
                yield from process.children(recursive=True)

    return next(process for process in of_browser() if "--extension-process" in process.cmdline())


async def measure(folder: Path, url: str, seconds: float, size: tuple[int, int], scale: float) -> dict[str, object]:
    """Record for some seconds; returns the figures."""
    profile, memory = folder / "profile", []
    async with async_playwright() as playwright:
        context = await launch(playwright, profile, viewport=size, scale=scale)
        async with Panel(context) as panel:
            page = await context.new_page()
            await page.goto(url)
            started = await panel.ask("start", task="benchmark", window=await panel.window_of(page))
            process = extension_process(profile)
            begun = time.monotonic()
            while (passed := time.monotonic() - begun) < seconds:
                await page.mouse.click(300, 300)
                memory.append((passed, process.memory_info().rss / _MB))
                await asyncio.sleep(0.5)
            begun = time.monotonic()
            await panel.ask("stop")
            stopped = time.monotonic() - begun
            package = await panel.package(started["id"], folder / "package.zip")
            finished = time.monotonic() - begun
        await context.close()
    receive(package, folder / "recording")
    recording = Recording(folder / "recording")
    states = [event["state"] for event in recording.events if event["state"] and event["type"] == "pointerdown"]
    pictures = [state for state in states if state["screenshot"]]
    image = folder / "picture.png"
    image.write_bytes(recording.blob(pictures[-1]["screenshot"]))
    fifths = [max(value for at, value in memory if at >= seconds * part / 5 and at < seconds * (part + 1) / 5)
              for part in range(5)]
    return {"size": size, "scale": scale, "seconds": seconds, "memory_mb": [round(value) for value in fifths],
            "maximum_mb": round(max(value for _, value in memory)), "stop_s": round(stopped, 1),
            "packed_s": round(finished, 1), "presses": len(states), "pictures": len(pictures),
            "good": sum(not state["stale"] for state in pictures), "picture_size": imagesize.get(str(image))}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--size", default="1280x720")
    parser.add_argument("--scale", type=float, default=1)
    options = parser.parse_args()
    width, height = map(int, options.size.split("x"))
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "index.html").write_text(_PAGE, encoding="utf-8")
        with serve(folder) as origin:
            url = f"{origin}/index.html"
            print(json.dumps(asyncio.run(measure(folder, url, options.seconds, (width, height), options.scale))))


if __name__ == "__main__":
    main()
