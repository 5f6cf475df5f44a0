"""How the review page answers as sessions grow: `python -m benchmarks.curator --turns 43,999,4999,20000`.

Each session is served by gunicorn with two workers. One client asks over HTTP for the page, a turn, a drop and an undo;
a Chromium of 1280×800 pixels presses the same keys and filters. Milliseconds are medians; `cold` is the first page of
the session. The memory is that of the renderer process of the tab.
"""

import http.client
import json
import re
import statistics
import tempfile
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import cv2
import numpy
import psutil
from playwright.sync_api import Browser, Page, sync_playwright
from sqlalchemy import insert

from curator_web.db.database import open_database
from curator_web.db.models.core import BaseTurns, Demonstration, Facet
from curator_web.demonstrations.library import facets, validation_cache
from curator_web.demonstrations.library.summary import counts
from curator_web.storage.recordings import RecordingStore
from schemas.chromium import find_chromium, sandbox_arguments
from schemas.types.recordings import Demonstration as Turns
from schemas.types.recordings import Turn
from tests.support.samples.recording_fixtures import write_recording
from tests.support.services.gunicorns import Gunicorn

from .data import STARTED, WORDS, random_turn

WORKERS, THREADS = 2, 4
TURNS_PER_PAGE = 7
PICTURES = 60  # different ones; more would only measure the disk
REPEATS, REPEAT_LIMIT_S = 15, 40.0  # of each measurement, and the seconds after which no other one begins
ANSWER_TIMEOUT_MS = 240_000
HEADERS = {"HX-Request": "true", "Content-Type": "application/x-www-form-urlencoded"}
LIMITS = {"page": 2.0, "key": 1.5, "drop": 2.0}  # times those of the shortest session, at LIMIT_TURNS
LIMIT_TURNS, TAB_LIMIT_MIB = 4999, 120.0

# Resolves with the milliseconds from the next key or input to the animation frame in which the condition holds.
WATCH = """(condition) => { window.measured = new Promise((resolve, reject) => {
  setTimeout(() => reject(new Error(`never: ${condition}`)), 120_000);
  const holds = new Function(`return ${condition}`);
  const begin = () => { const begun = performance.now();
    const look = () => holds() ? resolve(performance.now() - begun) : requestAnimationFrame(look); look(); };
  for (const type of ["keydown", "input"]) addEventListener(type, begin, { capture: true, once: true }); }); }"""
PICTURE = ("document.querySelector('#turn').dataset.turn === {turn!r} && "
           "document.querySelector('#turn .screen img')?.complete !== false")
DROPPED = ("{isnt}document.querySelector('#turn [name=op][value=restore]') && !document.querySelector('.is-waiting')"
           " && {isnt}document.querySelector('#turns [aria-current]').parentElement.classList.contains('dropped')")
FILTERED = ("(() => {{ const items = [...document.querySelectorAll('#turns [data-turn]:not([hidden])')], shown = "
            "items.filter((item) => item.offsetParent); return shown.length && "
            "shown.every((item) => item.textContent.includes({word!r})); }})()")


def fill_long(url: str, data: Path, lengths: list[int]) -> None:
    """A database with one session of each length, whose recordings have the blobs that their turns name."""
    import random

    chance = random.Random(11)
    store = RecordingStore(data)
    pictures = [_picture(shade) for shade in range(PICTURES)]
    db = open_database(url)
    for length in lengths:
        name = f"long-{length}"
        recording = write_recording(data / "recordings" / name)
        page = next(event["state"]["dom"] for event in recording.events if event["state"])
        table = next(event["state"]["elements"] for event in recording.events if event["state"])
        shots = [store.store_blob(recording, picture) for picture in pictures]
        turns = [_turn(place, chance) for place in range(length)]
        for place, turn in enumerate(turns):
            if turn["type"] == "browser" and turn["state"]:
                names = _name("a", place), _name("b", place)
                turn["state"] |= {"dom": names[0], "elements": names[1], "screenshot": shots[place % PICTURES]}
                for source, target in zip((page, table), names, strict=True):
                    _link(recording.layout.blob(source), recording.layout.blob(target))
        content: Turns = {"format": "demotape/demonstration", "version": 1, "id": name, "recording": name,
                          "task": f"A session of {length} turns", "turns": turns}
        row = {"id": name, "recording": name, "task": content["task"], "site": "shop.example", "status": "draft",
               "version": 1, "recorded_at": STARTED, "imported_at": STARTED + timedelta(minutes=length),
               "changed_at": STARTED, "actor": "person", "sound": validation_cache.digest(content),
               **counts(turns, turns, [])}
        with db.writing() as session:
            session.execute(insert(Demonstration), [row])
            session.execute(insert(BaseTurns), [{"demonstration_id": name, "content": content}])
            session.execute(insert(Facet), [{"facet": facet, "value": value, "demonstration_id": name, "count": count}
                                            for (facet, value), count in facets.of_turns(turns, turns, []).items()])
    db.close()


