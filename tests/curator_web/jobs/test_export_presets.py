"""Export presets, on the page without scripts and by the API; and the split rule of exports that name none."""

import io
import json
import re

import pytest

from curator_web import create_app
from curator_web.db.models.core import AuditLine
from curator_web.db.models.project_settings_models import ExportPreset
from curator_web.demonstrations.library.library import import_recording
from curator_web.errors import InputError
from curator_web.jobs import export_presets, recounts
from curator_web.users import Account, projects
from tests.support.curator.curator_fixtures import make_recording
from tests.support.curator.team_fixtures import LEA, VAL, add_people, csrf, signed_in

PRESETS = "/api/export-presets"
GIVEN = {"format": "chat", "status": "approved", "grammar": "weblinx", "intents": ["click", "load"], "names": True,
         "labels": {"size": "s"}, "since": "2025-01-02", "splits": {"seed": 4}}


@pytest.fixture
def app(tmp_path):
    app = create_app(data_dir=tmp_path / "data")
    app.tokens = add_people(app)
    services = app.extensions["demotape"]
    services.jobs.start = lambda: None  # nothing is exported
    import_recording(services.db, services.store, make_recording(tmp_path))
    yield app
    services.db.close()


@pytest.fixture
def db(app):
    return app.extensions["demotape"].db


@pytest.fixture
def api(app):
    """Ask the API as somebody; returns the answer."""
    def api(method: str, address: str, body=None, name: str = "lea"):
        headers = {"Authorization": f"Bearer {app.tokens[name]}"}
        return app.test_client().open(address, method=method, json=body, headers=headers)
    return api


def asked(app) -> dict:
    """What the newest export was asked for."""
    return app.extensions["demotape"].jobs.latest("export")[0].arguments


def test_a_preset_is_saved_listed_used_renamed_and_deleted_by_the_api(app, api, db):
    made = api("POST", PRESETS, {"name": " Papers ", "options": GIVEN})
    assert made.status_code == 201 and made.json["name"] == "Papers" and made.json["problem"] == ""
    assert api("GET", PRESETS).json == [made.json] and made.json["options"]["splits"]["valid"] == 0.1
    assert api("POST", "/api/exports", {"preset": "Papers"}).status_code == 202
    assert "actors" not in made.json["options"]
    assert asked(app) == made.json["options"] | {"actors": ["person", "unknown"]}
    assert asked(app)["since"] == "2025-01-02"
    assert api("POST", "/api/exports", {"preset": "Papers", "status": None, "splits": None}).status_code == 202
    assert asked(app) == made.json["options"] | {"status": None, "splits": None, "actors": ["person", "unknown"]}
    again = api("POST", PRESETS, {"name": "Papers", "options": {"format": "weblinx"}})
    assert again.json["id"] == made.json["id"] and again.json["options"]["format"] == "weblinx"
    other = api("POST", PRESETS, {"name": "Other", "options": {"format": "parquet"}}).json["id"]
    taken = api("PUT", f"{PRESETS}/{other}", {"name": "Papers"})
    assert taken.status_code == 400 and "the preset 'Papers' already exists" in taken.json["message"]
    renamed = api("PUT", f"{PRESETS}/{other}", {"name": "More", "options": {"format": "chat"}})
    assert (renamed.json["name"], renamed.json["options"]["format"]) == ("More", "chat")
    assert api("DELETE", f"{PRESETS}/{other}").status_code == 204
    assert [each["name"] for each in api("GET", PRESETS).json] == ["Papers"]
    assert api("DELETE", f"{PRESETS}/{other}").status_code == 404
    with db.reading() as session:
        noted = [line.what for line in session.query(AuditLine) if line.what.startswith("preset")]
    assert noted == ["preset saved"] * 3 + ["preset changed", "preset removed"]


@pytest.mark.parametrize(("method", "address", "body", "said"), [
    ("POST", "/api/exports", {"preset": "Nope"}, "unknown preset 'Nope'; this project has no presets"),
    ("POST", "/api/exports", {}, "field format"),
    ("POST", "/api/exports", {"format": "weblinx", "splits": {"valid": 0.9, "test_iid": 0.9}}, "field valid"),
    ("POST", PRESETS, {"name": "  ", "options": {"format": "weblinx"}}, "Field name: 1 to 60"),
    ("POST", PRESETS, {"name": "x", "options": {"format": "weblinx", "splits": {"by": "moon"}}},
     "Unknown split rule 'moon'"),
    ("POST", PRESETS, {"name": "x", "options": {"format": "weblinx", "splits": {
        "websites": {f"{number}.example": {"category": "x" * 900} for number in range(250)}}}}, "more than 200,000"),
])
def test_what_cannot_be_is_refused(api, db, method, address, body, said):
    answer = api(method, address, body)
    assert answer.status_code == 400 and said in answer.json["message"], answer.json
    assert export_presets.presets(db, LEA) == []


def test_only_leads_have_presets(api, db, app):
    number = export_presets.save(db, LEA, "Papers", GIVEN).id
    for name in ("ann", "val"):
        for method, address, body in (("GET", PRESETS, None), ("POST", PRESETS, {"name": "x", "options": GIVEN}),
                                      ("PUT", f"{PRESETS}/{number}", {"name": "x"}),
                                      ("DELETE", f"{PRESETS}/{number}", None)):
            assert api(method, address, body, name).status_code == 403
        client = signed_in(app, name)
        form = {"csrf_token": csrf(client, "/"), "name": "x", "format": "chat"}
        for address in ("/exports/presets", f"/exports/presets/{number}", f"/exports/presets/{number}/remove"):
            assert client.post(address, data=form).status_code == 403
    with pytest.raises(Exception, match="only a lead"):
        export_presets.save(db, VAL, "x", GIVEN)
    assert [each.name for each in export_presets.presets(db, LEA)] == ["Papers"]


