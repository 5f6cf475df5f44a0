"""Sessions in a small shop, recorded, and runs that are made of them, for benchmarks.webarena_verified."""

import asyncio
import json
import shutil
import threading
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from playwright.async_api import Page, async_playwright

from pipeline.cache import derived
from pipeline.outcomes.responses import task_type
from recorder import Recorder, Recording
from recorder.browser import launch
from schemas.layout import RecordingLayout
from schemas.types.outcome import OutcomeCheck

Line = dict[str, Any]
_FORM = """<label>Lamp <input name=lamp></label><label>Size <select name=size><option>s<option>m</select></label>
<button>Order</button></form>"""
_PAGES = {
    "/": f"""<h1>Shop</h1><form method=post action=/orders>{_FORM}
<form action=/search><label>Search <input name=q></label><input type=hidden name=page value=2>
<button>Find</button></form>
<a href='/lamps/7?view=big'>Lamps</a><form method=post action=/gifts enctype=multipart/form-data>
<label>Gift <input name=gift></label><label>Price <input name=price></label><button>Give</button></form>
<button onclick="keep()">Keep</button><p id=told></p><script>
const cart = {{items: [{{name: 'Floor lamp', n: 2}}], note: {{text: 'A gift'}}, paid: true}};
const keep = () => fetch('/api/cart', {{method: 'PUT', headers: {{'Content-Type': 'application/json'}},
  body: JSON.stringify(cart)}}).then(() => told.innerText = 'Kept');</script>""",
    "/orders/1": "<h1>Thanks</h1>", "/search": "<h1>Found</h1><p>Floor lamp, 12.99 $</p>",
    "/lamps/7": "<h1>Lamp 7</h1>", "/gifts/1": "<h1>Given</h1>"}
_REDIRECTS = {"/orders": "/orders/1", "/gifts": "/gifts/1"}


@dataclass(frozen=True)
class Session:
    """A recorded session, what makes its task done, and what the person answered; `site`: the shop's address."""

    path: Path
    site: str
    checks: list[OutcomeCheck]
    answer: str


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        self._answer(200 if path in _PAGES else 404, ("<!DOCTYPE html>" + _PAGES.get(path, "None")).encode())

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        to = _REDIRECTS.get(self.path)
        self._answer(303 if to else 200, b"{}", *([("Location", to)] if to else []))

    do_PUT = do_POST

    def log_message(self, *_: Any) -> None:
        pass

    def _answer(self, status: int, content: bytes, *headers: tuple[str, str]) -> None:
        self.send_response(status)
        for name, value in (("Content-Type", "text/html; charset=utf-8"), ("Content-Length", str(len(content))),
                            *headers):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)


async def _order(page: Page) -> None:
    await page.get_by_label("Lamp").fill("Floor lamp")
    await page.get_by_label("Size").select_option("m")
    await page.get_by_role("button", name="Order").click()
    await page.get_by_text("Thanks").wait_for()


async def _search(page: Page) -> None:
    await page.get_by_label("Search").fill("lamp")
    await page.get_by_role("button", name="Find").click()
    await page.get_by_text("Found").wait_for()


async def _look(page: Page) -> None:
    await page.get_by_role("link", name="Lamps").click()
    await page.get_by_text("Lamp 7").wait_for()


async def _keep(page: Page) -> None:
    await page.get_by_role("button", name="Keep").click()
    await page.get_by_text("Kept").wait_for()


async def _give(page: Page) -> None:
    await page.get_by_label("Gift").fill("Desk lamp")
    await page.get_by_label("Price").fill("12.99")
    await page.get_by_role("button", name="Give").click()
    await page.get_by_text("Given").wait_for()


