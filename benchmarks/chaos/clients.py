"""What the clients of benchmarks.chaos do: they review, upload and export, and ask again until they are answered.

What was answered with success is acknowledged, and must be there in the end, once. A connection that ends and the
statuses 503 and 507 mean that something is away; every other status that is no success, but 409, is a fault.
"""

import hashlib
import http.client
import io
import json
import random
import tempfile
import threading
import time
import zipfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.support.samples.packages import journal, pack
from tests.support.services.killing import LOST, TURNS, Ledger

_AWAY = (503, 507)
_LOOKS = (0.2, 1.0)  # seconds between two things that somebody does
_AGAIN = 0.5  # seconds before something that is away is asked again
_CHUNK = 2000  # bytes


@dataclass
class Told:
    """What the clients were told, together."""

    ledger: Ledger = field(default_factory=Ledger)
    uploads: set[str] = field(default_factory=set)  # ids of recordings that were taken
    exports: list[int] = field(default_factory=list)  # jobs
    downloads: int = 0
    statuses: Counter[int] = field(default_factory=Counter)
    lists: list[tuple[float, float]] = field(default_factory=list)  # when lists were asked for, and answered
    problems: list[str] = field(default_factory=list)


class Client(threading.Thread):
    """Somebody with a connection, who goes on until told to stop."""

    def __init__(self, number: int, port: int, token: str, stop: threading.Event, told: Told):
        super().__init__(name=f"client-{number}", daemon=True)
        self.number, self.chance, self.told, self.halt = number, random.Random(number), told, stop
        self._port, self._headers = port, {"Authorization": f"Bearer {token}"}
        self._connection: http.client.HTTPConnection | None = None

    def run(self) -> None:
        try:
            while not self.halt.wait(self.chance.uniform(*_LOOKS)):
                self.work()
        except Stopped:
            pass
        except Exception as error:
            self.told.problems.append(f"{self.name}: {type(error).__name__}: {error}")

    def work(self) -> None:
        """Do one thing."""
        raise NotImplementedError

    def ask(self, method: str, address: str, body: Any = None) -> tuple[int, bytes]:
        """Ask until it is answered; raises Stopped when nobody is to ask any more."""
        content = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        kind = "application/octet-stream" if isinstance(body, bytes) else "application/json"
        while True:
            began = time.monotonic()
            try:
                connection = self._connection = self._connection or http.client.HTTPConnection(
                    "127.0.0.1", self._port, timeout=60)
                connection.request(method, address, content, self._headers | {"Content-Type": kind})
                answer = connection.getresponse()
                status, text = answer.status, answer.read()
            except LOST:
                self._connection, status, text = None, 0, b""
            self.told.statuses[status] += 1
            if status and status not in _AWAY:
                if status >= 500 or status in (401, 403, 404, 429):
                    self.told.problems.append(f"{method} {address.partition('?')[0]}: {status} {text[:200]!r}")
                if address.startswith("/api/demonstrations?"):
                    self.told.lists.append((began, time.monotonic()))
                return status, text
            if self.halt.wait(_AGAIN):
                raise Stopped


class Stopped(Exception):
    """The time is over while something was away."""


class Reviewer(Client):
    """Looks through the list, opens a demonstration, edits it."""

    def __init__(self, *args: Any, names: list[str]):
        super().__init__(*args)
        self._names, self._count = names, 0

    def work(self) -> None:
        self.ask("GET", f"/api/demonstrations?search={self.chance.choice(('flight', 'book', 'nothing'))}")
        name = self.chance.choice(self._names)
        if self.chance.random() < 0.3:
            self.ask("GET", f"/demonstrations/{name}")
        status, text = self.ask("GET", f"/api/demonstrations/{name}")
        version = json.loads(text)["version"] if status == 200 else 0
        self._count += 1
        key = f"{self.number}-{self._count}"
        status, text = self.ask("POST", f"/api/demonstrations/{name}/edits",
                                {"version": version, "edit": self._change(key), "key": key})
        if status == 201 and (made := json.loads(text)["version"]) > version:
            with self.told.ledger.lock:
                self.told.ledger.made[name, key] = made

    def _change(self, key: str) -> dict[str, Any]:
        if self.chance.random() < 0.7:
            return {"op": "set_utterance", "turn": "t1", "utterance": f"Said under {key}"}
        return {"op": self.chance.choice(("drop", "restore")), "turn": self.chance.choice(TURNS)}


class Uploader(Client):
    """Sends one package after the other, as the extension does."""

    count = 0

    def work(self) -> None:
        self.count += 1
        recording = f"sent-{self.number}-{self.count}"
        content = package(recording)
        chunks = [content[at:at + _CHUNK] for at in range(0, len(content), _CHUNK)]
        address = f"/api/uploads/{recording}"
        status, _ = self.ask("PUT", address, {"size": len(content), "chunk_size": _CHUNK, "chunks": [
            hashlib.sha256(chunk).hexdigest() for chunk in chunks]})
        for number, chunk in enumerate(chunks):
            if status >= 300:
                break
            status, _ = self.ask("PUT", f"{address}/chunks/{number}", chunk)
        if status < 300 and self.ask("POST", f"{address}/finish")[0] == 202:
            self.told.uploads.add(recording)


class Exporter(Client):
    """Begins an export, waits for it, and downloads it."""

    def work(self) -> None:
        status, text = self.ask("POST", "/api/exports", {"format": "weblinx", "status": "any"})
        if status != 202:
            self.told.problems.append(f"export: {status} {text[:200]!r}")
            return
        job = json.loads(text)["id"]
        self.told.exports.append(job)
        while json.loads(self.ask("GET", f"/api/jobs/{job}")[1])["state"] not in ("done", "failed"):
            if self.halt.wait(_AGAIN):
                return
        self.download(job)

    def download(self, job: int) -> None:
        """The export of a job, which must be whole."""
        status, content = self.ask("GET", f"/exports/{job}.zip")
        if status == 200:
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                if archive.testzip() is None:
                    self.told.downloads += 1
                    return
        self.told.problems.append(f"the download of export {job} is not whole: {status}")


def package(recording: str) -> bytes:
    """A small package of that recording."""
    lines = journal()
    lines[0] |= {"id": recording, "task": f"Task of {recording}"}
    with tempfile.TemporaryDirectory() as folder:
        return pack(Path(folder) / "p.zip", lines, id=recording, task=f"Task of {recording}").read_bytes()
