"""The cache of decoded demonstrations has what the database has, whoever changed it, and does not grow."""

import random

import pytest
from sqlalchemy import event, select, update

from curator_web import create_app
from curator_web.db.models.core import BaseTurns, Demonstration, Edit
from curator_web.demonstrations.library import library, review_cache
from curator_web.demonstrations.library.review_cache import cached_review
from curator_web.demonstrations.workflow import workflow
from curator_web.demonstrations.workflow.editing import add_edit
from curator_web.errors import Conflict, NotFound
from curator_web.users import Account, project_settings
from schemas import InputError
from tests.support.curator.curator_fixtures import make_recording
from tests.support.curator.random_edits import editable_turns, propose
from tests.support.curator.team_fixtures import LEA


@pytest.fixture
def processes(db_url, tmp_path):
    """Two processes of the app with one database, each with a cache of its own."""
    apps = [create_app(db_url, tmp_path / "data") for _ in range(2)]
    held = [app.extensions["demotape"] for app in apps]
    library.import_recording(held[0].db, held[0].store, make_recording(tmp_path, make_turns=editable_turns))
    yield [services.db for services in held]
    for services in held:
        services.db.close()


@pytest.fixture
def reads(processes):
    """Statements that read base turns, of both processes."""
    statements: list[str] = []
    for db in processes:
        event.listen(db.engine, "before_cursor_execute", lambda _connection, _cursor, statement, *_: (
            statements.append(statement) if "FROM base_turns" in statement else None))
    return statements


def require_same(db) -> None:
    cached, fresh = cached_review(db, "rec-1", intact=True), library.review(db, "rec-1")
    assert cached.turns == fresh.turns and cached.edits == fresh.edits
    assert cached.row.version == fresh.row.version and cached.base == fresh.base
    review_cache.require_valid(db, cached)


@pytest.mark.parametrize("seed", range(6))
def test_after_any_edits_of_any_process_it_is_what_the_database_has(processes, reads, seed):
    rng = random.Random(seed)
    for db in processes:
        cached_review(db, "rec-1")
    reads.clear()
    made = 0
    for step in range(40):
        db = rng.choice(processes)
        review = cached_review(db, "rec-1", intact=True)
        edit = {"op": rng.choice(("undo", "redo"))} if rng.random() < 0.25 else propose(rng, review.turns, f"n{step}")
        try:
            if edit:
                made += add_edit(db, "rec-1", edit, review.row.version) > review.row.version
        except InputError:
            continue
    assert made > 15
    assert reads == [statement for statement in reads if "CAST" not in statement]
    for db in processes:
        require_same(db)


def test_edits_of_the_other_process_are_folded_without_reading_the_turns_again(processes, reads):
    first, second = processes
    for db in processes:
        cached_review(db, "rec-1")
    add_edit(first, "rec-1", {"op": "drop", "turn": "t3"}, 1)
    reads.clear()
    review = cached_review(second, "rec-1", intact=True)
    assert [turn["id"] for turn in review.turns if turn["dropped"]] == ["t3"] and review.row.version == 2
    assert reads == []


def test_what_was_processed_again_is_read_again(processes, tmp_path):
    first, second = processes
    cached_review(second, "rec-1")
    path = make_recording(tmp_path / "again", change=lambda turns: turns.pop())
    with first.writing() as session:
        session.get_one(Demonstration, "rec-1").recording = "rec-1"
    store = create_app(None, tmp_path / "other").extensions["demotape"].store
    assert library.import_recording(first, store, path).outcome == "renewed"
    require_same(second)
    assert len(cached_review(second, "rec-1", intact=True).turns) == 5


def test_a_changed_text_or_edit_in_the_database_is_detected(processes):
    db = processes[0]
    add_edit(db, "rec-1", {"op": "drop", "turn": "t3"}, 1)
    cached_review(db, "rec-1")
    with db.writing() as session:
        session.execute(update(Edit).values(content={"op": "drop", "turn": "t4", "version": 1}))
    assert [turn["id"] for turn in cached_review(db, "rec-1").turns if turn["dropped"]] == ["t4"]
    with db.writing() as session:
        content = session.get_one(BaseTurns, "rec-1").content
        content = {**content, "turns": [turn for turn in content["turns"] if turn["id"] != "t11"]}
        session.execute(update(BaseTurns).values(content=content))
    assert len(cached_review(db, "rec-1").turns) == 10


def test_settings_of_the_project_and_deletion_count_at_once(processes):
    db = processes[0]
    kinds = {check["kind"] for turn in cached_review(db, "rec-1").turns for check in turn["checks"]}
    with db.writing() as session:
        project_settings.change(session, LEA, {"unused_intents": ["submit"]})
    marked = [check["kind"] for turn in cached_review(db, "rec-1", intact=True).turns for check in turn["checks"]]
    assert "unused-intent" in marked and "unused-intent" not in kinds
    require_same(db)
    with pytest.raises(NotFound):
        cached_review(db, "nothing")


def test_an_edit_on_an_old_version_is_refused_whatever_is_cached(processes, tmp_path):
    first, second = processes
    store = create_app(None, tmp_path / "other").extensions["demotape"].store
    before = cached_review(second, "rec-1")
    add_edit(first, "rec-1", {"op": "drop", "turn": "t3"}, 1)
    with pytest.raises(Conflict):
        workflow.edit(second, store, "rec-1", {"op": "drop", "turn": "t4"}, 1, Account("local", "lead", alone=True),
                      known=before)
    require_same(second)


def test_it_is_bounded_and_keeps_one_that_is_larger(processes, tmp_path, monkeypatch):
    db = processes[0]
    store = create_app(None, tmp_path / "other").extensions["demotape"].store
    monkeypatch.setattr(review_cache, "MAX_TURNS", 12)
    names = [library.import_recording(db, store, make_recording(tmp_path, recording_id=f"more-{number}")).id
             for number in range(4)]
    for name in (*names, "rec-1"):
        cached_review(db, name)
    with db.reading() as session:
        assert session.scalars(select(Demonstration.id)).all()
    cached = review_cache._cache_of(db)
    assert [name for name in (*names, "rec-1") if cached.get(name)] == ["rec-1"]  # 11 turns
    cached_review(db, names[0])
    cached_review(db, names[1])
    assert [name for name in (*names, "rec-1") if cached.get(name)] == names[:2]  # 6 turns each
    monkeypatch.setattr(review_cache, "MAX_TURNS", 3)
    cached_review(db, names[2])
    assert [name for name in (*names, "rec-1") if cached.get(name)] == names[2:3]
