"""Signing in: who must, who may do what, and what keeps others out."""

import stat

import pytest
from click.testing import CliRunner
from sqlalchemy import select

from curator_web import create_app
from curator_web.db.models.core import AuditLine
from curator_web.demonstrations.library.library import import_recording, listed
from curator_web.users import add_user, set_password, user_named
from demotape.cli import main
from schemas import InputError
from tests.support.curator.curator_fixtures import make_recording
from tests.support.curator.team_fixtures import PASSWORD, add_people, csrf, signed_in


@pytest.fixture
def app(tmp_path, db_url):
    app = create_app(db_url, tmp_path / "data")
    services = app.extensions["demotape"]
    import_recording(services.db, services.store, make_recording(tmp_path))
    yield app
    services.db.close()


@pytest.fixture
def db(app):
    return app.extensions["demotape"].db


def test_nobody_signs_in_until_there_is_an_account(app):
    client = app.test_client()
    page = client.get("/")
    assert page.status_code == 200 and "no sign-in is required" in page.text
    add_people(app)
    assert client.get("/").headers["Location"].startswith("/sign-in?next=")
    assert client.get("/api/demonstrations").status_code == 401
    assert client.get("/blobs/rec-1/" + "0" * 64).status_code == 303


def test_without_accounts_only_this_machine_is_served(app):
    client = app.test_client()
    assert client.get("/", environ_overrides={"REMOTE_ADDR": "192.0.2.1"}).status_code == 403
    app.config["HOSTS"] = ("review.example.org",)
    assert client.get("/", headers={"Host": "review.example.org"}).status_code == 403


def test_sign_in_leads_to_the_wanted_page_and_sign_out_ends_it(app, db):
    add_people(app)
    client = app.test_client()
    token = csrf(client, "/sign-in?next=/demonstrations/rec-1")
    answer = client.post("/sign-in", data={"csrf_token": token, "name": "ann", "password": PASSWORD,
                                           "next": "/demonstrations/rec-1"})
    assert answer.headers["Location"] == "/demonstrations/rec-1"
    cookie = answer.headers["Set-Cookie"]
    assert "HttpOnly" in cookie and "SameSite=Lax" in cookie
    assert "ann, annotator" in client.get("/").text
    assert client.post("/sign-out", data={}).status_code == 400  # no token of ours
    assert client.post("/sign-out", data={"csrf_token": csrf(client, "/")}).status_code == 303
    assert client.get("/").status_code == 303
    with db.reading() as session:
        assert "signed in" in session.scalars(select(AuditLine.what)).all()


@pytest.mark.parametrize("wanted", ["https://evil.example/", "//evil.example", "/\\evil.example", "javascript:alert(1)",
                                    "http:evil.example", "/\tevil"])
def test_sign_in_never_leads_elsewhere(app, wanted):
    add_people(app)
    client = app.test_client()
    answer = client.post("/sign-in", data={"csrf_token": csrf(client), "name": "ann", "password": PASSWORD,
                                           "next": wanted})
    assert answer.headers["Location"] == "/"


def test_wrong_names_and_passwords_are_refused_alike(app):
    add_people(app)
    add_user(app.extensions["demotape"].db, "robot", "annotator")
    client = app.test_client()
    token = csrf(client)
    for name, password in (("ann", "wrong"), ("nobody", PASSWORD), ("", ""), ("robot", ""), ("../x", PASSWORD)):
        answer = client.post("/sign-in", data={"csrf_token": token, "name": name, "password": password})
        assert answer.status_code == 401 and "name or the password is wrong" in answer.text


def test_a_session_is_signed_by_the_key_of_the_folder_and_serves_every_process(app, db, tmp_path):
    add_people(app)
    client = signed_in(app, "ann")
    other = create_app(str(db.engine.url.render_as_string(hide_password=False)), tmp_path / "data").test_client()
    other.set_cookie("demotape", client.get_cookie("demotape").value)
    assert "ann, annotator" in other.get("/").text
    assert stat.S_IMODE((tmp_path / "data" / "secret.key").stat().st_mode) == 0o600
    other.set_cookie("demotape", client.get_cookie("demotape").value[:-2] + "xx")
    assert other.get("/").status_code == 303


def test_a_new_password_ends_old_sessions(app, db):
    add_people(app)
    client = signed_in(app, "ann")
    set_password(db, "ann", "another long password")
    assert client.get("/").status_code == 303
    assert signed_in(app, "ann", "another long password").get("/").status_code == 200


def test_a_token_works_for_the_whole_api_without_csrf(app):
    tokens = add_people(app)
    client = app.test_client()
    headers = {"Authorization": f"Bearer {tokens['ann']}"}
    edit = {"version": 1, "edit": {"op": "drop", "turn": "t3"}}
    assert client.post("/api/demonstrations/rec-1/edits", json=edit, headers=headers).json == {"version": 2}
    assert client.get("/api/demonstrations/rec-1/edits", headers=headers).json[0]["who"] == "ann"
    wrong = {"Authorization": "Bearer wrong"}
    assert client.post("/api/demonstrations/rec-1/edits", json=edit, headers=wrong).status_code == 401
    signed = signed_in(app, "bob")
    assert signed.post("/api/demonstrations/rec-1/edits", json=edit).status_code == 400  # a session needs the token
    assert signed.get("/", headers=wrong).status_code == 401


def test_user_commands_take_the_password_from_standard_input(tmp_path):
    def run(*words, given=""):
        return CliRunner().invoke(main, ["user", *words, "--data", str(tmp_path)], input=given)

    assert run("add", "ann", "--role", "annotator", "--create", "--password-stdin",
               given=f"{PASSWORD}\n").exit_code == 0
    app = create_app(data_dir=tmp_path)
    assert signed_in(app, "ann").get("/").status_code == 200
    assert PASSWORD not in (tmp_path / "demotape.db").read_bytes().decode("latin-1")
    short = run("add", "bob", "--role", "lead", "--password-stdin", given="short\n")
    assert short.exit_code == 2 and "10 to 1000 characters" in short.stderr
    assert run("add", "bob", "--role", "lead").exit_code == 0
    assert user_named(app.extensions["demotape"].db, "bob").password_hash is None
    assert run("password", "bob", "--password-stdin", given=f"{PASSWORD}\n").exit_code == 0
    assert signed_in(app, "bob").get("/").status_code == 200
    assert run("password", "eve", "--password-stdin", given=f"{PASSWORD}\n").exit_code == 2
    assert run("password", "bob").exit_code == 2


def test_passwords_are_hashed_with_scrypt(app, db):
    add_people(app)
    assert user_named(db, "ann").password_hash.startswith("scrypt:")
    with pytest.raises(InputError, match="10 to 1000 characters"):
        set_password(db, "ann", "x" * 2000)


def test_a_picture_that_arrives_late_takes_no_notice_from_the_next_page(app, db, tmp_path):
    import_recording(db, app.extensions["demotape"].store, make_recording(tmp_path, recording_id="pictured"))
    add_people(app)
    client, cover = signed_in(app, "lea"), listed(db, "pictured").cover
    picture = client.get(f"/thumbnails/pictured/{cover['screenshot']}")
    assert picture.status_code == 200 and "Set-Cookie" not in picture.headers  # it would be that of the page before
    redirected = client.get("/demonstrations/pictured?turn=gone")
    assert redirected.status_code == 302 and "Set-Cookie" in redirected.headers
    assert "not in this demonstration" in client.get(redirected.location).text
