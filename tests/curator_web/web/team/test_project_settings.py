"""The page of a project's settings without scripts, and the same by the API: for its leads."""

import io
import json

import pytest

from curator_web import create_app
from curator_web.demonstrations.library.library import import_recording
from curator_web.users import project_settings
from pipeline.checks import all_kinds
from schemas import BROWSER_INTENTS
from tests.support.curator.curator_fixtures import make_recording
from tests.support.curator.team_fixtures import add_people, csrf, signed_in

PAGE = "/projects/main/settings"
API = "/api/projects/main/settings"


@pytest.fixture
def app(tmp_path):
    app = create_app(data_dir=tmp_path / "data")
    app.tokens = add_people(app)
    services = app.extensions["demotape"]
    import_recording(services.db, services.store, make_recording(tmp_path))
    yield app
    services.jobs.close()
    services.db.close()


@pytest.fixture
def db(app):
    return app.extensions["demotape"].db


@pytest.fixture
def save(app):
    """Send a form of the page as lea."""
    lea = signed_in(app, "lea")
    token = csrf(lea, PAGE)

    def save(part: str, **form):
        return lea.post(PAGE, data={"csrf_token": token, "part": part} | form)
    return save


def test_each_part_of_the_page_sets_its_own(app, db, save):
    ticked = [intent for intent in BROWSER_INTENTS if intent not in ("hover", "click")]
    answer = save("intents", intent=ticked)
    assert (answer.status_code, answer.headers["Location"]) == (303, f"{PAGE}#intents")
    save("checks", check=[kind for kind in all_kinds() if kind != "typo"])
    save("review", steps="1")
    save("consent", ask="person")
    save("splits", seed="7", valid="0.2", test_iid="", near_duplicates="0.5", test_web="a.example, b.example",
         test_cat="0.25", test_geo="", test_vis="0")
    told = project_settings.settings_fields(db, "main")
    rule = told.pop("splits")
    assert told == {"unused_intents": ["click", "hover"], "unused_checks": ["typo"], "review_steps": 1,
                    "training_first": False, "pass_mark": 0.8, "consent_prompt": "person"}
    assert rule | {"websites": {}, "demonstrations": {}} == rule == {
        "by": "", "seed": 7, "valid": 0.2, "test_iid": 0.0, "near_duplicates": 0.5, "test_cat": 0.25, "test_geo": 0.0,
        "test_web": ["a.example", "b.example"], "test_vis": 0.0, "websites": {}, "demonstrations": {}}
    page = signed_in(app, "lea").get(PAGE).text
    assert 'name="intent" value="hover" >' in page and 'value="a.example, b.example"' in page
    file = {"seed": 3, "websites": {"a.example": {"category": "shop"}}}
    save("splits", seed="9", file=(io.BytesIO(json.dumps(file).encode()), "rule.json"))
    assert project_settings.split_rule(db, "main")["seed"] == 3
    save("splits", seed="4", valid="0.1", test_iid="0.1", near_duplicates="0.75")  # what the file told stays
    assert project_settings.split_rule(db, "main")["websites"] == file["websites"]
    save("splits", none="yes")
    assert project_settings.split_rule(db, "main") is None


@pytest.mark.parametrize(("part", "form", "said"), [
    ("intents", {}, "Select at least one intent."), ("review", {"steps": "9"}, "field review_steps"),
    ("splits", {"seed": "x"}, "Field seed: &#39;x&#39; is not a whole number"),
    ("splits", {"valid": "much"}, "Field valid: &#39;much&#39; is not a number"),
    ("splits", {"valid": "nan"}, "field splits.valid"), ("splits", {"test_web": "2"}, "field splits.test_web"),
    ("splits", {"file": (io.BytesIO(b"{"), "x.json")}, "the split rule is not JSON"),
    ("splits", {"file": (io.BytesIO(b"[]"), "x.json")}, "field splits"), ("moon", {}, "Field part"),
])
def test_what_cannot_be_is_refused_with_its_field(save, db, part, form, said):
    answer = save(part, **form)
    assert answer.status_code == 400 and said in answer.text, answer.text
    assert project_settings.settings_fields(db, "main")["splits"] is None


