"""Ensures that a tab's frames show exactly its whole viewport.

An emulated viewport may be larger than its window, of which alone there are frames. So it is with the tabs that a link
opens under Playwright. It may be smaller, too: then there is nothing around the page. The window is made to fit; the
page itself keeps its size.
"""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Literal

from recorder.devtools.sessions import Session
from schemas.types.recordings import Size

_MAX_RESIZES = 5  # times that a window is resized in vain: its screen may be too small
_FRAME_OF_WINDOW = 200  # pixels that a window's tabs, bars and edges take at most
_FRAMES_BEFORE = 0.1  # seconds in which frames of the window as it was may come; Playwright may resize it again
_SETTLED = 0.3  # seconds in which larger frames may be of a viewport that was larger
_Side = Literal["width", "height"]
_SIDES: tuple[_Side, ...] = ("width", "height")


class WindowFitting:
    """The window of one page. `spawn` runs coroutines; `refresh` has the page shown once more."""

    def __init__(self, session: Session, spawn: Callable[[Coroutine], None], refresh: Callable[[], None]):
        self._session = session
        self._spawn = spawn
        self._refresh = refresh
        self._resizing = False
        self._resizes = 0  # since a frame of the viewport has come
        self._size: dict[_Side, int] = {}  # of the newest frame

    def check_frame(self, shown: dict[str, Any], viewport: Size, zoom: float) -> None:
        """Look at the metadata of a frame, and have the window resized where it shows a part of the viewport only, or
        more than that."""
        self._size = {name: shown[f"device{name.title()}"] for name in _SIDES}
        lacking = [viewport[name] * zoom - self._size[name] for name in _SIDES]
        if all(abs(lack) <= 1 for lack in lacking):
            self._resizes = 0
        elif not self._resizing and self._resizes < _MAX_RESIZES and viewport["width"]:
            self._resizing = True
            self._resizes += 1
            self._spawn(self._fit(viewport, wait=0 if max(lacking) > 1 else _SETTLED))

    async def _fit(self, viewport: Size, wait: float) -> None:
        """Make the window fit unless frames only seem not to be of the viewport: that may just have changed."""
        size = self._size
        if wait:
            self._refresh()
            await asyncio.sleep(wait)
        visual = (await self._session.send("Page.getLayoutMetrics"))["cssVisualViewport"]
        zoom = visual["zoom"]  # what was known of it may be of another screen
        window = await self._session.send("Browser.getWindowForTarget")
        now = window["bounds"]
        lacking = {name: round(viewport[name] * zoom - size[name]) for name in _SIDES}
        of_now = all(now[name] - size[name] <= _FRAME_OF_WINDOW for name in _SIDES) and size == self._size
        truly = any((visual[f"client{name.title()}"] * zoom - size[name]) * lacking[name] > 1 for name in _SIDES)
        by_another_tab = all(now[name] == size[name] + 2 * lacking[name] for name in _SIDES)
        if of_now and truly and not by_another_tab:
            bounds = {name: now[name] + lacking[name] for name in _SIDES}
            await self._session.send("Browser.setWindowBounds", {"windowId": window["windowId"], "bounds": bounds})
        await asyncio.sleep(_FRAMES_BEFORE)
        self._resizing = False
        self._refresh()
