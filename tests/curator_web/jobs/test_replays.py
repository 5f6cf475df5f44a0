"""Demonstrations that are run again from the app: the proof is kept, shown, and true only of what was run.

What runs them here is a stand-in; in `tests/replay/running/test_replaying.py` a browser does.
"""

import copy
from datetime import UTC, datetime, timedelta

import pytest

from curator_web import create_app
from curator_web.demonstrations.library import replay_proofs
from curator_web.demonstrations.library.export_sources import exportable
from curator_web.demonstrations.library.library import import_recording, listed, load
from curator_web.demonstrations.listing.listing import Filter, matching_ids
from curator_web.demonstrations.workflow.editing import add_edit
from curator_web.errors import Conflict, InputError
from curator_web.jobs import replays
from pipeline import proofs
from pipeline.export import ListedFacts, Selection
from tests.support.curator.curator_fixtures import make_recording, screenshot
from tests.support.curator.proofs import proof_of
from tests.support.curator.team_fixtures import ANN, LEA, add_people, signed_in

REPLAYABLE = {"options": {"replayable": True}}
TYPED = {"op": "set_arguments", "turn": "t4", "arguments": {"text": "Anchorage"}}


@pytest.fixture
def app(tmp_path):
    def run_again(recording, demonstration, on_turn, keep, last):
        on_turn(1, 4)
        if app.failing:
            raise InputError(f"{recording.layout.root}: its network cannot be read")
        return proof_of(demonstration, app.verdict, keep)

    app = create_app(data_dir=tmp_path / "data", run_again=run_again)
    app.verdict, app.failing = "same", False
    add_people(app)
    yield app
    services = app.extensions["demotape"]
    services.jobs.close()
    services.db.close()


@pytest.fixture
def services(app, tmp_path):
    services = app.extensions["demotape"]
    import_recording(services.db, services.store, make_recording(tmp_path, **REPLAYABLE))
    return services


def ended(services, job):
    services.jobs.close()
    return services.jobs.get(job.id)


def begin(services, ids=("rec-1",), who=ANN):
    return replays.begin(services.db, services.store, services.jobs, ids, who)


def test_a_proof_is_kept_and_follows_the_edits(services):
    job = ended(services, begin(services))
    assert (job.state, job.result["verdicts"], job.result["demonstration"]) == ("done", {"same": 1}, "rec-1")
    assert listed(services.db, "rec-1").proof == "same"
    kept = replay_proofs.stored_proof(services.db, "rec-1")
    assert kept.who == "ann" and services.store.open("rec-1").blob(kept.content["turns"][0]["shown"]) == screenshot(50)
    version = add_edit(services.db, "rec-1", TYPED, 1)
    assert listed(services.db, "rec-1").proof == "changed"
    version = add_edit(services.db, "rec-1", {"op": "set_utterance", "turn": "t1", "utterance": "Book it"}, version)
    version = add_edit(services.db, "rec-1", {"op": "undo"}, version)
    add_edit(services.db, "rec-1", {"op": "undo"}, version)
    assert listed(services.db, "rec-1").proof == "same"  # it does again what was run
    assert matching_ids(services.db, Filter(proof="same")) == ["rec-1"]
    assert matching_ids(services.db, Filter(proof="changed")) == []


def test_what_is_said_of_it_does_not_change_what_is_run(services):
    ended(services, begin(services))
    add_edit(services.db, "rec-1", {"op": "set_utterance", "turn": "t1", "utterance": "Book it"}, 1)
    assert listed(services.db, "rec-1").proof == "same"


def test_only_what_is_proven_is_exported(app, services, tmp_path):
    import_recording(services.db, services.store, make_recording(tmp_path, recording_id="rec-2", **REPLAYABLE))
    app.verdict = "differs"
    ended(services, begin(services, ["rec-2"]))
    proven = proof_of(next(exportable(services.db, services.store)).demonstration)
    with services.db.writing() as session:
        found = load(session, "rec-1", lock=True)
        replay_proofs.store_proof(session, found.row, found.turns, proven, "ann")
    sources = list(exportable(services.db, services.store, Selection(proven=True)))
    assert [(each.id, each.review.proof) for each in sources] == [("rec-1", "same")]
    for verdict, reason in (("differs", "not proven: differs"), ("", "not run again"), ("changed", "changed")):
        facts = ListedFacts("draft", False, None, datetime.now(UTC).date(), verdict)
        assert reason in Selection(proven=True).refuses(facts)