def test_only_leads_see_and_change_the_page_and_members_read_by_the_api(app, db):
    for name in ("ann", "val"):
        client = signed_in(app, name)
        token = csrf(client, "/")
        assert client.get(PAGE).status_code == 403
        assert client.post(PAGE, data={"csrf_token": token, "part": "review", "steps": "1"}).status_code == 403
        headers = {"Authorization": f"Bearer {app.tokens[name]}"}
        assert client.put(API, json={"review_steps": 1}, headers=headers).status_code == 403
        assert app.test_client().get(API, headers=headers).json == {
            "answers_shown": False, "unused_intents": [], "unused_checks": [], "review_steps": 2,
            "training_first": False, "pass_mark": 0.8, "consent_prompt": "session", "splits": None}
        assert "/settings" not in client.get("/projects/main").text
    assert project_settings.read(db, "main").review_steps == 2


def test_the_api_sets_what_it_is_given(app):
    client, headers = app.test_client(), {"Authorization": f"Bearer {app.tokens['lea']}"}
    given = {"unused_intents": ["hover"], "unused_checks": ["typo"], "splits": {"seed": 5}}
    answer = client.put(API, json=given, headers=headers)
    assert answer.status_code == 200 and answer.json["splits"]["seed"] == 5 and answer.json["review_steps"] == 2
    again = client.put(API, json={"review_steps": 3, "answers_shown": True}, headers=headers).json
    assert again == answer.json | {"review_steps": 3, "answers_shown": True}
    assert client.put(API, json=again, headers=headers).json == again  # what it answers can be sent
    for wrong in ({"review_steps": 0}, {"unused_intents": ["fly"]}, {"unused_checks": ["moon"]}, {"other": 1},
                  {"splits": {"valid": 0.9, "test_iid": 0.9}}, {"answers_shown": None}):
        refused = client.put(API, json=wrong | {"review_steps": 1} if "review_steps" not in wrong else wrong,
                             headers=headers)
        assert refused.status_code in (400, 422), refused.json
    assert client.get(API, headers=headers).json == again
    edit = {"version": 1, "edit": {"op": "set_intent", "turn": "t3", "intent": "hover", "arguments": {
        "x": 1, "y": 1, "button": 0, "modifiers": [], "keyboard": False}}}
    refused = client.post("/api/demonstrations/rec-1/edits", json=edit, headers=headers)
    assert refused.status_code == 400 and "hover is not in use in this project" in refused.json["message"]


def test_the_review_page_and_the_list_offer_what_is_in_use(app, db, save):
    lea = signed_in(app, "lea")
    token = csrf(lea)
    before = lea.get("/").text
    assert 'value="typo"' in before and 'value="unused-intent"' not in before
    save("intents", intent=[intent for intent in BROWSER_INTENTS if intent not in ("hover", "click")])
    save("checks", check=[kind for kind in all_kinds() if kind != "typo"])
    listed = lea.get("/").text
    assert 'value="typo"' not in listed and 'value="unused-intent"' in listed
    page = lea.get("/demonstrations/rec-1?turn=t3").text
    assert "<option >hover</option>" not in page and 'value="click" selected>click (not in use)</option>' in page
    assert "The intent click is not in use in this project." in page
    form = {"csrf_token": token, "version": 1, "op": "set_intent", "turn": "t3", "intent": "hover"}
    refused = lea.post("/demonstrations/rec-1/edits", data=form)
    assert refused.status_code == 400 and "hover is not in use in this project" in refused.text
    save("review", steps="1")
    assert "Submit as approved" in lea.get("/demonstrations/rec-1?turn=t3").text
