"""The alignment report of a demonstration, and manual values as inputs of the steps."""

from collections.abc import Sequence

import numpy as np

from schemas.types.alignment import Alignment, PageRectangle, VideoPlacement, VideoSegment, VideoStretch

from .clock.video_clock import ClockSegment, VideoClock
from .layout.layout import Layout
from .layout.rectangle import Rectangle
from .layout.sampling import Sampled, sample, sample_times
from .pictures.screenshots import Picture
from .pictures.video import Video

_MILLION = 1e6
_BY_HAND = 1000.0  # votes: more than brackets ever have
Covers = dict[tuple[int, tuple[int, int]], np.ndarray]


def manual_clock(placement: VideoPlacement, video: Video) -> VideoClock | None:
    """The clock that a person set; None when they said nothing of it."""
    if "offset" not in placement or "drift" not in placement:
        return None
    piece = ClockSegment(placement["offset"], 0.0, -np.inf, np.inf, _BY_HAND, 0.0, 0.0, 0.0, video.duration)
    return VideoClock((piece,), placement["drift"] / _MILLION)


def manual_rectangle(placement: VideoPlacement) -> Rectangle | None:
    """The rectangle that a person set; None when they said nothing of it."""
    return Rectangle(**placement["rectangle"]) if "rectangle" in placement else None


def manual_layout(video: Video, pictures: Sequence[Picture], rectangle: Rectangle) -> tuple[Layout, Sampled, Covers]:
    """As `moves.lay_out`, of a rectangle that holds from the first frame to the last."""
    sampled, = sample(video, sample_times(video), pictures, [rectangle])
    return Layout.always(rectangle), sampled, {(0, viewport): mask for viewport,
                                               mask in sampled.covered_masks().items()}


def alignment_report(video: Video, clock: VideoClock | None, layout: Layout | None,
                     placement: VideoPlacement) -> Alignment:
    """The alignment as the demonstration tells it; without clock or layout where none was found."""
    alignment: Alignment = {
        "width": video.size[0], "height": video.size[1], "duration": round(video.duration, 4),
        "stretches": [_stretch(piece, clock, video.duration) for piece in clock.pieces] if clock else [],
        "segments": [_segment(piece.start, piece.end, piece.rectangle, video.duration)
                     for piece in layout.pieces] if layout else []}
    return {**alignment, "by_hand": placement} if placement else alignment


def _stretch(piece: ClockSegment, clock: VideoClock, duration: float) -> VideoStretch:
    return {"begin": _within(piece.begin, duration), "end": _within(piece.end, duration),
            "offset": round(piece.offset - clock.drift * piece.middle, 4), "drift": round(clock.drift * _MILLION, 2)}


def _segment(start: float, end: float, rectangle: Rectangle, duration: float) -> VideoSegment:
    shown: PageRectangle = {"left": round(rectangle.left, 3), "top": round(rectangle.top, 3),
                            "width": round(rectangle.width, 6), "height": round(rectangle.height, 6)}
    return {"begin": _within(start, duration), "end": _within(end, duration), "rectangle": shown}


def _within(time: float, duration: float) -> float:
    return round(min(max(float(time), 0.0), duration), 4)
