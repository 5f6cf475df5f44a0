"""A service that does not answer is asked by one; all processes that share a data folder are told so at once. While it
keeps some waiting, others go on."""

import os
import socket
import threading
import time

import pytest

from curator_web.db import timeouts
from curator_web.errors import StoreUnavailable
from curator_web.storage import breaker, bulkhead
from curator_web.storage.breaker import Breaker
from curator_web.storage.bulkhead import Bulkhead
from curator_web.storage.objects import Objects
from tests.support.waiting import wait_until


@pytest.fixture(autouse=True)
def often(monkeypatch):
    monkeypatch.setattr(breaker, "EVERY", 0.02)


@pytest.mark.parametrize("shares", [True, False])
def test_another_process_is_told_what_one_found_out(tmp_path, shares):
    answers = []
    shared = tmp_path / "away" if shares else None
    one, other = Breaker(lambda: bool(answers), shared), Breaker(lambda: pytest.fail("it is asked by one"), shared)
    one.require_closed(), other.require_closed()
    one.open("it does not answer\nat all")
    with pytest.raises(StoreUnavailable, match="does not answer"):
        one.require_closed()
    assert other.is_open == shares
    if shares:
        with pytest.raises(StoreUnavailable, match="does not answer"):
            other.require_closed()
    answers.append(True)
    assert wait_until(lambda: not one.is_open and not other.is_open)
    one.require_closed(), other.require_closed()
    assert not list(tmp_path.iterdir())


def test_the_word_of_a_process_that_was_killed_holds_for_a_while_only(tmp_path):
    shared = tmp_path / "away"
    shared.write_text("it does not answer")
    waiting = Breaker(lambda: True, shared)
    assert waiting.is_open
    shared.write_text("")  # as another process finds it that reads while it is written
    with pytest.raises(StoreUnavailable, match="the service does not respond; retrying"):
        waiting.require_closed()
    os.utime(shared, (time.time() - 60,) * 2)
    assert not waiting.is_open
    waiting.require_closed()


def test_where_nothing_can_be_written_each_finds_out_by_itself(tmp_path):
    answers = []
    one = Breaker(lambda: bool(answers), tmp_path / "none" / "away")
    one.open("it does not answer")
    assert one.is_open
    answers.append(True)
    assert wait_until(lambda: not one.is_open)


@pytest.mark.parametrize("long, taken", [(0.05, bulkhead.MAX_SLOW_THREADS), (60.0, bulkhead.MAX_CONCURRENT)])
def test_a_service_that_keeps_some_waiting_keeps_nobody_else(monkeypatch, long, taken):
    monkeypatch.setattr(bulkhead, "SLOW_AFTER_S", long)
    waiting, go_on, ended = Bulkhead(), threading.Event(), []

    def wait():
        with waiting.acquire("s3://b"):
            go_on.wait()
        ended.append(True)

    for _ in range(taken):
        threading.Thread(target=wait).start()

    def refused():
        try:
            with waiting.acquire("s3://b"):
                return False
        except StoreUnavailable as error:
            return f"s3://b: {taken} other requests are waiting" in str(error)

    assert wait_until(refused)
    go_on.set()
    assert wait_until(lambda: len(ended) == taken)
    with waiting.acquire("s3://b"), pytest.raises(ValueError), waiting.acquire("s3://b"):
        raise ValueError
    assert not refused()


def test_who_comes_while_all_places_are_taken_shortly_gets_one(monkeypatch):
    monkeypatch.setattr(bulkhead, "ACQUIRE_TIMEOUT_S", 10.0)
    waiting, done = Bulkhead(), []

    def take():
        with waiting.acquire("s3://b"):
            time.sleep(0.01)
        done.append(True)

    threads = [threading.Thread(target=take) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(done) == 20


def test_a_page_waits_for_no_storage_for_which_others_wait(monkeypatch):
    """Jobs do: nobody waits for them."""
    monkeypatch.setattr(bulkhead, "SLOW_AFTER_S", 0.05)
    with socket.create_server(("127.0.0.1", 0), backlog=50) as silent:
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "x")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "x")
        objects = Objects("s3://bucket", f"http://127.0.0.1:{silent.getsockname()[1]}", known=True)
        told = []

        def ask(somebody):
            if somebody:
                timeouts.limit_statements()
            try:
                objects.exists("a")
            except StoreUnavailable as error:
                told.append((somebody, "other requests are waiting" in str(error)))

        threads = [threading.Thread(target=ask, args=(somebody,)) for somebody in (True, True, False)]
        for thread in threads:
            thread.start()
        since = objects._bulkhead._since
        assert wait_until(lambda: len(since) == bulkhead.MAX_SLOW_THREADS
                     and time.monotonic() - max(since.values()) > bulkhead.SLOW_AFTER_S)
        ask(True)
        assert told == [(True, True)], "the page waited for its own answer"
        timeouts.unlimit_statements()
        for thread in threads:
            thread.join()
        assert told.count((False, False)) == 1 and (False, True) not in told
