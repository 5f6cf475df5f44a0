"""What leads set for a project: intents and checks in use, and review steps."""

import pytest

from curator_web import create_app
from curator_web.db.models.core import AuditLine, Facet
from curator_web.db.models.job_models import Job
from curator_web.demonstrations.library import recounting
from curator_web.demonstrations.library.library import current, import_recording, listed, review
from curator_web.demonstrations.listing import deleting, moving
from curator_web.demonstrations.listing.listing import Filter, listing
from curator_web.demonstrations.workflow.pairing import choose
from curator_web.demonstrations.workflow.workflow import actions, change_status, history
from curator_web.errors import InputError, NotAllowed
from curator_web.jobs import recounts
from curator_web.users import Account, project_settings, projects
from pipeline.checks import UNUSED_INTENT
from schemas import BROWSER_INTENTS
from tests.support.curator.curator_fixtures import make_recording, pointer
from tests.support.curator.curator_fixtures import turns as usual
from tests.support.curator.edits import edit
from tests.support.curator.team_fixtures import ANN, BOB, LEA, VAL, WIM, add_people

HOVER = {"op": "set_intent", "turn": "t3", "intent": "hover", "arguments": pointer()}


@pytest.fixture
def app(tmp_path):
    app = create_app(data_dir=tmp_path / "data")
    add_people(app)
    services = app.extensions["demotape"]
    import_recording(services.db, services.store, make_recording(tmp_path))
    yield app
    services.jobs.close()
    services.db.close()


@pytest.fixture
def db(app):
    return app.extensions["demotape"].db


@pytest.fixture
def set_(app, db):
    """Set something as lea, and do the jobs that it asks for, as they come to their turn."""
    jobs = app.extensions["demotape"].jobs
    jobs.start = lambda: None

    def set_(account=LEA, **given) -> list[Job]:
        recounts.change_settings(db, jobs, account, given)
        return work(jobs)
    return set_


def work(jobs) -> list[Job]:
    done = []
    while job := jobs._claim():
        jobs._do(job)
        done.append(jobs.get(job.id))
    return done


def kinds(db, demonstration_id="rec-1") -> dict[str, list[str]]:
    """What is to check, by turn."""
    return {turn["id"]: [check["kind"] for check in turn["checks"]]
            for turn in current(db, demonstration_id)["turns"] if turn["checks"]}


def found(db, **sought) -> list[str]:
    return [row.id for row in listing(db, Filter(**sought)).rows]


# ---- what can be set -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("given", "said"), [
    ({"unused_intents": ["fly"]}, "field unused_intents.0"),
    ({"unused_intents": [*BROWSER_INTENTS]}, "at least one intent"),
    ({"unused_checks": ["<b>"]}, "field unused_checks: unknown kind '<b>'; choose from broken-screenshot"),
    ({"review_steps": 4}, "field review_steps"), ({"review_steps": "2"}, "field review_steps"),
    ({"consent_prompt": "never"}, "field consent_prompt"),
    ({"splits": {"valid": 2}}, "field splits.valid"), ({"splits": {"by": "moon"}}, "unknown split rule 'moon'"),
    ({"splits": {"valid": 0.9, "test_iid": 0.9}}, "field splits: field valid: the sum of valid and test_iid"),
    ({"colour": "red"}, "field colour"),
])
def test_what_cannot_be_set_is_refused_and_nothing_is_set(db, set_, given, said):
    with pytest.raises(InputError, match=said):
        set_(review_steps=1, **{"answers_shown": True} | given) if "review_steps" not in given else set_(**given)
    assert project_settings.settings_fields(db, "main") == {
        "unused_intents": [], "unused_checks": [], "review_steps": 2, "training_first": False, "pass_mark": 0.8,
        "consent_prompt": "session", "splits": None}


def test_only_a_lead_sets_and_it_is_written_down(db, set_):
    for account in (ANN, VAL):
        with pytest.raises(NotAllowed):
            set_(account, review_steps=1)
    set_(review_steps=3, splits={"seed": 7})
    set_(review_steps=3)
    with db.reading() as session:
        lines = session.query(AuditLine).filter_by(what="settings changed").all()
        assert [(line.who, line.details) for line in lines] == [
            ("lea", {"project": "main", "review_steps": 3, "splits": True})]
    rule = project_settings.split_rule(db, "main")
    assert (rule["seed"], rule["valid"]) == (7, 0.1)
    set_(splits=None)
    assert project_settings.settings_fields(db, "main")["splits"] is None


