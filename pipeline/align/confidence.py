"""How sure the place of a turn, and of a part of the video, is: from 0 to 1."""

from pipeline.context import VideoSpan

from .clock.video_clock import ClockSegment, VideoClock
from .frame_selection import Verdict
from .turn_window import TurnWindow

_MAX_UNBRACKETED = 0.4  # confidence where a pause began or ended at a moment that no bracket tells
_WITHOUT_LIKENESS = 0.8  # of a piece's confidence, that remains where no picture is compared


def window_confidence(clock: VideoClock, window: TurnWindow, verdict: Verdict, usual: float) -> float:
    """How many brackets agree and how few on something else; how alike the pictures are; and little where a pause began
    or ended at a moment that no bracket tells. `usual`: the similarity of most frames and screenshots."""
    piece, time = window.piece, window.turn["timestamp"]
    confidence = _piece_confidence(piece, usual)
    if _is_outside_brackets(clock, piece, time) or piece.is_bare(time):
        confidence = min(confidence, _MAX_UNBRACKETED)
    if verdict.late or verdict.similarity is None:
        return confidence * _WITHOUT_LIKENESS
    return confidence * _ramp(verdict.similarity, usual - 0.4, usual - 0.1)


def spans_of(clock: VideoClock, lead: float, usual: float) -> list[VideoSpan]:
    """The clock the other way round: where the times of the video's file are in the recording.

    `lead`: seconds from the file's start to its first frame; `usual`: the similarity of most frames and screenshots.
    """
    return [VideoSpan(piece.begin + lead, piece.end + lead, clock.recording_time(piece.begin, piece),
                      1 / (1 + clock.drift), round(_piece_confidence(piece, usual), 3)) for piece in clock.pieces]


def _is_outside_brackets(clock: VideoClock, piece: ClockSegment, time: float) -> bool:
    """Whether a time of the recording lies between a pause and the first or last bracket of its piece."""
    number = clock.pieces.index(piece)
    has_earlier, has_later = number > 0, number + 1 < len(clock.pieces)
    return (has_earlier and time < piece.low) or (has_later and time > piece.high)


def _piece_confidence(piece: ClockSegment, usual: float) -> float:
    """How sure a piece of the clock is; `usual`: the similarity of most frames and screenshots."""
    lead = (piece.votes - piece.others) / max(piece.votes, 1)
    return _ramp(piece.votes, 1, 4) * _ramp(lead, 0.25, 0.75) * _ramp(usual, 0.6, 0.8)


def _ramp(value: float, low: float, high: float) -> float:
    """0 up to `low`, 1 from `high` on, straight between."""
    return min(1.0, max(0.0, (value - low) / (high - low)))
