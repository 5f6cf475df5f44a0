"""The pictures of a run, and how alike they and the recorded ones are: SSIM (Wang et al., 2004) at half size in grey,
as for external videos."""

import asyncio
from collections.abc import Coroutine, Mapping
from typing import Any

import cv2
import numpy as np
from skimage.metrics import structural_similarity

from recorder.reader import Recording
from schemas import limits

_LEAST = 14  # pixels of a side, below which SSIM has no window


class Pictures:
    """Pictures of the states that turns of a recording end in. Each is taken while what comes next is made ready, and
    held against the recorded one when it is asked for."""

    def __init__(self, recording: Recording):
        self._recording = recording
        self._taken: dict[str, tuple[str | None, asyncio.Task[bytes | None]]] = {}
        self.newest: asyncio.Task[bytes | None] | None = None  # who changes the page waits for it

    def take(self, turn: str, expected: Mapping[str, Any] | None, taking: Coroutine[Any, Any, bytes | None]) -> None:
        """Begin to take the picture of a turn's state; `expected`: the state that was recorded."""
        self.newest = asyncio.ensure_future(taking)
        self._taken[turn] = expected["screenshot"] if expected else None, self.newest

    async def of(self, turn: str) -> tuple[bytes | None, float | None]:
        """The picture of a turn's state, and how alike it and the recorded one are; None where there is none."""
        if turn not in self._taken:
            return None, None
        digest, taking = self._taken[turn]
        shown = await taking
        return shown, await asyncio.to_thread(lambda: likeness(self._recording.blob(digest) if digest else None, shown))


def likeness(one: bytes | None, other: bytes | None) -> float | None:
    """SSIM of two image files from -1 to 1; None where one is missing or cannot be read. Another size is scaled."""
    pictures = [_grey(content) for content in (one, other)]
    if pictures[0] is None or pictures[1] is None:
        return None
    height, width = pictures[0].shape
    if min(height, width) < _LEAST:
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
