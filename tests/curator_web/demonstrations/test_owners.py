"""What somebody sent is theirs: another's package of the same id becomes a second recording; all of it is logged."""

import json
import threading

import pytest
from click.testing import CliRunner
from sqlalchemy import select, update

from curator_web import create_app
from curator_web.db.models.core import AuditLine, Demonstration, RecordingOwner, Upload
from curator_web.demonstrations.library.library import current, import_recording, review
from curator_web.jobs.queue import Jobs
from demotape.cli import main
from demotape.importing import import_package, import_path
from schemas import InputError
from tests.curator_web.api.test_uploads import Sender
from tests.support.curator.curator_fixtures import make_recording
from tests.support.curator.team_fixtures import add_people, csrf, signed_in
from tests.support.samples.packages import journal, pack, rewritten


@pytest.fixture
def app(tmp_path, request):
    """On SQLite; where a test asks for `db_url`, on each database."""
    url = request.getfixturevalue("db_url") if "db_url" in request.fixturenames else None
    app = create_app(url, tmp_path / "data", import_package=import_package)
    yield app
    app.extensions["demotape"].jobs.close()
    app.extensions["demotape"].db.close()


@pytest.fixture
def held(app):
    """The app's database and store, with people."""
    add_people(app)
    services = app.extensions["demotape"]
    return services.db, services.store


def package(folder, task: str):
    """The package pack-1, with a task of its own."""
    lines = [line | {"task": task} if line["kind"] == "begin" else line for line in journal()]
    return pack(folder / f"{task}.zip", lines, task=task)


def tasks(db) -> dict[str, str]:
    with db.reading() as session:
        return {row.id: row.task for row in session.scalars(select(Demonstration))}


def log(db) -> list[tuple]:
    """Lines of the audit log about imports: who, what, which id."""
    with db.reading() as session:
        return [(line.who, line.what, line.demonstration_id) for line in session.scalars(
            select(AuditLine).where(AuditLine.what.like("import %"), AuditLine.what != "import begun")
            .order_by(AuditLine.id))]


def content(folder) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_anothers_package_of_the_same_id_becomes_a_second_recording(db_url, held, tmp_path):
    db, store = held
    assert import_package(db, store, package(tmp_path, "Mine"), "ann").sent_as is None
    before, files = review(db, "pack-1"), content(store.path("pack-1"))
    other = import_package(db, store, package(tmp_path, "Theirs"), "bob")
    assert (other.id, other.outcome, other.sent_as) == ("pack-1-2", "new", "pack-1")
    again = import_package(db, store, package(tmp_path, "Theirs"), "bob")
    assert (again.id, again.outcome, again.sent_as) == ("pack-1-2", "known", "pack-1")
    assert import_package(db, store, package(tmp_path, "A third"), "lea").id == "pack-1-3"  # not a lead's either
    after = review(db, "pack-1")
    assert (after.base, after.row.version, content(store.path("pack-1"))) == (before.base, before.row.version, files)
    assert tasks(db) == {"pack-1": "Mine", "pack-1-2": "Theirs", "pack-1-3": "A third"}
    assert review(db, "pack-1-2").row.recorded_by == "bob" and store.open("pack-1-2").id == "pack-1-2"
    assert current(db, "pack-1-2")["recording"] == "pack-1-2"
    assert log(db) == [("ann", "import new", "pack-1"), ("bob", "import new", "pack-1-2"),
                       ("bob", "import known", "pack-1-2"), ("lea", "import new", "pack-1-3")]


def test_the_owner_renews_what_is_theirs_and_the_log_says_so(held, tmp_path):
    db, store = held
    for task, outcome in (("First", "new"), ("Second", "renewed"), ("Second", "known")):
        assert import_package(db, store, package(tmp_path, task), "ann").outcome == outcome
    assert tasks(db) == {"pack-1": "Second"}
    assert log(db) == [("ann", f"import {outcome}", "pack-1") for outcome in ("new", "renewed", "known")]
    with db.reading() as session:
        renewed = session.scalars(select(AuditLine).where(AuditLine.what == "import renewed")).one()
    assert renewed.details == {"owner": "ann", "sent_as": "pack-1"} and renewed.made_at


