"""A service that does not answer is asked by one; all processes that share a data folder are told so at once."""

import os
import time

import pytest

from curator_web.errors import StoreAway
from curator_web.storage import breaker
from curator_web.storage.breaker import Breaker


@pytest.fixture(autouse=True)
def often(monkeypatch):
    monkeypatch.setattr(breaker, "EVERY", 0.02)


def until(holds):
    begin = time.monotonic()
    while not holds() and time.monotonic() < begin + 10:
        time.sleep(0.01)
    return holds()


@pytest.mark.parametrize("shares", [True, False])
def test_another_process_is_told_what_one_found_out(tmp_path, shares):
    answers = []
    shared = tmp_path / "away" if shares else None
    one, other = Breaker(lambda: bool(answers), shared), Breaker(lambda: pytest.fail("it is asked by one"), shared)
    one.expect_closed(), other.expect_closed()
    one.open("it does not answer\nat all")
    with pytest.raises(StoreAway, match="does not answer"):
        one.expect_closed()
    assert other.is_open == shares
    if shares:
        with pytest.raises(StoreAway, match="does not answer"):
            other.expect_closed()
    answers.append(True)
    assert until(lambda: not one.is_open and not other.is_open)
    one.expect_closed(), other.expect_closed()
    assert not list(tmp_path.iterdir())


def test_the_word_of_a_process_that_was_killed_holds_for_a_while_only(tmp_path):
    shared = tmp_path / "away"
    shared.write_text("it does not answer")
    waiting = Breaker(lambda: True, shared)
    assert waiting.is_open
    shared.write_text("")  # as another process finds it that reads while it is written
    with pytest.raises(StoreAway, match="the service does not answer; it is asked again"):
        waiting.expect_closed()
    os.utime(shared, (time.time() - 60,) * 2)
    assert not waiting.is_open
    waiting.expect_closed()


def test_where_nothing_can_be_written_each_finds_out_by_itself(tmp_path):
    answers = []
    one = Breaker(lambda: bool(answers), tmp_path / "none" / "away")
    one.open("it does not answer")
    assert one.is_open
    answers.append(True)
    assert until(lambda: not one.is_open)