# ---- intents -------------------------------------------------------------------------------------------------------


def test_an_intent_that_is_not_in_use_is_refused_and_what_is_there_is_marked(db, set_):
    job, = set_(unused_intents=["hover", "click"])
    assert (job.state, job.result) == ("done", {"demonstrations": 1, "changed": 1, "damaged": 0})
    with pytest.raises(InputError, match="field intent: hover is not in use in this project; choose one of text"):
        edit(db, "rec-1", HOVER, 1, ANN)
    marked = {turn for turn, found in kinds(db).items() if UNUSED_INTENT in found}
    assert marked == {turn["id"] for turn in current(db, "rec-1")["turns"] if turn.get("intent") == "click"} != set()
    assert found(db, check=UNUSED_INTENT) == found(db, intent="click") == ["rec-1"]
    said = {turn["id"]: turn["checks"] for turn in current(db, "rec-1")["turns"]}["t3"][-1]["reason"]
    assert said == "The intent click is not in use in this project."
    same = HOVER | {"intent": "click", "arguments": pointer(x=410)}
    version = edit(db, "rec-1", same, 1, ANN).version  # what it is may be mended
    for name in marked:
        version = edit(db, "rec-1", {"op": "settle", "turn": name, "check": UNUSED_INTENT}, version, ANN).version
    assert found(db, check=UNUSED_INTENT) == [] and not any(UNUSED_INTENT in each for each in kinds(db).values())
    version = edit(db, "rec-1", {"op": "undo"}, version, ANN).version
    assert found(db, check=UNUSED_INTENT) == ["rec-1"]
    set_(unused_intents=[])
    assert edit(db, "rec-1", HOVER, version, ANN).version == version + 1 and found(db, check=UNUSED_INTENT) == []


def test_another_intent_ends_the_mark(db, set_):
    set_(unused_intents=["click"])
    before = listed(db, "rec-1").checks
    assert UNUSED_INTENT in kinds(db)["t3"]
    edit(db, "rec-1", HOVER, 1, ANN)
    assert UNUSED_INTENT not in kinds(db).get("t3", []) and listed(db, "rec-1").checks <= before


# ---- checks --------------------------------------------------------------------------------------------------------


def test_a_check_that_is_not_in_use_counts_nowhere_and_comes_back(app, db, set_, tmp_path):
    kind = "personal-data"
    services = app.extensions["demotape"]

    def turns(writer):
        made = usual(writer)
        made[3]["checks"] = [{"kind": kind, "reason": "One."}]
        made[1]["checks"] = [{"kind": kind, "reason": "One."}]
        return made
    path = make_recording(tmp_path, recording_id="rec-2", make_turns=turns)
    import_recording(services.db, services.store, path)
    edit(db, "rec-2", {"op": "drop", "turn": "t2"}, 1, ANN)
    before, row = kinds(db, "rec-2"), listed(db, "rec-2")
    facets_before = facets_of(db)
    assert kind in before["t4"] and found(db, check=kind) == ["rec-2"]
    job, = set_(unused_checks=[kind])
    assert job.result["changed"] == 1 and job.result["demonstrations"] == 2
    now = listed(db, "rec-2")
    assert now.checks == row.checks - 1 and now.version == row.version and now.edited == row.edited
    assert kind not in str(kinds(db, "rec-2")) and found(db, check=kind) == []
    assert ("dropped", "none", "rec-2", 1) in facets_of(db) and kind not in project_settings.read(db, "main").checks
    import_recording(services.db, services.store, make_recording(tmp_path, recording_id="rec-3", make_turns=turns))
    assert found(db, check=kind) == [] and kind not in str(kinds(db, "rec-3"))  # what comes is counted so, too
    with pytest.raises(InputError, match="nothing to redo"):
        edit(db, "rec-2", {"op": "redo"}, now.version, ANN)
    set_(unused_checks=[])
    assert kinds(db, "rec-2") == before and found(db, check=kind) == ["rec-3", "rec-2"]
    assert {line for line in facets_of(db) if line[2] != "rec-3"} == facets_before


