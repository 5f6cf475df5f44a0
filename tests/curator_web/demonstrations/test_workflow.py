"""Work in a team: the queue and its leases, the way to approval, who may what, comments, what is written down."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select, update

from curator_web import create_app
from curator_web.db.models.core import AuditLine, Demonstration, Facet, SecondReview
from curator_web.demonstrations.leases.leases import assign, holder, take_next
from curator_web.demonstrations.library.library import current, import_recording, review
from curator_web.demonstrations.listing.comments import add_comment, comments_of, questions_for, resolve
from curator_web.demonstrations.workflow.workflow import actions, change_status, history
from curator_web.errors import Conflict, InputError, NotAllowed, NotFound
from curator_web.users import Account
from tests.support.curator.curator_fixtures import make_recording
from tests.support.curator.edits import edit
from tests.support.curator.team_fixtures import ANN, BOB, LEA, VAL, WIM, add_people, csrf, signed_in

pytestmark = pytest.mark.postgresql

ALONE = Account("local", "lead", alone=True)
DROP = {"op": "drop", "turn": "t2"}


@pytest.fixture
def app(tmp_path, db_url):
    app = create_app(db_url, tmp_path / "data")
    app.tokens = add_people(app)
    yield app
    app.extensions["demotape"].db.close()


@pytest.fixture
def db(app):
    return app.extensions["demotape"].db


@pytest.fixture
def fill(app, db, tmp_path):
    """Import so many demonstrations, rec-1 and on, recorded by bob."""
    def fill(count: int = 1) -> None:
        for number in range(1, count + 1):
            path = make_recording(tmp_path, recording_id=f"rec-{number}")
            import_recording(db, app.extensions["demotape"].store, path, recorded_by="bob")
    return fill


def row(db, demonstration_id="rec-1") -> Demonstration:
    return review(db, demonstration_id).row


def go(db, status, account, reason="", demonstration_id="rec-1") -> int:
    """Change the status of the demonstration as it is now."""
    return change_status(db, demonstration_id, status, row(db, demonstration_id).version, account, reason)


# ---- the way -------------------------------------------------------------------------------------------------------


def test_the_whole_way_is_written_with_who_and_when(db, fill):
    fill()
    edit(db, "rec-1", DROP, 1, ANN)
    go(db, "submitted", ANN)
    go(db, "returned", VAL, "the last turn is wrong")
    assert row(db).assigned_to == "ann"
    go(db, "submitted", ANN)
    go(db, "validated", VAL)
    go(db, "approved", LEA)
    assert [(step.status, step.who, step.reason) for step in history(db, "rec-1")] == [
        ("submitted", "ann", ""), ("returned", "val", "the last turn is wrong"), ("submitted", "ann", ""),
        ("validated", "val", ""), ("approved", "lea", "")]
    assert all(datetime.now(UTC) - step.made_at < timedelta(minutes=1) for step in history(db, "rec-1"))
    with db.reading() as session:
        audit = session.execute(select(AuditLine.who, AuditLine.what).where(AuditLine.demonstration_id == "rec-1")
                                .order_by(AuditLine.id)).all()
        people = session.scalars(select(Facet.value).where(Facet.facet == "person").order_by(Facet.value)).all()
    assert [tuple(line) for line in audit] == [("bob", "import new"), ("ann", "submitted"), ("val", "returned"),
                                               ("ann", "submitted"), ("val", "validated"), ("lea", "approved")]
    assert people == ["ann", "bob", "lea", "val"]


def test_who_submitted_never_reviews(db, fill):
    fill()
    go(db, "submitted", LEA)
    for status in ("validated", "approved"):
        with pytest.raises(NotAllowed, match="you submitted"):
            go(db, status, LEA)
    with pytest.raises(NotAllowed, match="you submitted"):
        edit(db, "rec-1", DROP, row(db).version, LEA)
    go(db, "validated", VAL)
    with pytest.raises(NotAllowed, match="you validated"):
        go(db, "approved", VAL)
    go(db, "approved", WIM)


def test_who_edited_before_it_was_submitted_does_not_review(db, fill):
    fill()
    edit(db, "rec-1", DROP, 1, VAL)
    with db.writing() as session:
        session.execute(update(Demonstration).values(lease_until=datetime.now(UTC)))
    go(db, "submitted", ANN)
    with pytest.raises(NotAllowed, match="before it was submitted"):
        go(db, "validated", VAL)
    edit(db, "rec-1", {"op": "drop", "turn": "t3"}, row(db).version, WIM)  # fix and approve
    go(db, "approved", WIM)


def test_an_annotator_decides_nothing_about_what_is_submitted(db, fill):
    fill()
    go(db, "submitted", ANN)
    for account in (ANN, BOB):
        with pytest.raises(NotAllowed):
            edit(db, "rec-1", DROP, row(db).version, account)
    for status, account in (("validated", BOB), ("approved", BOB), ("returned", BOB), ("draft", BOB)):
        with pytest.raises(NotAllowed):
            go(db, status, account, "reason")
    go(db, "draft", ANN)  # taken back
    assert row(db).assigned_to == "ann"


@pytest.mark.parametrize(("status", "reason"), [("returned", ""), ("invalid", "  "), ("melted", "x"), ("draft", "")])
def test_what_cannot_be_is_refused(db, fill, status, reason):
    fill()
    with pytest.raises(InputError):
        go(db, status, LEA, reason)
    assert row(db).version == 1


def test_a_stale_decision_is_refused(db, fill):
    fill()
    edit(db, "rec-1", DROP, 1, ANN)
    with pytest.raises(Conflict):
        change_status(db, "rec-1", "submitted", 1, ANN)
    with pytest.raises(NotFound):
        change_status(db, "none", "submitted", 1, ANN)


def test_alone_everything_is_allowed(db, fill):
    fill()
    go(db, "approved", ALONE)
    assert actions(row(db), ALONE)[0] == "draft"
    go(db, "draft", ALONE)
    go(db, "submitted", ALONE)
    go(db, "approved", ALONE)


@pytest.mark.parametrize("change", [None, {"op": "drop", "turn": "t3"}, {"op": "set_task", "task": "Another"},
                                    {"op": "move", "turn": "t6", "after": None}])
def test_a_second_review_tells_whether_anything_was_changed(db, fill, change):
    fill()
    edit(db, "rec-1", DROP, 1, ANN)
    go(db, "submitted", ANN)
    if change:
        edit(db, "rec-1", change, row(db).version, VAL)
    go(db, "validated", VAL)
    with db.reading() as session:
        found = session.scalars(select(SecondReview)).one()
    assert (found.first, found.second, found.unchanged) == ("ann", "val", change is None)


# ---- edits ---------------------------------------------------------------------------------------------------------


def test_an_edit_that_is_sent_again_under_its_key_is_made_once(db, fill):
    fill()
    first = edit(db, "rec-1", DROP, 1, ANN, "key-1")
    assert (first.version, first.was_replayed) == (2, False)
    edit(db, "rec-1", {"op": "drop", "turn": "t3"}, 2, ANN, "key-2")
    again = edit(db, "rec-1", DROP, 1, ANN, "key-1")
    assert (again.version, again.was_replayed) == (2, True)  # what it led to, not what others did since
    assert len(review(db, "rec-1").edits) == 2
    with pytest.raises(Conflict, match="key"):
        edit(db, "rec-1", {"op": "drop", "turn": "t4"}, 3, ANN, "key-1")
    with pytest.raises(InputError):
        edit(db, "rec-1", DROP, 3, ANN, "x" * 81)


def test_facets_follow_the_edits(db, fill):
    fill()

    def facets(kind):
        with db.reading() as session:
            return dict(session.execute(select(Facet.value, Facet.count).where(Facet.facet == kind)).all())
    assert facets("intent") == {"say": 2, "load": 1, "click": 1, "textInput": 1, "submit": 1}
    assert facets("check") == {"pointer_outside": 1}
    edit(db, "rec-1", {"op": "drop", "turn": "t3"}, 1, ANN)
    edit(db, "rec-1", {"op": "set_utterance", "turn": "t1", "utterance": "Please"}, 2, ANN)
    assert "click" not in facets("intent") and facets("check") == {}
    assert facets("dropped") == {"pointer_outside": 1} and facets("fixed") == {"set_utterance": 1}
    for version in (3, 4):
        edit(db, "rec-1", {"op": "undo"}, version, ANN)
    assert facets("intent")["click"] == 1 and facets("dropped") == facets("fixed") == {}


# ---- queue ---------------------------------------------------------------------------------------------------------


def test_the_queue_hands_each_demonstration_to_one(db, fill):
    fill(3)
    assert [take_next(db, who).id for who in (ANN, BOB, ANN, BOB)] == ["rec-1", "rec-2", "rec-1", "rec-2"]
    assert take_next(db, ANN, after="rec-1").id == "rec-3"
    assert take_next(db, Account("cat", "annotator")).id == "rec-1"
    assert take_next(db, Account("dan", "annotator")) is None
    with pytest.raises(Conflict, match="bob has locked"):
        edit(db, "rec-2", DROP, 1, ANN)


def test_many_at_once_get_different_ones(app, db, fill):
    fill(12)
    with ThreadPoolExecutor(12) as pool:
        got = list(pool.map(lambda number: take_next(db, Account(f"p{number}", "annotator")), range(12)))
    assert len({found.id for found in got}) == 12


def test_a_lease_ends_and_edits_renew_it(db, fill):
    fill()
    take_next(db, ANN)

    def past(minutes):
        with db.writing() as session:
            session.execute(update(Demonstration).values(lease_until=datetime.now(UTC) - timedelta(minutes=minutes)))
    edit(db, "rec-1", DROP, 1, ANN)
    assert row(db).lease_until > datetime.now(UTC) + timedelta(minutes=29)
    past(1)
    assert holder(row(db)) is None
    assert take_next(db, BOB).id == "rec-1"
    with pytest.raises(Conflict):
        edit(db, "rec-1", {"op": "drop", "turn": "t3"}, 2, ANN)


def test_reviewers_get_what_others_submitted(db, fill):
    fill(3)
    assert take_next(db, VAL) is None
    go(db, "submitted", VAL, demonstration_id="rec-1")
    go(db, "submitted", ANN, demonstration_id="rec-2")
    assert take_next(db, VAL).id == "rec-2"
    go(db, "validated", VAL, demonstration_id="rec-2")
    assert take_next(db, VAL) is None
    assert take_next(db, LEA).id == "rec-2"
    assert take_next(db, WIM).id == "rec-1"


def test_what_is_sent_back_goes_to_who_submitted_it_whatever_their_role(db, fill):
    fill()
    go(db, "submitted", VAL)
    go(db, "returned", WIM, "in the meantime")
    assert take_next(db, VAL).id == "rec-1"


def test_what_is_assigned_comes_first_and_is_nobody_elses(db, fill):
    fill(4)
    assert assign(db, ["rec-3", "rec-4"], "ann", LEA) == 2
    assert take_next(db, ANN).id == "rec-3"
    assert take_next(db, BOB).id == "rec-1"
    with pytest.raises(NotAllowed, match="assigned to ann"):
        edit(db, "rec-4", DROP, 1, BOB)
    assert assign(db, ["rec-3", "rec-4"], None, LEA) == 2
    go(db, "submitted", ANN, demonstration_id="rec-4")
    for ids, to, account, kind in ((["rec-1"], "ann", VAL, NotAllowed), (["rec-1"], "eve", LEA, InputError),
                                   (["none"], "ann", LEA, NotFound), ([], "ann", LEA, InputError),
                                   (["rec-4"], "bob", LEA, InputError), (["rec-4"], "ann", LEA, InputError)):
        with pytest.raises(kind):
            assign(db, ids, to, account)
    assert assign(db, ["rec-4"], "wim", LEA) == 1
    assert take_next(db, VAL) is None and take_next(db, WIM).id == "rec-4"


def test_time_at_work_leaves_out_long_pauses(db, fill):
    fill()
    edit(db, "rec-1", DROP, 1, ANN)
    for seconds, op in ((40, {"op": "drop", "turn": "t3"}), (4000, {"op": "drop", "turn": "t4"})):
        with db.writing() as session:
            session.execute(update(Demonstration).values(touched_at=datetime.now(UTC) - timedelta(seconds=seconds)))
        edit(db, "rec-1", op, row(db).version, ANN)
    assert row(db).work_seconds == pytest.approx(340, abs=2)


# ---- comments ------------------------------------------------------------------------------------------------------


def test_comments_are_pinned_answered_and_resolved(db, fill):
    fill()
    question = add_comment(db, "rec-1", VAL, "Was this a mistake?", turn="t3", kind="question")
    remark = add_comment(db, "rec-1", VAL, "All fine otherwise")
    assert [(comment.id, found.id) for comment, found in questions_for(db, BOB)] == [(question.id, "rec-1")]
    assert questions_for(db, ANN) == []
    answer = add_comment(db, "rec-1", BOB, "Yes", answers=question.id)
    assert (answer.turn, row(db).open_comments) == ("t3", 2)
    assert [comment.id for comment in comments_of(db, "rec-1")] == [question.id, answer.id, remark.id]
    with pytest.raises(NotAllowed):
        resolve(db, remark.id, ANN)
    resolve(db, question.id, BOB)
    resolve(db, question.id, BOB)
    assert row(db).open_comments == 1 and questions_for(db, BOB) == []
    for wrong in ({"text": " "}, {"text": "x", "turn": "nowhere"}, {"text": "x", "kind": "shout"},
                  {"text": "x", "answers": answer.id}, {"text": "x" * 4001}):
        with pytest.raises(InputError):
            add_comment(db, "rec-1", VAL, **wrong)
    with pytest.raises(InputError, match="reply"):
        resolve(db, answer.id, BOB)


# ---- pages ---------------------------------------------------------------------------------------------------------


def test_after_submitting_the_next_one_opens(app, db, fill):
    fill(2)
    client = signed_in(app, "ann")
    token = csrf(client, "/")
    assert client.post("/next", data={"csrf_token": token}).headers["Location"] == "/demonstrations/rec-1"
    data = {"csrf_token": token, "status": "submitted", "version": 1}
    answer = client.post("/demonstrations/rec-1/status", data=data)
    assert answer.headers["Location"] == "/demonstrations/rec-2?done=rec-1"
    assert "Go back to the one before" in client.get(answer.headers["Location"]).text
    answer = client.post("/demonstrations/rec-2/status", data=data, headers={"HX-Request": "true"})
    assert answer.headers["HX-Redirect"] == "/?done=rec-2"
    assert "There is no more work" in client.get("/?done=rec-2").text


def test_buttons_are_those_that_one_may_press(app, db, fill):
    fill(2)

    def statuses(name, demonstration_id):
        page = signed_in(app, name).get(f"/demonstrations/{demonstration_id}").text
        return [status for status in ("submitted", "draft", "validated", "approved", "returned", "invalid")
                if f'name="status" value="{status}"' in page.replace("invalid-form", "")]
    assert statuses("ann", "rec-1")[0] == "submitted" and "approved" not in statuses("ann", "rec-1")
    go(db, "submitted", ANN)
    assert statuses("val", "rec-1")[:3] == ["validated", "approved", "returned"]
    assert "draft" in statuses("ann", "rec-1") and "validated" not in statuses("ann", "rec-1")


def test_a_lead_assigns_on_the_list(app, db, fill):
    fill(3)
    client = signed_in(app, "lea")
    data = {"csrf_token": csrf(client, "/"), "id": ["rec-1", "rec-2"], "to": "ann", "list.status": "draft",
            "list.sort": "turns"}
    assert client.post("/assign", data=data).headers["Location"] == "/?status=draft&sort=turns"
    assert row(db).assigned_to == "ann"
    assert "Assign selected" not in signed_in(app, "val").get("/").text
    other = signed_in(app, "val")
    assert other.post("/assign", data=data | {"csrf_token": csrf(other, "/")}).status_code == 403


def test_questions_are_answered_on_their_page(app, db, fill):
    fill()
    question = add_comment(db, "rec-1", VAL, "Why <b>this</b>?", turn="t3", kind="question")
    client = signed_in(app, "bob")
    assert "Comments inbox (1)" in client.get("/").text
    page = client.get("/questions")
    assert "Why &lt;b&gt;this" in page.text
    token = csrf(client, "/questions")
    answer = client.post("/demonstrations/rec-1/comments", data={
        "csrf_token": token, "answers": question.id, "text": "Because", "back": "questions"})
    assert answer.headers["Location"] == "/questions"
    client.post(f"/comments/{question.id}/resolve", data={"csrf_token": token})
    assert "No comments" in client.get("/questions").text
    assert "Because" in signed_in(app, "val").get("/demonstrations/rec-1?turn=t3").text


def test_the_api_can_do_what_the_pages_can(app, fill):
    fill(2)
    client, tokens = app.test_client(), app.tokens
    ann, val, lea = ({"Authorization": f"Bearer {tokens[name]}"} for name in ("ann", "val", "lea"))
    assert client.post("/api/assignments", json={"ids": ["rec-2"], "to": "ann"}, headers=ann).status_code == 403
    assert client.post("/api/assignments", json={"ids": ["rec-2"], "to": "ann"}, headers=lea).json == {"changed": 1}
    got = client.post("/api/next", json={}, headers=ann).json["demonstration"]
    assert (got["id"], got["lease_who"]) == ("rec-2", "ann")
    new = {"version": 1, "edit": DROP, "key": "k"}
    for _ in range(2):
        assert client.post("/api/demonstrations/rec-2/edits", json=new, headers=ann).json == {"version": 2}
    status = {"version": 2, "status": "submitted"}
    assert client.put("/api/demonstrations/rec-2/status", json=status, headers=ann).json == {"version": 3}
    said = client.post("/api/demonstrations/rec-2/comments", json={"text": "Well done", "turn": "t1"}, headers=val)
    assert said.status_code == 201
    assert client.get("/api/demonstrations/rec-2/comments", headers=ann).json[0]["text"] == "Well done"
    assert client.post(f"/api/comments/{said.json['id']}/resolve", headers=val).json["resolved_by"] == "val"
    assert [step["status"] for step in client.get("/api/demonstrations/rec-2/history", headers=val).json] == [
        "submitted"]
    assert client.post("/api/next", json={}, headers=val).json["demonstration"]["id"] == "rec-2"


def test_current_is_what_the_edits_say(db, fill):
    fill()
    edit(db, "rec-1", DROP, 1, ANN)
    assert [turn["id"] for turn in current(db, "rec-1")["turns"] if turn["dropped"]] == ["t2"]
