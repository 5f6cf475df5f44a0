"""Tokens: each with a name, with what it may do, for how long; and users who are let in no more."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from click.testing import CliRunner
from sqlalchemy import select, update

from curator_web import create_app
from curator_web.db.models.core import AuditLine, Demonstration, Token
from curator_web.demonstrations.library.library import import_recording
from curator_web.errors import InputError
from curator_web.users import add_user, disable, enable, remove, set_password, tokens, user_named
from demotape.cli import main
from tests.support.curator.curator_fixtures import make_recording
from tests.support.curator.team_fixtures import PASSWORD, csrf, signed_in

PLAN = {"size": 1, "chunk_size": 1, "chunks": ["0" * 64]}
EDIT = {"version": 1, "edit": {"op": "drop", "turn": "t3"}}


@pytest.fixture
def filled(app, tmp_path):
    services = app.extensions["demotape"]
    import_recording(services.db, services.store, make_recording(tmp_path))
    return app


def bearer(token: str) -> dict:
    return {"Authorization": f"Bearer {token}"}


def audited(db) -> list[AuditLine]:
    with db.reading() as session:
        return list(session.scalars(select(AuditLine).order_by(AuditLine.id)))


@pytest.mark.parametrize(("scopes", "may"), [
    (("read",), {"read"}), (("write",), {"write"}), (("upload",), {"upload"}),
    (("read", "upload"), {"read", "upload"}), (tokens.SCOPES, set(tokens.SCOPES))])
def test_a_token_does_what_it_is_for(filled, db, scopes, may):
    client, headers = filled.test_client(), bearer(tokens.add_token(db, "ann", "laptop", scopes, None, by="ann"))
    answers = {
        "read": client.get("/api/demonstrations", headers=headers).status_code,
        "write": client.post("/api/demonstrations/rec-1/edits", json=EDIT, headers=headers).status_code,
        "upload": client.put("/api/uploads/pack-1", json=PLAN, headers=headers).status_code}
    assert {name: code < 300 for name, code in answers.items()} == {name: name in may for name in answers}
    assert {code for code in answers.values() if code >= 300} <= {403}
    assert client.get("/api/account", headers=headers).status_code == 200  # the extension asks so whose it is


def test_no_token_makes_tokens_or_changes_people(filled):
    client, headers = filled.test_client(), bearer(filled.extensions["tokens"]["lea"])
    for address in ("/account/tokens", "/account/sessions/end", "/account/tokens/revoke", "/people/ann/disable",
                    "/people/ann/tokens/revoke"):
        assert client.post(address, headers=headers, data={"name": "x"}).status_code == 403


def test_a_token_is_made_shown_once_and_revoked_on_the_page(filled, db):
    client = signed_in(filled, "ann")

    def send(address, **data):
        return client.post(address, data={"csrf_token": csrf(client, "/account")} | data)
    page = send("/account/tokens", name="laptop", scope=["read", "upload"], days="30")
    token = re.search(r'readonly value="([\w-]{43})"', page.text)[1]
    assert token not in client.get("/account").text
    user, row = tokens.find(db, token)
    assert (user.name, row.name, row.scopes) == ("ann", "laptop", ["read", "upload"])
    assert timedelta(days=29) < row.expires_at - datetime.now(UTC) < timedelta(days=30)
    for wrong in ({"name": "laptop"}, {"name": ""}, {"name": "x" * 61}, {"name": "a\nb"}, {"name": "y", "scope": "all"},
                  {"name": "y", "days": "-1"}, {"name": "y", "days": "99999"}, {"name": "y", "days": "9" * 5000}):
        assert send("/account/tokens", **({"scope": "read", "days": "30"} | wrong)).status_code == 400
    assert send("/account/tokens/revoke", name="laptop").status_code == 303
    assert send("/account/tokens/revoke", name="laptop").status_code == 400
    assert tokens.find(db, token) is None
    lines = [(line.who, line.what, line.details.get("token")) for line in audited(db)]
    assert ("ann", "token added", "laptop") in lines and ("ann", "token revoked", "laptop") in lines
    assert all(token not in str(line.details) for line in audited(db))


def test_a_token_expires_and_tells_when_it_was_used(filled, db):
    token = tokens.add_token(db, "ann", "laptop", ["read"], 1, by="ann")
    assert tokens.tokens_of(db, "ann")[0].used_at is None
    client = filled.test_client()
    assert client.get("/api/demonstrations", headers=bearer(token)).status_code == 200
    assert datetime.now(UTC) - tokens.tokens_of(db, "ann")[0].used_at < timedelta(minutes=1)
    with db.writing() as session:
        session.execute(update(Token).where(Token.name == "laptop").values(expires_at=datetime.now(UTC)))
    assert client.get("/api/demonstrations", headers=bearer(token)).status_code == 401


def test_nobody_has_tokens_without_end(db):
    for number in range(tokens.LIMIT - 1):
        tokens.add_token(db, "ann", f"t{number}", ["read"], None, by="ann")
    with pytest.raises(InputError, match="revoke some"):
        tokens.add_token(db, "ann", "one more", ["read"], None, by="ann")


def test_a_new_password_revokes_tokens_unless_they_are_kept(app, db):
    token = app.extensions["tokens"]["ann"]
    set_password(db, "ann", "another long password", keep_tokens=True)
    assert tokens.find(db, token)
    set_password(db, "ann", "yet another password")
    assert tokens.find(db, token) is None and tokens.find(db, app.extensions["tokens"]["bob"])


def test_a_disabled_user_is_let_in_again_with_the_same_tokens(app, db):
    token, client = app.extensions["tokens"]["ann"], app.test_client()
    disable(db, "ann")
    assert client.get("/api/demonstrations", headers=bearer(token)).status_code == 401
    answer = client.post("/sign-in", data={"csrf_token": csrf(client), "name": "ann", "password": PASSWORD})
    assert answer.status_code == 401 and "name or the password is wrong" in answer.text
    enable(db, "ann")
    assert client.get("/api/demonstrations", headers=bearer(token)).status_code == 200
    assert signed_in(app, "ann").get("/").status_code == 200


def test_what_a_removed_user_did_stays(filled, db):
    signed_in(filled, "ann")
    with db.writing() as session:
        session.execute(update(Demonstration).values(assigned_to="ann", lease_who="ann", lease_until=datetime.now(UTC)))
    remove(db, "ann")
    with db.reading() as session:
        row = session.scalars(select(Demonstration)).one()
    assert (row.assigned_to, row.lease_who) == (None, None)
    assert tokens.find(db, filled.extensions["tokens"]["ann"]) is None
    assert user_named(db, "ann").password_hash is None
    assert ("ann", "signed in") in [(line.who, line.what) for line in audited(db)]
    for again in (lambda: add_user(db, "ann", "lead"), lambda: enable(db, "ann"),
                  lambda: set_password(db, "ann", PASSWORD)):
        with pytest.raises(InputError):
            again()
    lea = signed_in(filled, "lea")
    assign = {"csrf_token": csrf(lea, "/"), "id": "rec-1", "to": "ann"}
    assert lea.post("/assign", data=assign).status_code == 400
    assert '<option value="ann"' not in lea.get("/").text and "removed" in lea.get("/people").text


def test_a_lead_sees_to_people_on_their_pages(app, db):
    lea, ann = signed_in(app, "lea"), signed_in(app, "ann")

    def send(address, **data):
        return lea.post(address, data={"csrf_token": csrf(lea, "/people/ann")} | data).status_code
    assert ann.get("/people").status_code == ann.get("/people/lea").status_code == 403
    assert lea.get("/people/nobody").status_code == lea.get("/people/..%2Fx").status_code == 404
    assert "first" in lea.get("/people/ann").text
    assert send("/people/ann/tokens/revoke", name="first") == 303
    assert tokens.tokens_of(db, "ann") == []
    for step, state in (("disable", "disabled"), ("enable", "active"), ("remove", "removed")):
        assert send(f"/people/ann/{step}") == 303 and user_named(db, "ann").state == state
    assert send("/people/ann/enable") == 400
    for step in ("disable", "remove"):
        assert send(f"/people/lea/{step}") == 400  # who would let her in again?
    assert [line.what for line in audited(db) if line.who == "lea"] == [
        "signed in", "token revoked", "user disabled", "user enabled", "user removed"]


def test_alone_one_has_no_account_page(tmp_path):
    client = create_app(data_dir=tmp_path / "alone").test_client()
    assert client.get("/account").status_code == 404 and client.get("/people").status_code == 200


def test_commands_see_to_users_and_tokens(tmp_path):
    def run(*words, given="", code=0):
        done = CliRunner().invoke(main, ["user", *words, "--data", str(tmp_path)], input=given)
        assert done.exit_code == code, done.output
        return done.stdout
    run("add", "ann", "--role", "annotator", "--create", "--password-stdin", given=f"{PASSWORD}\n")
    token = run("token", "add", "ann", "laptop", "--days", "90").strip()
    app = create_app(data_dir=tmp_path)
    db = app.extensions["demotape"].db
    assert tokens.find(db, token)[1].scopes == ["upload"]
    listed = run("token", "list", "ann")
    assert "laptop" in listed and "read, write, upload" in listed and token not in listed
    run("token", "add", "ann", "laptop", code=2)
    run("token", "add", "eve", "laptop", code=2)
    run("token", "add", "ann", "other", "--scope", "all", code=2)
    run("token", "revoke", "ann", "laptop")
    run("token", "revoke", "ann", "laptop", code=2)
    assert tokens.find(db, token) is None
    token = run("token", "add", "ann", "robot", "--scope", "read", "--scope", "write").strip()
    run("password", "ann", "--keep-tokens", "--password-stdin", given=f"{PASSWORD}\n")
    assert tokens.find(db, token)
    run("disable", "ann")
    assert tokens.find(db, token) is None
    run("enable", "ann")
    assert tokens.find(db, token)
    run("remove", "ann")
    run("remove", "ann", code=2)
    assert {line.who for line in audited(db)} == {"command line"}
