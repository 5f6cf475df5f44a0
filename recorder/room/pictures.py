"""Live pictures for the viewers of a room: the recorder's painted frames, smaller, at the rate that the line allows."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import TypeVar

import cv2

from recorder.browser.pointing import document_of
from recorder.browser.tab import Tab
from recorder.media.painted_frames import PaintedFrame
from recorder.pictures import decode_picture
from schemas.formats.room import MAX_PICTURE_BYTES, PICTURE_HEADER

MAX_WIDTH = 1280  # pixels of a picture
JPEG_QUALITY = 70  # JPEG, because WebP takes ten times as long to encode
MIN_INTERVAL_S = 0.1  # between two pictures, as in the video
_MAX_SIDE = 0xFFFF  # of a viewport, in the header
_T = TypeVar("_T")
MAX_SENT = 6000  # pictures that the instructor can still point at
MAX_FILES = 20  # of them whose files are in memory


@dataclass(frozen=True)
class SentPicture:
    """What a picture that was sent shows: `tab` with its `document`, scrolled to `scroll`, a viewport of `size`, in
    CSS pixels."""

    tab: Tab
    document: str | None
    time: float
    scroll: tuple[float, float]
    size: tuple[float, float]


class PictureStream:
    """Sends the newest frame whenever the other side is ready for one, never an older one.

    Frames are those that the video gets: without secrets, and none of a pause. `send` is called on the event loop;
    `is_paused`: whether nothing is recorded now, so that nothing is sent either.
    """

    def __init__(self, send: Callable[[bytes], None], is_paused: Callable[[], bool]):
        self._send, self._is_paused = send, is_paused
        self._frame: PaintedFrame | None = None  # the newest
        self._shown: SentPicture | None = None  # what it shows
        self._sent: dict[int, SentPicture] = {}  # by number
        self._files: dict[int, bytes] = {}
        self._is_new = self._is_wanted = self._is_due = False
        self._sent_at = -MIN_INTERVAL_S
        self._numbers = count(1)
        self._task: asyncio.Task[None] | None = None

    def add(self, frame: PaintedFrame, tab: Tab | None) -> None:
        """Take in a painted frame of a tab; never waits."""
        self._frame, self._is_new = frame, True
        self._shown = _shown(frame, tab) if tab else None
        self._begin()

    def sent(self, number: int) -> SentPicture | None:
        """The picture with that number; None when none was sent, or too long ago."""
        return self._sent.get(number)

    def file(self, number: int) -> bytes | None:
        """A picture that was sent, as a JPEG file; the newest one of the same document if it was sent too long ago."""
        if number in self._files:
            return self._files[number]
        shown, newest = self._sent.get(number), next(reversed(self._files), 0)
        same = shown and newest and self._sent[newest].document == shown.document
        return self._files[newest] if same else None

    def want(self, wanted: bool) -> None:
        """Somebody wants pictures, or nobody does any more; who begins to gets the newest one."""
        if wanted and not self._is_wanted:
            self._is_new = self._is_due = True
        self._is_wanted = wanted
        self._begin()

    def acknowledge(self) -> None:
        """The other side has the last picture."""
        self._is_due = True
        self._begin()

    def resume(self) -> None:
        """A pause may be over."""
        self._begin()

    def _begin(self) -> None:
        if self._has_work() and (self._task is None or self._task.done()):
            self._task = asyncio.ensure_future(self._work())

    def _has_work(self) -> bool:
        return self._is_wanted and self._is_due and self._is_new and self._frame is not None and not self._is_paused()

    async def _work(self) -> None:
        while self._has_work():
            await asyncio.sleep(max(0.0, self._sent_at + MIN_INTERVAL_S - time.monotonic()))
            frame, shown, number, self._is_new = self._frame, self._shown, next(self._numbers), False
            picture = await asyncio.to_thread(small_picture, frame, number) if frame else None
            if picture and self._is_wanted and not self._is_paused():
                self._is_due, self._sent_at = False, time.monotonic()
                if shown:
                    _remember(self._sent, number, shown, MAX_SENT)
                    _remember(self._files, number, picture[PICTURE_HEADER.size:], MAX_FILES)
                self._send(picture)


def _remember(by_number: dict[int, _T], number: int, value: _T, limit: int) -> None:
    by_number[number] = value
    if len(by_number) > limit:
        del by_number[next(iter(by_number))]


def _shown(frame: PaintedFrame, tab: Tab) -> SentPicture:
    """What a frame shows, in CSS pixels; without its file."""
    viewport, scroll = tab.facts["viewport"], tab.facts["scroll"]
    width, height = frame.size or (viewport["width"] * tab.zoom, viewport["height"] * tab.zoom)
    left, top = frame.scroll or (scroll["x"] * tab.zoom, scroll["y"] * tab.zoom)
    return SentPicture(tab, document_of(tab), frame.time, (left / tab.zoom, top / tab.zoom),
                       (width / tab.zoom, height / tab.zoom))


def small_picture(frame: PaintedFrame, number: int) -> bytes | None:
    """A frame as a message of the room: header and JPEG of at most MAX_WIDTH pixels; None for one that cannot be
    decoded or stays too large."""
    image = decode_picture(frame.image)
    if image is None:
        return None
    height, width = image.shape[:2]
    if width > MAX_WIDTH:
        image = cv2.resize(image, (MAX_WIDTH, max(1, round(height * MAX_WIDTH / width))),
                           interpolation=cv2.INTER_AREA)
    jpeg = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, JPEG_QUALITY])[1].tobytes()
    if PICTURE_HEADER.size + len(jpeg) > MAX_PICTURE_BYTES:
        return None
    viewport = [min(round(side), _MAX_SIDE) for side in frame.size or (width, height)]
    return PICTURE_HEADER.pack(number, frame.time, *viewport) + jpeg
