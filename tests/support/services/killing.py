"""Many clients edit the same few demonstrations while their server is killed and restarted repeatedly.

Every client sends an edit under a key of its own, and sends it again under that key until it is answered.
"""

import http.client
import json
import random
import re
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from sqlalchemy import select

from curator_web.db.database import open_database
from curator_web.db.models.core import Edit
from curator_web.demonstrations.library.library import review
from pipeline.turns.edits import apply_edits

from .gunicorns import Gunicorn

LOST = (ConnectionError, http.client.HTTPException, TimeoutError)
TURNS = ("t1", "t2", "t3", "t4", "t5", "t6")


@dataclass
class Ledger:
    """What the clients were told."""

    made: dict[tuple[str, str], int] = field(default_factory=dict)  # (demonstration, key) -> version after it
    refused: int = 0
    sent_again: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)
    more: threading.Condition = field(default_factory=threading.Condition)


class Editor(threading.Thread):
    """A client that edits until it is told to stop."""

    def __init__(self, number: int, port: int, token: str, names: list[str], up: threading.Event,
                 stop: threading.Event, ledger: Ledger):
        super().__init__(name=f"editor-{number}")
        self._chance, self._number, self._count = random.Random(number), number, 0
        self._port, self._headers = port, {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        self._names, self._up, self._halt, self._ledger = names, up, stop, ledger
        self._connection: http.client.HTTPConnection | None = None
        self.problem: str | None = None

    def run(self) -> None:
        while not self._halt.is_set() and not self.problem:
            self._edit(self._chance.choice(self._names))

    def _edit(self, name: str) -> None:
        status, row = self._ask("GET", f"/api/demonstrations/{name}")
        if status != 200:
            self.problem = f"reading: {status} {row}"
            return
        self._count += 1
        key = f"{self._number}-{self._count}"
        body = {"version": row["version"], "edit": self._change(key), "key": key}
        status, answer = self._ask("POST", f"/api/demonstrations/{name}/edits", body)
        if status == 201 and answer["version"] > row["version"]:  # else it changed nothing and is not kept
            with self._ledger.more:
                self._ledger.made[name, key] = answer["version"]
                self._ledger.more.notify()
        elif status in (201, 400, 409):  # or there is nothing to undo, or somebody else was first
            with self._ledger.lock:
                self._ledger.refused += 1
        else:
            self.problem = f"editing: {status} {answer}"

    def _change(self, key: str) -> dict:
        kind, turn = self._chance.random(), self._chance.choice(TURNS)
        if kind < 0.6:
            return {"op": "set_utterance", "turn": "t1", "utterance": f"Said under {key}"}
        if kind < 0.75:
            return {"op": self._chance.choice(("undo", "redo"))}
        if kind < 0.9:
            return {"op": self._chance.choice(("drop", "restore")), "turn": turn}
        return {"op": "move", "turn": turn, "after": None}

    def _ask(self, method: str, address: str, body: dict | None = None) -> tuple[int, dict]:
        """Ask until there is an answer."""
        again = False
        while True:
            self._up.wait()
            try:
                self._connection = self._connection or http.client.HTTPConnection("127.0.0.1", self._port, timeout=30)
                self._connection.request(method, address, body and json.dumps(body), self._headers)
                answer = self._connection.getresponse()
                content = answer.read()
                if again and body:
                    with self._ledger.lock:
                        self._ledger.sent_again += 1
                return answer.status, json.loads(content)
            except LOST:
                self._connection, again = None, True


def run(url: str, data: Path, names: list[str], token: str, *, clients: int, kills: int, edits: int = 0,
        seconds: float = 0) -> tuple[Ledger, Gunicorn]:
    """Edit and kill; a kill comes after every so many acknowledged edits or seconds. Returns what was told."""
    ledger, up, stop = Ledger(), threading.Event(), threading.Event()
    server = Gunicorn(url, data)
    server.start()
    editors = [Editor(number, server.port, token, names, up, stop, ledger) for number in range(clients)]
    for editor in editors:
        editor.start()
    up.set()
    try:
        for _ in range(kills):
            _await(ledger, edits, seconds, editors)
            up.clear()
            server.kill()
            server.start()
            up.set()
        _await(ledger, edits, seconds, editors)
    except BaseException:
        server.stop()
        raise
    finally:
        stop.set()
        for editor in editors:
            editor.join(60)
    assert [editor.problem for editor in editors if editor.problem] == []
    return ledger, server


def _await(ledger: Ledger, edits: int, seconds: float, editors: list[Editor]) -> None:
    until, goal = time.monotonic() + seconds, len(ledger.made) + edits
    with ledger.more:
        while len(ledger.made) < goal or time.monotonic() < until:
            assert ledger.more.wait(60), f"no edit in a minute: {[editor.problem for editor in editors]}"


def check(url: str, names: list[str], ledger: Ledger, page: Callable[[str], str]) -> dict[str, int]:
    """Every acknowledged edit is there, none twice, and the page shows their fold. `page`: address -> text."""
    db = open_database(url)
    with db.reading() as session:
        rows = session.execute(select(Edit.demonstration_id, Edit.number, Edit.key, Edit.version)
                               .order_by(Edit.demonstration_id, Edit.number)).all()
    held = {(row.demonstration_id, row.key): row.version for row in rows}
    assert len(held) == len(rows), [key for key, count in Counter((r[0], r[2]) for r in rows).items() if count > 1]
    assert {key for key, version in ledger.made.items() if held.get(key) != version} == set()
    for name in names:
        found = review(db, name)
        mine = [row for row in rows if row.demonstration_id == name]
        assert [row.number for row in mine] == list(range(1, len(mine) + 1))
        assert found.row.version == 1 + len(mine)
        turns = apply_edits(found.base["turns"], found.edits)
        text = page(f"/demonstrations/{name}")
        shown = re.findall(r'<li id="[^"]+" data-turn="([^"]+)" class="(dropped|)"', text)
        assert shown == [(turn["id"], "dropped" if turn["dropped"] else "") for turn in turns]
        said = next(turn["utterance"] for turn in turns if turn["id"] == "t1")
        assert said in text
        assert found.row.dropped == sum(turn["dropped"] for turn in turns)
    db.close()
    return {"acknowledged": len(ledger.made), "kept": len(rows)}
