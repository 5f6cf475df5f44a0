"""Requests of one process are worked on one after another, but nobody waits for one that waits for something else."""

import io
import threading

import pytest

from curator_web.db.database import open_database
from curator_web.db.request_lock import SHORT, OneAtATime, stepping_aside


class App:
    """Counts who works at the same time; `/aside` waits for `go` while it steps aside, `/body` reads what is sent."""

    def __init__(self):
        self.now, self.most, self.go, self.begun = 0, 0, threading.Event(), threading.Event()

    def __call__(self, environ, start_response):
        self.now += 1
        self.most = max(self.most, self.now)
        if environ["PATH_INFO"] == "/fails":
            self.now -= 1
            raise ValueError
        if environ["PATH_INFO"] == "/aside":
            self.now -= 1
            with stepping_aside():
                self.begun.set()
                assert self.go.wait(60)
            self.now += 1
        if environ["PATH_INFO"] == "/body":
            self.now -= 1
            environ["wsgi.input"].read(10)
            self.now += 1
        threading.Event().wait(0.005)
        self.now -= 1
        return [environ["PATH_INFO"].encode()]


class Slow(io.BytesIO):
    """What is sent when `go` is there."""

    def __init__(self, app):
        super().__init__(b"x" * 20)
        self._app = app

    def read(self, *size):
        self._app.begun.set()
        assert self._app.go.wait(60)
        return super().read(*size)


def ask(served, path, body=None, length="", several=True, coding=""):
    return served({"PATH_INFO": path, "wsgi.multithread": several, "wsgi.input": body or io.BytesIO(),
                   "CONTENT_LENGTH": length, "HTTP_TRANSFER_ENCODING": coding}, lambda *_: None)


def test_one_works_at_a_time_where_there_are_several_threads():
    app = App()
    served, answers = OneAtATime(app), []
    threads = [threading.Thread(target=lambda: answers.append(ask(served, "/"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert app.most == 1 and answers == [[b"/"]] * 8
    with pytest.raises(ValueError):
        ask(served, "/fails")
    assert ask(served, "/") == [b"/"]
    with stepping_aside():  # no request
        assert ask(served, "/", several=False) == [b"/"]


@pytest.mark.parametrize("path, length, coding", [
    ("/aside", "0", ""), ("/body", "20", ""), ("/body", str(SHORT + 1), ""), ("/body", "", "chunked")])
def test_nobody_waits_for_who_waits(path, length, coding):
    app = App()
    served, answers = OneAtATime(app), []
    waiting = [threading.Thread(target=lambda: answers.append(
        ask(served, path, Slow(app), length, coding=coding))) for _ in range(3)]
    for thread in waiting:
        thread.start()
    assert app.begun.wait(60)
    assert ask(served, "/") == [b"/"] and not answers
    app.go.set()
    for thread in waiting:
        thread.join()
    assert len(answers) == 3 and app.most == 1


def test_lines_of_a_body_are_read_as_they_are():
    def lines(environ, start_response):
        body = environ["wsgi.input"]
        return [body.readline(), *body.readlines(1), *body]

    body = io.BytesIO(b"a\nb\nc\nd\n")
    assert ask(OneAtATime(lines), "/", body, str(SHORT + 1)) == [b"a\n", b"b\n", b"c\n", b"d\n"]


def test_who_writes_to_the_database_steps_not_aside(tmp_path):
    """Others would wait for the database while they work, and it for them."""
    db, order = open_database(f"sqlite:///{tmp_path / 'demotape.db'}"), []

    def app(environ, start_response):
        with db.writing():
            order.append("begins")
            with stepping_aside():
                threading.Event().wait(0.1)
            order.append("ends")
        return []

    served = OneAtATime(app)
    threads = [threading.Thread(target=ask, args=(served, "/")) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    db.close()
    assert order == ["begins", "ends"] * 3
