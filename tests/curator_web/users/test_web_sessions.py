"""Sessions of browsers: they end when somebody says so, and with them every copy of the cookie."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select, update

from curator_web.db.models.core import AuditLine, WebSession
from curator_web.errors import NotSignedIn
from curator_web.users import disable, remove, set_password, user_named, web_sessions
from tests.support.curator.team_fixtures import PASSWORD, csrf, signed_in


def send(client, address: str, page: str = "/account", **data):
    return client.post(address, data={"csrf_token": csrf(client, page)} | data)


def copy_of(app, client):
    """Another browser with the same cookie."""
    other = app.test_client()
    other.set_cookie("demotape", client.get_cookie("demotape").value)
    return other


def audited(db) -> list[tuple[str, str]]:
    with db.reading() as session:
        return [tuple(row) for row in session.execute(select(AuditLine.who, AuditLine.what).order_by(AuditLine.id))]


def test_a_copied_cookie_does_not_work_after_sign_out(app, db):
    client = signed_in(app, "ann")
    copy = copy_of(app, client)
    assert copy.get("/").status_code == 200
    assert send(client, "/sign-out").status_code == 303
    assert copy.get("/").status_code == 303 and copy.get("/api/demonstrations").status_code == 401
    assert audited(db)[-2:] == [("ann", "signed in"), ("ann", "session ended")]


@pytest.mark.parametrize("end", [
    lambda db: set_password(db, "ann", "another long password"), lambda db: disable(db, "ann"),
    lambda db: remove(db, "ann")])
def test_a_new_password_and_a_closed_door_end_all_sessions(app, db, end):
    clients = [signed_in(app, "ann"), signed_in(app, "ann"), signed_in(app, "bob")]
    end(db)
    assert [client.get("/").status_code for client in clients] == [303, 303, 200]
    assert web_sessions.sessions_of(db, "ann") == []


def test_one_sees_and_ends_ones_own_sessions(app, db):
    here, there, far = (signed_in(app, "ann") for _ in range(3))
    bob = signed_in(app, "bob")
    page = here.get("/account", headers={"User-Agent": "x"}).text
    assert page.count("this one") == 1
    ids = re.findall(r'name="session" value="(\w+)"', page)
    assert len(ids) == 2
    assert send(bob, "/account/sessions/end", session=ids[0]).status_code == 303  # not one of his
    assert there.get("/").status_code == far.get("/").status_code == 200
    assert send(here, "/account/sessions/end", session=ids[0]).status_code == 303
    assert sorted([there.get("/").status_code, far.get("/").status_code]) == [200, 303]
    assert send(here, "/account/sessions/end").status_code == 303
    assert there.get("/").status_code == far.get("/").status_code == 303
    assert here.get("/").status_code == bob.get("/").status_code == 200


def test_a_lead_ends_the_sessions_of_somebody(app, db):
    ann, lea = signed_in(app, "ann"), signed_in(app, "lea")
    assert send(ann, "/people/lea/end-sessions").status_code == 403
    assert send(lea, "/people/ann/end-sessions", page="/people/ann").status_code == 303
    assert ann.get("/").status_code == 303 and lea.get("/").status_code == 200
    assert audited(db)[-1] == ("lea", "sessions ended")


def test_a_session_ends_some_time_after_its_last_use(app, db):
    client = signed_in(app, "ann")
    secret = next(iter(web_sessions.sessions_of(db, "ann")))
    with db.writing() as session:
        before = datetime.now(UTC) - timedelta(days=10)
        session.execute(update(WebSession).values(used_at=before, expires_at=before + web_sessions.LASTS))
    assert client.get("/").status_code == 200
    row = web_sessions.sessions_of(db, "ann")[0]
    assert row.id_sha256 == secret.id_sha256 and row.expires_at > datetime.now(UTC) + timedelta(days=13)
    with db.writing() as session:
        session.execute(update(WebSession).values(made_at=datetime.now(UTC) - web_sessions.LONGEST, used_at=before))
    client.get("/")
    assert client.get("/").status_code == 303
    web_sessions.forget_old(db)
    with db.reading() as session:
        assert session.scalars(select(WebSession)).all() == []


def test_no_session_begins_with_a_password_that_was_changed_meanwhile(db):
    user = user_named(db, "ann")
    set_password(db, "ann", "another long password")
    with pytest.raises(NotSignedIn):
        web_sessions.begin(db, user, "")


def test_the_id_of_a_session_is_not_kept(app, db):
    secret = web_sessions.begin(db, user_named(db, "ann"), "Firefox")
    with db.reading() as session:
        row = session.scalars(select(WebSession)).one()
    assert secret not in str(vars(row)) and web_sessions.find(db, secret)[0].name == "ann"


def test_a_session_of_before_counts_no_more_after_signing_in(app):
    client = signed_in(app, "ann")
    before = client.get_cookie("demotape").value
    client.post("/sign-in", data={"csrf_token": csrf(client, "/"), "name": "bob", "password": PASSWORD})
    assert client.get_cookie("demotape").value != before and "bob, annotator" in client.get("/").text
