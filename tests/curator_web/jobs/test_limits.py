"""What takes too much of the server is refused in a sentence; the server goes on, and nothing is half-written."""

import pytest

from curator_web import create_app, sandboxed
from demotape import importing
from pipeline.sandbox import Allowance, Processes
from tests.support import hostile_work
from tests.support.curator.curator_fixtures import make_recording
from tests.support.samples.packages import pack

TIGHT = Processes(1)


@pytest.fixture
def app(tmp_path):
    app = create_app(data_dir=tmp_path / "data", import_package=importing.import_package)
    yield app
    app.extensions["demotape"].jobs.close()


def sent(app, tmp_path) -> dict:
    """A package dropped on the page, and what became of its job."""
    client, jobs = app.test_client(), app.extensions["demotape"].jobs
    with pack(tmp_path / "p.zip").open("rb") as file:
        token = client.get("/api/token").json["token"]
        assert client.post("/import", data={"package": (file, "mine.zip"), "csrf_token": token}).status_code == 303
    job = jobs.latest("import")[0]
    while job.state in ("queued", "running"):
        job = jobs.get(job.id)
    return {"state": job.state, "note": job.note}


@pytest.mark.parametrize("work, told", [
    (hostile_work.half_written, "requires more than 512 MiB of memory"),
    (hostile_work.spin, "takes more than 1 s of processor time"),
])
def test_a_package_that_takes_too_much_is_refused(app, tmp_path, monkeypatch, work, told):
    monkeypatch.setattr(importing, "make_recording", work)
    monkeypatch.setattr(importing.limits, "JOB_SECONDS", 1.0)
    assert sent(app, tmp_path) == {"state": "failed", "note": f"mine.zip: {told}"}
    data = tmp_path / "data"
    left = [path for path in data.rglob("*") if path.is_file() and not path.name.startswith(("demotape.db", "secret"))]
    assert [path for path in left if ".owners" not in path.parts] == []
    monkeypatch.undo()
    assert sent(app, tmp_path)["state"] == "done"


def test_a_page_that_takes_too_much_is_refused_and_the_next_is_shown(app, tmp_path, monkeypatch):
    services = app.extensions["demotape"]
    importing.import_path(services.db, services.store, make_recording(tmp_path))
    client = app.test_client()
    state = client.get("/api/demonstrations/rec-1/turns").json["turns"][2]["state"]
    address = f"/snapshot/rec-1/{state['dom']}"
    monkeypatch.setattr("curator_web.web.review.blobs._page", hostile_work.swell)
    monkeypatch.setattr(sandboxed, "_ALLOWANCE", Allowance(1, 200 << 20, 10))
    answer = client.get(address)
    assert answer.status_code == 400 and "requires more than 200 MiB of memory" in answer.text
    monkeypatch.undo()
    assert client.get(address).status_code == 200
    assert client.get(f"/thumbnails/rec-1/{state['screenshot']}").mimetype == "image/jpeg"


def test_an_export_that_takes_too_much_names_the_demonstration(app, tmp_path, monkeypatch):
    services = app.extensions["demotape"]
    importing.import_path(services.db, services.store, make_recording(tmp_path))
    monkeypatch.setattr("pipeline.export.running._spool", hostile_work.swell)
    monkeypatch.setattr("pipeline.export.running.limits.MAX_MEMORY_BYTES", 100 << 20)
    job = services.jobs.get(services.jobs.add("export", "lea", {"format": "webdataset", "status": None}))
    while job.state in ("queued", "running"):
        job = services.jobs.get(job.id)
    assert job.state == "failed" and "demonstration 'rec-1': requires more than 100 MiB of memory" in job.note
    assert not list((tmp_path / "data").glob(".export-*"))
