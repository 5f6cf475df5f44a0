"""Outcome checks in the review app: sessions of a person and of agents that were really recorded, checks that are
written by forms and over the API, refused where they say nothing, and tried on every session of the task."""

import json
import re
import shutil
from dataclasses import replace

import pytest
from playwright.sync_api import expect
from sqlalchemy import select

from curator_web.db.models.core import AuditLine
from curator_web.demonstrations.library import pairs
from curator_web.demonstrations.library.export_sources import exportable
from curator_web.demonstrations.library.library import import_recording, listed, review
from curator_web.demonstrations.workflow import pairing
from curator_web.demonstrations.workflow.workflow import change_status
from curator_web.users import projects
from schemas import InputError
from tests.curator_web.web.shell.test_pages import opened
from tests.support.axe import problems
from tests.support.curator.curator_fixtures import make_recording, serving
from tests.support.curator.edits import edit
from tests.support.curator.outcome_sessions import made_app, sessions
from tests.support.curator.team_fixtures import ANN, BOB, LEA, PASSWORD, csrf, signed_in
from tests.support.waiting import wait_until

EARLY = {"kind": "text", "css": "h1", "match": {"excludes": ["nothing like it"]}}
WRONG = {"kind": "url", "match": {"includes": [["/basket"]]}}
ORDERED = {"kind": "url", "match": {"includes": [["/orders"]]}}
TOLD = {"kind": "text", "css": "#told", "match": {"includes": [["Floor lamp"]]}}
SAID = {"kind": "not", "checks": [{"kind": "answer", "match": {"exact": ["No"]}}]}
PAGE = "/demonstrations/person/outcome"


def outcome(*checks, **more):
    return {"format": "demotape/outcome", "version": 1, "checks": list(checks)} | more


@pytest.fixture(scope="module")
def recorded(recording_browser, tmp_path_factory):
    return sessions(recording_browser, tmp_path_factory.mktemp("sessions"))


def closed(app):
    app.extensions["demotape"].jobs.close()
    app.extensions["demotape"].db.close()


@pytest.fixture(scope="module")
def app(recorded, tmp_path_factory):
    """For tests that change nothing but the checks."""
    app = made_app(recorded, tmp_path_factory.mktemp("app"))
    yield app
    closed(app)


@pytest.fixture
def fresh(recorded, tmp_path, request):
    """For tests that change more; with the fixture `db_url`, on each kind of database."""
    app = made_app(recorded, tmp_path, request.getfixturevalue("db_url") if "db_url" in request.fixturenames else None)
    yield app
    closed(app)


@pytest.fixture
def db(app):
    return app.extensions["demotape"].db


@pytest.fixture(scope="module")
def signed(app):
    return signed_in(app, "lea")


@pytest.fixture
def lea(signed):
    """A lead, to whom no checks are left of an earlier test."""
    assert put(signed, None).status_code == 200
    return signed


def version_of(client, name="person"):
    return client.get(f"/api/demonstrations/{name}").json["version"]


def put(client, content, version=None, name="person"):
    token = client.get("/api/token").json["token"]
    return client.put(f"/api/demonstrations/{name}/outcome", headers={"X-CSRFToken": token}, json={
        "version": version or version_of(client, name), "outcome": content})


def send(client, **fields):
    """Send one of the page's forms."""
    token = client.get("/api/token").json["token"]
    return client.post(PAGE, data={"csrf_token": token, "version": version_of(client)} | fields)


def kept(client, name="person"):
    return client.get(f"/api/demonstrations/{name}/outcome").json["outcome"]


def tried(app, client, name="person"):
    token = client.get("/api/token").json["token"]
    answer = client.post(f"/api/demonstrations/{name}/outcome/trial", headers={"X-CSRFToken": token})
    assert answer.status_code == 202, answer.text
    jobs = app.extensions["demotape"].jobs
    wait_until(lambda: jobs.get(answer.json["id"]).ended_at, what="the end of the job")
    job = jobs.get(answer.json["id"])
    assert job.state == "done", job.note
    return client.get(f"/api/demonstrations/{name}/outcome/trial").json


