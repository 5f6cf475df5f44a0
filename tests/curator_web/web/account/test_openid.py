"""Signing in at an OpenID provider: a real one, by HTTP, of the package oidc-provider-mock."""

import json
import threading
import urllib.parse
import warnings
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
import requests
from authlib.deprecate import AuthlibDeprecationWarning
from click.testing import CliRunner

from curator_web import create_app
from curator_web.access.openid_settings import OpenIDSettings
from curator_web.db.models.core import REMOVED
from curator_web.errors import InputError
from curator_web.users import add_user, disable, remove, user_named
from demotape.cli import main
from demotape.environment import openid

with warnings.catch_warnings():
    warnings.simplefilter("ignore", AuthlibDeprecationWarning)  # the provider's own
    import oidc_provider_mock

MAIL = "ann@example.org"


@pytest.fixture(scope="module")
def provider():
    people = [oidc_provider_mock.User(sub=sub, claims={"email": mail, "email_verified": verified})
              for sub, mail, verified in (("1", MAIL, True), ("2", MAIL, False), ("3", "new@example.org", True),
                                          ("4", "odd+tag@example.org", True))]
    with oidc_provider_mock.run_server_in_thread(user_claims=people) as server:
        yield f"http://localhost:{server.server_port}"


def make_app(tmp_path, issuer, role=None):
    app = create_app(data_dir=tmp_path / "data", openid=OpenIDSettings(issuer, "demotape", "client-secret", role))
    add_user(app.extensions["demotape"].db, MAIL, "annotator")
    return app


@pytest.fixture
def app(tmp_path, provider):
    app = make_app(tmp_path, provider)
    yield app
    app.extensions["demotape"].db.close()


def go(app, subject, wanted="/", change=lambda address: address):
    """Sign in as this person does at the provider; returns the browser and the last answer."""
    client = app.test_client()
    there = client.get("/sign-in/openid", query_string={"next": wanted}).headers["Location"]
    back = requests.post(there, data={"sub": subject}, allow_redirects=False).headers["Location"]
    return client, client.get(change(back))


def test_who_the_provider_knows_by_a_verified_address_is_signed_in(app):
    client, answer = go(app, "1", "/team")
    assert answer.headers["Location"] == "/team" and MAIL in client.get("/").text
    assert "localhost:" in app.test_client().get("/sign-in").text, "the page to sign in on says where"


def test_the_subject_counts_from_then_on_not_the_address(app):
    go(app, "1")
    assert go(app, "2")[1].status_code == 401, "another one, whose address is not verified"
    db = app.extensions["demotape"].db
    remove(db, MAIL)
    assert go(app, "1")[1].status_code == 401 and user_named(db, MAIL).state == REMOVED


def test_who_is_not_known_is_let_in_only_with_a_role_for_them(app, tmp_path, provider):
    client, answer = go(app, "3")
    assert answer.status_code == 401 and "You have no account here" in answer.text
    assert client.get("/").status_code == 303
    other = make_app(tmp_path / "other", provider, "validator")
    assert go(other, "3")[1].status_code == 303
    assert user_named(other.extensions["demotape"].db, "new@example.org").role == "validator"
    assert go(other, "4")[1].status_code == 401, "its address cannot be a name"
    other.extensions["demotape"].db.close()


def test_who_is_disabled_stays_out(app):
    go(app, "1")
    disable(app.extensions["demotape"].db, MAIL)
    assert go(app, "1")[1].status_code == 401


@pytest.mark.parametrize("change", [
    lambda address: address.replace("state=", "state=x"), lambda address: address.replace("code=", "code=x"),
    lambda address: address.partition("?")[0], lambda address: "/sign-in/openid/answer?error=access_denied&state=1"])
def test_an_answer_that_was_tampered_with_signs_nobody_in(app, change):
    client, answer = go(app, "1", change=change)
    assert answer.status_code == 401 and "OpenID provider failed" in answer.text and client.get("/").status_code == 303


def test_another_browser_cannot_use_the_answer(app):
    there = app.test_client().get("/sign-in/openid").headers["Location"]
    back = requests.post(there, data={"sub": "1"}, allow_redirects=False).headers["Location"]
    assert app.test_client().get(back).status_code == 401


def test_it_uses_pkce_state_and_nonce_and_never_leads_elsewhere(app):
    there = app.test_client().get("/sign-in/openid").headers["Location"]
    asked = urllib.parse.parse_qs(urllib.parse.urlsplit(there).query)
    assert {"state", "nonce", "code_challenge"} <= asked.keys() and asked["code_challenge_method"] == ["S256"]
    assert go(app, "1", "//elsewhere.example")[1].headers["Location"] == "/"


class Odd(BaseHTTPRequestHandler):
    """A provider that says odd things."""

    def do_GET(self):
        self.send_response(self.server.status)
        self.end_headers()
        self.wfile.write(self.server.body)

    def log_message(self, *_):
        pass


@pytest.mark.parametrize("status, body", [
    (200, b"<html>"), (500, b""), (200, b"[]"), (200, b"{}"), (200, json.dumps({"issuer": 3}).encode())])
def test_a_provider_that_is_broken_is_one_clear_word(tmp_path, status, body):
    server = ThreadingHTTPServer(("127.0.0.1", 0), Odd)
    server.status, server.body = status, body
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    app = make_app(tmp_path, f"http://127.0.0.1:{server.server_port}")
    answer = app.test_client().get("/sign-in/openid")
    assert answer.status_code == 502 and "cannot be reached" in answer.text
    server.shutdown()
    server.server_close()
    assert app.test_client().get("/sign-in/openid").status_code == 502, "it is not there at all"
    app.extensions["demotape"].db.close()


@pytest.mark.parametrize("settings", [
    ("http://id.example.org", "a", "b"), ("ftp://id.example.org", "a", "b"), ("https://", "a", "b"),
    ("https://[", "a", "b"), ("https://id.example.org?x", "a", "b"), ("https://id.example.org", "", "b"),
    ("https://id.example.org", "a", ""), ("https://id.example.org", "a", "b", "chief")])
def test_settings_that_cannot_be_are_refused(settings):
    with pytest.raises(InputError, match="OpenID"):
        OpenIDSettings(*settings)


def test_the_environment_says_where(monkeypatch, tmp_path):
    assert openid() is None
    monkeypatch.setenv("DEMOTAPE_OPENID_ISSUER", "https://id.example.org")
    done = CliRunner().invoke(main, ["review", "--port", "0", "--data", str(tmp_path)])
    assert done.exit_code != 0 and "OpenID: set the client's id and secret" in done.output
    monkeypatch.setenv("DEMOTAPE_OPENID_CLIENT", "demotape")
    monkeypatch.setenv("DEMOTAPE_OPENID_SECRET", "client-secret")
    assert openid() == OpenIDSettings("https://id.example.org", "demotape", "client-secret")
