"""Projects: nobody sees one that they are not in, whatever they ask; each has its own list, labels and exports."""

import re
from collections.abc import Iterator

import pytest

from curator_web import create_app, users
from curator_web.demonstrations.leases import leases
from curator_web.demonstrations.library import labels
from curator_web.demonstrations.library.library import import_recording, listed
from curator_web.demonstrations.listing import comments, deleting, saved_filters
from curator_web.demonstrations.listing.listing import Filter
from curator_web.errors import InputError
from curator_web.jobs import export_presets
from curator_web.tasks import bank
from curator_web.users import Account, projects
from demotape.importing import import_package
from tests.support.curator.curator_fixtures import make_recording

ROLES = ("annotator", "validator", "lead")
LABEL = {"name": "success", "scope": "demonstration", "kind": "single", "options": ["yes"], "hint": ""}
BOSS = Account("boss", "lead", project="b", manages=True)
# What is of no project, or of all who have an account.
OF_NONE = re.compile(
    r"/(static|vendor|sign-in|sign-out|language|account|people|openid|api/(account|token|openapi\.json))\b")


@pytest.fixture(scope="module")
def two(tmp_path_factory, request):
    """An app with projects a and b, somebody of each role in a alone, and all there is to ask for in b."""
    folder = tmp_path_factory.mktemp("projects")
    app = create_app(data_dir=folder / "data", import_package=import_package)
    app.config.update(TESTING=True)
    services = app.extensions["demotape"]
    db, store = services.db, services.store
    tokens = {"boss": users.add_user(db, "boss", "lead")}
    projects.add(db, "b", "Second", Account("boss", "lead", manages=True))
    for role in ROLES:
        tokens[role] = users.add_user(db, f"{role}-a", role, project="main")
    users.add_user(db, "other", "annotator", project="b")
    import_recording(db, store, make_recording(folder), project="main")
    recording = make_recording(folder, recording_id="rec-b")
    import_recording(db, store, recording, project="b")
    said = comments.add_comment(db, "rec-b", BOSS, "secret words")
    labels.define(db, [LABEL], BOSS)
    projects.write_guidelines(db, "# Secret rules", BOSS)
    task, = bank.propose(db, BOSS, [{"text": "Secret task"}])
    kept = saved_filters.save(db, BOSS, "Secret filter", Filter(status="draft"), shared=True)
    import_recording(db, store, make_recording(folder, recording_id="rec-gone", task="Secret and deleted"), project="b")
    comments.add_comment(db, "rec-b", Account("other", "annotator", project="b"), "@boss secret")
    services.webhooks.add(BOSS, "https://secret.example/hook", ["comment.added"])
    comments.add_comment(db, "rec-b", BOSS, "secret again")
    batch = deleting.delete(db, ["rec-gone"], BOSS)
    job = services.jobs.add("export", "boss", {"format": "weblinx"}, project="b")
    blob = next((recording / "blobs").glob("*/*")).name
    app.extensions["asked"] = {"demonstration_id": "rec-b", "recording_id": "rec-b", "sha256": blob, "project": "b",
                               "comment_id": said.id, "job_id": job, "task_id": task.id, "filter_id": kept.id,
                               "batch": batch, "notification_id": 1, "webhook_id": 1, "delivery_id": 1,
                               "preset_id": export_presets.save(db, BOSS, "Secret", {"format": "weblinx"}).id,
                               "who": "other", "other": "rec-b", "step": "disable"}
    yield app, tokens
    services.jobs.close()
    db.close()


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def asked(app) -> Iterator[tuple[str, str]]:
    """Every method and address that there is, of what is in project b."""
    given = app.extensions["asked"]
    with app.test_request_context():
        for rule in app.url_map.iter_rules():
            values = {name: given.get(name, 1 if "int:" in rule.rule else "x") for name in rule.arguments}
            address = app.url_map.bind("localhost").build(rule.endpoint, values, method=None)
            if OF_NONE.match(address):
                continue
            for method in sorted((rule.methods or set()) - {"HEAD", "OPTIONS"}):
                yield method, f"{address}?project=b"
                if set(rule.arguments) & (set(given) - {"who"}):
                    yield method, f"{address}?project=main"


