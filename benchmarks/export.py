"""How fast are exports: to a folder beside `tar`, to S3 beside boto3? Does memory stay the same? Do workers help?

    python -m benchmarks.export [--demonstrations N] [--format F] [--sessions N] [--turns N] [--s3 N] [--seed N]
    python -m benchmarks.export --demonstrations 100 --s3 40 --parallel 100    # quick

Records a few real sessions with a seeded random driver and processes them; every demonstration is one of them in a
folder of its own (hard links) under a name of its own: the export keeps nothing from one to the next. What is
measured of folder and S3 is the export of processed recordings, whose pages are prepared; `first_mb_per_second` tells
what it is without, and two processes and two workers of a Dask cluster are timed at that, each beside one, since the
rest is copying. Memory is that of a tenth of the demonstrations beside all of them. Each export runs in a fresh
process, whose start is not counted (that of the processes that it starts itself is). `tar` packs the files that the
export wrote; `upload_file` sends one ready tar of the same size to the same service (moto's server). Nothing is synced
to disk in either. Both are also measured with our destinations alone, which are given a ready file: the rest of the
time is the making of samples.

At last one demonstration more is exported over all others: how long that takes beside all, and what is sent to S3.
"""

import argparse
import asyncio
import json
import multiprocessing
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from pipeline import process
from pipeline.cache import derived
from pipeline.export import FORMATS, InOrder, Source, export, open_destination, order_key
from pipeline.export.manifest import read_manifest
from pipeline.export.source import Tally
from recorder import Recording

from .driving.sessions import record_sessions

_BUCKET = "bench"
_KEYS = {"AWS_ACCESS_KEY_ID": "bench", "AWS_SECRET_ACCESS_KEY": "bench", "AWS_DEFAULT_REGION": "us-east-1"}


def copies(sessions: list[Path], folder: Path, count: int, *, prepared: bool = True) -> list[Path]:
    """So many recordings, made of the sessions by hard links; on demand without what was prepared for exports."""
    made = []
    for number in range(count):
        target = folder / f"recording-{number:05d}"
        shutil.copytree(sessions[number % len(sessions)], target, copy_function=os.link)
        if not prepared:
            layout = Recording(target).layout
            derived.clear(layout, json.loads(layout.demonstration.read_bytes()))
        made.append(target)
    return made


def sources(recordings: list[Path], turns: int | None = None) -> Iterator[Source]:
    """Demonstrations of at most so many turns, each opened when it is asked for."""
    for path in sorted(recordings, key=lambda path: order_key(path.name)):
        recording = Recording(path)
        demonstration = json.loads(recording.layout.demonstration.read_bytes())
        yield Source(demonstration | {"id": path.name, "turns": demonstration["turns"][:turns]}, recording)


def _work(pipe: Connection, recordings: list[Path], turns: int, destination: str, format: str, options: dict) -> None:
    start = time.perf_counter()
    size = export(InOrder(sources(recordings, turns)), destination, format, **options).size
    peak = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    pipe.send((time.perf_counter() - start, size, peak * 1024))


