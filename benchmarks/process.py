"""How much faster is `demotape process` with two workers, and is what it writes the same to the byte?

    python -m benchmarks.process [--recordings N] [--actions N] [--seed N]

Records a few real sessions, copies them to as many recordings as are asked for, and processes all: with one process,
with two, and on a local Dask cluster of two workers. Then every demonstration is compared byte by byte.
"""

import argparse
import asyncio
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from .driving.sessions import record_sessions

_SESSIONS = 4
_DEMOTAPE = Path(sys.executable).parent / "demotape"


def copies(sessions: list[Path], folder: Path, count: int) -> list[Path]:
    """`count` recordings, made of the sessions by hard links: a recording is never written to."""
    made = []
    for number in range(count):
        target = folder / f"recording-{number:04d}"
        shutil.copytree(sessions[number % len(sessions)], target, copy_function=os.link)
        made.append(target)
    return made


def clear(recordings: list[Path]) -> None:
    """Take away what an earlier run derived."""
    for path in recordings:
        for name in ("demonstration.json", "processed.json"):
            (path / name).unlink(missing_ok=True)
        shutil.rmtree(path / "derived", ignore_errors=True)


def timed(recordings: list[Path], *options: str) -> tuple[float, str]:
    """Wall seconds of the command from start to end, and one hash of all that it wrote."""
    clear(recordings)
    start = time.perf_counter()
    subprocess.run([_DEMOTAPE, "process", *map(str, recordings), *options], check=True, stdout=subprocess.DEVNULL)
    seconds = time.perf_counter() - start
    digest = hashlib.sha256()
    for path in recordings:
        for written in sorted([path / "demonstration.json", path / "processed.json", *path.glob("derived/*/*")]):
            digest.update(str(written.relative_to(path)).encode() + b"\0" + written.read_bytes())
    return seconds, digest.hexdigest()


def on_a_cluster(recordings: list[Path]) -> tuple[float, str]:
    """The same on a local Dask cluster of two workers, which are up before the clock starts."""
    from distributed import LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        return timed(recordings, "--scheduler", cluster.scheduler_address)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--recordings", type=int, default=200)
    parser.add_argument("--actions", type=int, default=40, help="actions in each")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="demotape-process-"))
    try:
        sessions = asyncio.run(record_sessions(folder / "sessions", _SESSIONS, options.actions, options.seed))
        recordings = copies(sessions, folder / "recordings", options.recordings)
        ways = {"one process": lambda: timed(recordings, "--jobs", "1"),
                "two processes": lambda: timed(recordings, "--jobs", "2"),
                "Dask, two workers": lambda: on_a_cluster(recordings)}
        results = {}
        for name, way in ways.items():
            results[name] = way()
            print(f"{name}: {results[name][0]:.1f} s, {results[name][1][:12]}", flush=True)
        start = time.perf_counter()
        subprocess.run([_DEMOTAPE, "process", *map(str, recordings)], check=True, stdout=subprocess.DEVNULL)
        again = time.perf_counter() - start
    finally:
        shutil.rmtree(folder)
    one, two, dask = (result[0] for result in results.values())
    print(json.dumps({
        "benchmark": "process", "recordings": options.recordings, "cores": os.cpu_count(), "seconds_one": round(one, 2),
        "seconds_two": round(two, 2), "seconds_dask": round(dask, 2), "speedup_two": round(one / two, 3),
        "speedup_dask": round(one / dask, 3), "seconds_unchanged": round(again, 2),
        "identical": len({result[1] for result in results.values()}) == 1}))


if __name__ == "__main__":
    main()