def test_proposed_checks_are_kept_undone_and_noted(lea, db):
    address = "/api/demonstrations/person/outcome"
    version = version_of(lea)
    assert lea.get(address).json == {"version": version, "outcome": None}
    proposed = lea.get(f"{address}/proposals").json["checks"]
    assert {each["kind"] for each in proposed} == {"request", "url", "text"}
    assert put(lea, outcome(*proposed)).json == {"version": version + 1}
    assert kept(lea) == outcome(*proposed) == lea.get("/api/demonstrations/person/turns").json["outcome"]
    assert lea.get("/demonstrations/person/outcome.json").json == outcome(*proposed)
    assert lea.get(f"{address}/proposals").json["checks"] == []  # they are all there
    assert "Outcome checks" in lea.get("/demonstrations/person/changes").text
    with db.reading() as session:
        assert set(session.scalars(select(AuditLine.who).where(AuditLine.what == "outcome checks"))) == {"lea"}
    assert put(lea, None).json == {"version": version + 2} and kept(lea) is None
    edit(db, "person", {"op": "undo"}, version + 2, LEA)
    assert kept(lea) == outcome(*proposed)


@pytest.mark.parametrize("content, told", [
    (outcome(EARLY), "passes at the start"), (outcome(WRONG), "fails at the recorded end"),
    (outcome({"kind": "picture", "picture": "a" * 64}), "unknown picture aaaa")])
def test_checks_that_say_nothing_are_refused(lea, content, told):
    answer = put(lea, content)
    assert answer.status_code == 400 and told in answer.json["message"]
    token = lea.get("/api/token").json["token"]
    change = {"version": version_of(lea), "edit": {"op": "set_outcome", "outcome": content}}
    answer = lea.post("/api/demonstrations/person/edits", json=change, headers={"X-CSRFToken": token})
    assert answer.status_code == 400 and told in answer.json["message"]
    assert kept(lea) is None


def test_what_is_no_check_is_told_by_its_field(lea):
    assert put(lea, outcome({"kind": "url"})).json["errors"]["json"]["outcome"]["checks"]["0"]["match"]
    deep = ORDERED
    for _ in range(100):
        deep = {"kind": "all", "checks": [deep]}
    assert put(lea, outcome(deep)).status_code == 422
    assert put(lea, outcome(ORDERED), version=700).status_code == 409


def test_who_may_edit_may_write_checks(fresh, tmp_path):
    services, db = fresh.extensions["demotape"], fresh.extensions["demotape"].db
    ann, bob, lea = (signed_in(fresh, name) for name in ("ann", "bob", "lea"))
    assert put(ann, outcome(ORDERED)).json == {"version": 2}
    assert put(bob, outcome(TOLD), 2).status_code in (403, 409)  # it is with ann now
    assert bob.get("/api/demonstrations/person/outcome").json["outcome"] == outcome(ORDERED)
    version = change_status(db, "person", "submitted", 2, ANN)
    assert put(ann, None, version).status_code == 403
    change_status(db, "person", "approved", version, LEA)
    assert "reopen it" in lea.get(PAGE).text
    projects.add(db, "b", "Second", replace(LEA, manages=True))
    import_recording(db, services.store, make_recording(tmp_path), project="b")
    for address in ("rec-1/outcome", "rec-1/beside/person", "person/beside/rec-1", "person/beside/nothing"):
        assert ann.get(f"/demonstrations/{address}").status_code == 404
    for address in ("outcome", "outcome/trial", "outcome/proposals"):
        assert ann.get(f"/api/demonstrations/rec-1/{address}").status_code == 404


def test_what_two_annotators_ask_for_is_settled(fresh):
    db = fresh.extensions["demotape"].db
    ann, bob, val = (signed_in(fresh, name) for name in ("ann", "bob", "val"))
    assert pairing.choose(db, ["person"], LEA) == 1
    way = [{"name": "ordered", "check": {"kind": "any", "checks": [TOLD, ORDERED]}}]
    assert put(ann, outcome(ORDERED)).status_code == 200
    assert put(bob, outcome(WRONG), name="person~2").status_code == 400  # of the same recording: refused the same
    assert put(bob, outcome(ORDERED, TOLD, checkpoints=way), name="person~2").status_code == 200
    for name, who in (("person", ANN), ("person~2", BOB)):
        change_status(db, name, "submitted", listed(db, name).version, who)
    page = val.get("/pairs/person").text
    assert re.findall(r'name="(choice:[^"]+)"', page) == ["choice:outcome//"] * 2
    assert ">1 in both<" in page and "has “Floor lamp” in it; on the way, ordered: at least one of" in page
    given = {"csrf_token": csrf(val, "/pairs/person"), "choice:outcome//": "second",
             "version": re.search(r'name="version" value="([^"]+)', page)[1]}
    assert val.post("/pairs/person", data=given).status_code == 303
    assert review(db, "person").outcome == outcome(ORDERED, TOLD, checkpoints=way)
    assert listed(db, "person").status == "validated" and pairs.find_pair(db, "person").state == "settled"


