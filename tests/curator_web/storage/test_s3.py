"""The review app with its recordings in S3, for real over HTTP: several machines, one bucket, nothing kept on any."""

import hashlib
import io
import json
import os
import shutil
import zipfile
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import pytest
from click.testing import CliRunner

from curator_web import create_app
from curator_web.demonstrations.library.export_sources import exportable
from curator_web.demonstrations.library.library import import_recording
from curator_web.errors import InputError, NotFound, StoreUnavailable
from curator_web.jobs import queue
from curator_web.storage import objects as objects_of_the_app
from curator_web.storage.objects import Objects
from curator_web.storage.opening import open_store
from curator_web.storage.remote import Cache
from curator_web.storage.temporary import Temporary
from curator_web.users import add_user
from curator_web.web.work.exports import FROM_STORE
from demotape.cli import main
from demotape.importing import import_package
from pipeline.export import export
from recorder import Recording
from tests.support.curator.curator_fixtures import filmed_recording, make_recording, typed_recording
from tests.support.curator.team_fixtures import LEA, add_people, csrf, signed_in
from tests.support.samples.exchanges import console_line
from tests.support.samples.packages import pack
from tests.support.services.s3_services import BUCKET, KEYS, Proxy, client, objects
from tests.support.services.wires import Wire
from tests.support.waiting import wait_until

CHUNK = 400


@pytest.fixture(autouse=True)
def credentials(monkeypatch):
    for name in list(os.environ):
        if name.startswith("AWS_"):
            monkeypatch.delenv(name)
    for name, value in (("ACCESS_KEY_ID", KEYS[0]), ("SECRET_ACCESS_KEY", KEYS[1]), ("DEFAULT_REGION", "us-east-1"),
                        ("EC2_METADATA_DISABLED", "true"), ("CONFIG_FILE", "/nonexistent"),
                        ("SHARED_CREDENTIALS_FILE", "/nonexistent")):
        monkeypatch.setenv(f"AWS_{name}", value)


@pytest.fixture
def prefix(tmp_path) -> str:
    return tmp_path.name


@pytest.fixture
def blobs(prefix) -> str:
    return f"s3://{BUCKET}/{prefix}"


@pytest.fixture
def machine(tmp_path, motos, blobs):
    """Makes the app of another machine: its own folder, the same database and bucket."""
    opened = []

    def make(url: str | None = None, db: str | None = None):
        app = create_app(db or f"sqlite:///{tmp_path / 'shared.db'}", tmp_path / f"machine-{len(opened)}", blobs=blobs,
                         endpoint_url=url or motos, import_package=import_package)
        opened.append(app.extensions["demotape"])
        return app
    yield make
    for services in opened:
        services.jobs.close()
        services.db.close()


def pictures(app, recording_id: str) -> list[str]:
    """The addresses of a turn's pictures and page."""
    services = app.extensions["demotape"]
    state = next(exportable(services.db, services.store)).demonstration["turns"][2]["state"]
    return [f"/blobs/{recording_id}/{state['screenshot']}", f"/thumbnails/{recording_id}/{state['screenshot']}",
            f"/snapshot/{recording_id}/{state['dom']}"]


