"""The screencast of one page: its painted frames, always including the last one.

While somebody acts, and while the page rests, it is continuous: every frame that the machine has time for. A page that
paints on while nobody acts (a spinner, a video) is looked at now and then instead, more often while its DOM changes.
One that is about to be left, and the next one until it has loaded, is left alone for a moment unless somebody acts: a
frame costs the machine about 50 ms of processor time, also where a server or the page needs that.

Where the same part of a page is painted for a second, at 12 times a second or more, the browser takes that for an
animation, and of what else is painted sends no frame until a quarter of a second after its end. That is by the age of
the screencast, so one of which frames come often is begun anew before it is so old.

Of a continuous screencast the browser holds frames back while two are unacknowledged, and what it held back it never
sends: a page that then stays as it is would be shown as it was before. So it is counted how many frames it may still
send; if it may have held one back, the screencast is begun anew once the page rests, which makes the browser send what
is on the screen.

Where only stills are wanted there is no screencast, but a picture each time that it is asked for.
"""

import asyncio
import base64
import time
from collections import deque
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

from recorder.devtools.sessions import ProtocolError, Session

_UNACKNOWLEDGED = 2  # frames that the browser sends without an acknowledgement
_AHEAD = 15  # acknowledgements given in advance, so that it sends on when this machine is busy
_STEADY = 25  # frames a second of a page that paints all the time, so that it stays fast
_REST = 0.2  # seconds without a frame after which a page rests
_PATIENT, _LONGEST = 0.4, 6.0  # seconds without a frame after which it begins anew, first and last
_ACTING = 1.0  # seconds after what somebody did in which they still act
_PAINTING = 6  # frames in a second from which on a page paints all the time
_STIRRED = 1.0  # seconds after a change of the DOM in which the page is looked at more often
_OFTEN, _SELDOM = 0.12, 0.4  # seconds between two looks
_LEADS = 0.08  # seconds without a look after a press that may lead to another document
_LEFT, _COMING = 0.5, 0.4  # the same when that is asked for, and when it has begun
_HESITATES = 0.03  # seconds from somebody's move to a look, in which what they press may lead away
_COMES = 2.0  # seconds that a frame may take
_OLD, _TOO_OLD = 0.5, 0.95  # seconds after which one is begun anew, and after which the browser may see an animation
_BEAT = 0.3  # seconds between frames in which it sees none
_STILL_ATTEMPTS, _STILL_RETRY_INTERVAL_S = 5, 0.1  # to have a page painted, where the browser refuses
_MAX_UNCHANGED_FRAMES = 3  # looks that show the same, after which a page rests


