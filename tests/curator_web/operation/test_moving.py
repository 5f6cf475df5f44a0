"""What the app keeps, moved from a folder to S3 and back: whoever was signed in still is, and nothing is lost."""


import pytest
from click.testing import CliRunner

from curator_web import create_app
from curator_web.db.database import open_database
from curator_web.demonstrations.library.library import import_recording
from curator_web.errors import DemotapeError, InputError
from curator_web.operation.moving import move
from curator_web.storage.opening import open_store
from demotape.cli import main
from tests.support.curator.curator_fixtures import filmed_recording, make_recording
from tests.support.curator.team_fixtures import add_people, signed_in
from tests.support.services.s3_services import BUCKET, Proxy, objects


def run(*arguments) -> tuple[int, str]:
    done = CliRunner().invoke(main, ["admin", *map(str, arguments)])
    return done.exit_code, done.output


def test_to_s3_and_back_with_everybody_signed_in(tmp_path, motos):
    data, blobs, url = tmp_path / "data", f"s3://{BUCKET}/{tmp_path.name}", f"sqlite:///{tmp_path}/app.db"
    app = create_app(url, data)
    db, store = app.extensions["demotape"].db, app.extensions["demotape"].store
    add_people(app)
    client = signed_in(app, "lea")
    import_recording(db, store, make_recording(tmp_path))
    (tmp_path / "1.zip").write_bytes(b"PK an export")
    (data / "exports").mkdir()
    store.files.save("exports/1.zip", tmp_path / "1.zip")
    options = ["--db", url, "--data", data, "--endpoint-url", motos]
    code, told = run("move", "--to", blobs, *options)
    assert code == 0 and " 0 already present" in told and store.holds("rec-1")
    import_recording(db, store, filmed_recording(tmp_path))
    code, told = run("move", "--to", blobs, *options, "--remove")
    assert code == 0 and not store.holds("rec-1") and not list(store.files.listed("exports")), told
    assert run("check", *options, "--blobs", blobs) == (0, "")

    moved = create_app(url, tmp_path / "cache", blobs=blobs, endpoint_url=motos)
    other = moved.test_client()
    other.set_cookie("demotape", client.get_cookie("demotape").value)
    assert other.get("/demonstrations/rec-1").status_code == 200
    back = tmp_path / "back"
    options = ["--db", url, "--data", tmp_path / "cache", "--endpoint-url", motos, "--blobs", blobs]
    assert run("move", "--to", back, *options)[0] == 0
    (back / "recordings/filmed/external-video").write_bytes(bytes(
        (back / "recordings/filmed/external-video").stat().st_size))  # another one of the same size
    code, told = run("move", "--to", back, *options, "--remove")
    assert told.startswith(f"{back}: 1 copied (") and not objects(motos, f"{tmp_path.name}/recordings")
    assert (back / "secret.key").read_bytes() == store.secret() and (back / "secret.key").stat().st_mode & 0o77 == 0
    assert run("check", "--db", url, "--data", back) == (0, "")
    with pytest.raises(InputError, match="already contains recordings"):
        move(db, open_store(back), open_store(back))
    db.close()


def test_what_does_not_arrive_is_told_and_nothing_is_taken_away(tmp_path, motos):
    db, store = open_database(f"sqlite:///{tmp_path}/app.db"), open_store(tmp_path / "data")
    import_recording(db, store, make_recording(tmp_path))
    blobs = f"s3://{BUCKET}/{tmp_path.name}"
    with Proxy(motos) as proxy:
        target = open_store(tmp_path / "cache", blobs, proxy.url)
        proxy.answer = lambda method, name: 403 if method == "PUT" and "/blobs/" in name else None
        with pytest.raises(DemotapeError, match="do not allow|responds"):
            move(db, store, target, remove=True)
        assert store.holds("rec-1") and not open_store(tmp_path / "third", blobs, motos).holds("rec-1")
        proxy.answer = lambda method, name: None
        assert move(db, store, target, remove=True).counts.copied > 5
    assert not store.holds("rec-1") and open_store(tmp_path / "third", blobs, motos).holds("rec-1")
    db.close()
