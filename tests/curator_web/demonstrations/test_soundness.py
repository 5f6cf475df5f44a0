"""What was found to be as it may be is not looked through again, until it is something else or the rules are others."""

import json

import pytest
from sqlalchemy import event, select

from curator_web import create_app
from curator_web.db.models.core import BaseTurns, Demonstration
from curator_web.demonstrations.library import export_sources, library, validation_cache
from curator_web.demonstrations.workflow import pairing
from curator_web.demonstrations.workflow.editing import add_edit
from curator_web.errors import DatabaseUnavailable
from tests.support.curator.curator_fixtures import make_recording
from tests.support.curator.team_fixtures import LEA, add_people


@pytest.fixture
def app(db_url, tmp_path):
    app = create_app(db_url, tmp_path / "data")
    held = app.extensions["demotape"]
    library.import_recording(held.db, held.store, make_recording(tmp_path))
    yield app
    held.db.close()


@pytest.fixture
def held(app):
    return app.extensions["demotape"]


@pytest.fixture
def page(app):
    """The review page, opened once more."""
    return lambda: app.test_client().get("/demonstrations/rec-1")


@pytest.fixture
def looked(monkeypatch):
    """The ids of what was looked through."""
    seen, plain = [], library.validated

    def validated(content, schema, where):
        seen.append(content["id"])
        return plain(content, schema, where)

    monkeypatch.setattr(library, "validated", validated)
    return seen


def sound(db, name: str = "rec-1") -> str | None:
    with db.reading() as session:
        return session.scalars(select(Demonstration.sound).where(Demonstration.id == name)).one()


def exported(held) -> list[str]:
    return [source.id for source in export_sources.exportable(held.db, held.store)]


def test_what_was_imported_is_not_looked_through_by_pages_and_exports(held, page, looked):
    assert page().status_code == 200 and exported(held) == ["rec-1"]
    assert looked == []


@pytest.mark.parametrize("look", ["page", "export"])
def test_what_was_edited_is_looked_through_once(held, page, looked, look):
    add_edit(held.db, "rec-1", {"op": "drop", "turn": "t3"}, 1)
    before = sound(held.db)
    for _ in range(2):
        assert (page().status_code == 200) if look == "page" else (exported(held) == ["rec-1"])
    assert looked == ["rec-1"] and sound(held.db) not in (before, None)


def test_what_is_damaged_afterwards_is_found(held, page, looked):
    assert page().status_code == 200
    with held.db.writing() as session:
        row = session.get_one(BaseTurns, "rec-1")
        content = json.loads(json.dumps(row.content))
        content["turns"][2]["element"]["bbox"]["width"] = 1e308
        row.content = content
    before = sound(held.db)
    for _ in range(2):
        assert "field turns.2.element.bbox.width" in page().text
    assert looked == ["rec-1"] * 2 and sound(held.db) == before


def test_a_database_that_takes_nothing_keeps_no_page_from_being_shown(held, page, looked):
    add_edit(held.db, "rec-1", {"op": "drop", "turn": "t3"}, 1)
    forbid = {"sqlite": "PRAGMA query_only=ON", "postgresql": "SET TRANSACTION READ ONLY"}[held.db.engine.dialect.name]
    event.listen(held.db.engine, "begin", lambda connection: connection.exec_driver_sql(forbid))
    with pytest.raises(DatabaseUnavailable):
        add_edit(held.db, "rec-1", {"op": "drop", "turn": "t4"}, 2)
    for _ in range(2):
        assert page().status_code == 200
    assert looked == ["rec-1"]  # the process knows it, though the database does not


def test_other_rules_look_through_all_again(held, looked, monkeypatch):
    monkeypatch.setattr(validation_cache, "_rules", lambda: "others")
    assert exported(held) == ["rec-1"] and looked == ["rec-1"]
    assert exported(held) == ["rec-1"] and looked == ["rec-1"]


def test_a_copy_is_known_by_a_digest_of_its_own(app, held, looked):
    add_people(app)
    pairing.choose(held.db, ["rec-1"], LEA)
    for _ in range(2):
        found: dict[str, str] = {}
        library.review(held.db, "rec-1~2").checked(found)
        validation_cache.note(held.db, found)
    assert looked == ["rec-1~2"] and sound(held.db, "rec-1~2") not in (sound(held.db), None)
