"""Twenty clients review, upload and export while what is around the review app breaks: is anything lost or doubled?

    python -m benchmarks.chaos [--minutes M] [--seed N] [--only postgresql|sqlite] [--clients N] [--threads N]

gunicorn with two workers, once with PostgreSQL and S3, once with SQLite and a folder, whose data folder is a small disk
where one can be mounted. By the seed, workers and the whole server are killed with -9 and started again, the database
is stopped as by a power cut or hangs, S3 falls silent, refuses, is slow, answers 500, the disk fills; beside the first,
recordings are processed on a Dask cluster whose scheduler is killed. Clients ask again what was answered 503 or not at
all, as the extension and the review page do. In the end everything is there again, and nobody helps: printed are
acknowledged edits, uploads and exports that are missing or doubled, other answers of 500, jobs that are not done, and
the p95 of lists while only S3, the scheduler or the disk is in trouble. Exit code 1 where a goal is missed.
"""

import argparse
import json
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import select

from curator_web.db.database import Database, open_database
from curator_web.db.models.core import Demonstration
from curator_web.db.models.job_models import DONE, JOB_FAILED, Job
from curator_web.demonstrations.library.library import import_recording
from curator_web.storage.opening import open_store
from curator_web.users import add_user
from tests.support.curator.curator_fixtures import make_recording
from tests.support.services import databases, killing, s3_services
from tests.support.services.gunicorns import Gunicorn
from tests.support.services.wires import Wire

from .clients import Client, Exporter, Reviewer, Told, Uploader
from .cluster import Cluster, Processor

DEMONSTRATIONS = 30
_LASTS, _RESTS = (2.0, 8.0), (2.0, 6.0)  # seconds that a trouble lasts, and between two
_SLOW = 1.0  # seconds that a slow S3 takes for each request
_ENDS = 240.0  # seconds in which every job is done, once all is well
_DISK = "1300m"  # of which 1 GiB has to stay free
_AFTER = 3.0  # seconds in which lists may still wait for what has come back
_GOAL = 0.5  # seconds, p95


@dataclass
class Around:
    """What is around the app. `troubles`: by name, how each begins and ends; `hinders`: those in which lists wait."""

    url: str
    data: Path
    environment: dict[str, str] = field(default_factory=dict)
    troubles: dict[str, tuple[Callable[[], None], Callable[[], None]]] = field(default_factory=dict)
    hinders: set[str] = field(default_factory=set)
    cluster: Cluster | None = None


@contextmanager
def disk(folder: Path) -> Iterator[bool]:
    """A small disk at a folder; whether one could be had."""
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={_DISK}", "tmpfs", folder],
                             capture_output=True).returncode == 0
    try:
        yield mounted
    finally:
        if mounted:
            subprocess.run(["umount", "--lazy", folder], check=True)


def fill(folder: Path) -> None:
    """Take what is free on a small disk, but for some pages."""
    with (folder / "filled").open("wb") as file, suppress(OSError):
        os.posix_fallocate(file.fileno(), 0, max(1, shutil.disk_usage(folder).free - (1 << 16)))


@contextmanager
def around(kind: str, folder: Path) -> Iterator[Around]:
    """All services but the app, running."""
    with ExitStack() as stack:
        data = folder / "data"
        small = stack.enter_context(disk(data))
        if kind == "sqlite":
            found = Around(f"sqlite:///{data / 'demotape.db'}", data)
        else:
            cluster = databases.Cluster(Path(stack.enter_context(_folder("postgresql"))), {})
            cluster.start()
            stack.callback(cluster.stop)
            found = Around(databases.Server(cluster.url).empty(), data)
            hang = stack.enter_context(ExitStack())
            found.troubles |= {"database": (cluster.stop, cluster.start), "database hangs": (
                lambda: hang.enter_context(databases.frozen(found.url)), hang.close)}
            found.hinders |= {"database", "database hangs"}
            _add_store(found, stack, folder)
            found.cluster = Cluster(Path(stack.enter_context(_folder("workers"))))
            found.cluster.start()
            stack.callback(found.cluster.stop)
            found.troubles["scheduler"] = found.cluster.stop, found.cluster.start
        if small:
            found.troubles["disk"] = lambda: fill(data), (data / "filled").unlink
            found.hinders |= {"disk"} if kind == "sqlite" else set()  # which can write nothing then
        yield found