def _turn(place: int, chance: Any) -> Turn:
    """A turn as those of the other benchmark, several of them on one page."""
    turn = random_turn(place, "shop.example", chance, "")
    if turn["type"] == "browser" and turn["state"]:
        number = place // TURNS_PER_PAGE
        turn["state"] |= {"url": f"https://shop.example/{number}",
                          "title": f"{WORDS[number % len(WORDS)]} page {number}"}
    return turn


def _picture(shade: int) -> bytes:
    """A JPEG as large as a page, with something on it."""
    pixels = numpy.full((720, 1280, 3), 120 + shade, numpy.uint8)
    for line in range(40, 700, 24):
        cv2.putText(pixels, f"{shade} A line of text on a page {line}", (40, line), 0, 0.6, (20, 20, 20), 1)
    return cv2.imencode(".jpg", pixels)[1].tobytes()


def _name(kind: str, place: int) -> str:
    return f"{kind}{place:063x}"


def _link(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    target.hardlink_to(source)


class _Client:
    """Asks for one session over HTTP, as the page does."""

    def __init__(self, port: int, name: str):
        self._port, self._address = port, f"/demonstrations/{name}"
        self._cookie = ""
        self._page = self.ask("GET", self._address)

    def ask(self, method: str, address: str, fields: dict[str, str] | None = None, htmx: bool = False) -> str:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=ANSWER_TIMEOUT_MS / 1000)
        headers = {"Cookie": self._cookie} | (HEADERS if htmx else {})
        connection.request(method, address, urlencode(fields) if fields else None, headers)
        answer = connection.getresponse()
        body = answer.read().decode()
        if cookie := answer.headers.get("Set-Cookie"):
            self._cookie = cookie.partition(";")[0]
        connection.close()
        assert answer.status == 200, body[:500]
        self.received = len(body)
        return body

    def page(self, _: int = 0) -> None:
        self._page = self.ask("GET", self._address)

    def turn(self, number: int) -> None:
        self.ask("GET", f"{self._address}?turn=t{number}", htmx=True)

    def edit(self, op: str, turn: str) -> None:
        fields = {"csrf_token": _found(r'name="csrf_token" value="([^"]+)"', self._page), "op": op, "turn": turn,
                  "version": _found(r'data-version="(\d+)"', self._page), "selected": turn}
        self._page = self.ask("POST", f"{self._address}/edits", fields, htmx=True)


def _found(pattern: str, page: str) -> str:
    match = re.search(pattern, page)
    assert match
    return match[1]


def _measured(pids: list[int], name: str, work: Callable[[int], object]) -> dict[str, float]:
    """The median time of several requests, and the mean processor time of the server, which other programs on the
    machine do not change; the first requests, in which each worker loads what it keeps, do not count."""
    for number in range(2 * WORKERS):
        work(number)
    times, begun, used = list[float](), time.perf_counter(), _processor_s(pids)
    for number in range(REPEATS + 1):
        before = time.perf_counter()
        work(number)
        times.append((time.perf_counter() - before) * 1000)
        if time.perf_counter() - begun > REPEAT_LIMIT_S:
            break
    return {f"{name}_ms": round(statistics.median(times), 1),
            f"{name}_cpu_ms": round((_processor_s(pids) - used) * 1000 / len(times), 1)}


def _processor_s(pids: list[int]) -> float:
    times = [psutil.Process(pid).cpu_times() for pid in pids]
    return sum(used.user + used.system for used in times)


