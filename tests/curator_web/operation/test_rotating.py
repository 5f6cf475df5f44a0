"""Another session key: codes and signatures go on, sessions end, and what was broken off ends when it is done again."""

from datetime import UTC, datetime, timedelta

import pyotp
import pytest
from click.testing import CliRunner

from curator_web import create_app
from curator_web.db.models.webhook_models import Webhook
from curator_web.db.sealing import box
from curator_web.operation.rotating import rotate_key
from curator_web.storage.session_key import session_key
from curator_web.users import SecondFactors, second_factor, tokens
from curator_web.webhooks.hooks import Webhooks
from demotape.cli import main
from tests.support.curator.team_fixtures import LEA, add_people, signed_in
from tests.support.services.s3_services import BUCKET, KEYS

pytestmark = pytest.mark.postgresql

SECRET = second_factor.new_secret()


def code(periods: int) -> str:
    return pyotp.TOTP(SECRET).at(datetime.now(UTC) + timedelta(seconds=periods * second_factor.PERIOD))


@pytest.fixture(params=["folder", "s3"])
def app(request, db_url, tmp_path, monkeypatch):
    where = {}
    if request.param == "s3":
        for name, value in (("ACCESS_KEY_ID", KEYS[0]), ("SECRET_ACCESS_KEY", KEYS[1]),
                            ("DEFAULT_REGION", "us-east-1")):
            monkeypatch.setenv(f"AWS_{name}", value)
        where = {"blobs": f"s3://{BUCKET}/{tmp_path.name}", "endpoint_url": request.getfixturevalue("motos")}

    def make():
        return create_app(db_url, tmp_path / "data", **where)
    app = make()
    app.extensions["again"] = make
    app.extensions["tokens"] = add_people(app)
    yield app
    app.extensions["demotape"].db.close()


def test_codes_and_signatures_go_on_and_sessions_end(app, db_url, tmp_path, monkeypatch):
    services, client = app.extensions["demotape"], signed_in(app, "lea")
    old = session_key(services.db, services.store)
    recovery = services.second_factors.turn_on("ann", SECRET, code(-1))
    hook, secret = services.webhooks.add(LEA, "https://hook.example", ["comment.added"])
    with services.db.writing() as session:
        session.add(Webhook(project="main", url="https://other.example", events=[], made_by="lea",
                            secret=box(b"another", "webhook").encrypt(b"s").decode(), made_at=datetime.now(UTC)))
    done = rotate_key(services.db, services.store)
    assert (done.sessions, done.recovery_codes, len(done.webhooks)) == (1, ["ann"], 1)
    new = session_key(services.db, services.store)
    assert new != old and not (services.store.data_dir / "secret.key.next").exists()
    factors = SecondFactors(services.db, new)
    assert factors.is_right("ann", code(0)) and not factors.is_right("ann", recovery[0])
    with services.db.reading() as session:
        assert Webhooks(services.db, new).secret_of(session.get(Webhook, hook.id)) == secret
    again = app.extensions["again"]()
    other = again.test_client()
    other.set_cookie("demotape", client.get_cookie("demotape").value)
    assert other.get("/").status_code == 303 and signed_in(again, "lea").get("/").status_code == 200
    assert tokens.find(services.db, app.extensions["tokens"]["val"])
    again.extensions["demotape"].db.close()


@pytest.mark.parametrize("at", ["adopt_secret", "propose_secret"])
def test_broken_off_it_is_done_again(at, db_url, tmp_path, monkeypatch):
    app = create_app(db_url, tmp_path / "data")
    add_people(app)
    services = app.extensions["demotape"]
    services.second_factors.turn_on("ann", SECRET, code(-1))
    with monkeypatch.context() as broken:
        broken.setattr(type(services.store), at, lambda *given: (_ for _ in ()).throw(OSError("broken off")))
        with pytest.raises(OSError, match="broken off"):
            rotate_key(services.db, services.store)
    done = CliRunner().invoke(main, ["admin", "rotate-key", "--db", db_url, "--data", str(tmp_path / "data")])
    assert done.exit_code == 0 and "The key was replaced" in done.output
    assert SecondFactors(services.db, session_key(services.db, services.store)).is_right("ann", code(0))
    services.db.close()