def timed(recordings: list[Path], turns: int, destination: Path | str, format: str, **options: Any
          ) -> tuple[float, int, int]:
    """Seconds, bytes written and peak memory in bytes of one export in a fresh process."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    worker = context.Process(target=_work, args=(
        there, recordings, turns, str(destination), format, options))
    worker.start()
    there.close()
    told = here.recv()
    worker.join()
    return told


def tarred(folder: Path, target: Path) -> float:
    """Seconds that tar takes for the files of an export."""
    start = time.perf_counter()
    subprocess.run(["tar", "-cf", target, "-C", folder, "."], check=True)
    return time.perf_counter() - start


@contextmanager
def service() -> Iterator[str]:
    """moto's server with an empty bucket; yields its address."""
    server = subprocess.Popen([sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", "0"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        found = next(found for line in server.stderr if (found := re.search(r"http://127\.0\.0\.1:\d+", line)))
        threading.Thread(target=lambda: list(server.stderr), daemon=True).start()  # a full pipe would stop it
        client(found[0]).create_bucket(Bucket=_BUCKET)
        yield found[0]
    finally:
        server.kill()
        server.wait()


def client(url: str) -> Any:
    from boto3.session import Session

    return Session().client("s3", endpoint_url=url)


def uploaded(ready: Path, url: str) -> float:
    """Seconds that boto3 takes for one file."""
    s3 = client(url)
    start = time.perf_counter()
    s3.upload_file(str(ready), _BUCKET, "ready.tar")
    return time.perf_counter() - start


def poured(ready: Path, source: Source, destination: Path | str, url: str | None = None) -> float:
    """Seconds that our destination takes for one ready file: what is left when no sample has to be made."""
    start = time.perf_counter()
    with open_destination(destination, "webdataset", url) as opened:
        with opened.create("ready.tar") as target, ready.open("rb") as file:
            while chunk := file.read(1 << 20):
                target.write(chunk)
        opened.add_demonstration(source, Tally())
        opened.publish()
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--demonstrations", type=int, default=2000)
    parser.add_argument("--format", choices=FORMATS, default="webdataset")
    parser.add_argument("--sessions", type=int, default=4, help="real sessions that are recorded")
    parser.add_argument("--turns", type=int, default=6, help="turns of each demonstration, at most")
    parser.add_argument("--parallel", type=int, default=200, help="demonstrations that are exported unprepared")
    parser.add_argument("--s3", type=int, default=800,
                        help="demonstrations that are sent to S3; moto's server keeps them in memory")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--without", nargs="*", default=[], help="parts that are left out",
                        choices=("to_folder", "in_two_processes", "on_a_cluster", "to_s3", "adding"))
    parser.add_argument("--keep", type=Path, help="folder in which the recorded sessions are kept and found again")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="demotape-export-bench-"))
    try:
        print(json.dumps(measure(options, folder)))
    finally:
        shutil.rmtree(folder)


def recorded(options: argparse.Namespace, folder: Path) -> list[Path]:
    """The sessions, recorded and processed."""
    kept = options.keep or folder / "sessions"
    if kept.is_dir():
        return sorted(path for path in kept.iterdir() if path.is_dir())
    sessions = asyncio.run(record_sessions(kept, options.sessions, options.turns, options.seed))
    for path in sessions:
        process(path)
    return sessions


