"""Sees to it that a tab's frames show its whole viewport.

An emulated viewport may be larger than its window, of which alone there are frames. So it is with the tabs that a link
opens under Playwright. Then the window is made larger; the page itself keeps its size.
"""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Literal

from recorder.devtools.sessions import Session
from schemas.types import Size

_ENLARGE = 5  # times that a window is made larger in vain: its screen may be too small
_FRAME_OF_WINDOW = 200  # pixels that a window's tabs, bars and edges take at most
_FRAMES_BEFORE = 0.1  # seconds in which frames of the smaller window may come; Playwright may make it smaller again
_Side = Literal["width", "height"]
_SIDES: tuple[_Side, ...] = ("width", "height")


class WholeWindow:
    """The window of one page. `spawn` runs coroutines; `look_again` has the page shown once more."""

    def __init__(self, session: Session, spawn: Callable[[Coroutine], None], look_again: Callable[[], None]):
        self._session = session
        self._spawn = spawn
        self._look_again = look_again
        self._enlarging = False
        self._enlarged = 0  # times since a whole frame has come

    def see(self, shown: dict[str, Any], viewport: Size, zoom: float) -> None:
        """Look at the metadata of a frame, and have the window enlarged where it shows a part of the viewport only."""
        size = {name: shown[f"device{name.title()}"] for name in _SIDES}
        if all(viewport[name] * zoom - size[name] <= 1 for name in _SIDES):
            self._enlarged = 0
        elif not self._enlarging and self._enlarged < _ENLARGE:
            self._enlarging = True
            self._enlarged += 1
            self._spawn(self._enlarge(size, viewport))

    async def _enlarge(self, size: dict[_Side, int], viewport: Size) -> None:
        """Enlarge the window unless frames of the viewport's `size` only seem too small: it may just have changed."""
        visual = (await self._session.send("Page.getLayoutMetrics"))["cssVisualViewport"]
        zoom = visual["zoom"]  # what was known of it may be of another screen
        window = await self._session.send("Browser.getWindowForTarget")
        now = window["bounds"]
        lacking = {name: round(viewport[name] * zoom - size[name]) for name in _SIDES}
        of_now = all(now[name] - size[name] <= _FRAME_OF_WINDOW for name in _SIDES)
        truly = any(visual[f"client{name.title()}"] * zoom - size[name] > 1 for name in _SIDES)
        by_another_tab = all(now[name] == size[name] + 2 * lacking[name] for name in _SIDES)
        if of_now and truly and not by_another_tab:
            bounds = {name: now[name] + max(0, lacking[name]) for name in _SIDES}
            await self._session.send("Browser.setWindowBounds", {"windowId": window["windowId"], "bounds": bounds})
        await asyncio.sleep(_FRAMES_BEFORE)
        self._enlarging = False
        self._look_again()