def test_a_proof_comes_along_with_its_recording(app, tmp_path):
    services = app.extensions["demotape"]
    path = make_recording(tmp_path, **REPLAYABLE)
    assert import_recording(services.db, services.store, path).outcome == "new"
    demonstration = next(exportable(services.db, services.store)).demonstration
    proofs.write(path, proof_of(demonstration, "equivalent"))
    assert import_recording(services.db, services.store, path).outcome == "known"
    assert listed(services.db, "rec-1").proof == "equivalent"
    older = proof_of(demonstration, "same", made_at=datetime.now(UTC) - timedelta(days=1))
    proofs.write(path, older)
    import_recording(services.db, services.store, path)
    assert listed(services.db, "rec-1").proof == "equivalent"  # the newest counts
    other = copy.deepcopy(demonstration)
    other["turns"][3]["arguments"]["text"] = "x"
    proofs.write(path, proof_of(other))
    import_recording(services.db, services.store, path)
    assert listed(services.db, "rec-1").proof == "equivalent"  # one of another demonstration is none


def test_one_that_cannot_be_run_says_why_and_stops_no_other(app, services, tmp_path):
    app.failing = True
    job = ended(services, begin(services))
    assert job.state == "failed" and "its network cannot be read" in job.note and str(tmp_path) not in job.note
    import_recording(services.db, services.store, make_recording(tmp_path, recording_id="rec-2"))
    with pytest.raises(InputError, match="--replayable"):
        begin(services, ["rec-2"])


def test_several_are_run_one_after_the_other(app, services, tmp_path):
    import_recording(services.db, services.store, make_recording(tmp_path, recording_id="rec-2", **REPLAYABLE))
    job = ended(services, begin(services, ["rec-1", "rec-2", "rec-1"], LEA))
    assert (job.state, job.result["verdicts"], job.result["demonstrations"]) == ("done", {"same": 2}, 2)


def test_a_server_without_a_browser_runs_none(tmp_path):
    app = create_app(data_dir=tmp_path / "data")
    services = app.extensions["demotape"]
    import_recording(services.db, services.store, make_recording(tmp_path, **REPLAYABLE))
    with pytest.raises(Conflict, match="does not replay"):
        begin(services)
    page = app.test_client().get("/demonstrations/rec-1/proof").text
    assert "demotape replay run" in page and "<button" not in page.split("<main", 1)[1].split("</main>")[0]


def test_pages_and_api_show_it(app, services):
    client, name = signed_in(app, "lea"), "/demonstrations/rec-1/proof"
    app.verdict = "equivalent"
    assert "Not run yet" in client.get(name).text
    assert client.get(f"/api{name}").status_code == 404
    token = client.get("/api/token").json["token"]
    answer = client.post(f"/api{name}", headers={"X-CSRFToken": token})
    assert answer.status_code == 202 and answer.json["kind"] == "replay"
    services.jobs.close()
    page = client.get(name).text
    assert "Recorded" in page and "the text &lt;b&gt;Seattle" in page.replace("The", "the") and "<b>" not in page
    shown = replay_proofs.stored_proof(services.db, "rec-1").content["turns"][0]["shown"]
    assert client.get(f"/blobs/rec-1/{shown}").status_code == 200
    proof = client.get(f"/api{name}").json
    assert proof["verdict"] == "equivalent" and len(proof["turns"]) == 4
    assert "Replay result: equivalent" in client.get("/demonstrations/rec-1").text
    assert "verdict-equivalent" in client.get("/").text and "Nothing found" in client.get("/?proof=same").text
    assert client.get("/api/demonstrations?proof=differs").json["demonstrations"] == []
    assert client.get("/api/demonstrations?proof=equivalent").json["demonstrations"][0]["id"] == "rec-1"


def test_the_turn_that_failed_is_marked_where_it_is_reviewed(app, services):
    app.verdict = "failed"
    ended(services, begin(services))
    client = signed_in(app, "lea")
    page = client.get("/demonstrations/rec-1?turn=t2").text
    assert page.count("replay: failed") == 2 and "The text &lt;b&gt;Seattle" in page
    assert "replay:" not in client.get("/demonstrations/rec-1?turn=t3").text.split('id="turn"')[1]  # it was not tried
    add_edit(services.db, "rec-1", TYPED, 1)
    assert "replay: failed" not in client.get("/demonstrations/rec-1?turn=t2").text  # that was another demonstration