def test_each_part_of_a_split_session_is_held_against_its_own_end(fresh):
    lea, db = signed_in(fresh, "lea"), fresh.extensions["demotape"].db
    assert put(lea, outcome(ORDERED)).status_code == 200
    pressed = [turn["id"] for turn in review(db, "person").turns if turn.get("intent") == "click"][-1]
    made = edit(db, "person", {"op": "end_before", "turn": pressed}, version_of(lea), LEA)
    assert kept(lea) is None and kept(lea, made.part)["checks"] == [ORDERED]
    refused = put(lea, outcome(ORDERED))
    assert refused.status_code == 400 and "at the recorded end" in refused.json["message"]
    assert put(lea, outcome(TOLD), name=made.part).status_code == 200
    rows = {row["id"]: row["holds"] for row in tried(fresh, lea, made.part)["rows"]}
    assert rows == {"person": False, made.part: True, "able": True, "idle": False}
    assert [listed(db, name).outcome for name in rows] == ["success" if holds else "failure" for holds in rows.values()]


def test_checks_come_along_with_a_recording_and_into_no_export(fresh, recorded, tmp_path):
    services, db = fresh.extensions["demotape"], fresh.extensions["demotape"].db
    root = shutil.copytree(recorded[1], tmp_path / "able")
    (root / "outcome.json").write_text(json.dumps(outcome(WRONG)))  # nobody has looked whether it holds
    assert [import_recording(db, services.store, root).outcome for _ in range(2)] == ["renewed", "known"]
    assert review(db, "able").outcome == outcome(WRONG) and listed(db, "able").outcome == "failure"
    assert not any("outcome" in each.demonstration for each in exportable(db, services.store))
    lea = signed_in(fresh, "lea")
    assert put(lea, outcome(WRONG, ORDERED), 2, "able").status_code == 200  # what was there keeps nobody from work
    (root / "outcome.json").write_text('{"format": "demotape/outcome", "version": 1, "checks": []}')
    with pytest.raises(InputError, match=r"outcome.json: field checks"):
        import_recording(db, services.store, root)


def test_checks_are_tried_on_people_and_agents(app, lea):
    way = [{"name": "begun", "check": {"kind": "text", "css": "h1", "match": {"exact": ["Shop"]}}},
           {"name": "ordered", "check": ORDERED}]
    expression = {"kind": "any", "checks": [{"kind": "script", "expression": "1", "match": {"exact": ["1"]}}, TOLD]}
    assert put(lea, outcome(ORDERED, expression, checkpoints=way)).status_code == 200
    rows = {row["id"]: row for row in tried(app, lea)["rows"]}
    assert {name: (row["score"], row["reached"]) for name, row in rows.items()} == {
        "person": (1.0, 1.0), "able": (1.0, 1.0), "idle": (0.0, 0.5)}
    assert (rows["able"]["actor"], rows["able"]["agent"]) == ("agent", "clicker 1")
    assert "is not in the address" in rows["idle"]["checks"][0]["reason"]
    assert rows["idle"]["checks"][1] == {"holds": None, "reason": rows["idle"]["checks"][1]["reason"]}
    assert "expressions require a browser" in rows["idle"]["checks"][1]["reason"]
    assert lea.get(f"/blobs/idle/{rows['idle']['shown']}").status_code == 200
    page = lea.get(PAGE).text
    assert "agent clicker 1" in page and "1 of 2" in page and "0 of 1" in page
    assert "/demonstrations/person/beside/idle" in page and "changed after this" not in page
    put(lea, outcome(TOLD))
    assert "The checks were changed after this" in lea.get(PAGE).text


def test_what_an_agent_answered_is_not_known(app, lea):
    assert put(lea, outcome(ORDERED, SAID)).status_code == 400  # the person said nothing either: it holds at the start
    answer = {"kind": "any", "checks": [{"kind": "answer", "match": {"exact": ["Yes"]}}, TOLD]}
    assert put(lea, outcome(answer)).status_code == 200
    rows = {row["id"]: row for row in tried(app, lea)["rows"]}
    assert rows["idle"]["holds"] is None and "was not recorded" in rows["idle"]["checks"][0]["reason"]
    assert rows["able"]["holds"] is True


