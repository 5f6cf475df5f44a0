"""Live rooms as docs/production.md runs them: one gunicorn worker with threads, behind the limits of the app."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.request import Request, urlopen

import pytest
from websockets.exceptions import InvalidStatus

from curator_web.db.database import open_database
from curator_web.rooms import messages
from curator_web.settings import default_db_url
from curator_web.users import add_user
from demotape.client import Client, Refused
from tests.support.curator.rooms import RoomEnd, receipt, say, state
from tests.support.waiting import wait_until


@pytest.fixture
def tokens(tmp_path) -> dict[str, str]:
    (tmp_path / "data").mkdir()
    db = open_database(default_db_url(tmp_path / "data"))
    tokens = {"ann": add_user(db, "ann", "annotator"), "val": add_user(db, "val", "validator")}
    db.close()
    return tokens


@pytest.fixture
def gunicorn(tmp_path, tokens) -> Iterator:
    """Starts the server with a number of connections; yields a function that returns its address."""
    running: list[subprocess.Popen] = []

    def start(connections: str) -> str:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        with (tmp_path / "log").open("wb") as log:
            running.append(subprocess.Popen(
                [Path(sys.executable).parent / "gunicorn", "--workers", "1", "--threads", "8", "--keep-alive", "0",
                 "--bind", f"127.0.0.1:{port}", "demotape.wsgi:make_app()"], stdout=log, stderr=log,
                env=os.environ | {"DEMOTAPE_DATA": str(tmp_path / "data"), "DEMOTAPE_ROOMS": connections}))
        url = f"http://127.0.0.1:{port}"

        def answers() -> bool:
            with suppress(OSError):
                return urlopen(f"{url}/healthz", timeout=10).status == 200
            return False

        wait_until(answers, what="gunicorn")
        return url

    yield start
    for process in running:
        process.terminate()
        process.wait()


def test_rooms_are_served_by_threads_that_hinder_nobody(gunicorn, tokens, tmp_path):
    url = gunicorn("4")
    room = Client(url, tokens["ann"]).open_room(instructor="val")
    with pytest.raises(InvalidStatus, match="403"):
        RoomEnd(f"{room['url']}/live", token=tokens["val"], origin="https://evil.example")
    recorder = RoomEnd(f"{room['url']}/record", token=tokens["ann"])
    instructors = [RoomEnd(f"{room['url']}/live", token=tokens["val"]) for _ in range(3)]
    recorder.send(state("rec-1"))
    instructors[0].wait_for_type("state", state="recording")
    for number in range(20):
        message = say(f"{number}")
        instructors[number % 3].send(message)
        recorder.wait_for_type("chat", id=message["id"])
        recorder.send(receipt(message["id"], float(number)))
        instructors[0].wait_for(lambda each, number=number: each.get("time") == number)
        # A room's connections wait; other requests are answered meanwhile.
        page = urlopen(Request(f"{url}/api/projects", headers={"Authorization": f"Bearer {tokens['val']}"}), timeout=20)
        assert page.status == 200
    with pytest.raises(InvalidStatus, match="503"):
        RoomEnd(f"{room['url']}/live", token=tokens["val"])
    recorder.send(state("rec-1", "ended"))
    recorder.wait_for_type("ended")
    for end in (recorder, *instructors):
        end.close()
    db = open_database(default_db_url(tmp_path / "data"))
    assert [each["time"] for each in messages.all_of(db, room["id"])] == [float(number) for number in range(20)]
    db.close()
    log = (tmp_path / "log").read_text()
    assert "Traceback" not in log and "Error" not in log, log


def test_without_the_setting_rooms_are_off(gunicorn, tokens):
    with pytest.raises(Refused, match="switched off"):
        Client(gunicorn("0"), tokens["ann"]).open_room()
