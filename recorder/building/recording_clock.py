"""The recording's one clock: seconds since its start, monotonic even if the machine's clock is set."""

import time
from collections.abc import Callable
from typing import Protocol

_AHEAD = 0.25  # seconds by which no source can truly be ahead
_LATE_AT_FIRST = 2.0  # seconds by which what a source says first may come late
LATE = 60.0  # seconds by which what it says later may come late: a page may hang


def steady() -> float:
    """Seconds that nobody sets; where the system knows them, those asleep are counted."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()


class Clock(Protocol):
    """A recording's clock, as those see it who tell it times: see `RecordingClock`."""

    @property
    def now(self) -> float: ...
    def seconds(self, epoch: float, source: str | None = None) -> float: ...


def as_if_never_set(clock: Clock, epoch: float, source: str) -> float:
    """A source's wall clock as the recording's, which goes on though somebody sets the machine's."""
    now = clock.now
    return now - (clock.seconds(now) - clock.seconds(epoch, source))


class RecordingClock:
    """`wall`: the time that sources tell, in seconds; `steady`: a clock that is never set."""

    def __init__(self, wall: Callable[[], float] = time.time, steady: Callable[[], float] = steady):
        self.start = wall()
        self._steady = steady
        self._began = steady()
        self._offsets: dict[str, float] = {}

    @property
    def elapsed(self) -> float:
        """Seconds of the recording so far, to the tenth of a millisecond."""
        return round(self._steady() - self._began, 4)

    @property
    def now(self) -> float:
        """The wall clock as it would be, had nobody set it."""
        return self.start + self._steady() - self._began

    def seconds(self, epoch: float, source: str | None = None, late: float = LATE) -> float:
        """Wall-clock seconds to seconds of the recording.

        `source` names who tells them: a document's times go by the clock as it was when the document began, a frame's
        by the clock as it is. What a source says is compared with the time that it arrives; if it cannot be true,
        that source's clock was set, and its times are corrected from then on.
        """
        position = epoch - self.start - self._offsets.get(source or "", 0.0)
        if source is not None:
            skew = position - self.elapsed
            late = late if source in self._offsets else min(late, _LATE_AT_FIRST)
            wrong = skew > _AHEAD or skew < -late
            self._offsets[source] = self._offsets.get(source, 0.0) + (skew if wrong else 0.0)
            position -= skew if wrong else 0.0
        return max(0.0, round(position, 4))


class SleepWatch:
    """Tells how long the machine slept: the steady clock went on, the one that stops with the machine did not."""

    def __init__(self, steady: Callable[[], float] = steady, awake: Callable[[], float] = time.monotonic):
        self._steady, self._awake = steady, awake
        self._asleep = steady() - awake()

    def slept(self) -> float:
        """Seconds of sleep since the last call."""
        before, self._asleep = self._asleep, self._steady() - self._awake()
        return self._asleep - before