def over_http(port: int, pids: list[int], length: int) -> dict[str, float]:
    """Milliseconds of the server, and the bytes of an answer to an edit, decoded."""
    begun = time.perf_counter()
    client = _Client(port, f"long-{length}")
    cold = round((time.perf_counter() - begun) * 1000, 1)
    turn = f"t{length // 2}"
    return {
        "cold_ms": cold, **_measured(pids, "page", client.page), "page_bytes": client.received,
        **_measured(pids, "turn", lambda number: client.turn(length // 2 + number % 5)),
        **_measured(pids, "edit", lambda number: client.edit(("drop", "restore")[number % 2], turn)),
        **_measured(pids, "undo", lambda number: client.edit(("undo", "redo")[number % 2], turn)),
        "edit_bytes": client.received}


def in_browser(browser: Browser, port: int, length: int) -> dict[str, float]:
    """Milliseconds from a key to what it shows, and MiB of the tab."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    page.set_default_timeout(ANSWER_TIMEOUT_MS)
    first = length // 2
    begun = time.perf_counter()
    page.goto(f"http://127.0.0.1:{port}/demonstrations/long-{length}?turn=t{first}")
    page.wait_for_load_state("networkidle")
    opened = round((time.perf_counter() - begun) * 1000, 1)
    found = {"opened_ms": opened}
    found["key_ms"] = _keys_ms(page, lambda number: ("j", PICTURE.format(turn=f"t{first + number + 1}")), 8)
    states = ("d", DROPPED.format(isnt="")), ("d", DROPPED.format(isnt="!"))
    found["drop_ms"] = _keys_ms(page, lambda number: states[number % 2], 6)
    undone = ("u", DROPPED.format(isnt="")), ("u", DROPPED.format(isnt="!"))
    found["undo_ms"] = _keys_ms(page, lambda number: undone[number % 2], 4)
    found["filter_ms"] = _filter_ms(page)
    found["tab_mib"] = _tab_mib(browser, page)
    context.close()
    return found


def _keys_ms(page: Page, key_of: Callable[[int], tuple[str, str]], repeats: int) -> float:
    times = list[float]()
    begun = time.perf_counter()
    for number in range(repeats):
        key, condition = key_of(number)
        page.evaluate(WATCH, condition)
        page.keyboard.press(key)
        times.append(page.evaluate("window.measured"))
        page.wait_for_load_state("networkidle")
        if time.perf_counter() - begun > REPEAT_LIMIT_S:
            break
    return round(statistics.median(times), 1)


def _filter_ms(page: Page) -> float:
    times = list[float]()
    for word in ("violin", "Osaka", "garden"):
        page.locator("#film-search").fill("")
        page.evaluate(WATCH, FILTERED.format(word=word))
        page.locator("#film-search").fill(word)
        times.append(page.evaluate("window.measured"))
    page.locator("#film-search").fill("")
    return round(statistics.median(times), 1)


def _tab_mib(browser: Browser, page: Page) -> float:
    """Of the largest renderer: the tab's."""
    session = browser.new_browser_cdp_session()
    pids = [process["id"] for process in session.send("SystemInfo.getProcessInfo")["processInfo"]
            if process["type"] == "renderer"]
    page.wait_for_load_state("networkidle")
    return max(_private_mib(pid) for pid in pids)


def _private_mib(pid: int) -> float:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    kibibytes = sum(int(line.split()[1]) for line in lines if line.startswith("Private_"))
    return round(kibibytes / 1024, 1)


def _missed(results: dict[int, dict[str, Any]]) -> list[str]:
    """Which figures at LIMIT_TURNS are above what docs/review.md states."""
    if LIMIT_TURNS not in results:
        return []
    shortest, long = results[min(results)], results[LIMIT_TURNS]
    ratios = {"page": long["http"]["page_cpu_ms"] / shortest["http"]["page_cpu_ms"],
              "key": long["browser"]["key_ms"] / shortest["browser"]["key_ms"],
              "drop": long["browser"]["drop_ms"] / shortest["browser"]["drop_ms"]}
    missed = [f"{name}: {ratios[name]:.2f} times" for name, limit in LIMITS.items() if ratios[name] > limit]
    tab = long["browser"]["tab_mib"]
    return missed + ([f"tab: {tab} MiB"] if tab > TAB_LIMIT_MIB else [])


def measure_long_sessions(lengths: list[int]) -> None:
    """Measure and print; raises SystemExit(1) where a figure is above its limit."""
    results = dict[int, dict[str, Any]]()
    with tempfile.TemporaryDirectory(prefix="demotape-long-") as folder, sync_playwright() as playwright:
        data = Path(folder)
        url = f"sqlite:///{data / 'demotape.db'}"
        fill_long(url, data, lengths)
        with Gunicorn(url, data, WORKERS, THREADS) as server:
            for length in sorted(lengths):
                browser = playwright.chromium.launch(
                    executable_path=find_chromium(playwright.chromium.executable_path), args=sandbox_arguments())
                results[length] = {"http": over_http(server.port, server.pids, length),
                                   "browser": in_browser(browser, server.port, length)}
                browser.close()
                print(f"{length:>6} turns: {json.dumps(results[length])}", flush=True)
    missed = _missed(results)
    print(json.dumps({"benchmark": "curator.long_sessions", "turns": results, "missed": missed}))
    if missed:
        raise SystemExit(1)
