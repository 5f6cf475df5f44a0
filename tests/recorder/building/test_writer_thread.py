"""The writer's thread: it leaves the machine to who acts, and does all in order."""

import time

from recorder.building.writer_thread import WriterThread


def thread():
    return WriterThread(lambda error: None, lambda error: None)


def test_what_is_handed_over_waits_while_more_comes_but_not_for_ever():
    writer, done, begin = thread(), [], time.monotonic()

    def hand_over():
        before = time.monotonic()
        writer.submit(lambda: done.append((before, time.monotonic())))

    while not done and time.monotonic() < begin + 10:
        hand_over()
        time.sleep(0.02)
    assert done
    assert all(after - before > 0.1 for before, after in done)
    writer.close()
    assert done == sorted(done)


def test_who_waits_for_it_does_not_wait_for_a_rest():
    writer, done = thread(), []
    begin = time.monotonic()
    for number in range(10):
        writer.submit(lambda number=number: done.append(number))
        writer.drain()
        assert done[-1] == number
    writer.submit(lambda: done.append(10))
    writer.close()
    assert done == list(range(11))
    assert time.monotonic() - begin < 1.0  # ten rests would take longer