def test_machines_share_recordings_sessions_packages_and_exports(machine, service, postgresql, tmp_path):
    db = postgresql.new()
    one, other = machine(service, db), machine(service, db)
    add_people(one)
    services = one.extensions["demotape"]
    import_recording(services.db, services.store, make_recording(tmp_path))
    first, second = signed_in(one, "lea"), other.test_client()
    second.set_cookie("demotape", first.get_cookie("demotape").value)  # whichever machine the next request goes to
    for address in pictures(one, "rec-1"):
        answers = [browser.get(address) for browser in (first, second)]
        assert [answer.status_code for answer in answers] == [200, 200]
        assert answers[0].data == answers[1].data and "immutable" in answers[1].headers["Cache-Control"]
    assert 'class="screen"' in second.get("/demonstrations/rec-1?turn=t3").text

    package = pack(tmp_path / "p.zip").read_bytes()
    headers = {"Authorization": f"Bearer {add_user(services.db, 'ada', 'annotator')}"}
    chunks = [package[at:at + CHUNK] for at in range(0, len(package), CHUNK)]
    plan = {"size": len(package), "chunk_size": CHUNK, "chunks": [hashlib.sha256(each).hexdigest() for each in chunks]}
    assert one.test_client().put("/api/uploads/pack-1", headers=headers, json=plan).status_code == 200
    for number, chunk in enumerate(chunks):  # each to the other machine than the one before
        to = (one, other)[number % 2].test_client()
        assert to.put(f"/api/uploads/pack-1/chunks/{number}", headers=headers, data=chunk).status_code == 204
    assert other.test_client().post("/api/uploads/pack-1/finish", headers=headers).status_code == 202
    other.extensions["demotape"].jobs.close()
    told = one.test_client().get("/api/uploads/pack-1", headers=headers).json
    assert (told["state"], told["demonstration"]) == ("imported", "pack-1")
    assert services.store.holds("pack-1") and not objects(service, f"{tmp_path.name}/uploads/")

    form = {"csrf_token": csrf(first, "/exports"), "format": "webdataset", "status": "any"}
    began = first.post("/exports", data=form)
    assert began.status_code == 303
    services.jobs.close()
    job = services.jobs.latest("export")[0]
    assert job.state == "done", job.note
    loaded = second.get(f"/exports/{job.id}.zip")
    assert loaded.content_length == len(loaded.data) and "attachment" in loaded.headers["Content-Disposition"]
    assert any("rec-1" in name or name.endswith(".tar") for name in zipfile.ZipFile(io.BytesIO(loaded.data)).namelist())
    assert second.get("/exports/999.zip").status_code == 404
    second.application.config[FROM_STORE] = True  # the browser is sent to the store, which goes on where it broke off
    answer = second.get(f"/exports/{job.id}.zip")
    assert answer.status_code == 303 and "X-Amz-Expires=3600" in answer.headers["Location"]
    with urlopen(Request(answer.headers["Location"], headers={"Range": "bytes=100-"})) as rest:
        assert (rest.status, rest.read()) == (206, loaded.data[100:])
        assert rest.headers["Content-Disposition"] == f'attachment; filename="demotape-webdataset-{job.id}.zip"'


def test_who_may_not_see_a_recording_sees_none_of_it(machine, tmp_path):
    app = machine()
    add_people(app)
    services = app.extensions["demotape"]
    import_recording(services.db, services.store, make_recording(tmp_path))
    for address in pictures(app, "rec-1"):
        assert app.test_client().get(address).status_code == 303


def test_what_is_missing_or_damaged_is_told_and_a_mended_object_is_shown(machine, motos, prefix, tmp_path):
    app = machine()
    services, browser = app.extensions["demotape"], app.test_client()
    import_recording(services.db, services.store, make_recording(tmp_path))
    addresses, s3 = pictures(app, "rec-1"), client(motos)
    held = objects(motos, f"{prefix}/")
    blob = addresses[0].rpartition("/")[2]
    key = f"recordings/rec-1/blobs/{blob[:2]}/{blob}"
    for content in (b"", b"BM no blob", held[key][:-9]):
        s3.put_object(Bucket=BUCKET, Key=f"{prefix}/{key}", Body=content)
        for address in addresses[:2]:
            answer = browser.get(address)
            assert answer.status_code == 404 and "nknown picture or page" in answer.text
    s3.delete_object(Bucket=BUCKET, Key=f"{prefix}/{key}")
    services.store._cache.forget(key)
    assert browser.get(addresses[0]).status_code == 404
    s3.put_object(Bucket=BUCKET, Key=f"{prefix}/{key}", Body=held[key])
    assert browser.get(addresses[0]).status_code == 200
    shutil.copyfile(__file__, services.store.data_dir / "cache" / key)  # a disk that lost what it had
    assert browser.get(addresses[0]).status_code == 200
    s3.put_object(Bucket=BUCKET, Key=f"{prefix}/recordings/rec-1/recording.json", Body=b"{}")
    services.store._cache.forget("recordings/rec-1/recording.json")
    assert browser.get(addresses[0]).status_code == 400
    for name in ("..%2f..%2fetc", "rec-1%2f..", "rec-2", "%00"):
        assert browser.get(f"/blobs/{name}/{blob}").status_code == 404
    assert browser.get("/blobs/rec-1/..%2f..%2fsecret").status_code == 404