def test_a_preset_of_another_project_is_not_there(api, db):
    projects.add(db, "b", "Second", Account("lea", "lead", manages=True))
    export_presets.save(db, Account("lea", "lead", project="b"), "Papers", GIVEN)
    refused = api("POST", "/api/exports?project=main", {"preset": "Papers"})
    assert refused.status_code == 400 and "unknown preset 'Papers'" in refused.json["message"]
    assert api("GET", f"{PRESETS}?project=main").json == []


def test_a_preset_that_is_not_valid_any_more_says_what_and_what_to_do(api, app, db):
    number = export_presets.save(db, LEA, "Papers", GIVEN).id
    with db.writing() as session:
        row = session.get_one(ExportPreset, number)
        row.content = row.content | {"format": "gone"}
    refused = api("POST", "/api/exports", {"preset": "Papers"})
    said = refused.json["message"]
    assert refused.status_code == 400 and said.startswith("Preset 'Papers': field format: Must be one of")
    assert said.endswith("it was valid when the preset was saved: choose another value and save the preset again, "
                         "or delete it.")
    assert api("GET", PRESETS).json[0]["problem"].startswith("preset 'Papers': field format")
    page = signed_in(app, "lea").get(f"/exports?preset={number}").text
    assert "Papers (not valid)" in page and page.count("save the preset again") == 2


def test_the_page_has_the_options_of_a_preset_and_saves_them(app, db):
    lea = signed_in(app, "lea")
    token = csrf(lea, "/exports")
    assert "All presets" not in lea.get("/exports").text
    form = {"csrf_token": token, "name": "For <papers>", "format": "chat", "status": "approved", "grammar": "weblinx",
            "intents": ["click", "load"], "names": "true", "labels": "size=s", "since": "2025-01-02",
            "websites": "a.example, b.example",
            "splits": (io.BytesIO(json.dumps({"seed": 4}).encode()), "rule.json")}
    answer = lea.post("/exports/presets", data=form)
    number = export_presets.presets(db, LEA)[0].id
    assert (answer.status_code, answer.headers["Location"]) == (303, f"/exports?preset={number}")
    page = lea.get(f"/exports?preset={number}").text
    assert "For &lt;papers&gt;" in page and "<papers>" not in page
    for shown in ('<option selected>chat<', '<option value="approved" selected>', 'value="size=s"',
                  'value="a.example, b.example"', 'value="2025-01-02"', '<option value="preset" selected>',
                  '<option selected>weblinx<'):
        assert shown in page, shown
    assert re.findall(r'name="([a-z_]+)" value="([a-z_A-Z]+)" checked', page) == [
        ("actors", "person"), ("actors", "unknown"), ("intents", "click"), ("intents", "load"), ("names", "true")]
    changed = {"csrf_token": token, "preset": number, "split_from": "preset", "format": "weblinx"}
    assert lea.post("/exports", data=changed).status_code == 303
    assert (asked(app)["format"], asked(app)["splits"]["seed"]) == ("weblinx", 4)
    assert lea.post("/exports", data=changed | {"name": "Begun"}).status_code == 303
    assert [each.name for each in export_presets.presets(db, LEA)] == ["Begun", "For <papers>"]
    assert lea.post(f"/exports/presets/{number}", data={"csrf_token": token, "name": "Papers"}).status_code == 303
    assert lea.post(f"/exports/presets/{number}/remove", data={"csrf_token": token}).status_code == 303
    assert [each.name for each in export_presets.presets(db, LEA)] == ["Begun"]
    assert lea.get(f"/exports?preset={number}").status_code == 404
    wrong = lea.post("/exports", data={"csrf_token": token, "format": "chat", "split_from": "file"})
    assert wrong.status_code == 400 and "choose the JSON file" in wrong.text


def test_exports_have_the_projects_split_rule_unless_they_name_another(app, api, db):
    lea = signed_in(app, "lea")
    form = {"csrf_token": csrf(lea, "/exports"), "format": "chat"}
    api("POST", "/api/exports", {"format": "chat"})
    assert asked(app)["splits"] is None and 'value="project"' not in lea.get("/exports").text
    recounts.change_settings(db, app.extensions["demotape"].jobs, LEA, {"splits": {"seed": 9, "test_web": 0.5}})
    assert '<option value="project" selected>' in lea.get("/exports").text
    api("POST", "/api/exports", {"format": "chat"})
    assert (asked(app)["splits"]["seed"], asked(app)["splits"]["test_web"]) == (9, 0.5)
    for given, seed in (({"split_from": "project"}, 9), ({"split_from": "none"}, None), ({}, 9)):
        lea.post("/exports", data=form | given)
        assert (asked(app)["splits"] or {}).get("seed") == seed
    for given in ({"splits": None}, {"splits": {"seed": 1}}):
        api("POST", "/api/exports", {"format": "chat"} | given)
        assert (asked(app)["splits"] or {}).get("seed") == (given["splits"] or {}).get("seed")
    export_presets.save(db, LEA, "Usual", {"format": "chat"})
    api("POST", "/api/exports", {"preset": "Usual"})
    assert asked(app)["splits"]["seed"] == 9
    with pytest.raises(InputError, match="field preset"):
        export_presets.export_arguments(db, "main", {"preset": "x"})