def _add_store(found: Around, stack: ExitStack, folder: Path) -> None:
    """S3, which can fall silent, refuse, be slow, or answer 500."""
    shelf = folder / "shelf"
    shelf.mkdir()
    proxy = stack.enter_context(s3_services.Proxy(stack.enter_context(s3_services.s3rver(shelf))))
    wire = stack.enter_context(Wire(int(proxy.url.rpartition(":")[2])))
    found.environment |= {
        "DEMOTAPE_BLOBS": f"s3://{s3_services.BUCKET}/chaos", "DEMOTAPE_ENDPOINT_URL": f"http://127.0.0.1:{wire.port}",
        "AWS_ACCESS_KEY_ID": s3_services.KEYS[0], "AWS_SECRET_ACCESS_KEY": s3_services.KEYS[1],
        "AWS_DEFAULT_REGION": "us-east-1"}

    def answer_with(answer: Callable[[str, str], int | None]) -> Callable[[], None]:
        return lambda: setattr(proxy, "answer", answer)

    well = answer_with(lambda method, name: None)
    found.troubles |= {
        "S3 silent": (wire.silence, wire.mend), "S3 refuses": (wire.cut, wire.mend),
        "S3 slow": (answer_with(lambda method, name: time.sleep(_SLOW)), well),
        "S3 answers 500": (answer_with(lambda method, name: 500), well)}


@contextmanager
def _folder(name: str) -> Iterator[str]:
    made = tempfile.mkdtemp(prefix=f"demotape-{name}-")
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)


def trouble(given: Around, server: Gunicorn, chance: random.Random, until: float) -> list[tuple[str, float, float]]:
    """Make trouble until a time; which, from when, until when."""
    found = []
    kinds = {**given.troubles, "worker": (server.kill_one, lambda: None), "server": (server.kill, server.start)}
    left: list[str] = []
    while time.monotonic() < until:
        left = left or chance.sample(sorted(kinds), len(kinds))  # each as often as the others
        name = left.pop()
        begin, end = kinds[name]
        began = time.monotonic()
        begin()
        time.sleep(chance.uniform(*_LASTS) if name != "worker" else 0)
        end()
        found.append((name, began, time.monotonic()))
        print(f"  {name}: {found[-1][2] - began:.1f} s", flush=True)
        time.sleep(chance.uniform(*_RESTS))
    return found


