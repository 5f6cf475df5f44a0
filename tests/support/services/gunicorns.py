"""The review app served by gunicorn with several processes, as in production; it can be killed and restarted."""

import os
import select
import signal
import socket
import subprocess
import sys
from pathlib import Path

CONFIG = """bind = "127.0.0.1:{port}"
workers = {workers}
threads = {threads}
worker_connections = 8
keepalive = 0
def post_worker_init(worker):
    with open({ready!r}, "w") as ready:
        ready.write(f"{{worker.pid}}\\n")
"""


class Gunicorn:
    """Serves a database and a data folder on a port that stays the same."""

    def __init__(self, url: str, data: Path, workers: int = 2, threads: int = 1):
        # Bound as long as this is, so that no other program is given the port; gunicorn may bind and listen beside it.
        self._held = socket.socket()
        self._held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._held.bind(("127.0.0.1", 0))
        self.port = self._held.getsockname()[1]
        self._data, self._workers, ready = data, workers, data / "ready"
        data.mkdir(exist_ok=True)
        os.mkfifo(ready)
        self._ready = os.open(ready, os.O_RDWR)  # held open: what a process writes while nobody reads would be lost
        self._environment = os.environ | {"DEMOTAPE_DB": url, "DEMOTAPE_DATA": str(data)}
        (data / "gunicorn.py").write_text(CONFIG.format(port=self.port, workers=workers, threads=threads,
                                                        ready=str(ready)))
        self.pids: list[int] = []

    def start(self) -> None:
        """Start it and wait until every process serves."""
        while select.select([self._ready], [], [], 0)[0]:  # of a process that gunicorn put in another's place by itself
            os.read(self._ready, 4096)
        command = [sys.executable, "-m", "gunicorn", "--config", self._data / "gunicorn.py", "demotape.wsgi:make_app()"]
        with (self._data / "log").open("ab") as log:
            self._process = subprocess.Popen(command, env=self._environment, stderr=log, start_new_session=True)
        self.pids = []
        self._expect_all()

    def _expect_all(self) -> None:
        """Wait until each process has told that it is there."""
        while len(self.pids) < self._workers:
            if select.select([self._ready], [], [], 1)[0]:
                self.pids += [int(line) for line in os.read(self._ready, 4096).split()]
            assert self._process.poll() is None, self.log()

    def kill(self) -> None:
        """Kill all its processes as a power cut would."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def kill_one(self) -> None:
        """Kill one of its processes, and wait until another serves in its place."""
        os.kill(self.pids.pop(0), signal.SIGKILL)
        self._expect_all()

    def log(self) -> str:
        """What it wrote to its error log."""
        return (self._data / "log").read_text()

    def __enter__(self) -> "Gunicorn":
        self.start()
        return self

    def __exit__(self, *_) -> None:
        self.stop()

    def stop(self) -> None:
        """End it, letting it answer what it was asked."""
        self._process.terminate()
        self._process.wait(60)
        os.close(self._ready)
        self._held.close()
