"""Work on untrusted input ends at its limits, in one line, and alone."""

import os
import threading

import pytest

from pipeline.sandbox import Allowance, LimitExceeded, Processes, TooBusy
from schemas import DiskFull, InputError
from tests.support import hostile_work
from tests.support.waiting import wait_until

ALLOWED = Allowance(processor=1, memory=200 << 20, clock=5, answer=1 << 20)


@pytest.fixture(scope="module")
def processes() -> Processes:
    return Processes(1)


@pytest.mark.parametrize("work, allowance, told", [
    (hostile_work.spin, Allowance(1, 200 << 20, clock=60), "takes more than 1 s of processor time"),
    (hostile_work.swell, ALLOWED, "requires more than 200 MiB of memory"),
    (hostile_work.rest, Allowance(1, 200 << 20, clock=0.3), "takes longer than 0 s"),
    (hostile_work.crash, ALLOWED, "crashed (status -11)"),
    (hostile_work.shout, ALLOWED, "larger than 1 MiB"),
])
def test_what_takes_too_much_ends_and_the_next_call_is_answered(processes, work, allowance, told):
    with pytest.raises(LimitExceeded) as caught:
        processes.run(allowance, "package x.zip", work)
    assert str(caught.value).startswith("package x.zip: ") and told in str(caught.value)
    assert "\n" not in str(caught.value) and isinstance(caught.value, InputError)
    assert processes.run(ALLOWED, "x", hostile_work.echo, {"a": [1]}) == {"a": [1]}


def test_one_process_serves_many_calls_and_limits_each_by_itself(processes):
    first = processes.run(ALLOWED, "x", hostile_work.pid)
    for _ in range(3):
        processes.run(ALLOWED, "x", sum, range(10_000_000))
    assert processes.run(ALLOWED, "x", hostile_work.pid) == first
    os.kill(first, 9)
    second = processes.run(ALLOWED, "x", hostile_work.pid)
    assert second != first


def test_a_process_of_another_environment_is_replaced(processes, monkeypatch):
    first = processes.run(ALLOWED, "x", hostile_work.pid)
    monkeypatch.setenv("AWS_PROFILE", "another")
    assert processes.run(ALLOWED, "x", hostile_work.pid) != first


def test_errors_come_back_as_they_are(processes):
    with pytest.raises(ZeroDivisionError) as caught:
        processes.run(ALLOWED, "x", divmod, 1, 0)
    assert "Traceback" in caught.value.__notes__[0]


def test_who_waits_too_long_for_a_process_is_told(processes):
    begun = threading.Event()

    def hold() -> None:
        begun.set()
        with pytest.raises(LimitExceeded):
            processes.run(ALLOWED, "x", hostile_work.spin)
    holding = threading.Thread(target=hold)
    holding.start()
    begun.wait()
    wait_until(lambda: processes._free._value == 0, what="the first piece of work to begin")
    with pytest.raises(TooBusy):
        processes.run(Allowance(0.1, 1 << 28, clock=1), "y", hostile_work.pid)
    holding.join()


def test_a_full_disk_is_told_by_its_kind(processes):
    with pytest.raises(DiskFull, match="x: cannot be written"):
        processes.run(ALLOWED, "x", hostile_work.meets_a_full_disk)