def test_a_service_that_is_away_is_told_in_words_that_give_nothing_away(machine, motos, tmp_path):
    app = machine()
    import_recording(app.extensions["demotape"].db, app.extensions["demotape"].store, make_recording(tmp_path))
    addresses = pictures(app, "rec-1")
    with Proxy(motos) as proxy:
        fresh = machine(proxy.url)
    answer = fresh.test_client().get(addresses[0])
    assert answer.status_code == 503 and "does not respond" in answer.text and "127.0.0.1" not in answer.text
    assert BUCKET not in answer.text
    assert fresh.test_client().get("/").status_code == 200  # the list needs no recording
    with pytest.raises(StoreUnavailable, match=r"127\.0\.0\.1"):  # who runs the server is told
        fresh.extensions["demotape"].store.open("rec-1")


def test_who_sends_a_package_while_the_service_hangs_is_told_soon(machine, motos, tmp_path, monkeypatch):
    monkeypatch.setattr(objects_of_the_app, "SENDING_WAITED_FOR", (1, 0.4))
    with Wire(urlsplit(motos).port) as wire:
        app = machine(f"http://127.0.0.1:{wire.port}")
        client = app.test_client()
        package = io.BytesIO(pack(tmp_path / "p.zip").read_bytes())
        form = {"csrf_token": csrf(client, "/import"), "package": (package, "p.zip")}
        wire.silence()
        assert client.post("/import", data=form).status_code == 503


def test_where_the_service_hangs_nothing_waits_for_it_but_jobs_and_all_goes_on(
        machine, motos, tmp_path, monkeypatch):
    monkeypatch.setattr(objects_of_the_app, "READING", (1, 0.4))
    monkeypatch.setattr(queue, "FIRST_PAUSE", timedelta(seconds=0.5))
    monkeypatch.setattr(queue, "BEAT", 0.2)
    with Wire(urlsplit(motos).port) as wire:
        app = machine(f"http://127.0.0.1:{wire.port}")
        services, client = app.extensions["demotape"], app.test_client()
        import_recording(services.db, services.store, make_recording(tmp_path))
        picture, *_ = pictures(app, "rec-1")
        shutil.rmtree(services.store.data_dir / "cache")
        form = {"csrf_token": csrf(client, "/import")}
        wire.silence()
        assert client.get(picture).status_code == 503  # the first one finds out

        def attempts() -> list[bytes]:  # other than the probes that find out whether the service answers again
            return [line for line in wire.request_lines if b"/recordings HTTP" not in line]

        before = attempts()
        for _ in range(5):
            answer = client.get(picture)
            assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")
            assert client.get("/").status_code == client.get("/dashboard").status_code == 200
        assert attempts() == before, "later requests wait for the service as the first did"
        job = services.jobs.add("export", "lea", {"format": "chat"})
        wait_until(lambda: services.jobs.get(job).waits_since, what="the job to wait for the storage")
        waiting = services.jobs.get(job)
        assert (waiting.waits_for, waiting.state) == ("storage", "queued")
        assert "Waiting for the storage since" in client.get("/exports").text
        dropped = {"package": (io.BytesIO(pack(tmp_path / "p.zip").read_bytes()), "p.zip")}
        assert client.post("/import", data=form | dropped).status_code == 503  # told at once: nothing was taken
        fresh = machine(f"http://127.0.0.1:{wire.port}")  # a server that starts now serves what needs no recording
        assert fresh.test_client().get("/").status_code == 200
        wire.mend()
        wait_until(lambda: services.jobs.get(job).state == "done", what="the job")
        for browser in (client, fresh.test_client()):
            assert wait_until(lambda: (code := browser.get(picture).status_code) != 503 and code) == 200  # noqa: B023


def test_what_is_always_damaged_is_told_after_a_few_attempts(motos, blobs):
    with Proxy(motos, change=lambda method, name, body: body[:-1] + b"!" if method == "PUT" else body) as proxy:
        store = Objects(blobs, proxy.url)
        with pytest.raises(StoreUnavailable, match="during transfer 3 times; check the network, then try again"):
            store.put("one", b"content")
    assert len([status for method, name, _, status in proxy.log if method == "PUT" and name.endswith("one")]) == 3


