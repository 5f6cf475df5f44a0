"""Alternative pictures of a turn: screenshots of the same tab near its time, and frames of the recording's video."""

from bisect import bisect_left
from pathlib import Path
from typing import TypedDict

import av
import cv2
import numpy as np

from recorder.reader import Recording
from schemas import InputError
from schemas.types.recordings import Turn, TurnState

from .align_stage import encode
from .pictures.screenshots import decode, work_shape
from .pictures.ssim import ssim
from .pictures.video import upright

_AROUND = 6  # screenshots before and after a turn
BEFORE = (0.0, 0.1, 0.25, 0.5, 1.0, 2.0)  # seconds before the action at which frames are offered


class Offer(TypedDict):
    """A screenshot and when it was taken, seconds of the recording."""

    screenshot: str
    time: float


def screenshots(recording: Recording, turn: Turn) -> list[Offer]:
    """Screenshots of the turn's tab, those nearest to it in time, by time and each once: {screenshot, time}."""
    state = turn["state"] if turn["type"] == "browser" else None
    if not state:
        return []
    times: dict[str, float] = {}
    for event in recording.events:
        other = event["state"]
        if other and other["screenshot"] and other["tab"] == state["tab"]:
            captured_at = event["time"] if other["screenshot_time"] is None else other["screenshot_time"]
            times.setdefault(other["screenshot"], captured_at)
    rows = sorted((time, name) for name, time in times.items())
    index = bisect_left(rows, (turn["timestamp"], ""))
    return [{"screenshot": name, "time": time} for time, name in rows[max(0, index - _AROUND):index + _AROUND]]


def frame(recording: Recording, time: float) -> tuple[float, np.ndarray]:
    """What the own video shows at a time of the recording: when that was painted, and the picture (BGR, uint8).

    Before the first frame, the first one. Raises InputError when there is no video or it cannot be read.
    """
    return _frame_at(recording.layout.video, time, from_first=False)


def external_frame_file(recording: Recording, time: float) -> bytes:
    """What the external video shows at a time, seconds since its first frame, as a picture file.

    Raises InputError when the app has no copy of it or it cannot be read.
    """
    return encode(_frame_at(recording.layout.external_video, time, from_first=True)[1])


def _frame_at(path: Path, time: float, *, from_first: bool) -> tuple[float, np.ndarray]:
    """The frame at a time by the file's own stamps, or by the seconds since its first frame."""
    try:
        with av.open(str(path)) as container:
            stream = container.streams.video[0]
            base = float(stream.time_base or 1)
            first = (stream.start_time or 0) * base if from_first else 0.0
            container.seek(int((max(0.0, time) + first) / base), stream=stream, backward=True)
            shown = None
            for decoded_frame in container.decode(stream):
                if shown is not None and decoded_frame.time > first + time + 1e-6:
                    break
                shown = decoded_frame
            if shown is None:
                raise InputError(f"{path}: the video has no frames")
            return round(float(shown.time) - first, 4), upright(shown.to_ndarray(format="bgr24"), shown)
    except (av.FFmpegError, OSError, IndexError) as error:
        raise InputError(f"{path}: the video cannot be read ({error})") from None


def frame_file(recording: Recording, time: float) -> tuple[float, bytes]:
    """As `frame`, the picture as a file."""
    painted, picture = frame(recording, time)
    return painted, encode(picture)


def similarity(recording: Recording, state: TurnState, picture: np.ndarray) -> float | None:
    """SSIM of a state's screenshot and a frame (BGR), at the size that alignment works with; None without a screenshot.

    Raises InputError when the screenshot's blob is missing.
    """
    captured = decode(recording.blob(state["screenshot"])) if state["screenshot"] else None
    if captured is None:
        return None
    viewport = state["viewport"]
    shape = work_shape((viewport["width"],
                        viewport["height"])) if viewport["width"] else work_shape(captured.shape[::-1])
    grey = cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY)
    return ssim(*(cv2.resize(image, shape[::-1], interpolation=cv2.INTER_AREA) for image in (captured, grey)))