def test_who_works_on_the_server_renews_anybodys_and_it_stays_theirs(held, tmp_path):
    db, store = held
    import_package(db, store, package(tmp_path, "Mine"), "ann")
    assert import_path(db, store, package(tmp_path, "Mended")).outcome == "renewed"
    assert review(db, "pack-1").row.recorded_by == "ann"
    assert import_package(db, store, package(tmp_path, "Theirs"), "bob").id == "pack-1-2"
    assert import_package(db, store, package(tmp_path, "Mine again"), "ann").outcome == "renewed"
    assert log(db)[1] == ("command line", "import renewed", "pack-1")


@pytest.mark.parametrize("owner", [None, "local"])
def test_what_is_no_users_is_renewed_by_a_lead_alone(held, tmp_path, owner):
    db, store = held
    import_path(db, store, package(tmp_path, "Old"))
    with db.writing() as session:  # as rows from before there were accounts are
        session.execute(update(RecordingOwner).values(who=owner))
        session.execute(update(Demonstration).values(recorded_by=owner))
    for who, kept_as in (("val", "pack-1-2"), ("ann", "pack-1-3"), ("lea", "pack-1"), ("wim", "pack-1-4")):
        assert import_package(db, store, package(tmp_path, who), who).id == kept_as
    assert tasks(db)["pack-1"] == "lea"  # it is hers now


def test_without_accounts_the_one_person_renews_all(app, tmp_path):
    services = app.extensions["demotape"]
    import_path(services.db, services.store, package(tmp_path, "Old"))
    assert import_package(services.db, services.store, package(tmp_path, "New"), "local").outcome == "renewed"
    assert tasks(services.db) == {"pack-1": "New"}


def test_an_id_that_was_made_for_one_is_not_anothers(held, tmp_path):
    """Nobody gets at a second recording by sending its new id, nor at a demonstration that is called otherwise."""
    db, store = held
    for who in ("ann", "bob"):
        import_package(db, store, package(tmp_path, who), who)
    lines = [line | {"id": "pack-1-2", "task": "Eve"} if line["kind"] == "begin" else line for line in journal()]
    assert import_package(db, store, pack(tmp_path / "e.zip", lines, id="pack-1-2"), "val").id == "pack-1-2-2"
    assert tasks(db)["pack-1-2"] == "bob"
    with pytest.raises(InputError, match="another user's"):
        import_recording(db, store, make_recording(tmp_path, recording_id="pack-1-2"), "val")
    path = make_recording(tmp_path, recording_id="rec-1")
    told = json.loads((path / "demonstration.json").read_text()) | {"id": "pack-1"}
    (path / "demonstration.json").write_text(json.dumps(told))
    with pytest.raises(InputError, match="another recording"):
        import_path(db, store, path)
    assert tasks(db)["pack-1"] == "ann"


def test_a_long_id_leaves_room_for_the_number(held, tmp_path):
    db, store = held
    name = "p" * 100
    lines = [line | {"id": name} if line["kind"] == "begin" else line for line in journal()]
    sent = pack(tmp_path / "p.zip", lines, id=name)
    assert [import_package(db, store, sent, who).id for who in ("ann", "bob")] == [name, f"{'p' * 98}-2"]


def test_two_people_who_send_at_once_get_a_recording_each(db_url, held, tmp_path):
    db, store = held
    packages = {who: package(tmp_path, who) for who in ("ann", "bob", "val", "wim")}
    found = {}
    threads = [threading.Thread(target=lambda who=who: found.update(
        {who: import_package(db, store, packages[who], who).id})) for who in packages]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {task: demonstration for demonstration, task in tasks(db).items()} == found
    assert {store.open(name).task for name in found.values()} == set(packages)
    assert sorted(found.values()) == ["pack-1", "pack-1-2", "pack-1-3", "pack-1-4"]