@pytest.mark.parametrize("role", ROLES)
def test_nobody_of_another_project_gets_anything(two, role):
    """Every page and every operation, with what they would need: answered as if it were not there."""
    app, tokens = two
    client, answers = app.test_client(), {}
    addresses = list(asked(app))
    assert len(addresses) > 50 and any("project=b" in address for _, address in addresses)
    for method, address in addresses:
        if address in ("/projects?project=b", "/api/projects?project=b", "/healthz?project=b", "/readyz?project=b",
                       "/room-links/x?project=b"):  # for whoever has the link
            continue
        answer = client.open(address, method=method, headers=bearer(tokens[role]),
                             json={} if address.startswith("/api/") and method != "GET" else None)
        answers[method, address] = answer.status_code
        assert b"secret" not in answer.data.lower() and b"Second" not in answer.data, (method, address)
    assert {key: code for key, code in answers.items() if code not in (403, 404)} == {}
    found = [client.get(address, headers=bearer(tokens["boss"])).status_code
             for method, address in addresses if method == "GET"]
    assert found.count(200) > 20  # which are there to be had


def test_the_list_of_projects_is_ones_own(two):
    app, tokens = two
    client = app.test_client()
    mine = client.get("/api/projects", headers=bearer(tokens["lead"]))
    assert [(each["id"], each["role"]) for each in mine.json] == [("main", "lead")]
    assert b"Second" not in client.get("/projects", headers=bearer(tokens["lead"])).data
    both = client.get("/api/projects", headers=bearer(tokens["boss"]))
    assert [each["id"] for each in both.json] == ["main", "b"]
    for name in ("main", "b"):
        again = client.post("/api/projects", json={"id": name, "name": "Again"}, headers=bearer(tokens["boss"]))
        assert again.status_code == 400 and "is already in use" in again.json["message"]
    for role in ("annotator", "validator"):
        made = client.post("/api/projects", json={"id": "c", "name": "C"}, headers=bearer(tokens[role]))
        assert made.status_code == 403


def test_what_is_of_another_project_is_not_changed_among_what_is_ones_own(two):
    app, tokens = two
    client = app.test_client()
    given = {"ids": ["rec-1", "rec-b"], "to": "annotator-a"}
    assert client.post("/api/assignments", json=given, headers=bearer(tokens["lead"])).status_code == 404
    answer = client.post("/api/assignments", json={"ids": ["rec-1"], "to": "other"}, headers=bearer(tokens["lead"]))
    assert answer.status_code == 400 and "unknown member 'other'" in answer.json["message"]
    sent = client.post("/api/next", json={}, headers=bearer(tokens["annotator"]))
    assert sent.json["demonstration"]["id"] == "rec-1"
    assert client.post("/api/next", json={"after": "rec-1"}, headers=bearer(tokens["annotator"])).json == {
        "demonstration": None}


def test_who_is_in_several_names_one(two):
    app, tokens = two
    client, boss = app.test_client(), bearer(tokens["boss"])
    unnamed = client.get("/api/demonstrations", headers=boss)
    assert unnamed.status_code == 400 and "choose one of your projects: main, b" in unnamed.json["message"]
    for project, name in (("main", "rec-1"), ("b", "rec-b")):
        listed = client.get(f"/api/demonstrations?project={project}", headers=boss)
        assert [row["id"] for row in listed.json["demonstrations"]] == [name]
    assert client.get("/api/labels?project=b", headers=boss).json == {"labels": [LABEL]}
    assert client.get("/api/labels?project=main", headers=boss).json == {"labels": []}
    turns = client.get("/api/demonstrations/rec-b/turns", headers=boss)
    assert turns.status_code == 200  # what is named needs no project
    page = client.get("/", headers=boss)
    assert page.status_code == 303 and page.location.endswith("/projects")
    shown = client.get("/?project=b", headers=boss).text
    assert "Second" in shown and 'name="project" value="b"' in shown
    views = "dashboard|exports|labels|import|next|assign|questions"
    links = set(re.findall(rf'(?:href|action|hx-get)="(/(?:{views})?(?:\?[^"]*)?)"', shown))
    assert links and all("project=b" in link for link in links), links
    labelled = {"version": 1, "edit": {"op": "label", "label": "success", "said": ["yes"]}}
    assert client.post("/api/demonstrations/rec-1/edits", json=labelled, headers=boss).status_code == 400


