"""Tasks of a project: proposing, deciding, files, who is given which, what a recording of one becomes, coverage."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import update

from curator_web import create_app, users
from curator_web.db.models.task_models import Assignment
from curator_web.demonstrations.library.library import import_recording
from curator_web.demonstrations.listing import moving
from curator_web.errors import InputError, NotAllowed, NotFound
from curator_web.tasks import assignment, bank, coverage, expected_end, files
from curator_web.users import Account, projects
from tests.support.curator.curator_fixtures import make_recording

pytestmark = pytest.mark.postgresql

LEAD, VAL, ANN, BOB = (Account(name, role) for name, role in (
    ("lea", "lead"), ("val", "validator"), ("ann", "annotator"), ("bob", "annotator")))


@pytest.fixture
def app(tmp_path, db_url):
    app = create_app(db_url, tmp_path / "data")
    yield app
    app.extensions["demotape"].db.close()


@pytest.fixture
def db(app):
    return app.extensions["demotape"].db


def texts(tasks) -> list[str]:
    return [task.text for task in tasks]


def test_a_proposal_is_decided_changed_and_decided_again(db):
    task, = bank.propose(db, ANN, [{"text": " Find lamps ", "url": "https://Shop.example/a", "wanted": 2}])
    assert (task.text, task.site, task.state, task.wanted) == ("Find lamps", "shop.example", "proposed", 2)
    for who, state, reason, error in ((ANN, "accepted", "", NotAllowed), (VAL, "refused", " ", InputError),
                                      (VAL, "proposed", "x", InputError)):
        with pytest.raises(error):
            bank.decide(db, who, task.id, state, reason)
    with pytest.raises(NotAllowed):
        bank.change(db, BOB, task.id, {"text": "Mine"})
    assert bank.decide(db, VAL, task.id, "returned", "Which lamps?").reason == "Which lamps?"
    again = bank.change(db, ANN, task.id, {"text": "Find red lamps"})
    assert (again.state, again.reason, again.url, again.wanted) == ("proposed", "", "", 1)
    assert bank.decide(db, VAL, task.id, "accepted", "kept to oneself").reason == ""
    with pytest.raises(NotAllowed):
        bank.change(db, ANN, task.id, {"text": "Find all lamps"})
    assert bank.change(db, LEAD, task.id, {"text": "Find all lamps"}).state == "accepted"
    assert bank.propose(db, LEAD, [{"text": "Count chairs"}])[0].state == "accepted"


@pytest.mark.parametrize("told", [
    {}, {"text": " "}, {"text": "x" * 2001}, {"text": "a", "url": "javascript:alert(1)"},
                                  {"text": "a", "url": "http://"},
    {"text": "a", "url": "http://["}, {"text": "a", "difficulty": "odd"}, {"text": "a", "wanted": -1},
    {"text": "a", "state": "accepted"}, {"text": 3}])
def test_what_is_no_task_is_refused_and_none_is_added(db, told):
    with pytest.raises(InputError, match="field "):
        bank.propose(db, LEAD, [{"text": "Good"}, told])
    assert bank.find(db, LEAD).total == 0


def test_nearly_the_same_tasks_of_a_site_are_told(db):
    first, same, elsewhere, other = bank.propose(db, LEAD, [
        {"text": "Find the cheapest red shoes for a child", "site": "a.example"},
        {"text": "find the cheapest red shoes for a child!", "site": "A.example"},
        {"text": "Find the cheapest red shoes for a child", "site": "b.example"},
        {"text": "Book a flight to Oslo on Friday", "site": "a.example"}])
    assert [task.alike for task in (first, same, elsewhere, other)] == [[], [first.id], [], []]
    later, = bank.propose(db, LEAD, [{"text": "Find the cheapest red shoes for children", "site": "a.example"}])
    assert set(later.alike) == {first.id, same.id}
    assert texts(bank.show(db, LEAD, later.id)[1]) and bank.change(db, LEAD, later.id, {"text": "Rest"}).alike == []


def test_tasks_are_found(db):
    bank.propose(db, LEAD, [{"text": f"Task {number} 100%", "site": "s.example", "category": "Travel" * (number % 2)}
                            for number in range(bank.PAGE + 3)])
    bank.propose(db, ANN, [{"text": "Proposed one"}])
    found = bank.find(db, LEAD)
    assert (len(found.tasks), found.total, found.by_state) == (bank.PAGE, bank.PAGE + 4, {"accepted": bank.PAGE + 3,
                                                                                         "proposed": 1})
    assert texts(bank.find(db, LEAD, page=2).tasks)[-1] == "Task 0 100%"
    assert texts(bank.find(db, LEAD, state="proposed").tasks) == ["Proposed one"]
    assert texts(bank.find(db, LEAD, search="one PROP").tasks) == ["Proposed one"]
    assert bank.find(db, LEAD, search="0%").total == bank.PAGE + 3 and bank.find(db, LEAD, search="k_1").total == 0
    assert bank.find(db, LEAD, site="s.example", category="Travel").total == (bank.PAGE + 3) // 2


def test_each_is_given_what_is_wanted_and_what_they_did_not_have(db):
    first, second = bank.propose(db, LEAD, [{"text": "One", "wanted": 2}, {"text": "Two"}])
    bank.propose(db, ANN, [{"text": "Not decided"}])
    assert assignment.give(db, ANN).id == assignment.give(db, ANN).id == first.id == assignment.assigned_task(db,
                                                                                                              ANN).id
    assert assignment.give(db, BOB).id == second.id and assignment.give(db, VAL).id == first.id
    with pytest.raises(NotFound, match="no task is left"):
        assignment.give(db, LEAD)
    assignment.give_back(db, BOB, second.id)
    assert assignment.give(db, LEAD).id == second.id
    with pytest.raises(NotFound):
        assignment.give(db, BOB)  # the one was given back, of the other as many are on their way as are wanted
    with pytest.raises(InputError, match="reason"):
        assignment.give_back(db, ANN, first.id, unachievable=True)
    assignment.give_back(db, ANN, first.id, "The shop is closed", unachievable=True)
    assert [(each.who, each.reason) for each in bank.show(db, LEAD, first.id)[0].objections] == [
        ("ann", "The shop is closed")]
    assert assignment.give(db, BOB).id == first.id
    for who, task in ((ANN, "nothing"), (Account("lea", "lead", project="b"), second.id), (ANN, second.id)):
        with pytest.raises(NotFound):
            assignment.give_back(db, who, task)


def test_what_was_taken_and_not_recorded_is_given_to_others_in_the_end(db):
    task, = bank.propose(db, LEAD, [{"text": "One"}])
    assignment.give(db, ANN)
    long_ago = datetime.now(UTC) - assignment.ASSIGNMENT_PERIOD - timedelta(minutes=1)
    with db.writing() as session:
        session.execute(update(Assignment).values(changed_at=long_ago))
    assert assignment.give(db, BOB).id == task.id


def test_many_who_ask_at_once_are_given_no_more_than_is_wanted(db):
    bank.propose(db, LEAD, [{"text": f"Task {number}"} for number in range(4)])

    def ask(number: int) -> str | None:
        try:
            return assignment.give(db, Account(f"user-{number}", "annotator")).id
        except NotFound:
            return None
    with ThreadPoolExecutor(6) as pool:
        given = [task for task in pool.map(ask, range(6)) if task]
    assert len(given) == len(set(given)) == 4


def test_a_recording_of_a_task_counts_for_it(app, db, tmp_path):
    task, = bank.propose(db, LEAD, [{"text": "One", "site": "s.example", "category": "Travel", "wanted": 2}])
    assignment.give(db, ANN)
    for number, told in enumerate((assignment.name_of(task), assignment.name_of(task), f"other/{task.id}",
                                   "main/nothing")):
        made = make_recording(tmp_path, recording_id=f"rec-{number}", provenance={"task_id": told})
        import_recording(db, app.extensions["demotape"].store, made, recorded_by="ann" if number == 0 else "bob")
    assert bank.show(db, LEAD, task.id)[0].recorded == 2 and assignment.assigned_task(db, ANN) is None
    assert coverage.coverage(db, "main")["category"] == [coverage.CoverageRow("Travel", 1, 2, 2)]
    projects.add(db, "b", "Second", Account("lea", "lead", alone=True))
    moving.move(db, ["rec-1"], "b", Account("lea", "lead", alone=True))
    assert bank.show(db, LEAD, task.id)[0].recorded == 1
    assert [row.recorded for row in coverage.coverage(db, "main")["site"]] == [1]


def test_who_leaves_gives_back_what_they_had_taken(db):
    users.add_user(db, "lea", "lead")
    users.add_user(db, "ann", "annotator")
    task, = bank.propose(db, LEAD, [{"text": "One"}])
    assignment.give(db, ANN)
    projects.set_member(db, "main", "ann", None, LEAD)
    assert assignment.give(db, BOB).id == task.id


@pytest.mark.parametrize(("content", "wanted"), [
    ("text,url,wanted\nFind lamps,https://a.example,3\n\nTwo,,\n", [
        {"text": "Find lamps", "url": "https://a.example", "wanted": 3}, {"text": "Two"}]),
    ("\ufeffTask;Domain\n".lower() + 'a "b";Travel\n', [{"text": 'a "b"', "category": "Travel"}]),
    ('{"confirmed_task": "Ä", "website": "x", "annotation_id": "7"}\n\n{"ques": "B", "web": "http://b.example"}', [
        {"text": "Ä", "site": "x"}, {"text": "B", "url": "http://b.example"}]),
    ('[{"intent": "A", "start_url": "http://a.example", "eval": {}}, {"task": "B"}]', [
        {"text": "A", "site": "a.example"}, {"text": "B"}]),
    ('text\n"two\nlines"\n', [{"text": "two\nlines"}])])
def test_files_of_tasks_are_read(content, wanted):
    found = files.parse("tasks", content.encode())
    assert [{name: row[name] for name in told} for row, told in zip(found, wanted, strict=True)] == wanted


@pytest.mark.parametrize(("content", "said"), [
    (b"", "the column text"), (b"text\n", "no task"), (b"a,b\n1,2\n", "line 1: the column"),
    (b"\xff\xfe", "not UTF-8"), (b"{\n", "line 1: not JSON"),
    (b'{"text": "a"}\n[1]\n', "line 2: not an object"), (b'[{"text": "a"}, 1]', "entry 2: not an object"),
    (b'[{"text": "a", "url": "__SHOP__"}]', "entry 1, field url: must be an address"), (b"[" * 100_000, "not JSON"),
    (b'text,wanted\na,1\nb,many\n', "line 3, field wanted"), (b'{"text": ["a"]}', "line 1, field text"),
    (b'{"a":' * 100_000, "line 1: not JSON"), (b'text\n"' + b"x" * 200_000 + b'"\n', "line 1|line 2")])
def test_what_is_no_file_of_tasks_is_refused_by_line(content, said):
    with pytest.raises(InputError, match=f"^tasks: .*({said})"):
        files.parse("tasks", content)


def test_who_is_given_a_task_does_not_see_its_end_until_a_lead_shows_it(app, db):
    task, = bank.propose(db, ANN, [{"text": "One", "answer": "Seven", "unachievable": "Sold out"}])
    bank.decide(db, VAL, task.id, "accepted")

    def seen(account) -> list[str]:
        rows = (bank.show(db, account, task.id)[0], *bank.find(db, account).tasks)
        return sorted({text for row in rows for text in (row.answer, row.unachievable)})
    whole = ["Seven", "Sold out"]
    assert [seen(who) for who in (LEAD, VAL, ANN, BOB)] == [whole, whole, whole, [""]]
    given = assignment.give(db, VAL)
    assert (given.id, given.answer, given.unachievable) == (task.id, "", "")
    assert [seen(who) for who in (LEAD, VAL, ANN)] == [whole, [""], whole]
    with pytest.raises(NotAllowed):
        expected_end.show_answers(db, VAL, True)
    client = app.test_client()
    token = {"X-CSRFToken": client.get("/api/token").json["token"]}
    assert client.get("/api/projects/main/settings").json["answers_shown"] is False
    assert client.put("/api/projects/main/settings", json={"answers_shown": True}, headers=token).status_code == 200
    assert [seen(who) for who in (VAL, BOB)] == [whole, whole] and assignment.give(db, VAL).answer == "Seven"
    assert client.post("/api/tasks/next", headers=token).status_code == 404  # wanted once, and on its way
    form = {"csrf_token": token["X-CSRFToken"]}
    assert client.post("/projects/main/answers", data=form).status_code == 303 and seen(BOB) == [""]
