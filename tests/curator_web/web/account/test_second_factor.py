"""Signing in with a second factor, by the pages."""

import re

import pyotp
import pytest
from click.testing import CliRunner

from curator_web import create_app
from curator_web.users import set_password
from demotape.cli import main
from tests.support.curator.team_fixtures import PASSWORD, add_people, csrf, signed_in


@pytest.fixture
def app(tmp_path):
    app = create_app(data_dir=tmp_path / "data")
    add_people(app)
    yield app
    app.extensions["demotape"].db.close()


def turn_on(client, password=PASSWORD) -> tuple[str, str]:
    """Turn it on as a person does; returns the app's secret and the page that follows."""
    client.post("/account/second-factor/begin", data={"csrf_token": csrf(client, "/account")})
    page = client.get("/account/second-factor").text
    secret = re.search(r'readonly value="([A-Z2-7]+)"', page)[1]
    assert "<svg" in page
    answer = client.post("/account/second-factor", data={
        "csrf_token": csrf(client, "/account/second-factor"), "password": password, "code": pyotp.TOTP(secret).now()})
    return secret, answer.text


def start(app, name="ann", next=""):
    """A browser in which the password was right, and the page that asks for the code."""
    client = app.test_client()
    answer = client.post("/sign-in", data={"csrf_token": csrf(client), "name": name, "password": PASSWORD,
                                           "next": next})
    assert answer.status_code == 303 and answer.headers["Location"].startswith("/sign-in/code")
    return client, answer.headers["Location"]


def send(client, at, code):
    token = csrf(client, at)
    return client.post("/sign-in/code", data={"csrf_token": token, "code": code, "next": at.partition("next=")[2]})


def test_the_password_alone_opens_nothing_once_it_is_on(app):
    ann = signed_in(app, "ann")
    codes = re.findall(r"<code>([0-9-]{19})</code>", turn_on(ann)[1])
    assert len(codes) == 10 and "On since" in ann.get("/account").text
    client, at = start(app, next="/team")
    assert client.get("/").status_code == 303 and client.get("/api/demonstrations").status_code == 401
    assert send(client, at, "123").status_code == 401 and client.get("/").status_code == 303
    answer = send(client, at, codes[0])
    assert answer.headers["Location"] == "/team" and client.get("/").status_code == 200
    again, at = start(app)
    assert send(again, at, codes[0]).status_code == 401, "it was used"


def test_turning_on_ends_other_sessions_and_takes_the_password(app):
    other, ann = signed_in(app, "ann"), signed_in(app, "ann")
    assert "password is wrong" in turn_on(ann, password="not this one")[1]
    assert other.get("/").status_code == 200
    turn_on(ann)
    assert other.get("/").status_code == 303 and ann.get("/").status_code == 200


def test_turning_off_takes_the_password(app):
    ann = signed_in(app, "ann")
    turn_on(ann)
    for password, code in (("wrong", 400), (PASSWORD, 303)):
        data = {"csrf_token": csrf(ann, "/account"), "password": password}
        assert ann.post("/account/second-factor/off", data=data).status_code == code
    signed_in(app, "ann")


def test_a_lead_or_the_command_line_lets_in_who_lost_the_phone(app, tmp_path):
    for name in ("ann", "bob"):
        turn_on(signed_in(app, name))
    lea = signed_in(app, "lea")
    data = {"csrf_token": csrf(lea, "/people/ann")}
    assert signed_in(app, "val").post("/people/ann/second-factor-off", data=data).status_code in (400, 403)
    assert lea.post("/people/ann/second-factor-off", data=data).status_code == 303
    signed_in(app, "ann")
    done = CliRunner().invoke(main, ["user", "second-factor-off", "bob", "--data", str(tmp_path / "data")])
    assert done.exit_code == 0, done.output
    signed_in(app, "bob")


def test_the_page_for_the_code_is_for_who_knows_the_password(app):
    assert app.test_client().get("/sign-in/code").headers["Location"] == "/sign-in"
    turn_on(signed_in(app, "ann"))
    client, at = start(app)
    set_password(app.extensions["demotape"].db, "ann", "another password")
    assert client.get(at).status_code == 303, "what was proved counts no more"


def test_no_token_changes_it(app):
    tokens = app.extensions["demotape"]
    from curator_web.users.tokens import SCOPES, add_token
    token = add_token(tokens.db, "ann", "all", SCOPES, None, by="ann")
    for path in ("begin", "off"):
        answer = app.test_client().post(f"/account/second-factor/{path}", headers={"Authorization": f"Bearer {token}"})
        assert answer.status_code == 403
