"""Times stay monotone when the machine's clock is set, and a sleep is told."""

import pytest

from recorder.building.recording_clock import RecordingClock, SleepWatch


class Machine:
    """A machine's clocks, to be moved by hand."""

    def __init__(self):
        self.steady = 100.0
        self.offset = 1_000_000.0
        self.asleep = 0.0

    def wall(self) -> float:
        return self.steady + self.offset

    def pass_(self, seconds: float) -> None:
        self.steady += seconds


@pytest.mark.parametrize("set_by", [3600, -3600, 1.5, -30])
def test_times_stay_monotone_when_the_clock_is_set(set_by):
    machine = Machine()
    clock = RecordingClock(machine.wall, lambda: machine.steady)
    first_document = machine.wall()  # its performance.timeOrigin
    told = []
    for second in range(1, 9):
        machine.pass_(1)
        if second == 4:
            machine.offset += set_by
            second_document = machine.wall() - (machine.steady - 100)  # opened by the new clock
        document = first_document if second < 4 else second_document
        told.append(clock.seconds(document + machine.steady - 100, f"document {document}", keeps_clock=True))
        told.append(clock.seconds(machine.wall() - 0.01, "frames"))
        assert told[-2] == pytest.approx(second, abs=0.02) and told[-1] == pytest.approx(second, abs=0.05)
        assert clock.elapsed == pytest.approx(second)
        again = clock.seconds(first_document + second, f"document {first_document}", keeps_clock=True)
        assert again == pytest.approx(second)


def test_what_a_hanging_page_tells_late_keeps_its_time():
    machine = Machine()
    clock = RecordingClock(machine.wall, lambda: machine.steady)
    start = machine.wall()
    machine.pass_(1)
    assert clock.seconds(start + 1, "document", keeps_clock=True) == 1
    machine.pass_(30)
    assert clock.seconds(start + 2, "document", keeps_clock=True) == 2
    assert clock.seconds(start + 31, "document", keeps_clock=True) == 31


@pytest.mark.parametrize("set_by", [0, 20, -20])
def test_a_first_message_that_a_busy_machine_delays_keeps_its_time(set_by):
    machine = Machine()
    clock = RecordingClock(machine.wall, lambda: machine.steady)
    machine.pass_(1)
    machine.offset += set_by
    assert clock.seconds(machine.wall(), "frames") == pytest.approx(1)
    opened = machine.wall()
    machine.pass_(8)
    assert clock.seconds(opened + 0.5, "document", keeps_clock=True) == pytest.approx(1.5)
    assert clock.seconds(opened + 8, "document", keeps_clock=True) == pytest.approx(9)


def test_another_machines_clock_is_corrected_where_it_is_ahead():
    machine = Machine()
    clock = RecordingClock(machine.wall, lambda: machine.steady)
    for second in range(1, 4):
        machine.pass_(1)
        assert clock.seconds(machine.wall() + 5, "document", keeps_clock=True) == pytest.approx(second)


def test_sleep_is_told_once():
    machine = Machine()
    watch = SleepWatch(lambda: machine.steady, lambda: machine.steady - machine.asleep)
    machine.pass_(5)
    assert watch.slept() == 0
    machine.pass_(600)
    machine.asleep += 599
    assert watch.slept() == 599
    assert watch.slept() == 0