@pytest.mark.usefixtures("db_url")
def test_one_that_cannot_be_tried_stops_no_other(fresh, tmp_path):
    services, lea = fresh.extensions["demotape"], signed_in(fresh, "lea")
    import_recording(services.db, services.store, make_recording(tmp_path, task="test"))  # it shows no page
    put(lea, outcome(ORDERED))
    rows = {row["id"]: row for row in tried(fresh, lea)["rows"]}
    assert len(rows) == 4 and "contains no recorded page" in rows["rec-1"]["failed"]
    assert str(tmp_path) not in rows["rec-1"]["failed"] and "contains no recorded page" in lea.get(PAGE).text
    assert lea.get("/api/demonstrations/idle/outcome/trial").status_code == 404


def test_two_sessions_are_shown_beside_each_other(lea):
    page = lea.get("/demonstrations/person/beside/idle").text
    assert "They diverge after 2 common actions" in page and "agent idler 1" in page and page.count('id="parts"') == 1
    assert "Both sessions are equal" in lea.get("/demonstrations/person/beside/able").text


@pytest.mark.parametrize("sent, field, told", [
    ({"new": "text", "css": "p[[", "includes": "x"}, "css", "Selector"),
    ({"new": "picture", "css": "#nothing"}, "css", "has a picture"),
    ({"new": "url", "includes": "/basket"}, "check", "fails at the recorded end"),
    ({"new": "url", "includes": "/orders", "negated": "yes"}, "check", "the negated check passes"),
    ({"new": "url", "includes": "/basket", "negated": "yes"}, "check", "before any action"),
    ({"new": "text", "css": "h1", "excludes": "x"}, "check", "before any action")])
def test_what_is_wrong_is_told_beside_its_field(lea, sent, field, told):
    answer = send(lea, op="save", **sent)
    assert answer.status_code == 400 and kept(lea) is None
    said = answer.text.partition(f'id="error-{field}"')[2].partition("</p>")[0]
    assert told in said, answer.text
    for value in (sent[name] for name in ("css", "includes", "excludes") if name in sent):
        assert value in answer.text  # nothing that was written is lost


def test_checks_are_written_by_forms(lea):
    sent = {"method": "post", "includes": "/orders", "body": "lamp = Floor lamp", "status": "200"}
    check = {"kind": "request", "method": "POST", "match": {"includes": [["/orders"]]}, "status": 200,
             "body": {"lamp": {"exact": ["Floor lamp"]}}}
    assert send(lea, op="save", new="request", **sent).status_code == 303 and kept(lea) == outcome(check)
    assert "\nlamp = Floor lamp</textarea>" in lea.get(f"{PAGE}?edit=checks.0").text
    assert send(lea, op="save", edit="checks.0", **sent).status_code == 303 and kept(lea) == outcome(check)


def test_the_picture_at_the_end_is_taken(lea):
    assert send(lea, op="save", new="picture", css="#told", least="0.5").status_code in (303, 400)
    answer = send(lea, op="save", new="picture", least="0.999")
    assert answer.status_code == 303, answer.text
    check = kept(lea)["checks"][-1]
    assert check["least"] == 0.999 and lea.get(f"/blobs/person/{check['picture']}").status_code == 200


def test_what_a_form_cannot_say_stays(lea):
    check = {"kind": "text", "css": "#told", "match": {"includes": [["Floor\nlamp", "a || b", "Floor lamp"]],
                                                       "value": {"type": "string", "patterns": [".*lamp"]}}}
    put(lea, outcome(check))
    page = lea.get(f"{PAGE}?edit=checks.0").text
    assert "Additional condition: it is as a string" in page
    shown = page.partition('name="includes"')[2].partition(">")[2].partition("</textarea>")[0].removeprefix("\n")
    assert send(lea, op="save", edit="checks.0", css="p#told", includes=shown).status_code == 303
    assert kept(lea) == outcome(check | {"css": "p#told"})


