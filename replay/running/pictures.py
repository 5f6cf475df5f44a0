"""The pictures of a run, and how alike they and the recorded ones are: SSIM (Wang et al., 2004) at half size in grey,
as for external videos."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

import cv2
import numpy as np
from skimage.metrics import structural_similarity

from recorder.reader import Recording
from schemas import limits

Taking = Callable[[asyncio.Event], Coroutine[Any, Any, bytes | None]]  # takes one; sets the event once it is painted
_MIN_SIDE_PX = 14  # pixels of a side, below which SSIM has no window


class Pictures:
    """Pictures of the states that turns of a recording end in. Each is taken while a page is looked at or what comes
    next is made ready, and compared with the recorded one when it is asked for."""

    def __init__(self, recording: Recording):
        self._recording = recording
        self._taken: dict[str, tuple[str | None, asyncio.Task[bytes | None]]] = {}
        self._newest: asyncio.Task[bytes | None] | None = None
        self._painted = asyncio.Event()  # the newest is

    def begin(self, taking: Taking | None) -> None:
        """Begin to take the picture of what is shown now; None where nothing shows it, and there is none."""
        self._painted = asyncio.Event()
        self._newest = asyncio.ensure_future(taking(self._painted)) if taking else None

    def capture(self, turn: str, expected: Mapping[str, Any] | None) -> None:
        """The picture that was begun last is that of a turn's state; `expected`: the state that was recorded."""
        if self._newest:
            self._taken[turn] = expected["screenshot"] if expected else None, self._newest

    async def painted(self) -> None:
        """Wait until what is shown may change, as the newest picture is painted."""
        if self._newest:
            await self._painted.wait()

    async def wait_until_taken(self) -> None:
        """Wait until the newest picture is there, after which its tab may go."""
        if self._newest:
            await self._newest

    async def result(self, turn: str) -> tuple[bytes | None, float | None]:
        """The picture of a turn's state, and how alike it and the recorded one are; None where there is none."""
        if turn not in self._taken:
            return None, None
        digest, taking = self._taken[turn]
        shown = await taking
        return shown, await asyncio.to_thread(lambda: likeness(self._recording.blob(digest) if digest else None, shown))


def likeness(first_file: bytes | None, second_file: bytes | None) -> float | None:
    """SSIM of two image files from -1 to 1; None where one is missing or cannot be read. Another size is scaled."""
    pictures = [_grey(content) for content in (first_file, second_file)]
    if pictures[0] is None or pictures[1] is None:
        return None
    height, width = pictures[0].shape
    if min(height, width) < _MIN_SIDE_PX:
        return None
    second = cv2.resize(pictures[1], (width, height), interpolation=cv2.INTER_AREA)
    if np.array_equal(pictures[0], second):
        return 1.0
    return round(float(structural_similarity(pictures[0], second, data_range=255)), 4)


def _grey(content: bytes | None) -> np.ndarray | None:
    if not content:
        return None
    try:
        picture = cv2.imdecode(np.frombuffer(content, np.uint8), cv2.IMREAD_GRAYSCALE)
    except cv2.error:
        return None
    if picture is None or picture.size > limits.PIXELS:
        return None
    height, width = picture.shape
    return cv2.resize(picture, (max(1, width // 2), max(1, height // 2)), interpolation=cv2.INTER_AREA)
