"""The continuous screencast of one page: every painted frame that the machine has time for, and always the last one.

The browser holds frames back while two are unacknowledged, and what it held back it never sends: a page that then stays
as it is would be shown as it was before. So it is counted how many frames it may still send; if it may have held one
back, the screencast is begun anew once the page rests, which makes the browser send what is on the screen.
"""

import asyncio
import base64
import time
from collections.abc import Callable, Coroutine
from typing import Any

from recorder.devtools.sessions import Session

_UNACKNOWLEDGED = 2  # frames that the browser sends without an acknowledgement
_AHEAD = 15  # acknowledgements given in advance, so that it sends on when this machine is busy
_STEADY = 25  # frames a second of a page that paints all the time, so that it stays fast
_REST = 0.2  # seconds without a frame after which a page rests


class Screencast:
    """`take` is called with each frame's PNG bytes, the browser's metadata of it, and whether it would send a frame of
    what it paints next; `spawn` runs coroutines."""

    def __init__(self, session: Session, take: Callable[[bytes, dict[str, Any], bool], None],
                 spawn: Callable[[Coroutine], Any]):
        self._session = session
        self._take = take
        self._spawn = spawn
        self._id = 0
        self._left = _UNACKNOWLEDGED  # frames that the browser may send
        self._acknowledged = 0.0
        self._held_back = False  # a frame may have been
        self._changed: float | None = None  # wall clock of the last such change, until a later frame has come
        self._last_frame = 0.0
        self._checking = False
        session.on("Page.screencastFrame", self._on_frame)

    def start(self) -> None:
        """Begin; the browser sends at once what is on the screen."""
        self._left, self._acknowledged, self._held_back, self._changed = _UNACKNOWLEDGED, 0.0, False, None
        self._session.post("Page.startScreencast", {"format": "png"})

    def look_again(self) -> None:
        """What is shown may have changed without a frame of it, as by a load: look when it rests, unless one comes."""
        self._changed = time.time()
        self._last_frame = asyncio.get_running_loop().time()
        self._check_later()

    @property
    def _doubt(self) -> bool:
        return self._held_back or self._changed is not None

    def _on_frame(self, event: dict[str, Any]) -> None:
        self._last_frame = asyncio.get_running_loop().time()
        if event["sessionId"] != self._id:  # of a screencast begun anew
            self._id = event["sessionId"]
        self._left -= 1
        if self._left <= 0:
            self._held_back = True
        if self._changed is not None and event["metadata"]["timestamp"] > self._changed:
            self._changed = None
        self._acknowledge(event["sessionId"])
        self._check_later()
        self._take(base64.b64decode(event["data"]), event["metadata"], self._left > 0)

    def _acknowledge(self, screencast: int) -> None:
        """Ask for more frames, at a steady pace."""
        now = self._last_frame
        ahead = 0 if self._acknowledged else _AHEAD
        self._acknowledged = max(now, self._acknowledged + 1 / _STEADY)
        self._spawn(self._send_acknowledgements(screencast, 1 + ahead, self._acknowledged - now))

    async def _send_acknowledgements(self, screencast: int, count: int, delay: float) -> None:
        if delay > 0:
            await asyncio.sleep(delay)
        for _ in range(count):
            await self._session.send("Page.screencastFrameAck", {"sessionId": screencast})
            self._left += screencast == self._id

    def _check_later(self) -> None:
        if self._doubt and not self._checking:
            self._checking = True
            self._spawn(self._check())

    async def _check(self) -> None:
        """Wait for the page to rest, then have it shown once more if there is still a doubt."""
        loop = asyncio.get_running_loop()
        try:
            while (wait := self._last_frame + _REST - loop.time()) > 0:
                await asyncio.sleep(wait)
            if self._doubt:
                self._session.post("Page.stopScreencast")
                self.start()
        finally:
            self._checking = False
