"""A Dask cluster beside benchmarks.chaos, whose scheduler is killed, and who processes recordings on it meanwhile.

Both scheduler and workers are started again, as a service manager does; workers end when their scheduler does. What
`demotape process` says is done must be there, with the bytes that a process of its own makes; what it could not do is
told in lines, never by a traceback, and the same command does the rest once the scheduler is back.
"""

import shutil
import socket
import subprocess
import sys
import threading
from pathlib import Path

from pipeline import process

from .clients import Told

_BIN = Path(sys.executable).parent
_KEPT = Path(__file__).parents[2] / "tests" / "data" / "v1" / "kept"
_RECORDINGS = 3  # of each batch
_REST = 5.0  # seconds between two commands


class Cluster:
    """A scheduler at a port that stays the same, and a worker."""

    def __init__(self, folder: Path):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.address = f"tcp://127.0.0.1:{probe.getsockname()[1]}"
        self._folder = folder
        self._running: list[subprocess.Popen] = []

    def start(self) -> None:
        """Start both; a worker waits for its scheduler."""
        port = self.address.rpartition(":")[2]
        for command in (["scheduler", "--host", "127.0.0.1", "--port", port, "--no-dashboard"],
                        ["worker", self.address, "--host", "127.0.0.1", "--nthreads", "1", "--no-dashboard",
                         "--death-timeout", "30", "--local-directory", str(self._folder)]):
            self._running.append(subprocess.Popen([_BIN / "dask", *command], stdout=subprocess.DEVNULL,
                                                  stderr=subprocess.DEVNULL))

    def stop(self) -> None:
        """Kill the scheduler as a power cut would, and wait until its worker has seen it."""
        for number, process_ in enumerate(self._running):
            process_.kill() if number == 0 else process_.terminate()
            process_.wait()
        self._running.clear()


class Processor(threading.Thread):
    """Somebody who processes one batch of recordings after another on the cluster, each until all are done."""

    def __init__(self, cluster: Cluster, folder: Path, stop: threading.Event, told: Told):
        super().__init__(name="processor", daemon=True)
        self._cluster, self._folder, self._halt, self.told = cluster, folder, stop, told
        self._expected = self._by_one_process()
        self.processed, self.refused = 0, 0

    def run(self) -> None:
        try:
            self._go_on()
        except Exception as error:
            self.told.problems.append(f"{self.name}: {type(error).__name__}: {error}")

    def _go_on(self) -> None:
        number = 0
        while not self._halt.wait(_REST):
            number += 1
            batch = [self._copy(f"batch-{number}/rec-{each}") for each in range(_RECORDINGS)]
            while not self._process(batch):
                self._halt.wait(_REST)
            shutil.rmtree(batch[0].parent)

    def _process(self, batch: list[Path]) -> bool:
        """Whether all of it is done."""
        done = subprocess.run([_BIN / "demotape", "process", *batch, "--scheduler", self._cluster.address],
                              capture_output=True, text=True, timeout=300)
        if "Traceback" in done.stdout + done.stderr:
            self.told.problems.append(f"process: a traceback: {done.stderr[-300:]}")
        there = [path for path in batch if (path / "demonstration.json").exists()]
        for path in there:
            if (path / "demonstration.json").read_bytes() != self._expected:
                self.told.problems.append("process: another demonstration than one process makes")
        if done.returncode:
            self.refused += 1
            if not done.stderr.strip() + done.stdout.strip():
                self.told.problems.append("process: failed without a word")
            return False
        if len(there) < len(batch):
            self.told.problems.append("process: said to be done, and is not")
        self.processed += len(batch)
        return True

    def _by_one_process(self) -> bytes:
        path = self._copy("alone")
        process(path)
        return (path / "demonstration.json").read_bytes()

    def _copy(self, name: str) -> Path:
        path = self._folder / name
        shutil.copytree(_KEPT, path)
        for made in ("demonstration.json", "processed.json"):
            (path / made).unlink()
        return path