def test_demonstrations_are_moved_by_who_leads_both(two, tmp_path):
    app, tokens = two
    client, boss, services = app.test_client(), bearer(tokens["boss"]), app.extensions["demotape"]
    import_recording(services.db, services.store, make_recording(tmp_path, recording_id="rec-c"), project="main")
    assert client.post("/api/next?project=main", json={}, headers=boss).json["demonstration"] is None
    given = {"ids": ["rec-c"], "to": "b"}
    for role, code in (("annotator", 403), ("validator", 403), ("lead", 400)):  # who leads the one alone learns nothing
        assert client.post("/api/moves", json=given, headers=bearer(tokens[role])).status_code == code
    both = {"ids": ["rec-c", "rec-b"], "to": "b"}
    assert client.post("/api/moves?project=main", json=both, headers=boss).status_code == 404
    assert client.post("/api/moves?project=main", json=given, headers=boss).json == {"changed": 1}
    listed = client.get("/api/demonstrations?project=b", headers=boss).json["demonstrations"]
    assert {row["id"] for row in listed} == {"rec-b", "rec-c"}
    assert client.get("/api/demonstrations/rec-c", headers=bearer(tokens["lead"])).status_code == 404
    page = client.get("/?project=b", headers=boss).text
    assert 'formaction="/move?project=b"' in page
    assert client.post("/api/moves?project=b", json={"ids": ["rec-c"], "to": "main"}, headers=boss).json["changed"] == 1


def test_members_come_and_go(two):
    app, _ = two
    db = app.extensions["demotape"].db
    projects.set_member(db, "b", "annotator-a", "annotator", BOSS)
    assert [place.id for place in projects.memberships(db, Account("annotator-a", "annotator"))] == ["main", "b"]
    leases.assign(db, ["rec-b"], "annotator-a", BOSS)
    assert leases.take_next(db, Account("annotator-a", "annotator", project="b")).id == "rec-b"
    projects.set_member(db, "b", "annotator-a", None, BOSS)
    given_back = listed(db, "rec-b")
    assert given_back.assigned_to is None and given_back.lease_who is None
    assert [place.id for place in projects.memberships(db, Account("annotator-a", "annotator"))] == ["main"]
    for who, role, said in (("boss", "annotator", "only lead"), ("boss", None, "only lead"),
                            ("nobody", "lead", "unknown user"), ("other", "king", "unknown role")):
        with pytest.raises(InputError, match=said):
            projects.set_member(db, "b", who, role, BOSS)


def test_a_name_is_text(two):
    app, tokens = two
    projects.rename(app.extensions["demotape"].db, "<script>alert(1)</script>", BOSS)
    for address in ("/projects", "/projects/b", "/projects/b/guidelines", "/?project=b", "/demonstrations/rec-b"):
        assert "<script>alert" not in app.test_client().get(address, headers=bearer(tokens["boss"])).text
    projects.rename(app.extensions["demotape"].db, "Second", BOSS)


def test_guidelines_are_text_in_versions(two):
    app, tokens = two
    db, client, boss = app.extensions["demotape"].db, app.test_client(), bearer(tokens["boss"])
    text = "# Rules\n\n<script>alert(1)</script> [x](javascript:alert(1)) ![i](http://out.example/i.png) **bold**"
    first = projects.newest_guidelines(db, "b").number
    made = client.post("/api/projects/b/guidelines", json={"text": text}, headers=boss)
    assert made.status_code == 201 and made.json["number"] == first + 1
    assert projects.write_guidelines(db, text, BOSS).number == first + 1  # nothing new in it
    page = client.get("/projects/b/guidelines", headers=boss).text
    body = page[page.index("<article"):page.index("</article>")]
    assert "<strong>bold</strong>" in body and "<script" not in body and "<img" not in body
    assert 'href="javascript' not in body
    old = client.get(f"/projects/b/guidelines?version={first}", headers=boss).text
    assert "Secret rules" in old and client.get("/projects/b/guidelines?version=99", headers=boss).status_code == 404
