"""A live room on this machine: how late an instructor sees the screen, its cost, and whether messages survive kills.

`python -m benchmarks.room [--seconds N] [--kills N]`: a recorder on a page of 1280 × 720 that changes ten times a
second, the review app in a separate process, and the instructor's page in a second browser. Then the instructor and the
navigator write messages while the server is killed with -9 and started again. Fails when a message that was shown as
being in the recording is missing, or one is there twice or out of order. Ends with one line of JSON.
"""

import argparse
import asyncio
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
from playwright.async_api import Browser, Page, ViewportSize, async_playwright

from curator_web.db.database import open_database
from curator_web.settings import default_db_url
from curator_web.users import add_user
from demotape.client import Client
from recorder import Recorder, Recording
from recorder.browser import launch
from recorder.room.client import RoomClient

SIZE: ViewportSize = {"width": 1280, "height": 720}
STARTING_S, DELIVERY_S = 60.0, 120.0
BETWEEN_MESSAGES_S = 0.2
PAGE = """<!DOCTYPE html><title>Shop</title><body style="margin:20px;font:18px sans-serif"><h1 id=count>0</h1><script>
for (let lamp = 0; lamp < 40; lamp++) {
  document.body.append(Object.assign(document.createElement("p"), {
    textContent: `Lamp ${lamp}: brass, with a shade of linen, in stock`, style: "display:inline-block;width:300px" }));
}
let number = 0;
setInterval(() => {
  count.textContent = ++number;
  document.body.style.background = `hsl(${number % 360} 60% 90%)`;
}, 100);
</script>"""
# For each picture: how many seconds after it was painted it is shown, by the recorder's clock as the page measures it.
WATCH = """() => {
  globalThis.latencies = [];
  new MutationObserver(() => {
    const { time } = document.getElementById("picture").dataset;
    latencies.push(roomClock.recorded(roomClock.now()) - Number(time));
  }).observe(document.getElementById("picture"), { attributeFilter: ["data-number"] });
}"""
SHOWN = """() => [...document.querySelectorAll("#messages li.own")].map(item =>
  [item.querySelector(".words").textContent, item.querySelector(".fate").textContent])"""


class Server:
    """The review app in a process, on one port."""

    def __init__(self, folder: Path):
        self._folder = folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self._port}"

    def start(self) -> None:
        """Start, and wait until it answers."""
        self.process = subprocess.Popen(
            [sys.executable, "-m", "demotape", "review", "--port", str(self._port), "--data", str(self._folder)],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=os.environ)
        deadline = time.monotonic() + STARTING_S
        while time.monotonic() < deadline:
            with suppress(OSError):
                urllib.request.urlopen(f"{self.url}/healthz", timeout=5).read()
                return
            time.sleep(0.05)
        raise TimeoutError("the server did not start")

    def kill(self) -> None:
        """As kill -9."""
        self.process.kill()
        self.process.wait()

    @property
    def processor_s(self) -> float:
        times = psutil.Process(self.process.pid).cpu_times()
        return times.user + times.system


@asynccontextmanager
async def session(browser: Browser, viewer: Browser, server: Server, token: str, folder: Path
                  ) -> AsyncIterator[tuple[Recorder, Page]]:
    """A recorder in a new room, and the page of the instructor who followed its link."""
    room = await asyncio.to_thread(Client(server.url, token).open_room)
    context = await browser.new_context(viewport=SIZE)
    page = await context.new_page()
    async with Recorder(context, folder) as recorder, RoomClient(room["url"], token, recorder, print):
        await page.route("http://shop.example/", lambda route: route.fulfill(body=PAGE, content_type="text/html"))
        await page.goto("http://shop.example/")
        instructor = await (await viewer.new_context(viewport=SIZE)).new_page()
        await instructor.goto(room["link"])
        await instructor.get_by_role("button", name="Enter the room").click()
        await instructor.locator("#text:not(:disabled)").wait_for()
        yield recorder, instructor
        await instructor.context.close()
    await context.close()


