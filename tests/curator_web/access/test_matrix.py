"""Every route for everybody who may ask: no answer without a valid identity, no change without permission."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from flask import Flask
from sqlalchemy import func, select, update

from curator_web import create_app, users
from curator_web.db.models.core import AuditLine, Token
from curator_web.demonstrations.library.library import import_recording
from curator_web.users import tokens
from demotape.importing import import_package
from tests.support.curator.curator_fixtures import make_recording
from tests.support.curator.team_fixtures import add_people, signed_in

SECRET = "Find the confidential lamp"
# Pages for everybody, which tell nothing of the data: sign-in, static files, health, language, the API's description.
PUBLIC = ("static", "vendor", "health.", "sign_in", "openid", "language", "accounts.show_sign_in")
SAFE = {"GET", "HEAD", "OPTIONS"}


@pytest.fixture(scope="module")
def app(tmp_path_factory) -> Iterator[Flask]:
    folder = tmp_path_factory.mktemp("matrix")
    app = create_app(data_dir=folder / "data", import_package=import_package)
    services = app.extensions["demotape"]
    db = services.db
    import_recording(db, services.store, make_recording(folder, task=SECRET))
    known = add_people(app)
    known |= {scope: tokens.add_token(db, "lea", scope, [scope], None, by="lea")
              for scope in ("read", "upload", "write")}
    known["expired"] = tokens.add_token(db, "lea", "expired", ["read", "write", "upload"], 1, by="lea")
    known["revoked"] = tokens.add_token(db, "lea", "revoked", ["read"], None, by="lea")
    tokens.revoke(db, "lea", "revoked", by="lea")
    known["disabled"] = users.add_user(db, "gone", "lead")
    users.disable(db, "gone")
    with db.writing() as session:
        session.execute(update(Token).where(Token.name == "expired").values(
            expires_at=datetime.now(UTC) - timedelta(seconds=1)))
    app.tokens = known
    yield app
    services.jobs.close()
    db.close()


def addresses(app: Flask) -> list[tuple[str, str, str]]:
    """Every method and address, with its endpoint."""
    given = {"demonstration_id": "rec-1", "recording_id": "rec-1", "project": "main", "who": "ann", "other": "rec-1",
             "step": "disable"}
    found = []
    with app.test_request_context():
        for rule in app.url_map.iter_rules():
            values = {name: given.get(name, 1 if "int:" in rule.rule else "x") for name in rule.arguments}
            address = app.url_map.bind("localhost").build(rule.endpoint, values, method=None)
            found += [(method, address, rule.endpoint) for method in sorted(rule.methods - {"HEAD", "OPTIONS"})]
    assert len(found) > 150
    return found


def private(app: Flask) -> list[tuple[str, str, str]]:
    return [each for each in addresses(app) if not each[2].startswith(PUBLIC)
            and "sign-in" not in each[1] and each[1] != "/api/openapi.json"]


def ask(client, method: str, address: str, **options):
    body = {"json": {}} if address.startswith("/api/") and method not in SAFE else {}
    return client.open(address, method=method, **body | options)


def changes(app: Flask) -> int:
    with app.extensions["demotape"].db.reading() as session:
        return session.scalar(select(func.count()).select_from(AuditLine))


@pytest.mark.parametrize("identity", ["nobody", "wrong", "expired", "revoked", "disabled"])
def test_without_a_valid_identity_nothing_is_told(app, identity):
    headers = {} if identity == "nobody" else {"Authorization": f"Bearer {app.tokens.get(identity, 'x' * 43)}"}
    client, before, unexpected = app.test_client(), changes(app), {}
    for method, address, _ in private(app):
        answer = ask(client, method, address, headers=headers)
        is_refused = answer.status_code in (400, 401, 403, 404, 413) or (
            answer.status_code in (302, 303) and "/sign-in" in answer.headers["Location"])
        if not is_refused or SECRET.encode() in answer.data:
            unexpected[method, address] = answer.status_code
    assert unexpected == {} and changes(app) == before


@pytest.mark.parametrize("scope, allowed", [
    ("read", lambda method, address: method in SAFE), ("write", lambda method, address: True),
    ("upload", lambda method, address: address.startswith(("/api/uploads", "/api/account", "/api/tasks",
                                                           "/api/rooms")))])
def test_a_token_does_no_more_than_its_scope(app, scope, allowed):
    client, unexpected = app.test_client(), {}
    headers = {"Authorization": f"Bearer {app.tokens[scope]}"}
    for method, address, _ in private(app):
        status = ask(client, method, address, headers=headers).status_code
        if status >= 500 or (status < 400 and not allowed(method, address)):
            unexpected[method, address] = status
    assert unexpected == {}


@pytest.mark.parametrize("who", ["ann", "val", "lea"])
def test_a_form_of_another_site_changes_nothing(app, who):
    """It brings the session's cookie, and no token of a page."""
    client, before, unexpected = signed_in(app, who), changes(app), {}
    for method, address, _ in private(app):
        if method in SAFE:
            continue
        for headers in ({"Origin": "https://evil.example", "Content-Type": "text/plain"}, {"Origin": "null"}):
            status = client.open(address, method=method, headers=headers, data=b"{}").status_code
            if status not in (400, 401, 403, 404, 405, 415, 422):
                unexpected[method, address] = status
    assert unexpected == {} and changes(app) == before


def test_other_host_names_get_nothing(app):
    client, unexpected = signed_in(app, "lea"), {}
    for method, address, endpoint in addresses(app):
        if endpoint.startswith("health."):
            continue
        for headers in ({"Host": "evil.example"}, {"Host": "evil.example", "X-Forwarded-Host": "localhost"},
                        {"Host": "localhost.evil.example:8000"},
                        {"Host": "evil.example", "Forwarded": "host=localhost"}):
            status = ask(client, method, address, headers=headers).status_code
            if status != 400:
                unexpected[method, address] = status
    assert unexpected == {}


def test_headers_of_a_proxy_that_is_not_there_change_nothing(app):
    """No redirect, link or cookie follows them."""
    client = app.test_client()
    forged = {"X-Forwarded-Host": "evil.example", "X-Forwarded-Proto": "https", "X-Forwarded-Prefix": "/evil",
              "X-Original-URL": "/api/demonstrations", "X-Rewrite-URL": "/api/demonstrations",
              "X-HTTP-Method-Override": "DELETE", "X-Forwarded-User": "lea", "Remote-User": "lea"}
    for method, address, _ in private(app):
        answer = ask(client, method, address, headers=forged)
        assert answer.status_code >= 300, (method, address)
        assert "evil" not in answer.headers.get("Location", "") and SECRET not in answer.text, (method, address)


WITHOUT_BODY = ("/sign-out", "/known-answers")  # they have none, so none is read


@pytest.mark.parametrize("who", ["ann", "val", "lea"])
def test_bodies_that_are_too_large_are_refused(app, who):
    client, unexpected = app.test_client(), {}
    headers = {"Authorization": f"Bearer {app.tokens[who]}", "Content-Type": "application/json"}
    body = b'{"a": "' + b"x" * (5 << 20) + b'"}'
    for method, address, _ in private(app):
        if method not in SAFE and not address.endswith(WITHOUT_BODY):
            status = client.open(address, method=method, headers=headers, data=body).status_code
            if not 400 <= status < 500:
                unexpected[method, address] = status
    assert unexpected == {}