def _tasks(site: str) -> dict[str, tuple[Callable[[Page], Awaitable[None]], list[OutcomeCheck], str]]:
    """What is done in each session, what makes it done, and what is answered."""
    return {
        "order": (_order, [{"kind": "request", "method": "POST", "match": {"exact": [site + "/orders"]}, "body": {
            "lamp": {"exact": ["Floor lamp"]}, "size": {"exact": ["m", "l"]}}}], "Ordered."),
        "search": (_search, [
            {"kind": "response", "task_type": "RETRIEVE", "task_status": "SUCCESS", "data": [
                {"value": {"type": "currency", "any_of": [12.99]}}]},
            {"kind": "request", "method": "GET", "match": {"exact": [site + "/search"]}, "query": {
                "q": {"exact": ["lamp"]}}}], "$12.99"),
        "answer": (_search, [{"kind": "answer", "match": {"exact": ["Floor lamp", "Floor lamps"]}}], "floor lamp"),
        "look": (_look, [{"kind": "url", "match": {"exact": [site + "/lamps/7?view=big"]}}], ""),
        "keep": (_keep, [{"kind": "request", "method": "PUT", "match": {"exact": [site + "/api/cart"]}, "body": {
            "items.0.name": {"exact": ["Floor lamp"]}, "note.text": {"exact": ["A gift"]}, "paid": {"exact": ["true"]}},
            "status": 200}], ""),
        "give": (_give, [
            {"kind": "request", "method": "POST", "match": {"value": {"type": "url", "any_of": [site + "/gifts"]}},
             "events": "last", "ignored": ["(?i)^utm_"], "status": 303, "body": {
                 "gift": {"value": {"type": "string", "patterns": ["^(desk|floor) lamp$"]}},
                 "price": {"value": {"type": "currency", "any_of": ["13.00"]}}}},
            {"kind": "not", "checks": [{"kind": "request", "method": "POST", "events": "any", "status": None, "match": {
                "value": {"type": "url", "any_of": [site + "/orders"]}}}]}], "")}


