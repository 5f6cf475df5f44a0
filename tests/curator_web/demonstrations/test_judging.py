"""Judges beside people: who is asked what, who may see what, and what is counted. On each database."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from curator_web import create_app
from curator_web.demonstrations.library import library
from curator_web.demonstrations.listing import deleting, moving
from curator_web.demonstrations.listing.listing import Filter, listing
from curator_web.demonstrations.workflow.pairing import choose
from curator_web.demonstrations.workflow.workflow import change_status
from curator_web.errors import Conflict, InputError, NotAllowed, NotFound
from curator_web.judging import labelling, verdicts
from curator_web.users import projects, renaming
from pipeline.judging.labels import read_labels
from pipeline.judging.model_judge import Judgement
from tests.support.curator.curator_fixtures import make_recording
from tests.support.curator.team_fixtures import ANN, BOB, LEA, VAL, WIM, add_people, csrf, say, signed_in

HTML = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def recordings(tmp_path_factory):
    folder = tmp_path_factory.mktemp("recordings")
    return [make_recording(folder, recording_id=f"rec-{number}") for number in range(1, 7)]


@pytest.fixture
def app(tmp_path, db_url, recordings):
    app = create_app(db_url, tmp_path / "data")
    services = app.extensions["demotape"]
    app.extensions["tokens"] = add_people(app)
    for each in recordings:
        library.import_recording(services.db, services.store, each)
    yield app
    services.db.close()


@pytest.fixture
def db(app):
    return app.extensions["demotape"].db


def verdict(name, said="success", judge="llava", host="127.0.0.1:8000", seconds=1.25, reason="It is shown.",
            tokens=(900, 30)):
    return Judgement(name, judge, host, said, reason, seconds, *tokens, "a" * 64)


def label_all(db, account, *said):
    """Label what is handed out, in order."""
    for done in said:
        labelling.label(db, labelling.following(db, account), done, account)


def names(db):
    """What was drawn, in order."""
    found, after = [], None
    while (after := labelling.following(db, WIM, after)) not in found:
        found.append(after)
    return found


def test_a_sample_is_drawn_and_drawn_again(db):
    choose(db, ["rec-5"], LEA)  # two annotate it: it has a copy
    change_status(db, "rec-6", "invalid", 1, LEA, "no")
    deleting.delete(db, ["rec-4"], LEA)
    for count, seed, account, error in ((3, 0, VAL, NotAllowed), (0, 0, LEA, InputError), (1001, 0, LEA, InputError),
                                        (1, 2**60, LEA, InputError)):
        with pytest.raises(error):
            labelling.draw(db, count, seed, account)
    assert labelling.following(db, WIM) is None and labelling.labelling_progress(db, WIM).drawn == 0
    assert labelling.draw(db, 2, 7, LEA) == 2
    first = names(db)
    assert labelling.draw(db, 50, 1, LEA) == 2 and labelling.draw(db, 50, 2, LEA) == 0
    assert names(db)[:2] == first and sorted(names(db)) == ["rec-1", "rec-2", "rec-3", "rec-5"]


def test_of_drawing_and_labelling_at_once_nothing_is_doubled(db):
    with ThreadPoolExecutor(6) as pool:
        drawn = list(pool.map(lambda seed: labelling.draw(db, 2, seed, LEA), range(4)))
        assert sum(drawn) == 6 and len(names(db)) == 6
        list(pool.map(lambda done: labelling.label(db, "rec-1", done, ANN), [True, False] * 3))
    assert labelling.labelling_progress(db, ANN).labelled == 1


def test_one_after_another_is_labelled(app, db):
    labelling.draw(db, 3, 0, LEA)
    one, two, three = names(db)
    asked = labelling.labelling_question(db, app.extensions["demotape"].store, one, ANN)
    assert (asked.task, asked.answer, asked.done) == (library.listed(db, one).task, "Done, which date?", None)
    turns = [turn for turn in library.current(db, one)["turns"] if turn["type"] == "browser"]
    assert asked.screenshots == [turn["state"]["screenshot"] for turn in turns]
    labelling.label(db, one, True, ANN)
    assert [labelling.following(db, ANN, after) for after in (None, two, three, "rec-x")] == [two, three, two, two]
    labelling.label(db, one, False, ANN)  # the last one is changed
    labelling.label(db, two, True, ANN)
    with pytest.raises(Conflict, match="another recording after this one"):
        labelling.label(db, one, True, ANN)
    assert labelling.following(db, ANN) == labelling.following(db, ANN, three) == three
    labelling.label(db, three, True, ANN)
    assert labelling.following(db, ANN) is None
    assert labelling.labelling_progress(db, ANN) == labelling.LabellingProgress(3, 3, 0, 0, three, [])
    assert labelling.labelling_progress(db, LEA) == labelling.LabellingProgress(3, 0, 0, 3, None, [("ann", 3)])
    for name in ("rec-9", next(each for each in ("rec-1", "rec-2", "rec-3", "rec-4") if each not in names(db))):
        with pytest.raises(NotFound):
            labelling.label(db, name, True, ANN)


def test_what_somebody_may_not_see_is_not_handed_out(db):
    labelling.draw(db, 6, 0, LEA)
    choose(db, ["rec-2"], LEA)
    say(db, "rec-2~2", BOB, {"op": "drop", "turn": "t3"})  # so he sees nothing of the other one
    assert "rec-2" in names(db) and labelling.labelling_progress(db, BOB).left == 5
    with pytest.raises(NotFound):
        labelling.label(db, "rec-2", True, BOB)


def test_verdicts_are_taken_and_replaced(db):
    assert verdicts.store_verdicts(db, [verdict("rec-1"), verdict("rec-9"), verdict("rec-1~2")],
                                   LEA) == verdicts.AcceptedVerdicts(1, 0, 2)
    again = [verdict("rec-1", "failure", seconds=2), verdict("rec-1", host="other:1", tokens=(None, None))]
    assert verdicts.store_verdicts(db, again, LEA) == verdicts.AcceptedVerdicts(1, 1, 0)
    assert verdicts.judges(db, LEA) == [verdicts.Judge("llava", "127.0.0.1:8000", 1, 2.0, 900, 30),
                                        verdicts.Judge("llava", "other:1", 1, 1.25, None, None)]
    with pytest.raises(InputError, match="twice"):
        verdicts.store_verdicts(db, [verdict("rec-2")] * 2, LEA)
    for ask in (lambda: verdicts.store_verdicts(db, again, VAL), lambda: verdicts.judges(db, VAL),
                lambda: verdicts.results(db, VAL), lambda: labelling.show(db, VAL, True)):
        with pytest.raises(NotAllowed):
            ask()


def test_judges_are_held_against_the_majority(db):
    labelling.draw(db, 6, 0, LEA)
    order = names(db)
    label_all(db, ANN, True, True, False, False, True)
    label_all(db, BOB, True, False, False, False)
    label_all(db, VAL, True, False)
    said = ("success", "success", "failure", "success", "unknown", "failure")
    verdicts.store_verdicts(db, [verdict(name, each) for name, each in zip(order, said, strict=True)], LEA)
    assert labelling.show(db, LEA, False) == 0 and verdicts.results(db, LEA).figures[0][1].judged == 0
    labelling.label(db, order[0], False, LEA)
    assert labelling.show(db, LEA, False) == 1
    found = verdicts.results(db, LEA)
    assert (found.open, found.labels, found.disagreements) == (1, {order[0]: True}, [])
    with pytest.raises(Conflict, match="your label can no longer be changed"):
        labelling.label(db, order[0], True, LEA)
    assert labelling.show(db, LEA, True) == 5 and labelling.following(db, LEA) is None
    assert labelling.labelling_progress(db, LEA) == labelling.LabellingProgress(6, 1, 5, 0, None,
                                                                            [("ann", 5), ("bob", 4), ("lea", 1),
                                                                           ("val", 2)])
    found = verdicts.results(db, LEA)
    assert found.labels == dict(zip(order, (True, False, False, False, True), strict=False)) and found.ties == 0
    [(judge, told)] = found.figures
    assert (judge.verdicts, judge.seconds, judge.prompt_tokens) == (6, 7.5, 5400)
    assert (told.labelled, told.agreement, told.confusion["failure"]["success"]) == (5, 0.4, 2)
    assert told.low <= told.kappa <= told.high
    assert [(each.id, each.verdict, each.done, each.not_done) for each in found.disagreements] == sorted([
        (order[1], "success", 1, 2), (order[3], "success", 0, 2), (order[4], "unknown", 1, 0)])
    assert found.people.measured.items == 6 + 3 + 1 + 1
    label_all(db, WIM, True, True)  # two say one of the second, two the other
    tied = verdicts.results(db, LEA)
    assert tied.ties == 1 and order[1] not in tied.labels and tied.figures[0][1].labelled == 4


def test_all_of_it_stays_with_the_project(db):
    labelling.draw(db, 6, 0, LEA)
    label_all(db, ANN, *[True] * 6)
    verdicts.store_verdicts(db, [verdict(f"rec-{number}") for number in range(1, 7)], LEA)
    labelling.show(db, LEA, True)
    projects.add(db, "other", "Other", LEA)
    moving.move(db, ["rec-1"], "other", LEA)
    there = LEA.__class__("lea", "lead", project="other")
    assert verdicts.results(db, LEA).open == 5 and verdicts.judges(db, LEA)[0].verdicts == 5
    assert labelling.draw(db, 5, 0, there) == 1 and labelling.labelling_progress(db, there).people == []
    assert labelling.show(db, there, True) == 1 and verdicts.results(db, there).labels == {}
    moving.move(db, ["rec-1"], "main", there)
    change_status(db, "rec-2", "invalid", 1, LEA, "no")
    assert sorted(verdicts.results(db, LEA).labels) == ["rec-1", "rec-3", "rec-4", "rec-5", "rec-6"]
    renaming.rename(db, "ann", "anna")
    assert labelling.labelling_progress(db, LEA).people == [("anna", 5)]
    assert {row.id for row in listing(db, Filter(), "main").rows} == {f"rec-{number}" for number in range(1, 7)}


def asked_of(app) -> list[str]:
    """Every address of the app that is read, of one demonstration too."""
    given = {"demonstration_id": "rec-1", "recording_id": "rec-1", "project": "main", "sha256": "0" * 64}
    with app.test_request_context():
        adapter = app.url_map.bind("localhost")
        return [adapter.build(rule.endpoint, {name: given.get(name, 1 if "int:" in rule.rule else "x")
                                              for name in rule.arguments}, method=None)
                for rule in app.url_map.iter_rules() if "GET" in (rule.methods or ()) and rule.endpoint != "static"]


@pytest.mark.parametrize("db_url", ["sqlite"], indirect=True)  # what is asked of each address is tested on both above
def test_nobody_sees_what_others_say_before_they_have_labelled_it(app, db):
    """Asked of every page and every operation there is, as a lead and as others."""
    labelling.draw(db, 6, 0, LEA)
    mark = "zebra crossing"
    for number in range(1, 7):
        verdicts.store_verdicts(db, [verdict(f"rec-{number}", "unknown", reason=f"{mark} {number}")], LEA)
    label_all(db, ANN, *[True] * 6)
    client, addresses = app.test_client(), asked_of(app)
    assert len(addresses) > 80 and "/judging/rec-1" in addresses and "/api/judging/results" in addresses

    def seen(who: str) -> set[str]:
        headers = {"Authorization": f"Bearer {app.extensions['tokens'][who]}"}
        return {address for address in addresses if mark in client.get(address, headers=headers).text}
    for who in ("bob", "lea"):
        assert seen(who) == set()
    lead = signed_in(app, "lea")
    results = lead.get("/api/judging/results").json
    assert (results["open"], results["labels"], results["disagreements"]) == (0, [], [])
    assert results["judges"][0]["labelled"] == 0 and results["people"] is None
    assert results["judges"][0]["verdicts"] == 6 and lead.get("/judging/labels.jsonl").data == b""
    for name in ("rec-1", "rec-2"):
        labelling.label(db, name, False, LEA)
    assert lead.get("/api/judging/results").json["open"] == 0  # what may still be changed is not shown either
    labelling.show(db, LEA, False)
    page = lead.get("/judging").text
    assert f"{mark} 1" not in page and page.count("has a tie") + page.count("have a tie") == 1
    labelling.show(db, LEA, True)
    assert seen("lea") == {"/judging", "/api/judging/results"} and seen("ann") == set()


def test_pages_and_operations(app, db, tmp_path):
    lead, ann = signed_in(app, "lea"), signed_in(app, "ann")
    assert 'href="/judging"' in lead.get("/dashboard").text and 'href="/judging?' not in ann.get("/judging").text
    assert "/judging" in ann.get("/projects/main").text and "Nothing was drawn" in ann.get("/judging").text
    token = {"csrf_token": csrf(lead, "/judging")}
    for given, status in (({"count": "x", "seed": "0"}, 400), ({"count": "2", "seed": "9" * 99}, 400),
                          ({"count": "0", "seed": "0"}, 400), ({"count": "2", "seed": "-1"}, 303)):
        assert lead.post("/judging/sample", data=token | given).status_code == status
    assert lead.post("/judging/sample", data={"count": "1", "seed": "0"}).status_code == 400  # without the token
    mine = {"csrf_token": csrf(ann, "/judging")}
    for address in ("sample", "verdicts", "results"):
        assert ann.post(f"/judging/{address}", data=mine | {"count": "1", "seed": "0"}).status_code == 403
    one = ann.get("/judging/next").headers["Location"].rpartition("/")[2]
    page = ann.get(f"/judging/{one}").text
    assert "Done, which date?" in page and page.count('<img src="/blobs/') == 4
    assert ann.post(f"/judging/{one}", data=mine | {"done": "perhaps"}).status_code == 400
    answer = ann.post(f"/judging/{one}", data=mine | {"done": "yes"}, follow_redirects=True)
    two = answer.request.path.rpartition("/")[2]
    assert two != one and ann.get(f"/judging/{one}").status_code == 200
    assert ann.post(f"/judging/{two}", data=mine | {"done": "no"}, follow_redirects=True).request.path == "/judging"
    assert ann.post(f"/judging/{one}", data=mine | {"done": "no"}).status_code == 409
    assert ann.get("/judging/rec-9").status_code == 404
    found = [verdict(one, "failure", reason=f"{HTML}\n{'long ' * 100}"), verdict(two), verdict("rec-9")]

    def upload(content: bytes):
        path = tmp_path / "v.jsonl"
        path.write_bytes(content)
        with path.open("rb") as file:
            return lead.post("/judging/verdicts", data=token | {"file": file}, follow_redirects=True)
    for content in (b"", b"{\n", b"\0", b'{"a": 1, "a": 2}', b"[" * 90_000):
        assert upload(content).status_code == 400
    assert "line 1: not JSON" in upload(b"{\n").text
    assert upload(b"x" * 20_000_001).status_code == 413
    content = "\n".join(json.dumps(vars(each)) for each in found).encode()
    assert "2 new, 0 replaced, 1 of recordings" in upload(content).text
    assert HTML not in lead.get("/judging").text
    assert lead.post("/judging/results", data=token | {"all": "yes"}).status_code == 303
    page = lead.get("/judging").text
    assert HTML not in page and "&lt;script&gt;alert(1)" in page and "2 disagreements" in page
    assert f'href="/demonstrations/{one}"' in page
    (tmp_path / "labels.jsonl").write_bytes(lead.get("/judging/labels.jsonl").data)
    assert read_labels(tmp_path / "labels.jsonl") == {one: True, two: False}


def test_programs_do_the_same(app, db):
    def ask(who, method, address, body=None):
        headers = {"Authorization": f"Bearer {app.extensions['tokens'][who]}"}
        answer = app.test_client().open(f"/api/judging{address}", method=method, json=body, headers=headers)
        return answer.json if answer.status_code == 200 else answer.status_code
    assert ask("lea", "POST", "/sample", {"count": 2}) == {"drawn": 2}
    assert ask("val", "POST", "/sample", {"count": 1}) == 403
    assert ask("lea", "POST", "/sample", {"count": "2"}) == 422
    first = ask("ann", "GET", "/next")["demonstration"]
    assert set(first) == {"id", "recording", "task", "answer", "screenshots"} and len(first["screenshots"]) == 4
    other = ask("ann", "GET", f"/next?after={first['id']}")["demonstration"]["id"]
    assert ask("ann", "PUT", f"/labels/{first['id']}", {"done": "yes"}) == 422
    assert ask("ann", "PUT", f"/labels/{first['id']}", {"done": True}) == 204
    assert ask("ann", "PUT", f"/labels/{other}", {"done": False}) == 204
    assert ask("ann", "PUT", f"/labels/{first['id']}", {"done": True}) == 409
    assert ask("ann", "GET", "/next") == {"demonstration": None}
    assert ask("ann", "GET", "") == {"drawn": 2, "labelled": 2, "given_up": 0, "left": 0, "last": other, "people": {}}
    sent = {"verdicts": [vars(verdict(first["id"])), vars(verdict("rec-9"))]}
    assert ask("lea", "POST", "/verdicts", sent) == {"new": 1, "replaced": 0, "strangers": 1}
    assert ask("lea", "POST", "/verdicts", {"verdicts": [sent["verdicts"][0] | {"verdict": "perhaps"}]}) == 422
    assert ask("ann", "GET", "/results") == ask("ann", "POST", "/results", {}) == 403
    assert ask("lea", "POST", "/results", {"everything": True}) == {"changed": 2}
    found = ask("lea", "GET", "/results")
    assert found["judges"][0] | {"confusion": None} == {
        "judge": "llava", "host": "127.0.0.1:8000", "verdicts": 1, "seconds": 1.25, "prompt_tokens": 900,
        "completion_tokens": 30, "labelled": 1, "agreement": 1.0, "kappa": None, "low": None, "high": None,
        "confusion": None}
    assert sorted(found["labels"], key=lambda each: each["success"]) == [
        {"id": other, "success": False}, {"id": first["id"], "success": True}]