def test_over_the_api_each_has_an_upload_of_that_name(db_url, app, tmp_path):
    db = app.extensions["demotape"].db
    ada, eve = (Sender(app, who, package(tmp_path, who).read_bytes()) for who in ("ada", "eve"))
    assert ada.send()["notice"] is None
    state = eve.send()
    assert (state["id"], state["state"], state["demonstration"]) == ("pack-1", "imported", "pack-1-2")
    assert state["notice"] == "another user's recording has the id pack-1; yours is stored as pack-1-2"
    assert ada.state()["demonstration"] == "pack-1" and tasks(db) == {"pack-1": "ada", "pack-1-2": "eve"}
    with db.reading() as session:
        assert len({row.id for row in session.scalars(select(Upload))}) == 2


def test_on_the_page_it_is_told(app, held, tmp_path):
    db, store = held
    import_package(db, store, package(tmp_path, "Mine"), "ann")
    bob = signed_in(app, "bob")
    with package(tmp_path, "Theirs").open("rb") as file:
        bob.post("/import", data={"csrf_token": csrf(bob, "/import"), "package": [(file, "p.zip")]})
    jobs = app.extensions["demotape"].jobs
    jobs.close()
    left = Jobs(db, jobs._kinds)
    while job := left._claim():
        left._do(job)
    page = bob.get("/import").text
    assert "as pack-1-2: another user’s recording already has the id pack-1" in page


def test_every_import_that_fails_is_in_the_log_without_words_or_places(app, held, tmp_path):
    db, store = held
    secret = "hunter2"
    line = {"kind": "tab", "at": 0, "tab": secret, "opener": None, "url": ""}
    bad = pack(tmp_path / "bad.zip", [*journal()[:3], line])
    token = Sender(app, "eve", bad.read_bytes())
    assert token.send()["state"] == "failed" and str(tmp_path) not in token.state()["error"]
    damaged = rewritten(pack(tmp_path / "blob.zip"), lambda entries: entries.update(
        {name: b"x" for name in entries if name.startswith("blobs/")}))
    (empty := tmp_path / "empty").mkdir()
    for path in (bad, damaged, empty, tmp_path / "none"):
        with pytest.raises(InputError):
            import_path(db, store, path)
    with db.reading() as session:
        lines = list(session.scalars(select(AuditLine).where(AuditLine.what.like("import%failed"))))
        assert not session.scalars(select(RecordingOwner)).all()  # the id is given back
    assert [(line.who, line.details["error"]) for line in lines if line.what == "import failed"] == [
        ("eve", "InputError"), *[("command line", "InputError")] * 4]
    assert [line.who for line in lines if line.what == "import job failed"] == ["eve"]
    assert lines[0].demonstration_id in ("pack-1", None)
    told = repr([(line.who, line.what, line.details) for line in lines])
    assert secret not in told and str(tmp_path) not in told


def test_a_failing_renewal_changes_nothing_and_names_the_id(held, tmp_path):
    db, store = held
    import_package(db, store, package(tmp_path, "Mine"), "ann")
    lines = [*journal()[:-1], {"kind": "page", "at": 0}]
    with pytest.raises(InputError) as caught:
        import_package(db, store, pack(tmp_path / "later.zip", lines), "ann")
    assert str(store.data_dir) not in str(caught.value)
    assert tasks(db) == {"pack-1": "Mine"} and log(db)[-1][:2] == ("ann", "import failed")
    with db.reading() as session:
        assert session.get(RecordingOwner, "pack-1").who == "ann"


def test_the_command_line_says_what_it_did(tmp_path):
    words = ["--data", str(tmp_path / "data")]
    add_user_words = ["user", "add", "ann", "--role", "annotator", *words]
    assert CliRunner().invoke(main, [*add_user_words, "--create"]).exit_code == 0
    told = [CliRunner().invoke(main, ["import", str(package(tmp_path, task)), *words]).stdout
            for task in ("One", "One", "Two")]
    assert [line.split(": ")[1].split(" (")[0] for line in told] == [
        "imported", "already imported", "updated with its new turns"]


def test_paths_of_the_server_are_not_told(app, held, tmp_path):
    db, store = held
    said = store.without_paths(f"{store.data_dir}/recordings/r/blobs/ab: blob is missing, {store.data_dir}: full")
    assert said == "recordings/r/blobs/ab: blob is missing, the data folder: full"
    assert store.without_paths(f"{store.data_dir}-2/x") != "the data folder-2/x"