async def recorded(folder: Path) -> list[Session]:
    """All sessions, recorded one after the other."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    site = f"http://127.0.0.1:{server.server_port}"
    found = []
    async with async_playwright() as playwright:
        browser = await launch(playwright, headless=True)
        for name, (act, checks, answer) in _tasks(site).items():
            context = await browser.new_context()
            page = await context.new_page()
            async with Recorder(context, folder / name, task="benchmark", replayable=True):
                await page.goto(site + "/")
                await act(page)
                await asyncio.sleep(0.3)
            await context.close()
            found.append(Session(folder / name, site, checks, answer))
        await browser.close()
    server.shutdown()
    server.server_close()
    return found


# --- Runs made of them


def variants(session: Session, folder: Path) -> Iterator[tuple[str, Path, str]]:
    """The run as it was and with one change each: what was changed, the recording, what was answered in it."""
    lines = [json.loads(line) for line in RecordingLayout(session.path).network.read_text().splitlines()]
    yield "as it was", session.path, session.answer
    for number, (name, answer) in enumerate(_answers(session)):
        yield name, _copied(session, folder / f"{session.path.name}-answer-{number}"), answer
    told = [place for place, line in enumerate(lines) if _is_the_one(session, line)][-1]
    for number, (name, change) in enumerate(_CHANGES.items()):
        path = folder / f"{session.path.name}-{number}"
        layout = RecordingLayout(_copied(session, path))
        edited = [dict(line) for line in lines]
        change(edited, told, layout)
        edited = [line | {"seq": seq} for seq, line in enumerate(edited, 1)]
        layout.network.write_text("".join(json.dumps(line) + "\n" for line in edited))
        yield name, path, session.answer


def _answers(session: Session) -> Iterator[tuple[str, str]]:
    """Other answers of the session."""
    kind = task_type(session.checks)
    data = [session.answer] if kind == "RETRIEVE" else None

    def told(kind: str, status: str, data: Any) -> str:
        return json.dumps({"task_type": kind, "status": status, "retrieved_data": data, "error_details": None})

    yield "not found", told(kind, "NOT_FOUND_ERROR", data)
    yield "another type", told("NAVIGATE" if kind == "MUTATE" else "MUTATE", "SUCCESS", data)
    if kind == "RETRIEVE":
        yield "another datum", told(kind, "SUCCESS", ["13.20"])
        yield "two data", told(kind, "SUCCESS", [*(data or ()), "x"])
        yield "none", told(kind, "SUCCESS", [])


def _copied(session: Session, path: Path) -> Path:
    shutil.copytree(session.path, path)
    return path


def _is_the_one(session: Session, line: Line) -> bool:
    """Whether a line is of the request that the task asks for."""
    path = {"order": "/orders", "search": "/search", "answer": "/search", "look": "/lamps/7", "keep": "/api/cart",
            "give": "/gifts"}[session.path.name]
    return line["url"].partition("?")[0] == session.site + path


def _missing(lines: list[Line], number: int, layout: RecordingLayout) -> None:
    del lines[number]


def _elsewhere(lines: list[Line], number: int, layout: RecordingLayout) -> None:
    lines[number]["url"] = lines[number]["url"].replace("?", "/x?") if "?" in lines[number]["url"] else (
        lines[number]["url"] + "/x")


def _status(lines: list[Line], number: int, layout: RecordingLayout) -> None:
    lines[number]["status"] = 500


def _unanswered(lines: list[Line], number: int, layout: RecordingLayout) -> None:
    lines[number] |= {"status": 0, "failure": "net::ERR_ABORTED"}


def _method(lines: list[Line], number: int, layout: RecordingLayout) -> None:
    lines[number]["method"] = "DELETE"


def _query(lines: list[Line], number: int, layout: RecordingLayout) -> None:
    url = lines[number]["url"]
    lines[number]["url"] = url.replace("=lamp", "=desk").replace("view=big", "view=small") if "?" in url else (
        url + "?other=1")


def _more_query(lines: list[Line], number: int, layout: RecordingLayout) -> None:
    lines[number]["url"] += ("&" if "?" in lines[number]["url"] else "?") + "utm_source=mail"


def _body(lines: list[Line], number: int, layout: RecordingLayout) -> None:
    line = lines[number]
    if line["body"]:
        content = _sent(layout, line).replace(b"Floor", b"Small").replace(b"Desk", b"Small")
        line["body"] = derived.store_derived(layout, content)


def _letters(lines: list[Line], number: int, layout: RecordingLayout) -> None:
    if lines[number]["body"]:
        lines[number]["body"] = derived.store_derived(layout, _sent(layout, lines[number]).replace(b"lamp", b"LAMP"))


def _no_body(lines: list[Line], number: int, layout: RecordingLayout) -> None:
    lines[number]["body"] = None


def _again(lines: list[Line], number: int, layout: RecordingLayout) -> None:
    """The same again, later, with something else in it."""
    lines.append(lines[number] | {"time": lines[-1]["time"] + 1})
    _body(lines, len(lines) - 1, layout)
    _query(lines, len(lines) - 1, layout)


def _order_too(lines: list[Line], number: int, layout: RecordingLayout) -> None:
    """An order as well, at the end."""
    url = lines[number]["url"].split("/", 3)
    lines.append(lines[number] | {"url": "/".join(url[:3]) + "/orders", "method": "POST", "status": 200,
                                  "time": lines[-1]["time"] + 1})


def _file(lines: list[Line], number: int, layout: RecordingLayout) -> None:
    """A picture that the last page has, which is no event."""
    url = lines[number]["url"].split("/", 3)
    lines.append(lines[number] | {"url": "/".join(url[:3]) + "/lamp.png", "method": "GET", "status": 200, "body": None,
                                  "time": lines[-1]["time"] + 1})


def _sent(layout: RecordingLayout, line: Line) -> bytes:
    return Recording(layout.root).blob(line["body"])


_CHANGES: dict[str, Callable[[list[Line], int, RecordingLayout], None]] = {
    "the request is missing": _missing, "another address": _elsewhere, "another status": _status,
    "no answer came": _unanswered, "another method": _method, "another query": _query, "more in the query": _more_query,
    "another body": _body, "other letters in the body": _letters, "no body": _no_body, "again, otherwise": _again,
    "an order too": _order_too, "a picture too": _file}
