"""Written times on the recording's clock: midnight, daylight saving, zones, time bases."""

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from pipeline.chat import read_chat
from schemas import InputError

EST = timezone(timedelta(hours=-5))


def times(tmp_path, stamps, start, duration=3600.0, **options):
    path = tmp_path / "chat.txt"
    path.write_text("".join(f"{stamp} From Ann to Everyone:\n\tline {n}\n" for n, stamp in enumerate(stamps)))
    log = read_chat(path, started_at=start, duration=duration, **options)
    return [line.time for line in log.lines], log


def test_midnight(tmp_path):
    start = datetime(2024, 3, 5, 23, 59, 30, tzinfo=EST)
    assert times(tmp_path, ["23:59:00", "23:59:59", "00:00:01", "00:10:00"], start)[0] == [-30, 29, 31, 630]
    assert times(tmp_path, ["00:00:01", "00:10:00"], start)[0] == [31, 630]
    early = datetime(2024, 3, 6, 0, 0, 10, tzinfo=EST)
    assert times(tmp_path, ["23:59:50", "00:00:20"], early)[0] == [-20, 10]


def test_dates_need_no_unwrapping(tmp_path):
    start = datetime(2024, 3, 5, 23, 59, 30, tzinfo=EST)
    assert times(tmp_path, ["2024-03-05 23:59:31", "2024-03-06 00:00:30"], start)[0] == [1, 60]


@pytest.mark.parametrize("zone", [ZoneInfo("America/New_York"), timezone(timedelta(hours=-4))])
def test_clock_put_back(tmp_path, zone):
    start = datetime(2024, 11, 3, 1, 50, tzinfo=zone)
    assert times(tmp_path, ["01:50:05", "01:59:00", "01:01:00", "01:20:00"], start)[0] == [5, 540, 660, 1800]


def test_clock_put_back_in_a_real_zone_goes_on_after_the_hour(tmp_path):
    start = datetime(2024, 11, 3, 1, 50, tzinfo=ZoneInfo("America/New_York"))
    assert times(tmp_path, ["01:59:00", "01:01:00", "02:01:00"], start, 7200)[0] == [540, 660, 4260]


@pytest.mark.parametrize("zone", [ZoneInfo("America/New_York"), timezone(timedelta(hours=-5))])
def test_clock_put_forward(tmp_path, zone):
    start = datetime(2024, 3, 10, 1, 50, tzinfo=zone)
    assert times(tmp_path, ["01:50:05", "01:59:00", "03:01:00", "03:05:00"], start, 1200)[0] == [5, 540, 660, 900]


def test_log_from_another_time_zone(tmp_path):
    start = datetime(2024, 3, 5, 19, 30, 0, tzinfo=UTC)
    found, log = times(tmp_path, ["14:30:05", "14:35:00"], start, 600)
    assert (found, log.shift) == ([5, 300], 5 * 3600)
    found, log = times(tmp_path, ["01:00:05", "01:05:00"], start, 600)  # India, the next day
    assert (found, log.shift) == ([5, 300], -5.5 * 3600)


def test_lines_near_the_recording_are_never_moved_to_another_zone(tmp_path):
    found, log = times(tmp_path, ["14:29:00", "14:29:30"], datetime(2024, 3, 5, 14, 30, tzinfo=EST), 60)
    assert (found, log.shift) == ([-60, -30], 0)


def test_time_base_can_be_named(tmp_path):
    start = datetime(2024, 3, 5, 14, 30, 0, tzinfo=EST)
    assert times(tmp_path, ["19:30:05"], start, time_base="utc")[0] == [5]
    assert times(tmp_path, ["00:30:05"], start, time_base="offset")[0] == [1805]
    with pytest.raises(InputError, match="unknown"):
        times(tmp_path, ["14:30:05"], start, time_base="moon")
    with pytest.raises(InputError, match="instant"):
        times(tmp_path, ["14:30:05"], start, time_base="instant")


def test_what_lies_outside_the_session_is_reported(tmp_path):
    start = datetime(2024, 3, 5, 14, 30, 0, tzinfo=EST)
    found, log = times(tmp_path, ["12:00:00", "14:30:05"], start, 600)
    assert found == [5]
    assert log.problems == ((1, "left out: 2.5 hours before the start of the recording"),)
    with pytest.raises(InputError, match="no message within an hour"):
        times(tmp_path, ["2023-01-01 14:30:05"], start, 600)