async def measure(recorder: Recorder, instructor: Page, server: Server, seconds: float) -> dict[str, float]:
    """Latency and cost of the live pictures."""
    await asyncio.sleep(3)  # the clock is measured, the page is painted
    await instructor.evaluate(WATCH)
    server_before, own_before, began = server.processor_s, time.process_time(), time.monotonic()
    await asyncio.sleep(seconds)
    duration = time.monotonic() - began
    server_cores = (server.processor_s - server_before) / duration
    own_cores_with = (time.process_time() - own_before) / duration
    latencies = sorted(await instructor.evaluate("latencies"))
    await instructor.goto("about:blank")  # nobody sees it: the recorder sends no pictures
    await asyncio.sleep(1)
    own_again, again = time.process_time(), time.monotonic()
    await asyncio.sleep(seconds)
    own_cores_without = (time.process_time() - own_again) / (time.monotonic() - again)
    return {"pictures": len(latencies), "pictures_per_s": round(len(latencies) / duration, 1),
            "latency_median_ms": round(1000 * statistics.median(latencies)),
            "latency_p95_ms": round(1000 * latencies[int(0.95 * len(latencies))]),
            "server_cores": round(server_cores, 3),
            "recorder_cores_more": round(own_cores_with - own_cores_without, 3)}


async def kill_often(recorder: Recorder, instructor: Page, server: Server, kills: int) -> dict[str, int]:
    """Both write while the server is killed; returns counts of messages."""
    stopped = asyncio.Event()

    async def write() -> int:
        number = 0
        while not stopped.is_set():
            await instructor.locator("#text:not(:disabled)").fill(f"message {(number := number + 1)}")
            await instructor.keyboard.press("Enter")
            recorder.say("navigator", f"answer {number}")
            await asyncio.sleep(BETWEEN_MESSAGES_S)
        return number

    writer = asyncio.ensure_future(write())
    for _ in range(kills):
        await asyncio.sleep(1.5)
        await asyncio.to_thread(server.kill)
        await asyncio.to_thread(server.start)
    stopped.set()
    written = await writer
    deadline = time.monotonic() + DELIVERY_S
    shown: list[str] = []
    while len(shown) < written and time.monotonic() < deadline:  # the page's policy forbids to wait in it
        shown = [words for words, fate in await instructor.evaluate(SHOWN) if "in the recording" in fate]
        await asyncio.sleep(0.2)
    return {"written": written, "shown": len(shown), "in_order": shown == [
        f"message {number}" for number in range(1, written + 1)]}


def check(recording: Recording, written: int) -> None:
    """Every message of both is in the recording, once and in order."""
    for speaker, word in (("instructor", "message"), ("navigator", "answer")):
        utterances = [line["utterance"] for line in recording.chat() if line["speaker"] == speaker]
        expected = [f"{word} {number}" for number in range(1, written + 1)]
        if utterances != expected:
            raise SystemExit(f"{speaker}: {len(expected)} messages were written, {len(utterances)} are in the "
                             f"recording, {len(set(expected) - set(utterances))} of them are missing")


async def run(folder: Path, seconds: float, kills: int) -> dict[str, Any]:
    """All of it."""
    data = folder / "data"
    data.mkdir()
    database = open_database(default_db_url(data))
    token = add_user(database, "ann", "annotator")
    database.close()
    server = Server(data)
    await asyncio.to_thread(server.start)
    try:
        async with async_playwright() as playwright:
            browser = await launch(playwright, headless=True)
            viewer = await launch(playwright, headless=True)
            async with session(browser, viewer, server, token, folder / "rec-1") as (recorder, instructor):
                figures = await measure(recorder, instructor, server, seconds)
            async with session(browser, viewer, server, token, folder / "rec-2") as (recorder, instructor):
                messages = await kill_often(recorder, instructor, server, kills)
            await viewer.close()
            await browser.close()
    finally:
        server.kill()
    check(Recording(folder / "rec-2"), messages["written"])
    return {**figures, "kills": kills, "messages": 2 * messages["written"], "lost": 0,
            "shown_in_order": messages["in_order"]}


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=20, help="of the live pictures")
    parser.add_argument("--kills", type=int, default=10)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="demotape-room-") as folder:
        print(json.dumps({"benchmark": "room", **asyncio.run(run(Path(folder), options.seconds, options.kills))}))


if __name__ == "__main__":
    main()
