"""Opening the database: SQLite by default, PostgreSQL by URL, always migrated to the newest tables."""

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

from filelock import lock_descriptor
from sqlalchemy import Connection, Engine, create_engine, event, inspect, make_url, text
from sqlalchemy.exc import ArgumentError, DBAPIError, DisconnectionError, NoSuchModuleError
from sqlalchemy.orm import Session

from curator_web.errors import InputError
from schemas.files import reason

from . import outages, timeouts
from .request_lock import staying

MIGRATIONS = Path(__file__).resolve().parent / "migrations"
REVISION = "alembic_version"  # the table that tells which migration was the last
MIGRATION_LOCK = 8_376_021  # any fixed number: the key of PostgreSQL's advisory lock while migrating
BUSY_SECONDS = 30
REST_SECONDS = 2
TURN_SECONDS = 0.002


class Database:
    """A connection pool, and the two ways to use it."""

    def __init__(self, engine: Engine, turn: Callable[[], AbstractContextManager] = nullcontext):
        """`turn`: waits until it is this process's and thread's turn to write."""
        self.engine = engine
        self._turn = turn
        # PostgreSQL shows each statement its own moment by default; then beginning and ending cost two journeys each.
        alone = engine.dialect.name == "postgresql"
        self._reader = engine.execution_options(isolation_level="AUTOCOMMIT") if alone else engine

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """A session to read with; in SQLite it sees one moment, in PostgreSQL each statement sees its own.

        Read what counts how often something was changed first: what is read later can only be newer. Raises
        DatabaseUnavailable.
        """
        with outages.translate_outage(), Session(self._reader, expire_on_commit=False) as session:
            yield session

    @contextmanager
    def in_one_session(self) -> Iterator["Database"]:
        """A database for several functions that read, in one session of which each row is read once: to begin and end
        one takes as long as a query. What is written meanwhile it does not see. Raises DatabaseUnavailable."""
        with self.reading() as session:
            yield _SessionDatabase(self, session)

    @contextmanager
    def snapshot(self) -> Iterator[Connection]:
        """A connection to read with that sees one moment, whatever is written meanwhile. Raises DatabaseUnavailable."""
        options: dict[str, Any] = {}
        if self.engine.dialect.name == "postgresql":
            options = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
        with (outages.translate_outage(), self.engine.connect().execution_options(**options) as connection,
              connection.begin()):
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Session]:
        """A transaction: committed at the end, undone by any exception.

        SQLite takes its write lock at once; a transaction that begins by reading could not wait for it later. Raises
        DatabaseUnavailable, DiskFull.
        """
        with (outages.translate_outage(), staying(), self._turn(),
              self.engine.connect().execution_options(writing=True) as connection,
              Session(connection, expire_on_commit=False) as session, session.begin()):
            yield session

    @contextmanager
    def together(self) -> Iterator[tuple[Session, "Database"]]:
        """One transaction for several functions that write: its session, and a database that they can be given.

        What they write through that database is committed with the rest, or not at all.
        """
        with self.writing() as session:
            yield session, _Joined(self.engine, session)

    def close(self) -> None:
        """Give the connections back."""
        self.engine.dispose()


class _SessionDatabase(Database):
    """A database that is read in a session which is there already; it is written to as ever."""

    def __init__(self, database: Database, session: Session):
        super().__init__(database.engine)
        self._whole, self._session = database, session

    @contextmanager
    def reading(self) -> Iterator[Session]:
        yield self._session

    @contextmanager
    def writing(self) -> Iterator[Session]:
        with self._whole.writing() as session:
            yield session


class _Joined(Database):
    """A database inside one transaction that somebody else ends."""

    def __init__(self, engine: Engine, session: Session):
        super().__init__(engine)
        self._session = session

    @contextmanager
    def reading(self) -> Iterator[Session]:
        self._session.flush()
        yield self._session

    writing = reading


def open_database(url: str, prepare: Callable[[Connection], None] | None = None) -> Database:
    """Open a database by its SQLAlchemy URL and migrate it, or do with it what `prepare` does, in one transaction;
    raises InputError when that cannot be done."""
    try:
        engine = _engine(url)
        with (engine.connect().execution_options(writing=True) as connection, _references_unwatched(connection),
              connection.begin()):
            (prepare or migrate)(connection)
    except (ArgumentError, NoSuchModuleError):
        raise InputError("--db: not a database URL; use sqlite:///FILE or postgresql+psycopg://…") from None
    except ModuleNotFoundError as error:
        if error.name and error.name.partition(".")[0] == "psycopg":
            from pipeline import extras  # here only: migrations need nothing of the app

            raise InputError(extras.hint("postgresql")) from None
        raise InputError(f"--db: this database requires the Python package {error.name}; install it") from None
    except DBAPIError as error:
        raise InputError(f"{_public(url)}: cannot be opened ({_first_line(error.orig)})") from None
    except _MadeByNewer:
        raise InputError(f"{_public(url)}: created by a newer version of demotape; update demotape") from None
    except OSError as error:
        raise InputError(f"{_public(url)}: cannot be opened ({reason(error)})") from None
    return Database(engine, _turns(engine))