def test_what_was_read_once_is_not_asked_for_again(machine, motos, tmp_path):
    with Proxy(motos) as proxy:
        app = machine(proxy.url)
        services, browser = app.extensions["demotape"], app.test_client()
        import_recording(services.db, services.store, typed_recording(tmp_path, recording_id="typed"))
        page = "/demonstrations/typed?view=dom"
        assert browser.get(page).status_code == 200
        for address in pictures_of(services):
            assert browser.get(address).status_code == 200
        asked = len(proxy.log)
        assert browser.get(page).status_code == 200
        for address in pictures_of(services):
            assert browser.get(address).status_code == 200
        assert len(proxy.log) == asked


def pictures_of(services) -> list[str]:
    state = next(exportable(services.db, services.store)).demonstration["turns"][0]["state"]
    return [f"/blobs/typed/{state['screenshot']}", f"/snapshot/typed/{state['dom']}"]


def test_a_picture_chosen_from_the_video_is_there_for_everybody(machine, tmp_path):
    one, other = machine(), machine()
    services = one.extensions["demotape"]
    import_recording(services.db, services.store, typed_recording(tmp_path, recording_id="typed", video=True))
    browser = one.test_client()
    page = browser.get("/demonstrations/typed")
    assert "view=video" in page.text
    turn = next(exportable(services.db, services.store)).demonstration["turns"][0]["id"]
    edited = browser.post("/demonstrations/typed/edits", data={
        "csrf_token": csrf(browser, "/demonstrations/typed"), "version": 1, "op": "set_screenshot", "turn": turn,
        "frame": "1.0"})
    assert edited.status_code == 303
    shown = next(exportable(services.db, services.store)).demonstration["turns"][0]["state"]["screenshot"]
    assert other.test_client().get(f"/blobs/typed/{shown}").status_code == 200


def test_a_kept_network_is_there_to_be_served_again_and_the_console_too(motos, blobs, tmp_path):
    path = typed_recording(tmp_path, recording_id="typed")
    line = {"seq": 1, "time": 1.0, "duration": 0.1, "tab": 1, "kind": "document", "top": True, "method": "GET",
            "url": "https://shop.example/", "headers": [], "body": None, "status": 200, "status_text": "OK",
            "answer_headers": [], "answer_body": None, "failure": ""}
    (path / "network.jsonl").write_text(json.dumps(line) + "\n")
    (path / "messages.jsonl").write_text("")
    (path / "console.jsonl").write_text(json.dumps(console_line(1.0)) + "\n")
    store = open_store(tmp_path / "data", blobs, motos)
    store.add(Recording(path))
    store = open_store(tmp_path / "other", blobs, motos)  # whose cache is empty
    assert [each["url"] for each in store.open("typed").exchanges()] == ["https://shop.example/"]
    assert [each["time"] for each in store.open("typed").console()] == [1.0]


def test_an_import_that_broke_off_goes_on(motos, blobs, tmp_path):
    recording = make_recording(tmp_path)
    with Proxy(motos) as proxy:
        store, db = open_store(tmp_path / "data", blobs, proxy.url), create_app(
            f"sqlite:///{tmp_path / 'x.db'}", tmp_path / "data").extensions["demotape"].db
        proxy.answer = lambda method, name: 403 if method == "PUT" and name.endswith("events.jsonl") else None
        with pytest.raises(StoreUnavailable):
            import_recording(db, store, recording)
        assert not store.holds("rec-1")
        with pytest.raises(NotFound):
            store.open("rec-1")
        proxy.answer = lambda method, name: None
        proxy.log.clear()
        assert import_recording(db, store, recording).outcome == "new"
        again = [name for method, name, *_ in proxy.log if method == "PUT"]
        assert not any("/blobs/" in name for name in again) and again[-1].endswith("recording.json")
        assert import_recording(db, store, recording).outcome == "known"