class Screencast:
    """`on_image` is called with each frame's PNG bytes, the browser's metadata of it, and whether it would send a frame
    of what it paints next; `on_gap` when it will not, after all; `spawn` runs coroutines. `stills`: there are no
    frames, only what `still` is asked for."""

    def __init__(self, session: Session, on_image: Callable[[bytes, dict[str, Any], bool], None],
                 on_gap: Callable[[], None], spawn: Callable[[Coroutine], Any], *, stills: bool = False):
        self._session = session
        self._stills = stills
        self._take = on_image
        self._on_gap = on_gap
        self._spawn = spawn
        self._id = self._stopped = self._starts = 0
        self._steady_since = 0.0  # since when it goes on and frames come often
        self._last = 0.0  # when the last one came
        self.shown = asyncio.Event()  # a frame has come, at all
        self._silent = True  # nothing has come since it began
        self._left = _UNACKNOWLEDGED  # frames that the browser may send
        self._acknowledged = 0.0
        self._withheld = False  # a frame may have been
        self._changed: float | None = None  # wall clock of the last such change, until a later frame has come
        self._times: deque[float] = deque([0.0], maxlen=_PAINTING)  # of the last frames
        self._acted = self._stirred = 0.0
        self._quiet_until = 0.0
        self._checking = False
        self._refresh_scheduled = False
        self._looking = False  # now and then, no continuous screencast
        self._woken = asyncio.Event()  # somebody acts, or a page has loaded
        self._frame_arrived = asyncio.Event()  # a frame
        self._image = b""
        session.on("Page.screencastFrame", self._on_frame)

    def start(self, patience: float = _PATIENT) -> None:
        """Begin; the browser sends at once what is on the screen. Where the page is just given to another process it
        may send nothing, then or later: begin anew if nothing has come after so many seconds of `patience`."""
        self._left, self._acknowledged, self._withheld, self._changed = _UNACKNOWLEDGED, 0.0, False, None
        if self._stills:
            self.shown.set()
            return
        self._session.post("Page.startScreencast", {"format": "png"})
        self._steady_since = asyncio.get_running_loop().time()
        self._starts += 1
        self._silent = True
        if not self._looking:
            self._spawn(self._expect(self._starts, patience))

    async def still(self) -> bytes:
        """What the page shows, painted anew, as a PNG file. Raises ProtocolError where the browser refuses it again and
        again, not only for a page that has just come."""
        for _ in range(_STILL_ATTEMPTS - 1):
            with suppress(ProtocolError):
                return await self._capture()
            await asyncio.sleep(_STILL_RETRY_INTERVAL_S)
        return await self._capture()

    async def _capture(self) -> bytes:
        shot = await self._session.send("Page.captureScreenshot", {"format": "png", "optimizeForSpeed": True})
        return base64.b64decode(shot["data"])

    async def _expect(self, start: int, patience: float) -> None:
        await asyncio.sleep(patience)
        if self._silent and self._starts == start and not self._looking and patience < _LONGEST:
            self._begin_anew(2 * patience)

    def _begin_anew(self, patience: float = _PATIENT) -> None:
        self._stop(self._id)
        self.start(patience)

    def note_act(self, *, begins: bool = True) -> None:
        """Somebody does something in the page; `begins`: it does not only follow from what they did before."""
        self._acted = asyncio.get_running_loop().time()
        if begins or self._acted > self._quiet_until:
            self._woken.set()

    def note_change(self) -> None:
        """The DOM has changed."""
        self._stirred = asyncio.get_running_loop().time()

    def note_leading(self) -> None:
        """What was pressed may lead to another document."""
        self._leave_alone(_LEADS)
        self._woken.clear()

    def note_leaving(self) -> None:
        """Another document is asked for: until it comes, nobody acts in this one, or it is told."""
        self._leave_alone(_LEFT)

    def note_document(self) -> None:
        """Another document is shown, in which nobody has acted yet."""
        self._acted = 0.0
        self.note_change()
        if self._looking:
            self._quiet_until = self._stirred + _COMING

    def _leave_alone(self, seconds: float) -> None:
        self._quiet_until = asyncio.get_running_loop().time() + seconds
        if not self._looking and self._image:
            self._on_gap()
            self._start_polling(self._id)

    def note_possible_change(self) -> None:
        """What is shown may have changed without a frame of it, as by a load: look when it rests, unless one comes."""
        self._changed = time.time()
        self._woken.set()
        self._times.append(asyncio.get_running_loop().time())
        self._check_later()

    def schedule_refresh(self, wait: Callable[[], float]) -> None:
        """Look again once there is nothing more to `wait` for, which is asked again and again, in seconds."""
        if not self._refresh_scheduled:
            self._refresh_scheduled = True
            self._spawn(self._refresh_when_due(wait))

    async def _refresh_when_due(self, wait: Callable[[], float]) -> None:
        while (seconds := wait()) > 0:
            await asyncio.sleep(seconds)
        self._refresh_scheduled = False
        self.note_possible_change()

    @property
    def _doubt(self) -> bool:
        return self._withheld or self._changed is not None

    def _on_frame(self, event: dict[str, Any]) -> None:
        now = asyncio.get_running_loop().time()
        self._id = max(self._id, event["sessionId"])  # a screencast begun anew has a higher one
        self._silent = False
        self.shown.set()
        self._left -= event["sessionId"] != self._stopped
        if self._changed is not None and event["metadata"]["timestamp"] > self._changed:
            self._changed = None
        self._image = base64.b64decode(event["data"])
        if now - self._last > _BEAT:
            self._steady_since = now
        self._last, steady = now, now - self._steady_since
        if event["sessionId"] == self._stopped:
            pass  # it was on its way
        elif not self._looking:
            self._go_on(event["sessionId"], now)
        else:
            self._stop(event["sessionId"])
            self._frame_arrived.set()
        self._times.append(now)
        self._take(self._image, event["metadata"], self._left > 0 and not self._looking and steady < _TOO_OLD)
        if steady > _OLD and not self._looking:
            self._begin_anew()

    def _go_on(self, screencast: int, now: float) -> None:
        """Ask for more frames, or look only now and then."""
        if self._left <= 0:
            self._withheld = True
        if now - self._acted > _ACTING and len(self._times) == _PAINTING and now - self._times[0] < 1:
            self._start_polling(screencast)
        else:
            self._acknowledge(screencast, now)
            self._check_later()

    def _start_polling(self, screencast: int) -> None:
        self._looking = True
        self._stop(screencast)
        self._spawn(self._poll())

    def _stop(self, screencast: int) -> None:
        self._stopped = screencast
        self._session.post("Page.stopScreencast")

    def _acknowledge(self, screencast: int, now: float) -> None:
        """Ask for more frames, at a steady pace."""
        ahead = 0 if self._acknowledged else _AHEAD
        self._acknowledged = max(now, self._acknowledged + 1 / _STEADY)
        self._spawn(self._send_acknowledgements(screencast, 1 + ahead, self._acknowledged - now))

    async def _send_acknowledgements(self, screencast: int, count: int, delay: float) -> None:
        if delay > 0:
            await asyncio.sleep(delay)
        for _ in range(count):
            await self._session.send("Page.screencastFrameAck", {"sessionId": screencast})
            self._left += screencast == self._id != self._stopped

    async def _poll(self) -> None:
        """Look at a page that paints while nobody acts, until somebody does, it has loaded, or it shows the same for a
        while."""
        loop = asyncio.get_running_loop()
        unchanged = 0
        self._woken.clear()
        while unchanged < _MAX_UNCHANGED_FRAMES and not self._woken.is_set():
            looked = loop.time()
            while (wait := self._next_poll_time(looked) - loop.time()) > 0 and not self._woken.is_set():
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._woken.wait(), min(wait, _OFTEN))
                    await asyncio.sleep(self._acted + _HESITATES - loop.time())
            if self._woken.is_set():
                break
            before = self._image
            self._frame_arrived.clear()
            self.start()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._frame_arrived.wait(), _COMES)
            unchanged = unchanged + 1 if self._image == before else 0
        self._looking = False
        self._times = deque([loop.time()], maxlen=_PAINTING)
        self._begin_anew()  # a look may be under way

    def _next_poll_time(self, looked: float) -> float:
        """When to look again, after a look at a time."""
        if self._quiet_until > looked:
            return self._quiet_until
        often = asyncio.get_running_loop().time() - self._stirred < _STIRRED
        return looked + (_OFTEN if often else _SELDOM)

    def _check_later(self) -> None:
        if self._doubt and not self._checking:
            self._checking = True
            self._spawn(self._check())

    async def _check(self) -> None:
        """Wait for the page to rest, then have it shown once more if there is still a doubt."""
        loop = asyncio.get_running_loop()
        try:
            while (wait := self._times[-1] + _REST - loop.time()) > 0:
                await asyncio.sleep(wait)
            if self._doubt and not self._looking:
                self._begin_anew()
        finally:
            self._checking = False