def test_checks_are_arranged_on_the_page(lea):
    put(lea, outcome(ORDERED, TOLD))
    steps = [({"op": "down", "place": "checks.0"}, [TOLD, ORDERED]),
             ({"op": "up", "place": "checks.1"}, [ORDERED, TOLD]),
             ({"op": "combine", "kind": "any", "place": ["checks.0", "checks.1"]},
              [{"kind": "any", "checks": [ORDERED, TOLD]}]),
             ({"op": "save", "new": "url", "within": "checks.0", "includes": "/other"},
              [{"kind": "any", "checks": [ORDERED, TOLD, {"kind": "url", "match": {"includes": [["/other"]]}}]}]),
             ({"op": "remove", "place": "checks.0.2"}, [{"kind": "any", "checks": [ORDERED, TOLD]}]),
             ({"op": "save", "edit": "checks.0", "kind": "all"}, [{"kind": "all", "checks": [ORDERED, TOLD]}]),
             ({"op": "apart", "place": "checks.0"}, [ORDERED, TOLD]),
             ({"op": "remove", "place": "checks.0"}, [TOLD])]
    for sent, checks in steps:
        answer = send(lea, **sent)
        assert answer.status_code == 303, answer.text
        assert kept(lea)["checks"] == checks
    assert send(lea, op="save", new="url", when="way", name="At the orders", includes="/orders").status_code == 303
    assert kept(lea)["checkpoints"] == [{"name": "At the orders", "check": ORDERED}]
    for sent, told in (({"op": "remove", "place": "checks.0"}, "Checkpoints alone"),
                       ({"op": "melt"}, "unknown operation"),
                       ({"op": "up", "place": "checks.7"}, "no longer exists"), ({"op": "keep"}, "select at least one"),
                       ({"op": "keep", "check": "[[["}, "not a check"), ({"op": "keep", "check": "{}"}, "kind")):
        answer = send(lea, **sent)
        assert answer.status_code == 400 and told.lower() in answer.text.lower()
    assert send(lea, op="remove", place="checkpoints.0").status_code == 303
    assert send(lea, op="remove", place="checks.0").status_code == 303 and kept(lea) is None


def test_what_a_check_says_is_never_markup(lea):
    hostile = "<img src=x onerror=alert(1)>"
    assert put(lea, outcome(TOLD | {"match": {"includes": [["Floor lamp", hostile]]}})).status_code == 200
    for address in (PAGE, f"{PAGE}?edit=checks.0", "/demonstrations/person/changes"):
        page = lea.get(address).text
        assert "&lt;img src=x" in page and "<img src=x" not in page


@pytest.mark.usefixtures("lea")
def test_the_page_is_worked_by_keyboard(app, browser):
    with serving(app) as address:
        page = opened(browser, [])
        page.goto(f"{address.rstrip('/')}{PAGE}")
        for name, value in (("name", "lea"), ("password", PASSWORD)):
            page.locator(f"#{name}").fill(value)
        follow(page, page.locator("#password"))
        follow(page, page.get_by_role("link", name="Propose"))
        page.locator("[name=check]").last.press("Space")
        follow(page, page.get_by_role("button", name="Save selected"))
        expect(page.locator(".outcome-check")).to_have_count(1)
        page.get_by_label("Kind").press("Home")
        follow(page, page.get_by_role("button", name="Write"))
        follow(page, page.get_by_role("link", name="Choose an element of the last page"))
        assert sound(page)
        follow(page, page.get_by_role("link", name="Thanks", exact=True))
        expect(page.get_by_label("Element (CSS selector)")).to_have_value("h1")
        page.get_by_label("Element (CSS selector)").fill("h1[")
        follow(page, page.get_by_role("button", name="Save"))
        expect(page.get_by_label("Element (CSS selector)")).to_have_attribute("aria-invalid", "true")
        assert sound(page)
        page.get_by_label("Element (CSS selector)").fill("h1")
        follow(page, page.get_by_role("button", name="Save"))
        expect(page.get_by_text("Saved.")).to_be_visible()
        for box in page.get_by_label("Select: ").all():
            box.press("Space")
        follow(page, page.get_by_role("button", name="Group"))
        expect(page.locator(".outcome-checks .outcome-checks > li")).to_have_count(2)
        follow(page, page.get_by_role("button", name="Try", exact=True))
        link = page.get_by_role("link", name="Done: 3 sessions")
        expect(link).to_be_visible(timeout=90_000)
        follow(page, link)
        expect(page.locator(".trial tbody tr")).to_have_count(3)
        assert sound(page)
        follow(page, page.locator("a[href$='beside/idle']"))
        expect(page.locator("#parts")).to_be_visible()
        assert sound(page)
        page.context.close()


def follow(page, locator):
    """Press Enter on it, and wait for the page that comes."""
    with page.expect_navigation():
        locator.press("Enter")


def sound(page) -> bool:
    """Whether nothing is wider than the window on a phone, where axe finds nothing in the dark; `test_pages` looks at
    other widths."""
    page.set_viewport_size({"width": 390, "height": 800})
    page.emulate_media(color_scheme="dark")
    assert problems(page) == []
    return page.evaluate("document.documentElement.scrollWidth <= innerWidth")
