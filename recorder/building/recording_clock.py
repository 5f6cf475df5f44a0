"""The recording's one clock: seconds since its start, monotonic even if the machine's clock is set."""

import time
from collections.abc import Callable
from typing import Protocol

MAX_AHEAD_S = 0.25  # by which no source can truly be ahead; a clock that is set by less is not noticed
MAX_LATE_S = 60.0  # by which a message may come late: a page may hang, or the machine be busy


def steady() -> float:
    """Seconds that nobody sets; where the system knows them, those asleep are counted."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()


class Clock(Protocol):
    """A recording's clock, as those see it who tell it times: see `RecordingClock`."""

    @property
    def now(self) -> float: ...
    def seconds(self, epoch: float, source: str | None = None, *, keeps_clock: bool = ...) -> float: ...


def as_if_never_set(clock: Clock, epoch: float, source: str, *, keeps_clock: bool = False) -> float:
    """A source's wall clock as the recording's, which goes on though somebody sets the machine's; `keeps_clock` as in
    `RecordingClock.seconds`."""
    now = clock.now
    return now - (clock.seconds(now) - clock.seconds(epoch, source, keeps_clock=keeps_clock))


class RecordingClock:
    """`wall`: the time that sources report, in seconds, which people and programs may set; `steady`: one that nobody
    sets. `max_first_late_s`: by which a source's first message may come late; less than MAX_LATE_S only where `wall`
    does not show that it was set.
    """

    def __init__(self, wall: Callable[[], float] = time.time, steady: Callable[[], float] = steady,
                 max_first_late_s: float = MAX_LATE_S):
        self.start = wall()
        self._wall, self._steady = wall, steady
        self._began = steady()
        self._max_first_late_s = max_first_late_s
        self._settings = [0.0]  # by how much the wall clock was set since the start, in order, seconds
        self._offsets: dict[str, float] = {}  # of the wall clock by which a source's times go, seconds

    @property
    def elapsed(self) -> float:
        """Seconds of the recording so far, to the tenth of a millisecond."""
        return round(self._steady() - self._began, 4)

    @property
    def now(self) -> float:
        """The wall clock as it would be, had nobody set it."""
        return self.start + self._steady() - self._began

    def seconds(self, epoch: float, source: str | None = None, *, keeps_clock: bool = False) -> float:
        """Wall-clock seconds to seconds of the recording.

        `source` names who reports them, None for times of this clock's own `now`. With `keeps_clock` the source is a
        document, whose times go by the clock as it was when it began; the times of others go by the clock as it is. A
        time that cannot be true by any setting of the clock is of a clock that nobody here saw being set: the source's
        times are corrected from then on.
        """
        if source is None:
            return max(0.0, round(epoch - self.start, 4))
        self._notice_setting()
        known = self._offsets.get(source)
        offset = known if known is not None and keeps_clock and self._lateness(epoch, known) >= -MAX_AHEAD_S else \
            self._likely_offset(epoch, known)
        lateness = self._lateness(epoch, offset)
        if not -MAX_AHEAD_S <= lateness <= (self._max_first_late_s if known is None else MAX_LATE_S):
            offset -= lateness
        self._offsets[source] = offset
        return max(0.0, round(epoch - self.start - offset, 4))

    def _notice_setting(self) -> None:
        offset = self._wall() - self.now
        if abs(offset - self._settings[-1]) > MAX_AHEAD_S:
            self._settings.append(offset)

    def _likely_offset(self, epoch: float, known: float | None) -> float:
        """The setting of the clock by which a time has come with the least delay, but not before it was reported."""
        settings = self._settings if known is None else [*self._settings, known]
        possible = [offset for offset in settings if self._lateness(epoch, offset) >= -MAX_AHEAD_S]
        return min(possible, key=lambda offset: self._lateness(epoch, offset), default=self._settings[-1])

    def _lateness(self, epoch: float, offset: float) -> float:
        return self.elapsed - (epoch - self.start - offset)


class SleepWatch:
    """Tells how long the machine slept: the steady clock went on, the one that stops with the machine did not."""

    def __init__(self, steady: Callable[[], float] = steady, awake: Callable[[], float] = time.monotonic):
        self._steady, self._awake = steady, awake
        self._asleep = steady() - awake()

    def slept(self) -> float:
        """Seconds of sleep since the last call."""
        before, self._asleep = self._asleep, self._steady() - self._awake()
        return self._asleep - before