def run(kind: str, folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    """One kind of services; what came of it."""
    with around(kind, folder) as given:
        os.environ |= given.environment
        db = open_database(given.url)
        store = open_store(given.data, given.environment.get("DEMOTAPE_BLOBS"),
                           given.environment.get("DEMOTAPE_ENDPOINT_URL"))
        reviewer, lead = add_user(db, "ann", "annotator"), add_user(db, "lea", "lead")
        names = [f"rec-{number}" for number in range(DEMONSTRATIONS)]
        for name in names:
            import_recording(db, store, make_recording(folder, recording_id=name))
        server, told, stop = Gunicorn(given.url, given.data, threads=options.threads), Told(), threading.Event()
        with server:
            clients = _clients(options.clients, server.port, reviewer, lead, stop, told, names)
            processor = Processor(given.cluster, folder / "processed", stop, told) if given.cluster else None
            for client in (*clients, *([processor] if processor else [])):
                client.start()
            troubles = trouble(given, server, random.Random(options.seed), time.monotonic() + options.minutes * 60)
            stop.set()
            for client in clients:
                client.join(90)
            done = _processed(processor) if processor else {}
            unfinished = _finished(db)
            if unfinished:
                print(server.log())
            last = Exporter(0, server.port, lead, threading.Event(), told)
            for job in told.exports:
                last.download(job)
            checked = killing.check(given.url, names, told.ledger, _pages(server.port, reviewer))
            figures = _figures(db, told, troubles, given.hinders) | checked | done | {"jobs_not_done": unfinished}
        db.close()
        for name in given.environment:
            os.environ.pop(name, None)
        for problem in Counter(told.problems).most_common(20):
            print(f"  {problem[1]} times: {problem[0]}")
        return figures


def _processed(processor: Processor) -> dict[str, int]:
    """What was processed on the cluster, and how often that could not be done at once."""
    processor.join(_ENDS)
    if processor.is_alive():
        processor.told.problems.append("process: was not done in the end")
    return {"processed": processor.processed, "processings_refused": processor.refused}


def _clients(count: int, port: int, reviewer: str, lead: str, stop: threading.Event, told: Told,
             names: list[str]) -> list[Client]:
    """One in ten exports, two in ten upload, the others review."""
    found: list[Client] = []
    for number in range(1, count + 1):
        if number % 10 == 0:
            found.append(Exporter(number, port, lead, stop, told))
        elif number % 5 == 1:
            found.append(Uploader(number, port, reviewer, stop, told))
        else:
            found.append(Reviewer(number, port, reviewer, stop, told, names=names))
    return found


def _pages(port: int, token: str) -> Callable[[str], str]:
    told, stop = Told(), threading.Event()
    client = Client(0, port, token, stop, told)
    return lambda address: client.ask("GET", address)[1].decode()


def _finished(db: Database) -> list[str]:
    """Wait until every job is done; those that are not then, or failed."""
    until = time.monotonic() + _ENDS
    while True:
        with db.reading() as session:
            rows = session.execute(select(Job.id, Job.kind, Job.state, Job.note).where(Job.state != DONE)).all()
        if time.monotonic() > until or all(row.state == JOB_FAILED for row in rows):
            return [f"{row.kind} {row.id}: {row.state} {row.note[:200]}" for row in rows]
        time.sleep(1)


def _figures(db: Database, told: Told, troubles: list[tuple[str, float, float]], hinders: set[str]) -> dict[str, Any]:
    with db.reading() as session:
        there = set(session.scalars(select(Demonstration.id)))
        jobs = Counter(session.scalars(select(Job.state)))
    hindered = [(began, ended + _AFTER) for name, began, ended in troubles if name in hinders | {"server", "worker"}]
    free = [ended - began for began, ended in told.lists if not _any_at(hindered, began, ended)]
    by_trouble = {name: _p95([ended - began for began, ended in told.lists if not _any_at(hindered, began, ended)
                              and _any_at([(since, until) for each, since, until in troubles if each == name],
                                          began, ended)]) for name in {each for each, _, _ in troubles}}
    return {"troubles": dict(Counter(name for name, _, _ in troubles)), "acknowledged_uploads": len(told.uploads),
            "uploads_lost": len(told.uploads - there),
            "doubled": sum(not re.fullmatch(r"rec-\d+|sent-\d+-\d+", name) for name in there),
            "exports": len(told.exports), "downloads": told.downloads,
            "answers_500": sum(count for status, count in told.statuses.items() if status >= 500 and status not in
                               (503, 507)),
            "statuses": {str(status): count for status, count in sorted(told.statuses.items())},
            "problems": len(told.problems), "jobs": dict(jobs), "lists": len(free),
            "lists_p95_seconds": _p95(free),
            "lists_p95_during": {name: each for name, each in by_trouble.items() if each is not None}}


def _any_at(times: list[tuple[float, float]], began: float, ended: float) -> bool:
    return any(began < until and ended > since for since, until in times)


def _p95(seconds: list[float]) -> float | None:
    return round(statistics.quantiles(seconds, n=20)[-1], 3) if len(seconds) > 20 else None


def failed(figures: dict[str, Any]) -> bool:
    """Whether a goal was missed."""
    return bool(figures["uploads_lost"] or figures["doubled"] or figures["answers_500"] or figures["problems"]
                or figures["jobs_not_done"] or (figures["lists_p95_seconds"] or 0) > _GOAL)


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=10, help="of trouble, for each kind of services")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--clients", type=int, default=20)
    parser.add_argument("--threads", type=int, default=4, help="of each worker")
    parser.add_argument("--only", choices=("postgresql", "sqlite"))
    options = parser.parse_args()
    results = {}
    for kind in ("postgresql", "sqlite"):
        if options.only in (None, kind):
            with _folder("chaos") as folder:
                results[kind] = run(kind, Path(folder), options)
    print(json.dumps({"benchmark": "chaos", "seed": options.seed, **results}))
    sys.exit(any(failed(each) for each in results.values()))
