"""Conversion of written times to the recording's clock: time base, midnight, time zones, daylight saving."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta, timezone

from schemas import InputError

from .log import Message

TIME_BASES = ("offset", "wall", "utc", "instant")
MARGIN = 3600.0  # seconds before the start and after the end in which an utterance still belongs to the session
_HOUR, _DAY = 3600.0, 86400.0
_JITTER = 300.0  # seconds that the lines of a log may run backwards: clients and servers number messages differently
# UTC offsets in use, hours; whole ones first, as most logs come from there
_ZONES = (*range(-12, 15), -9.5, -3.5, 3.5, 4.5, 5.5, 6.5, 9.5, 10.5, 5.75, 8.75, 12.75)


def resolve(messages: Sequence[Message], started_at: datetime, duration: float,
            time_base: str | None) -> tuple[list[float], str, float]:
    """Seconds since the recording's start for each message, the time base, and the seconds added for a time zone.

    Raises InputError when the time base asked for cannot be had from these times.
    """
    kinds = {message.stamp.kind for message in messages}
    base = time_base or _guess_base(messages, kinds, started_at, duration)
    if base not in TIME_BASES:
        raise InputError(f"unknown time base {base!r}; choose one of {', '.join(TIME_BASES)}")
    if kinds == {"instant"}:
        base = "instant"  # absolute times need no base: whatever was asked for means the same
    elif "instant" in kinds:
        raise InputError("the chat mixes absolute and relative times; use only one of them")
    elif base == "instant":
        raise InputError("time base `instant` needs times with a date and an offset from UTC; these have none")
    times = _times(messages, base, started_at, duration)
    if base != "wall" or time_base is not None:
        return times, base, 0.0
    shift = _zone_shift(times, started_at, duration)
    return [seconds + shift for seconds in times], base, shift


def _guess_base(messages: Sequence[Message], kinds: set[str], started_at: datetime, duration: float) -> str:
    """Where the log's kind does not tell, the reading that puts more messages into the recording; offset at a tie."""
    if "unknown" in kinds and kinds <= {"unknown", "number"}:
        inside = {base: _inside(_times(messages, base, started_at, duration), duration) for base in ("offset", "wall")}
        if not inside["wall"] and not inside["offset"]:  # perhaps a wall clock in another time zone
            return "offset" if max(message.stamp.seconds for message in messages) < _HOUR else "wall"
        return "wall" if inside["wall"] > inside["offset"] else "offset"
    return "instant" if "instant" in kinds else "wall" if "clock" in kinds else "offset"


def _times(messages: Sequence[Message], base: str, started_at: datetime, duration: float) -> list[float]:
    if base == "instant":
        return [message.stamp.seconds - started_at.timestamp() for message in messages]
    if base == "offset":
        return _offsets(messages, duration)
    return _clock_times(messages, started_at.astimezone(UTC) if base == "utc" else started_at, duration)


def _offsets(messages: Sequence[Message], duration: float) -> list[float]:
    """Numbers without a unit are milliseconds when seconds would lie far outside the recording."""
    seconds = [message.stamp.seconds for message in messages]
    bare = all(message.stamp.kind == "number" for message in messages)
    if bare and max(seconds) > duration + MARGIN and max(seconds) / 1000 <= duration + MARGIN:
        return [value / 1000 for value in seconds]
    return seconds


def _clock_times(messages: Sequence[Message], started_at: datetime, duration: float) -> list[float]:
    """Times of day, unwrapped over midnight and over the hour that daylight saving adds or takes."""
    day = _first_day(messages[0], started_at, duration)
    fixed = isinstance(started_at.tzinfo, timezone)  # a real zone knows its own changes, an offset does not
    times: list[float] = []
    previous, shift = None, 0.0
    for message in messages:
        day = message.stamp.date or day
        seconds = _since(day, message.stamp.seconds, started_at) + shift
        if previous is not None:
            if message.stamp.date is None and seconds < previous - _DAY / 2:
                day += timedelta(days=1)
                seconds = _since(day, message.stamp.seconds, started_at) + shift
            if not fixed and seconds < previous - _JITTER:
                seconds = _since(day, message.stamp.seconds, started_at, fold=1)
            elif fixed and -_HOUR - _JITTER <= seconds - previous <= -_JITTER:
                shift, seconds = shift + _HOUR, seconds + _HOUR
            elif fixed and _was_put_forward(seconds, previous, duration):
                shift, seconds = shift - _HOUR, seconds - _HOUR
        times.append(seconds)
        previous = seconds if previous is None else max(previous, seconds)
    return times


def _was_put_forward(seconds: float, previous: float, duration: float) -> bool:
    """Whether a gap of an hour or more leads out of the recording, and an hour less would not."""
    return seconds - previous >= _HOUR and previous <= duration < seconds and seconds - _HOUR <= duration + _JITTER


def _since(day: date, seconds: float, started_at: datetime, fold: int = 0) -> float:
    """Seconds from the start to a time of day in the zone of `started_at`; `fold` 1 is the hour that came twice."""
    midnight = datetime.combine(day, time(), tzinfo=started_at.tzinfo)
    local_time = (midnight + timedelta(seconds=seconds)).replace(fold=fold)
    return (local_time.astimezone(UTC) - started_at.astimezone(UTC)).total_seconds()


def _first_day(message: Message, started_at: datetime, duration: float) -> date:
    """The day on which the first message stands nearest to the recording."""
    if message.stamp.date is not None:
        return message.stamp.date
    today = started_at.date()
    days = [today - timedelta(days=1), *(today + timedelta(days=n) for n in range(int(duration // _DAY) + 2))]

    def distance(day: date) -> float:
        seconds = _since(day, message.stamp.seconds, started_at)
        return max(-seconds, seconds - duration, 0)

    return min(days, key=distance)


def _zone_shift(times: Sequence[float], started_at: datetime, duration: float) -> float:
    """Seconds to add when a wall clock was that of another time zone; 0 unless that explains most of the log.

    Only tried when no message falls into the recording as it stands, and taken when another zone puts most of them
    there: the computer that kept the chat was set to another zone than the one that recorded.
    """
    if any(-_JITTER <= seconds <= duration + _JITTER for seconds in times):
        return 0.0
    here = (started_at.utcoffset() or timedelta()).total_seconds()
    shifts = sorted((here - zone * _HOUR for zone in _ZONES), key=lambda shift: (shift % _HOUR != 0, abs(shift)))
    best = max(shifts, key=lambda shift: _inside([seconds + shift for seconds in times], duration))
    inside = _inside([seconds + best for seconds in times], duration)
    return best if inside * 2 > len(times) else 0.0


def distance(seconds: float, duration: float) -> str:
    """Why an utterance that lies too far outside a recording is left out, for people."""
    gap, where = (-seconds, "before the start") if seconds < 0 else (seconds - duration, "after the end")
    return f"left out: {gap / 3600:.1f} hours {where} of the recording"


def _inside(times: Sequence[float], duration: float) -> int:
    return sum(-1 <= seconds <= duration + 1 for seconds in times)