def is_present(url: str) -> bool:
    """Whether there is an SQLite file, or a database of a server with our tables. Raises InputError as
    `open_database`."""
    try:
        parsed = make_url(url)
    except ArgumentError:
        return True  # which opening it reports
    if parsed.get_backend_name() == "sqlite":
        return not parsed.database or parsed.database.startswith((":memory:", "file:")) or Path(
            parsed.database).exists()
    has_tables: list[bool] = []
    open_database(url, lambda connection: has_tables.append(inspect(connection).has_table(REVISION))).close()
    return has_tables[0]


class _Turns:
    """Who writes to an SQLite file next: one at a time, and soon.

    SQLite itself waits by trying again after pauses that grow to 100 ms, so that of twenty who wait some are passed
    over for a second. Here one thread of each process tries every 2 ms, its others are woken at once. The lock is the
    system's and ends with the process that holds it.
    """

    def __init__(self, path: Path):
        self._path = path
        self._thread = threading.Lock()

    @contextmanager
    def __call__(self) -> Iterator[None]:
        with self._thread:
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
            try:
                lock_descriptor(descriptor, poll_interval=TURN_SECONDS)
                yield
            finally:
                os.close(descriptor)


def _turns(engine: Engine) -> Callable[[], AbstractContextManager]:
    file = engine.url.database if engine.dialect.name == "sqlite" else None
    return _Turns(Path(f"{file}-turn")) if file and file != ":memory:" else nullcontext


def migrate(connection: Connection, revision: str = "head") -> None:
    """Bring the tables to a revision inside the connection's transaction; a second process waits its turn."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": MIGRATION_LOCK})
    if revision == "head" and _is_newest(connection):
        return
    from alembic import command  # with all migrations it takes longer than what most commands do
    from alembic.config import Config
    from alembic.util.exc import CommandError

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.set_main_option("recursive_version_locations", "true")
    config.attributes["connection"] = connection
    try:
        command.upgrade(config, revision)
    except CommandError:
        raise _MadeByNewer from None


class _MadeByNewer(Exception):
    """The tables are of a revision that is not known."""


def newest_revision() -> str:
    """What the last migration is called, by its file's name."""
    return max(path.name for path in (MIGRATIONS / "versions").rglob("[0-9]*_*.py")).partition("_")[0]


def _is_newest(connection: Connection) -> bool:
    if not inspect(connection).has_table(REVISION):
        return False
    return connection.scalars(text(f"SELECT version_num FROM {REVISION}")).all() == [newest_revision()]


@contextmanager
def _references_unwatched(connection: Connection) -> Iterator[None]:
    """SQLite changes a table by dropping it and making it again, which rows that refer to it would forbid.

    It can only be told so outside of a transaction, so the driver is asked and not SQLAlchemy, which would begin one.
    """
    if connection.dialect.name != "sqlite":
        yield
        return
    driver: Any = connection.connection.driver_connection
    driver.execute("PRAGMA foreign_keys=OFF")
    try:
        yield
    finally:
        driver.execute("PRAGMA foreign_keys=ON")


def _engine(url: str) -> Engine:
    parsed = make_url(url)
    if parsed.get_backend_name() != "sqlite":
        limits = {name: value for name, value in timeouts.NETWORK.items() if name not in parsed.query}
        engine = create_engine(parsed, connect_args=limits if parsed.get_backend_name() == "postgresql" else {})
        if engine.driver == "psycopg":
            event.listen(engine, "do_connect", _connect)
        event.listen(engine, "checkin", _note_rest)
        event.listen(engine, "checkout", _ping_if_idle(engine))
        return engine
    if parsed.database and parsed.database != ":memory:":
        Path(parsed.database).parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not parsed.database.startswith("file:"):
            Path(parsed.database).touch(mode=0o600)  # SQLite gives its journals the mode of the database
    engine = create_engine(parsed, connect_args={"timeout": BUSY_SECONDS})
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _connect(_dialect, _record, arguments, options) -> Any:
    return timeouts.connection_class().connect(*arguments, **options)


def _note_rest(_connection, record) -> None:
    record.info["rests_since"] = time.monotonic()


def _ping_if_idle(engine: Engine) -> Callable:
    """A connection that was idle for a while may be gone: it is asked; asking each time costs a journey a query."""
    dbapi: Any = engine.dialect.dbapi

    def ping(connection, record, _proxy) -> None:
        if time.monotonic() - record.info.get("rests_since", time.monotonic()) < REST_SECONDS:
            return
        try:
            with timeouts.statement_limit(timeouts.ALIVE):
                engine.dialect.do_ping(connection)
        except dbapi.Error as error:
            raise DisconnectionError from error  # the pool makes a new one
    return ping


def _prepare_sqlite(connection, _record) -> None:
    # The driver's own transaction handling begins too late; _begin_sqlite does it.
    connection.isolation_level = None
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA foreign_keys=ON")
    connection.create_function("demotape_matches", 2, _matches, deterministic=True)


def _matches(pattern: str, text: str) -> bool:
    from .patterns import matches  # once it is asked for

    return matches(pattern, text)


def _begin_sqlite(connection: Connection) -> None:
    writing = connection.get_execution_options().get("writing")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")


def _public(url: str) -> str:
    return make_url(url).render_as_string(hide_password=True)


def _first_line(error: BaseException | None) -> str:
    return str(error).strip().splitlines()[0] if str(error or "").strip() else "no reason given"