def test_an_export_reads_the_same_from_s3_as_from_a_folder(motos, blobs, tmp_path):
    folder, s3 = open_store(tmp_path / "folder"), open_store(tmp_path / "scratch", blobs, motos)
    app = create_app(f"sqlite:///{tmp_path / 'x.db'}", tmp_path / "folder")
    db, path = app.extensions["demotape"].db, make_recording(tmp_path)
    for store in (folder, s3):
        import_recording(db, store, path)
    written = {}
    for store, jobs in ((folder, 1), (s3, 2)):
        target = tmp_path / f"export-{jobs}"
        export(exportable(db, store), target, "weblinx", jobs=jobs)
        written[jobs] = {each.relative_to(target): each.read_bytes() for each in target.rglob("*") if each.is_file()}
    assert written[1] == written[2] and len(written[1]) > 5


def test_links_in_a_recording_are_not_followed(motos, blobs, tmp_path):
    path = make_recording(tmp_path)
    (path / "chat.jsonl").unlink(missing_ok=True)
    (path / "chat.jsonl").symlink_to("/etc/passwd")
    app = create_app(f"sqlite:///{tmp_path / 'x.db'}", tmp_path / "data")
    with pytest.raises(InputError, match="is a link"):
        import_recording(app.extensions["demotape"].db, open_store(tmp_path / "data", blobs, motos), path)


def test_the_cache_stays_within_its_limit(motos, blobs, prefix, tmp_path):
    s3 = client(motos)
    for number in range(40):
        s3.put_object(Bucket=BUCKET, Key=f"{prefix}/recordings/r/{number}", Body=bytes(1000))
    roomy = Cache(Objects(blobs, motos), tmp_path / "cache", Temporary(tmp_path))  # which does not prune by itself
    for number in range(40):
        path = roomy.path(f"recordings/r/{number}")
        assert path.stat().st_size == 1000
        os.utime(path, (number, number))  # long ago, the first the longest
    cache = Cache(Objects(blobs, motos), tmp_path / "cache", Temporary(tmp_path), 10_000)
    cache.prune()
    left = sorted(int(each.name) for each in (tmp_path / "cache").rglob("*") if each.name.isdigit())
    assert left == list(range(33, 40))
    assert cache.path("recordings/r/0").stat().st_size == 1000  # and is there again when it is wanted
    assert not cache.path("recordings/r/none").exists()


@pytest.mark.parametrize(("change", "told"), [
    ({"--blobs": "s3://nowhere-at-all/x"}, "unknown bucket"), ({"--blobs": "s3://"}, "s3://bucket/prefix"),
    ({"--blobs": "gs://shelf/x"}, "s3://bucket/prefix"), ({"--blobs": "a-folder"}, "use --data")])
def test_a_place_that_is_none_is_one_clear_error(motos, blobs, tmp_path, change, told):
    given = {"--blobs": blobs, "--endpoint-url": motos, "--data": str(tmp_path / "data")} | change
    done = CliRunner().invoke(main, ["import", "--create", str(make_recording(tmp_path)), *sum(given.items(), ())])
    assert done.exit_code == 2 and told in done.stderr and len(done.stderr.splitlines()) <= 2


def test_the_commands_import_into_s3_and_export_from_it(motos, blobs, prefix, tmp_path):
    place = ["--blobs", blobs, "--endpoint-url", motos, "--data", str(tmp_path / "data")]
    done = CliRunner().invoke(main, ["import", "--create", str(make_recording(tmp_path)), *place])
    assert done.exit_code == 0, done.stderr
    assert f"{prefix}/recordings/rec-1/recording.json" in objects(motos)
    assert not (Path(tmp_path) / "data" / "recordings" / "rec-1").exists()
    done = CliRunner().invoke(main, ["export", str(tmp_path / "out"), "--format", "parquet", *place])
    assert done.exit_code == 0, done.stderr
    assert LEA.leads and any((tmp_path / "out").rglob("*.parquet"))


def test_the_external_video_comes_along_and_another_takes_its_place(machine, tmp_path):
    first, second = (machine().extensions["demotape"] for _ in range(2))
    path, video = filmed_recording(tmp_path), tmp_path / "filmed.webm"
    kept = video.read_bytes()
    video.rename(tmp_path / "away.webm")
    import_recording(first.db, first.store, path)
    assert not first.store.has_external_video("filmed") and not second.store.has_external_video("filmed")
    (tmp_path / "away.webm").rename(video)
    import_recording(first.db, first.store, path)
    for store in (first.store, second.store):
        assert store.has_external_video("filmed")
        assert store.open("filmed").layout.external_video.read_bytes() == kept
