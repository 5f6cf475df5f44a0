"""Reading written times: `14:05:09`, `2:05 PM`, ISO 8601, seconds and milliseconds as numbers."""

import re
from datetime import UTC, date, datetime

from pipeline.chat.log import MILLISECOND, MINUTE, SECOND, Stamp

_CLOCK = re.compile(r"(?:(\d{1,3}):)?(\d{1,2}):(\d{2})(?:[.,](\d{1,9}))?\s*([AaPp])?\.?[Mm]?\.?")
_NUMBER = re.compile(r"-?\d{1,20}(?:\.\d{1,20})?")
_LONG_FORM = re.compile(r"(?:[A-Za-z]{3,9},? )?([A-Za-z]{3,9})\.? (\d{1,2}),? (\d{4})(?:,| at)? "
                   r"(\d[\d:]{3,7}(?: ?[AaPp]\.?[Mm]\.?)?)( UTC| GMT)?", re.ASCII)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAY_SECONDS = 86_400
_EPOCH_FROM = 10 ** 8  # seconds: March 1973; smaller numbers count from a start
_LATEST = datetime(9998, 1, 1, tzinfo=UTC).timestamp()  # beyond it datetime has no days left to add


def clock_time(text: str, kind: str = "clock", day: date | None = None) -> Stamp | None:
    """`H:MM:SS`, `H:MM:SS.mmm` and `H:MM AM`; None when the text is no such time."""
    match = _CLOCK.fullmatch(text.strip())
    if not match or not text.isascii():
        return None
    hours, minutes, seconds, fraction, half = match.groups()
    if hours is None and half is None:
        return None
    if hours is None:
        hours, minutes, seconds, precision = minutes, seconds, "0", MINUTE
    else:
        precision = MILLISECOND if fraction else SECOND
    if int(minutes) > 59 or int(seconds) > 59 or (half and not 1 <= int(hours) <= 12):
        return None
    hour = int(hours) % 12 + 12 * (half in ("P", "p")) if half else int(hours)
    kind = "clock" if half else kind
    if kind == "clock" and hour > 23:
        return None
    return Stamp(hour * 3600 + int(minutes) * 60 + int(seconds) + float(f"0.{fraction or 0}"), kind, precision, day)


def minutes_time(text: str) -> Stamp | None:
    """`10:57 AM` or `22:57`: a time of day without seconds."""
    text = text.strip()
    match = re.fullmatch(r"(\d{1,2}):(\d{2})", text, re.ASCII)
    if not match:
        return clock_time(text)
    hour, minute = int(match[1]), int(match[2])
    return Stamp(hour * 3600 + minute * 60, "clock", MINUTE) if hour < 24 and minute < 60 else None


def iso_time(text: str) -> Stamp | None:
    """ISO 8601: with an offset it is an instant, without one a time of day on a date."""
    try:
        time = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    written = re.search(r"\d[T ]\d\d:?\d\d(:?\d\d)?([.,]\d)?", text.strip())
    if not written:
        return None  # a date alone
    precision = MINUTE if not written[1] else MILLISECOND if written[2] else SECOND
    if not 1970 <= time.year <= 9990:
        return None
    if time.tzinfo is not None:
        return instant(time.timestamp(), precision)
    seconds = time.hour * 3600 + time.minute * 60 + time.second + time.microsecond / 1e6
    return Stamp(seconds, "clock", precision, time.date())


def numeric_time(text: str, unit: str = "") -> Stamp | None:
    """A number: since the epoch when it is large, in the unit that its size tells, else since some start.

    `unit` is `ms` or `s` where the log says so. Small numbers without a unit are `number`: `clock.py` decides.
    """
    if not _NUMBER.fullmatch(text.strip()) or not text.isascii():
        return None
    value = float(text)
    precision = MILLISECOND if "." in text else SECOND
    for scale in (1e9, 1e6, 1e3, 1):  # nanoseconds, microseconds, milliseconds, seconds
        if abs(value) >= _EPOCH_FROM * 10 * scale or (scale == 1 and value >= _EPOCH_FROM):
            return instant(value / scale, MILLISECOND if scale > 1 else precision)
    if unit == "ms":
        return Stamp(value / 1000, "offset", MILLISECOND)
    return Stamp(value, "offset" if unit == "s" else "number", precision)


def instant(seconds: float, precision: float) -> Stamp | None:
    """Seconds since the epoch; None when no calendar reaches there."""
    return Stamp(seconds, "instant", precision) if 0 <= seconds < _LATEST else None


def long_form_time(text: str) -> Stamp | None:
    """`Tuesday, March 5, 2024 at 2:30:05 PM UTC`, with or without the day of the week and the zone."""
    match = _LONG_FORM.fullmatch(" ".join(text.split()))
    if not match or match[1][:3].lower() not in _MONTHS:
        return None
    time = minutes_time(match[4])
    try:
        day = date(int(match[3]), _MONTHS.index(match[1][:3].lower()) + 1, int(match[2]))
    except ValueError:
        return None
    if not time or time.seconds >= _DAY_SECONDS:
        return None
    if not match[5]:
        return Stamp(time.seconds, "clock", time.precision, day)
    return instant(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp() + time.seconds, time.precision)


def any_time(text: str, unit: str = "") -> Stamp | None:
    """Whatever of the above the text is."""
    short = re.fullmatch(r"(\d{1,2}):(\d{2})(\.\d{1,9})?", text.strip(), re.ASCII)
    if short:  # minutes and seconds of a player
        return clock_time("0:" + text.strip(), "unknown")
    return numeric_time(text, unit) or clock_time(text, "unknown") or iso_time(text) or long_form_time(text)
