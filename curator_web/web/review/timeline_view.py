"""View objects of the timeline: numbers for SVG, positions in percent of the session's length."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from flask_babel import gettext as _
from flask_babel import ngettext

from curator_web.demonstrations.library.library import Review
from pipeline.turns.video_placement import recording_time, video_time
from schemas import types

from .presentation import ReviewView, TurnView

_MARGIN = 0.02  # of the session's length, before its first turn and after its last
_SHORTEST = 1.0  # seconds
_TICKS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200)  # seconds between two marks of the ruler
_MOST_TICKS = 8
_PICTURES = 12  # small ones in a row: an even number, as a narrow page shows every second one
_MIN_CONFIDENCE = 0.5  # confidence from which on a place is not doubted


@dataclass(frozen=True)
class Mark:
    """One turn on the line. `at`: percent; `sure`: how high its bar of confidence is, None where there is none."""

    turn: TurnView
    at: float
    sure: float | None

    @property
    def is_low(self) -> bool:
        return self.sure is not None and self.sure < _MIN_CONFIDENCE


@dataclass(frozen=True)
class Span:
    """A part of the video that shows the page, on the line: percent; `begin`, `end`: seconds of the video."""

    at: float
    width: float
    begin: float
    end: float
    number: int  # of the segment, from 1


class Timeline:
    """A demonstration on one time line, with the cursor at a turn or a time of the recording."""

    def __init__(self, review: Review, selected: str | None = None, time: float | None = None):
        """Raises NotFound when there is no turn of the selected id."""
        review_view = ReviewView(review, selected)
        self.row, self.turns, self.locked = review_view.row, review_view.turns, review_view.locked
        self.alignment = review.alignment
        times = [turn.turn["timestamp"] for turn in self.turns] or [0.0]
        first, last = min(times), max(times)
        if not review.elsewhere[0]:  # what was split off does not begin with the recording
            first = min(0.0, first)
        margin = _MARGIN * max(last - first, _SHORTEST)
        self.start, self.end = round(first - margin, 3), round(last + margin, 3)
        self.at = self._nearest(review_view, selected, time)
        self.turn = self._shown(review_view, selected)

    def _nearest(self, review_view: ReviewView, selected: str | None, time: float | None) -> float:
        if time is not None and selected is None:
            return min(max(time, self.start), self.end)
        acting = next((turn for turn in review_view.turns if turn.state), review_view.selected)
        turn = review_view.selected if selected else acting
        return turn.turn["timestamp"] if turn else 0.0

    def _shown(self, review_view: ReviewView, selected: str | None) -> TurnView | None:
        return review_view.selected if selected else self._last(self.turns)

    def _last(self, turns: Iterable[TurnView]) -> TurnView | None:
        """The last of some turns that the cursor has reached."""
        reached = [turn for turn in turns if turn.turn["timestamp"] <= self.at + 1e-6]
        return max(reached, key=lambda turn: turn.turn["timestamp"]) if reached else None

    @property
    def acted(self) -> TurnView | None:
        """What was done last at the cursor."""
        return self._last(turn for turn in self.turns if not turn.is_chat)

    @property
    def said(self) -> TurnView | None:
        """What was said last at the cursor."""
        return self._last(turn for turn in self.turns if turn.is_chat)

    @cached_property
    def pictured(self) -> TurnView | None:
        """The action whose screenshot belongs to the cursor: the next one, as a picture shows what was before it; else
        the last one."""
        if self.turn and self.turn in self._with_screenshots and self.turn.turn["timestamp"] == self.at:
            return self.turn
        return self._pictured_at(self.at)

    @cached_property
    def _with_screenshots(self) -> list[TurnView]:
        return sorted((turn for turn in self.turns if turn.state.get("screenshot")),
                      key=lambda turn: turn.turn["timestamp"])

    def _pictured_at(self, time: float) -> TurnView | None:
        acting = self._with_screenshots
        later = (turn for turn in acting if turn.turn["timestamp"] >= time - 1e-6)
        return next(later, acting[-1] if acting else None)

    @property
    def strip(self) -> list[TurnView]:
        """The actions whose screenshots show the session in pictures of equal parts of its time."""
        part = (self.end - self.start) / _PICTURES
        shown = (self._pictured_at(self.start + part * (number + 0.5)) for number in range(_PICTURES))
        return [turn for turn in shown if turn]

    @cached_property
    def viewport(self) -> tuple[int, int]:
        """The page's size in most turns, CSS pixels: what the rectangle's width and height are told for."""
        sizes = Counter(turn.size for turn in self.turns if turn.state)
        return sizes.most_common(1)[0][0] if sizes else (1280, 720)

    @cached_property
    def marks(self) -> list[Mark]:
        return [Mark(turn, self.percent(turn.turn["timestamp"]), turn.state.get("confidence")) for turn in self.turns]

    @property
    def lanes(self) -> Iterator[tuple[str, str, list[Mark]]]:
        """Rows of marks that are not empty: a name for the page's script, one for people, the marks in them."""
        rows = (("actions", _("Actions"), [mark for mark in self.marks if not mark.turn.is_chat]),
                ("chat", _("Chat"), [mark for mark in self.marks if mark.turn.is_chat and not mark.turn.spoken]),
                ("speech", _("Speech"), [mark for mark in self.marks if mark.turn.spoken]))
        return (row for row in rows if row[2])

    @cached_property
    def spans(self) -> list[Span]:
        """Where the video shows the page: each segment on each stretch of the clock."""
        if self.alignment is None:
            return []
        return [span for stretch in self.alignment["stretches"]
                for number, segment in enumerate(self.alignment["segments"], 1)
                if (span := self._span(stretch, segment, number))]

    def _span(self, stretch: types.VideoStretch, segment: types.VideoSegment, number: int) -> Span | None:
        begin, end = max(stretch["begin"], segment["begin"]), min(stretch["end"], segment["end"])
        low, high = (min(max(self.percent(recording_time(time, stretch["offset"], stretch["drift"])), 0.0), 100.0)
                     for time in (begin, end))
        return Span(low, round(high - low, 3), begin, end, number) if end > begin else None

    @property
    def ticks(self) -> list[tuple[float, float]]:
        """Marks of the ruler: seconds, percent."""
        length = self.end - self.start
        step = next((candidate for candidate in _TICKS if length / candidate <= _MOST_TICKS), length / _MOST_TICKS)
        return [(step * number, self.percent(step * number)) for number in range(_MOST_TICKS + 2)
                if step * number <= self.end]

    @cached_property
    def frame_time(self) -> float | None:
        """Where the cursor is in the external video, seconds; None where it does not show that or nobody knows."""
        if self.turn and self.turn.turn["timestamp"] == self.at and "confidence" in self.turn.state:
            return self.turn.state["video_time"]
        for stretch in self.alignment["stretches"] if self.alignment else ():
            time = video_time(self.at, stretch["offset"], stretch["drift"])
            if stretch["begin"] <= time <= stretch["end"]:
                return time
        return None

    @property
    def usual(self) -> types.PageRectangle | None:
        """Where the frames show the page for the longest time; None where nobody knows."""
        segments = self.alignment["segments"] if self.alignment else []
        longest = max(segments, key=lambda segment: segment["end"] - segment["begin"], default=None)
        return longest["rectangle"] if longest else None

    @property
    def page_positions(self) -> int:
        """At how many places of the frame the page was shown."""
        segments = self.alignment["segments"] if self.alignment else []
        return len({tuple(segment["rectangle"].values()) for segment in segments})

    @property
    def is_shown(self) -> bool:
        """Whether the frame at the cursor shows the page, as far as that is known."""
        time = self.frame_time
        return self.alignment is not None and time is not None and any(
            segment["begin"] <= time <= segment["end"] for segment in self.alignment["segments"])

    @property
    def rectangle(self) -> types.PageRectangle | None:
        """Where the frame at the cursor shows the page; where most frames do, if that one does not."""
        segments = self.alignment["segments"] if self.alignment else []
        time = self.frame_time or 0.0
        covering = (segment for segment in segments if segment["begin"] <= time <= segment["end"])
        return next((segment["rectangle"] for segment in covering), self.usual)

    def percent(self, time: float) -> float:
        """Where a time of the recording is on the line, percent."""
        return round(100 * (time - self.start) / (self.end - self.start), 3)

    @property
    def summary(self) -> str:
        """The line in a sentence, for who does not see it."""
        said = sum(turn.is_chat for turn in self.turns)
        words = [_actions(len(self.turns) - said),
                 ngettext("%(num)s utterance", "%(num)s utterances", said)]
        if self.alignment:
            doubted = sum(mark.is_low for mark in self.marks)
            words.append(ngettext("%(num)s action with an uncertain position in the video",
                                  "%(num)s actions with an uncertain position in the video", doubted))
        return ", ".join(words)


def _actions(number: int) -> str:
    return ngettext("%(num)s action", "%(num)s actions", number)


def process_options(placement: types.VideoPlacement) -> str:
    """The options of `demotape process` that say the same."""
    def plain(values: Iterable[float]) -> str:
        return ",".join(f"{value:.6f}".rstrip("0").rstrip(".") for value in values)

    options = []
    if "offset" in placement and "drift" in placement:
        options.append(f"--video-offset={plain([placement['offset']])} --video-drift={plain([placement['drift']])}")
    if "rectangle" in placement:
        drawn = placement["rectangle"]
        options.append(f"--video-rectangle={plain([drawn['left'], drawn['top'], drawn['width'], drawn['height']])}")
    return " ".join(options)
