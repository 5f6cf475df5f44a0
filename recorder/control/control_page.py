"""The control page of `demotape record`: a separate window for the recorded person.

It lives in a browser context of its own, so that the recorded one never sees it; its files come from this folder and
the extension's by way of a route, so that nothing listens on the network; and it talks to the recorder through one
binding, `demotape`.
"""

import asyncio
import mimetypes
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, BrowserContext, Page, Route
from playwright.async_api import Error as PlaywrightError

from recorder.browser.session import Recorder
from schemas import DemotapeError

ORIGIN = "http://demotape.invalid"  # a name that by its standard never resolves
PAGE = f"{ORIGIN}/control.html"
SIZE = {"width": 380, "height": 760}
_EXTENSION = Path(__file__).resolve().parents[2] / "extension"
_OWN = ("control.html", "control.js", "pointing.js", "room.css")
_FILES = {f"/{name}": Path(__file__).with_name(name) for name in _OWN} | {
    f"/{Path(name).name}": _EXTENSION / name  # what it shares with the extension's panel
    for name in ("shared.js", "panel/look.css", "panel/lines.js")}
_REST = 0.05  # seconds in which news are gathered, so that fast typing is not one call a key
_SETTLES = 0.3  # seconds after which a window has the size that it keeps
_MAX_PLACEMENTS = 5  # to give a window its place; who manages the windows may give it another
_WATCH = 1.0  # seconds between looks whether the recording still runs


class ControlPage:
    """Shows a recording and steers it, from `async with` to its end.

    `stop` is called when the person presses Stop or closes the window. `windowed` gives the page a small window of its
    own; without it, for tests, it has a viewport of that size. `room`: the recording is made in a live room, whose
    instructor writes there. The window of the page `beside` gets the rest of the
    screen, so that neither is under the other.
    """

    def __init__(self, browser: Browser, recorder: Recorder, stop: Callable[[], None], *, task: str = "",
                 windowed: bool = True, beside: Page | None = None, color_scheme: str | None = None,
                 room: bool = False):
        self._browser = browser
        self._recorder = recorder
        self._stop = stop
        self._task = task
        self._options = {"no_viewport": True} if windowed else {"viewport": SIZE, "color_scheme": color_scheme}
        self._windowed = windowed
        self._room = room
        self._beside = beside
        self._news: list[dict[str, Any]] = []
        self._sent = self._starts = 0
        self._open = False

    async def __aenter__(self) -> Page:
        context = await self._browser.new_context(**self._options)
        self._context = context
        await context.route("**/*", _serve)
        await context.expose_binding("demotape", lambda _, command, *values: self._obey(command, *values))
        self._page = await (_popup(context) if self._windowed else context.new_page())
        self._page.on("close", lambda _: self._closed())
        if self._beside:
            await _move_beside(self._beside, self._page)
        self._recorder.listeners.append(self._news.append)
        self._tasks = [asyncio.ensure_future(self._send_news()), asyncio.ensure_future(self._watch())]
        self._open = True
        if not self._windowed:
            await self._page.goto(PAGE)
        return self._page

    async def __aexit__(self, kind, error, trace) -> None:
        self._open = False
        self._recorder.listeners.remove(self._news.append)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        with suppress(PlaywrightError):  # the window is closed already
            await self._context.close()

    def _closed(self) -> None:
        if self._open:
            self._stop()

    def _obey(self, command: str, *values: str) -> dict[str, Any]:
        """What the page asks for; an answer with `error` when it cannot be done."""
        recorder = self._recorder
        try:
            match command:
                case "start":  # also after a reload: everything is told again, but what was the state once
                    self._sent, self._starts = 0, self._starts + 1
                    self._news[:] = [news for news in self._news if news["type"] != "state"]
                    return {"task": self._task, "paused": recorder.paused, "elapsed": recorder.elapsed,
                            "room": self._room}
                case "say":
                    speaker, utterance = values
                    recorder.say(speaker, utterance)
                case "signal":
                    signal, success, reason = values
                    recorder.say("navigator", reason, signal, {"yes": True, "no": False}.get(success))
                case "pause":
                    recorder.pause()
                case "resume":
                    recorder.resume()
                case "undo":
                    recorder.undo_last()
                case "stop":
                    self._stop()
        except DemotapeError as error:
            return {"error": str(error)}
        return {}

    async def _send_news(self) -> None:
        """Hand the page what is new, in order."""
        while True:
            await asyncio.sleep(_REST)
            news, starts = self._news[self._sent:], self._starts
            if not news:
                continue
            with suppress(PlaywrightError):  # the page is being reloaded, or closed
                accepted = await self._page.evaluate("news => globalThis.control?.take(news) ?? false", news)
                if accepted and starts == self._starts:
                    self._sent += len(news)

    async def _watch(self) -> None:
        """A recording that had to stop must not look like one that runs."""
        while not self._recorder.failed:
            await asyncio.sleep(_WATCH)
        self._news.append({"type": "failed", "message": str(self._recorder.failed)})


async def _serve(route: Route) -> None:
    path = route.request.url.removeprefix(ORIGIN)
    if path in _FILES:
        await route.fulfill(path=_FILES[path], content_type=mimetypes.guess_type(path)[0])
    else:
        await route.abort()


async def _popup(context: BrowserContext) -> Page:
    """A small window at the right edge of the screen; only a popup may be so narrow, and it has no row of tabs."""
    opener = await context.new_page()
    async with context.expect_page() as opened:
        await opener.evaluate("""([url, { width, height }]) => {
            const left = Math.max(0, screen.availLeft + screen.availWidth - width);
            open(url, "", `popup,noopener,width=${width},height=${height},left=${left},top=${screen.availTop}`);
        }""", [PAGE, SIZE])
    page = await opened.value
    await opener.close()
    return page


async def _move_beside(page: Page, control: Page) -> None:
    """Give the window of a page the screen's part left of the control page's window."""
    screen = await control.evaluate("""() => ({ left: screen.availLeft, top: screen.availTop,
        width: screen.availWidth, height: screen.availHeight })""")
    edge = (await _window(control))["bounds"]["left"]
    session = await page.context.new_cdp_session(page)
    window = (await session.send("Browser.getWindowForTarget"))["windowId"]
    bounds = screen | {"width": edge - screen["left"]}
    await session.send("Browser.setWindowBounds", {"windowId": window, "bounds": {"windowState": "normal"}})
    requested = bounds
    for number in range(_MAX_PLACEMENTS):
        await session.send("Browser.setWindowBounds", {"windowId": window, "bounds": requested})
        await asyncio.sleep(_SETTLES)
        now = (await session.send("Browser.getWindowForTarget"))["bounds"]
        if now["width"] == bounds["width"]:
            break
        # Chromium without a screen sometimes makes each change of size twice as large: then half of it is asked for.
        halves = {name: (now[name] + bounds[name]) // 2 for name in ("width", "height")}
        requested = bounds | halves if number % 2 == 0 else bounds
    await session.detach()


async def _window(page: Page) -> dict[str, Any]:
    session = await page.context.new_cdp_session(page)
    window = await session.send("Browser.getWindowForTarget")
    await session.detach()
    return window