def facets_of(db) -> set[tuple[str, str, str, int]]:
    with db.reading() as session:
        return {(row.facet, row.value, row.demonstration_id, row.count) for row in session.query(Facet)
                if row.facet != "person"}


def test_what_is_moved_or_restored_is_counted_by_its_project(app, db, set_):
    jobs = app.extensions["demotape"].jobs
    both = Account("lea", "lead", manages=True)
    projects.add(db, "b", "Second", both)
    choose(db, ["rec-1"], LEA)
    kind = kinds(db)["t3"][0]
    assert found(db, check=kind) == ["rec-1"]
    in_b = Account("lea", "lead", project="b")
    set_(in_b, unused_intents=["click"])
    batch = deleting.delete(db, ["rec-1"], LEA)
    set_(unused_intents=["load"])
    deleting.restore(db, batch, LEA)
    job, = work(jobs)
    assert job.result == {"demonstrations": 2, "changed": 2, "damaged": 0}
    assert found(db, check=UNUSED_INTENT) == ["rec-1"]
    moving.move(db, ["rec-1"], "b", LEA)
    job, = work(jobs)
    assert job.project == "b" and job.result["demonstrations"] == 2
    assert UNUSED_INTENT in kinds(db)["t3"] and UNUSED_INTENT not in kinds(db).get("t2", [])
    assert UNUSED_INTENT in kinds(db, "rec-1~2")["t3"]


def test_what_waits_to_be_counted_is_counted_once(db, set_, app):
    with db.writing() as session:
        for ids in (["rec-1"], None, ["rec-1"], None):
            recounting.queue_recount(session, "main", "lea", ids)
    assert len(work(app.extensions["demotape"].jobs)) == 2


# ---- review steps --------------------------------------------------------------------------------------------------


def go(db, status, account, reason="", name="rec-1") -> int:
    return change_status(db, name, status, listed(db, name).version, account, reason)


def can(db, account, steps) -> tuple[str, ...]:
    return actions(listed(db, "rec-1"), account, None, steps)


def test_with_one_step_what_is_submitted_is_approved(db, set_):
    go(db, "submitted", BOB)
    set_(review_steps=1)
    assert can(db, BOB, 1) == ("draft", "approved")
    go(db, "approved", BOB)  # what was submitted before
    row = listed(db, "rec-1")
    assert (row.status, row.submitted_by, row.reviewed_by) == ("approved", "bob", None)
    assert can(db, BOB, 1) == ("draft",) and can(db, ANN, 1) == ()
    go(db, "draft", BOB)
    assert edit(db, "rec-1", {"op": "drop", "turn": "t2"}, listed(db, "rec-1").version, BOB)
    version = listed(db, "rec-1").version
    assert go(db, "submitted", BOB) == version + 2
    steps = [(step.status, step.who) for step in history(db, "rec-1")]
    assert steps[-2:] == [("submitted", "bob"), ("approved", "bob")]
    assert review(db, "rec-1").row.reviewed_by is None
    set_(review_steps=2)
    assert can(db, BOB, 2) == ()


def test_with_one_step_a_pair_still_waits_to_be_compared(db, set_):
    choose(db, ["rec-1"], LEA)
    set_(review_steps=1)
    go(db, "submitted", ANN)
    go(db, "submitted", BOB, name="rec-1~2")
    assert {listed(db, name).status for name in ("rec-1", "rec-1~2")} == {"submitted"}


def test_with_three_steps_three_people_look(db, set_):
    set_(review_steps=3)
    go(db, "submitted", ANN)
    for account in (VAL, LEA):
        with pytest.raises(NotAllowed, match="three review steps: validate the demonstration first"):
            go(db, "approved", account)
    go(db, "validated", LEA)
    for account in (LEA, ANN):
        with pytest.raises(NotAllowed, match="another user"):
            go(db, "approved", account)
    go(db, "approved", WIM)
    assert listed(db, "rec-1").status == "approved"
