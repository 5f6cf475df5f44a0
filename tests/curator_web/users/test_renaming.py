"""Another name, another role, another token: all that somebody did and has goes along."""

from datetime import UTC, datetime

import pytest
from click.testing import CliRunner
from sqlalchemy import String, insert, select

from curator_web.db.models.core import ID_LENGTH, AuditLine, Base, Demonstration, Edit, Facet, Member, Token, User
from curator_web.db.models.filter_models import SavedFilter
from curator_web.demonstrations.library.library import import_recording
from curator_web.errors import InputError
from curator_web.users import rename, renaming, tokens, user_named
from demotape.cli import main
from tests.support.curator.curator_fixtures import make_recording
from tests.support.curator.team_fixtures import csrf, signed_in

NOW = datetime(2025, 1, 2, tzinfo=UTC)
# Other columns of this length: ids, names of things, ends of addresses.
OTHERS = {"id", "project", "recording", "recording_id", "sent_as", "demonstration_id", "demonstration", "task_id",
          "value", "name", "worker", "batch", "original", "copy", "upload_id", "problem", "judge", "room_id"}


def run(db, *arguments) -> tuple[int, str]:
    url = db.engine.url.render_as_string(hide_password=False)
    done = CliRunner().invoke(main, ["user", *arguments, "--db", url])
    return done.exit_code, done.output


def test_every_column_that_may_hold_a_name_is_known():
    found = {column.name for table in Base.metadata.sorted_tables for column in table.columns
             if isinstance(column.type, String) and column.type.length == ID_LENGTH}
    assert found == renaming.NAMES | found & OTHERS


def test_all_that_somebody_did_goes_along(app, db, tmp_path):
    import_recording(db, app.extensions["demotape"].store, make_recording(tmp_path), recorded_by="ann")
    client = signed_in(app, "ann")
    answer = client.post("/api/demonstrations/rec-1/edits", headers={"X-CSRFToken": csrf(client, "/")},
                         json={"version": 1, "edit": {"op": "drop", "turn": "t3"}})
    assert answer.status_code == 201, answer.text
    with db.writing() as session:
        session.execute(insert(SavedFilter).values(project="main", who="val", name="hers", shared=True, made_at=NOW,
                                                   content={"person": "ann", "site": "ann"}))
    assert run(db, "rename", "ann", "anna.b@example.org")[0] == 0
    assert client.get("/").status_code == 303  # signed out
    assert "rec-1" in signed_in(app, "anna.b@example.org").get("/?person=anna.b@example.org").text
    with db.reading() as session:
        assert session.get(Demonstration, "rec-1").recorded_by == "anna.b@example.org"
        assert session.scalars(select(Edit.who)).all() == ["anna.b@example.org"]
        assert session.get(Member, ("main", "anna.b@example.org")) and not session.get(Member, ("main", "ann"))
        assert "ann" not in session.scalars(select(Facet.value)).all()
        assert session.scalars(select(SavedFilter.content)).one() == {"person": "anna.b@example.org", "site": "ann"}
        line = session.scalars(select(AuditLine).where(AuditLine.what == "user renamed")).one()
        assert line.details["of"] == "ann" and "ann" in session.scalars(select(AuditLine.who)).all()
    assert user_named(db, "ann").state == "removed" and tokens.find(db, app.extensions["tokens"]["ann"])[0].name == (
        "anna.b@example.org")
    for old, new, match in (("ann", "bob", "unknown user 'ann'"), ("bob", "ann", "its name cannot be used again"),
                            ("bob", "val", "already"), ("bob", "no name", "is not a valid name")):
        with pytest.raises(InputError, match=match):
            rename(db, old, new)


def test_a_role_and_a_token_are_changed(app, db):
    assert run(db, "role", "val", "lead")[1].startswith("val now has the role lead")
    assert run(db, "role", "val", "king")[0] == 2
    with db.reading() as session:
        assert session.get(User, "val").role == "lead" and session.get(Member, ("main", "val")).role == "validator"
    old = tokens.add_token(db, "ann", "robot", ["read"], 10, by="ann")
    code, told = run(db, "token", "renew", "ann", "robot")
    new = told.splitlines()[-1]
    assert code == 0 and not tokens.find(db, old)
    user, row = tokens.find(db, new)
    assert (user.name, row.name, row.scopes) == ("ann", "robot", ["read"])
    assert 9 <= (row.expires_at - datetime.now(UTC)).days <= 10
    with db.reading() as session:
        assert len(session.scalars(select(Token).where(Token.who == "ann")).all()) == 2
    assert "has no token 'other'" in run(db, "token", "renew", "ann", "other")[1]
