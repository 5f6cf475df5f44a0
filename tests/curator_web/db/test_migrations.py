"""Databases of earlier versions: migrated without any code of the app's, then used as ever."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import create_engine, select, text

from curator_web import create_app
from curator_web.db.database import MIGRATIONS, migrate, open_database
from curator_web.db.models.core import Comment, Demonstration, Member, Project, SecondReview
from curator_web.db.models.job_models import Job
from curator_web.demonstrations.library import recounting
from curator_web.demonstrations.library.library import current, import_recording, review
from curator_web.users import add_user
from tests.support.checkout import ROOT
from tests.support.curator.old_databases import CHAT, DEMONSTRATION, ID, KEPT, LABEL, TOKEN, TYPING, fill

pytestmark = pytest.mark.postgresql

FROZEN = "curator_web.db.migrations.frozen"
REVISIONS = sorted(path.name[:4] for path in (MIGRATIONS / "versions").rglob("[0-9]*.py"))


def imported(path: Path) -> set[str]:
    """Modules that a file imports, anywhere in it; names imported from a package count as modules of it."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {f"{'.' * node.level}{node.module or ''}.{alias.name}" for alias in node.names}
    return found


def test_migrations_import_nothing_of_ours_but_what_is_frozen():
    ours = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    assert {"curator_web", "pipeline", "schemas"} <= ours
    files = [path for path in MIGRATIONS.rglob("*.py")]
    assert MIGRATIONS / "frozen.py" in files and len(files) == len(REVISIONS) + 2
    for path in files:
        live = {name for name in imported(path) if name.startswith(".") or name.split(".")[0] in ours}
        assert live <= ({FROZEN} if MIGRATIONS / "versions" in path.parents else set()), path.name


@pytest.mark.parametrize("revision", REVISIONS)
def test_a_filled_database_of_each_version_is_taken_over(empty_url, revision, tmp_path):
    engine = create_engine(empty_url)
    with engine.begin() as connection:
        migrate(connection, revision)
        fill(connection, revision)
    engine.dispose()
    app = create_app(empty_url, tmp_path / "data")
    db, store = (getattr(app.extensions["demotape"], name) for name in ("db", "store"))

    assert import_recording(db, store, KEPT).outcome == "known"  # its files are there; nothing has changed
    found = review(db, ID)
    assert found.base == DEMONSTRATION and len(found.edits) == 3
    turns = {turn["id"]: turn for turn in found.current()["turns"]}
    assert turns[TYPING]["arguments"]["text"] == "Eve" and not turns[CHAT]["dropped"]

    client = app.test_client()
    if revision >= "0002":
        assert client.get("/api/demonstrations", headers=bearer(TOKEN)).status_code == 200
    headers = bearer(add_user(db, "lea", "lead"))
    listed = client.get("/api/demonstrations?search=lamps&person=val", headers=headers)
    assert [row["id"] for row in listed.json["demonstrations"]] == [ID], listed.json
    edit = {"edit": {"op": "set_utterance", "turn": CHAT, "utterance": "Two lamps"}, "version": 6}
    answer = client.post(f"/api/demonstrations/{ID}/edits", json=edit, headers=headers)
    assert answer.status_code < 300 and answer.json["version"] == 7, answer.json
    assert next(turn for turn in current(db, ID)["turns"] if turn["id"] == CHAT)["utterance"] == "Two lamps"
    _read_by_a_job(db, client, headers, revision)
    _as_it_was(db, revision)
    if db.engine.dialect.name == "sqlite":  # which is told to overlook this while tables are changed
        with db.engine.connect() as connection:
            assert connection.exec_driver_sql("PRAGMA foreign_key_check").all() == []
            assert connection.exec_driver_sql("PRAGMA foreign_keys").scalar() == 1
    db.close()


def _read_by_a_job(db, client, headers, revision: str) -> None:
    """The turns of what was there are searched once the job that the migration began has read them."""
    with db.reading() as session:
        jobs = session.scalars(select(Job).where(Job.kind == recounting.KIND)).all()
    assert [(job.project, job.arguments) for job in jobs] == ([("main", {"ids": None})] if revision < "0029" else [])
    assert recounting.recount_all(db, "main", None)["damaged"] == 0
    answer = client.get("/api/demonstrations?q=eve", headers=headers).json
    assert [match["turn"] for match in answer["matches"][ID]] == [TYPING], answer


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def _as_it_was(db, revision: str) -> None:
    with db.reading() as session:
        if revision >= "0002":
            assert session.scalar(text("SELECT count(*) FROM uploaded_chunks")) == 1
        if revision >= "0003":
            assert session.query(Comment).one().text == "Which lamps?"
            assert not session.get_one(SecondReview, (ID, 2)).unchanged  # one text typed differs
        listed = session.get_one(Demonstration, ID)
        assert (listed.actor, listed.outcome) == ("unknown", "failure" if revision in ("0023", "0024") else None)
        main = session.query(Project).one()
        assert (main.id, main.goal, main.labels) == (
            ("main", 7, [LABEL]) if "0003" <= revision < "0012" else ("main", None, []))
        assert {(member.who, member.role) for member in session.query(Member)} == (
            {("ann", "annotator"), ("lea", "lead")} if revision >= "0002" else {("lea", "lead")})


def test_a_database_that_is_migrated_step_by_step_is_one_that_was_new(empty_url):
    engine = create_engine(empty_url)
    for revision in REVISIONS:
        with engine.begin() as connection:
            migrate(connection, revision)
    engine.dispose()
    db = open_database(empty_url)
    with db.reading() as session:
        assert session.scalar(text("SELECT version_num FROM alembic_version")) == REVISIONS[-1]
    db.close()


def test_migrations_run_without_the_app(tmp_path):
    """Not even its models are needed: what they become later is of no concern to an old database."""
    script = ("import sys; from sqlalchemy import create_engine; from curator_web.db.database import migrate\n"
              f"with create_engine('sqlite:///{tmp_path / 'd.db'}').begin() as connection: migrate(connection)\n"
              "print(sorted(name for name in sys.modules if name.split('.')[0] in ('pipeline', 'recorder') or "
              "name == 'curator_web.db.models.core' or name.startswith('curator_web.demonstrations')))")
    run = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
