"""The review app's database, new, migrated or unusable, and its secret."""

import importlib
import pkgutil
import sqlite3
import stat
import subprocess
import sys
import threading

import pytest
from sqlalchemy import inspect, text

from curator_web.db import models
from curator_web.db.database import MIGRATIONS, newest_revision, open_database
from curator_web.db.models.core import Base, Demonstration
from curator_web.db.tables import FULL_TEXT
from curator_web.demonstrations.library.library import current, import_recording
from curator_web.demonstrations.workflow.editing import add_edit
from curator_web.errors import DatabaseUnavailable
from curator_web.storage.recordings import RecordingStore
from schemas import InputError
from tests.support.checkout import ROOT
from tests.support.curator.curator_fixtures import make_recording

pytestmark = pytest.mark.postgresql


def test_new_and_existing_databases_are_migrated(tmp_path):
    url = f"sqlite:///{tmp_path / 'new' / 'd.db'}"
    db, store = open_database(url), RecordingStore(tmp_path / "data")
    import_recording(db, store, make_recording(tmp_path))
    add_edit(db, "rec-1", {"op": "drop", "turn": "t2"}, 1)
    db.close()
    db = open_database(url)
    assert current(db, "rec-1")["turns"][1]["dropped"]
    found = {table: {column["name"] for column in inspect(db.engine).get_columns(table)}
             for table in Base.metadata.tables}
    assert found == {name: set(table.columns.keys()) for name, table in Base.metadata.tables.items()}
    with db.engine.connect() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
    db.close()


def test_migrations_make_what_the_models_say(tmp_path):
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext
    for module in pkgutil.iter_modules(models.__path__, f"{models.__name__}."):
        importlib.import_module(module.name)
    with open_database(f"sqlite:///{tmp_path / 'd.db'}").engine.connect() as connection:
        def is_ours(name, kind, _):  # not what SQLite makes for its full-text indexes
            return not (kind == "table" and name.startswith(FULL_TEXT))
        options = {"include_name": is_ours}
        assert compare_metadata(MigrationContext.configure(connection, opts=options), Base.metadata) == []


def test_alembic_is_asked_only_where_there_is_something_to_migrate(tmp_path):
    from alembic.script import ScriptDirectory
    assert ScriptDirectory(str(MIGRATIONS), recursive_version_locations=True).get_heads() == [newest_revision()]
    url = f"sqlite:///{tmp_path / 'd.db'}"
    open_database(url).close()
    program = ("import sys; from curator_web.db.database import open_database; "
               f"open_database({url!r}).close(); assert 'alembic' not in sys.modules")
    assert subprocess.run([sys.executable, "-c", program], cwd=ROOT).returncode == 0


def test_database_that_cannot_be_opened_gives_one_line(tmp_path):
    (tmp_path / "text.db").write_text("this is no database" * 100)
    with sqlite3.connect(tmp_path / "newer.db") as connection:
        connection.execute("CREATE TABLE alembic_version (version_num VARCHAR(32) PRIMARY KEY)")
        connection.execute("INSERT INTO alembic_version VALUES ('9999')")
    for url, words in ((f"sqlite:///{tmp_path / 'text.db'}", "cannot be opened"), ("nonsense", "not a database URL"),
                       (f"sqlite:///{tmp_path / 'newer.db'}", "newer version"), ("oracel://x", "not a database URL"),
                       (f"sqlite:///{tmp_path / 'text.db' / 'x.db'}", "cannot be opened")):
        with pytest.raises(InputError, match=words) as caught:
            open_database(url)
        assert "\n" not in str(caught.value)


def test_in_a_moment_all_read_one_session_and_write_as_ever(db_url, tmp_path):
    db, store = open_database(db_url), RecordingStore(tmp_path / "data")
    import_recording(db, store, make_recording(tmp_path))
    with db.in_one_session() as now:
        before = row_in(now)
        assert row_in(now) is before and row_in(db) is not before
        add_edit(now, "rec-1", {"op": "drop", "turn": "t2"}, 1)
        assert row_in(now).version == 1 and row_in(db).version == 2
    assert row_in(db).version == 2
    db.close()


def row_in(db) -> Demonstration:
    with db.reading() as session:
        return session.get_one(Demonstration, "rec-1")


def test_secret_is_kept_and_private(tmp_path):
    store = RecordingStore(tmp_path)
    assert store.secret() == RecordingStore(tmp_path).secret()
    assert stat.S_IMODE((tmp_path / "secret.key").stat().st_mode) == 0o600


def test_whoever_loses_a_deadlock_is_told_to_come_again(postgresql):
    """As where a migration changes tables while an older process of the app answers."""
    db = open_database(postgresql.empty())
    with db.writing() as session:
        session.execute(text("CREATE TABLE one (id int)"))
        session.execute(text("CREATE TABLE other (id int)"))
    both, told = threading.Barrier(2), []

    def lock(first: str, second: str) -> None:
        try:
            with db.writing() as session:
                session.execute(text(f"LOCK TABLE {first}"))
                both.wait(60)
                session.execute(text(f"LOCK TABLE {second}"))
        except DatabaseUnavailable as error:
            told.append(str(error))

    threads = [threading.Thread(target=lock, args=names) for names in (("one", "other"), ("other", "one"))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(told) == 1 and "deadlock" in told[0]
    db.close()