def to_folder(options: argparse.Namespace, sessions: list[Path], folder: Path) -> dict:
    """All demonstrations to a folder, beside tar; and the memory of a tenth of them."""
    recordings = copies(sessions, folder / "recordings", options.demonstrations)
    seconds, size, peak = timed(recordings, options.turns, folder / "all", options.format)
    beside = tarred(folder / "all", folder / "all.tar")
    shutil.rmtree(folder / "all")
    with (folder / "all.tar").open("rb") as file, (folder / "ready.tar").open("wb") as ready:
        shutil.copyfileobj(file, ready)
    alone = poured(folder / "ready.tar", next(sources(recordings)), folder / "alone")
    for name in ("all.tar", "ready.tar"):
        (folder / name).unlink()
    shutil.rmtree(folder / "alone")
    tenth = recordings[:max(1, len(recordings) // 10)]
    _, _, few = timed(tenth, options.turns, folder / "few", options.format)
    shutil.rmtree(folder / "recordings")
    return {"bytes": size, "mb_per_second": size / seconds / 1e6, "tar_mb_per_second": size / beside / 1e6,
            "beside_tar": beside / seconds, "folder_alone_beside_tar": beside / alone, "peak_memory_few": few,
            "peak_memory_all": peak, "memory_growth": peak / few}


def in_two_processes(options: argparse.Namespace, sessions: list[Path], folder: Path) -> dict:
    """One process beside two, on recordings that are not prepared."""
    told = {}
    for jobs in (1, 2):
        recordings = copies(sessions, folder / f"unprepared-{jobs}", options.parallel, prepared=False)
        told[jobs], size, _ = timed(recordings, options.turns, folder / f"jobs-{jobs}", options.format, jobs=jobs)
    return {"first_mb_per_second": size / told[1] / 1e6, "seconds_one": told[1], "seconds_two": told[2],
            "two_processes": told[1] / told[2]}


def on_a_cluster(options: argparse.Namespace, sessions: list[Path], folder: Path) -> dict:
    """One worker of a Dask cluster beside two, on recordings that are not prepared."""
    from distributed import LocalCluster

    told = {}
    for count in (1, 2):
        recordings = copies(sessions, folder / f"for-workers-{count}", options.parallel, prepared=False)
        with LocalCluster(n_workers=count, threads_per_worker=1, dashboard_address=None) as cluster:
            told[count], _, _ = timed(recordings, options.turns, folder / f"by-workers-{count}", options.format,
                                      scheduler=cluster.scheduler_address)
    return {"seconds_one_worker": told[1], "seconds_two_workers": told[2], "two_workers": told[1] / told[2]}


def to_s3(options: argparse.Namespace, sessions: list[Path], folder: Path) -> dict:
    """Some demonstrations to S3, beside one ready tar of the same size."""
    recordings = copies(sessions, folder / "to-s3", options.s3)
    with service() as url:
        seconds, size, _ = timed(recordings, options.turns, f"s3://{_BUCKET}/export", options.format,
                                 endpoint_url=url)
        ready = folder / "ready.tar"
        with ready.open("wb") as file:
            for start in range(0, size, 1 << 20):
                file.write(os.urandom(min(1 << 20, size - start)))
        beside = uploaded(ready, url)
        alone = poured(ready, next(sources(recordings)), f"s3://{_BUCKET}/alone", url)
    return {"s3_mb_per_second": size / seconds / 1e6, "upload_file_mb_per_second": size / beside / 1e6,
            "beside_upload_file": beside / seconds, "s3_alone_beside_upload_file": beside / alone}


def adding(options: argparse.Namespace, sessions: list[Path], folder: Path) -> dict:
    """One demonstration more, over an export of all others: to a folder, and what is sent to S3."""
    recordings = copies(sessions, folder / "adding", options.demonstrations + 1)
    whole, size, _ = timed(recordings[:-1], options.turns, folder / "grown", options.format)
    again, _, _ = timed(recordings, options.turns, folder / "grown", options.format)
    shards = [entry for entry in read_manifest(folder / "grown")["files"] if entry.get("demonstrations")]
    shutil.rmtree(folder / "grown")
    few = recordings[-options.s3 - 1:]
    with service() as url:
        sent = [_sent(few[:count], options, url) for count in (len(few) - 1, len(few))]
    return {"shards": len(shards), "seconds_all": whole, "seconds_one_more": again,
            "one_more_beside_all": again / whole, "s3_bytes_all": sent[0][0], "s3_bytes_one_more": sent[1][0],
            "s3_shards_one_more": sent[1][1]}


def _sent(recordings: list[Path], options: argparse.Namespace, url: str) -> tuple[int, int]:
    """Bytes and shards that an export sends: what is another object than before."""
    before = _objects(url)
    timed(recordings, options.turns, f"s3://{_BUCKET}/grown", options.format, endpoint_url=url)
    new = {name: size for name, (size, written) in _objects(url).items() if before.get(name) != (size, written)}
    return sum(new.values()), sum(name.endswith((".tar", ".parquet")) for name in new)


def _objects(url: str) -> dict[str, tuple[int, str]]:
    pages = client(url).get_paginator("list_objects_v2").paginate(Bucket=_BUCKET, Prefix="grown/")
    return {each["Key"]: (each["Size"], f"{each['LastModified']} {each['ETag']}")
            for page in pages for each in page.get("Contents", ())}


def measure(options: argparse.Namespace, folder: Path) -> dict:
    """Do all of it; returns the figures."""
    os.environ.update(_KEYS)
    sessions = recorded(options, folder)
    figures = {"benchmark": "export", "format": options.format, "demonstrations": options.demonstrations,
               "turns": options.turns, "cores": os.cpu_count()}
    for part in (to_folder, in_two_processes, on_a_cluster, to_s3, adding):
        if part.__name__ not in options.without:
            told = {name: round(value, 4) for name, value in part(options, sessions, folder).items()}
            print(", ".join(f"{name} {value}" for name, value in told.items()), flush=True)
            figures |= told
    return figures


if __name__ == "__main__":
    main()
