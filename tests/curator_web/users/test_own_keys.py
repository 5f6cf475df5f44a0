"""Keys that people choose for themselves: which can be, what is in use, and that each has their own."""

import pytest

from curator_web.db.models.key_models import OwnKeys
from curator_web.errors import InputError
from curator_web.users import people, rename
from curator_web.users.own_keys import ACTIONS, BY_NAME, bound, keys_of, pressed, problems, read_key, save_keys, shown
from tests.support.curator.team_fixtures import csrf, signed_in

USUAL = {each.name: each.usual for each in ACTIONS}


def test_each_action_has_a_name_and_a_usual_key_of_its_own():
    assert len(BY_NAME) == len(ACTIONS) == len(set(USUAL.values()))
    assert problems({}) == {} == problems(USUAL) and pressed(USUAL) == {}
    assert [read_key(key) for key in USUAL.values()] == list(USUAL.values())
    assert [read_key(shown(key)) for key in USUAL.values()] == list(USUAL.values())


@pytest.mark.parametrize("written, key", [
    ("ö", "ö"), ("Ö", "Ö"), ("shift+ö", "Ö"), ("X", "Shift+X"), ("⇧ x", "Shift+X"), ("Shift x", "Shift+X"),
    (" x ", "x"), ("+", "+"), ("@", "@"), ("|", "|"), ("<", "<"), ('"', '"'), ("'", "'"), ("\\", "\\"), ("ж", "ж"),
    ("ß", "ß"), ("か", "か"), ("☺", "☺"), ("delete", "Delete"), ("f2", "F2"), ("alt+up", "Alt+ArrowUp"),
    ("Alt ↓", "Alt+ArrowDown")])
def test_a_key_is_the_character_that_it_gives(written, key):
    assert read_key(written) == key and read_key(key) == key


@pytest.mark.parametrize("written, why", [
    ("Tab", "need"), ("Escape", "need"), ("enter", "need"), ("Space", "need"), ("ArrowDown", "moves"),
    ("Shift+ArrowDown", "moves"), ("Home", "moves"), ("Insert", "screen readers"), ("CapsLock", "screen readers"),
    ("F5", "browser"), ("Shift+F2", "browser"), ("Ctrl+d", "browser"), ("Meta+d", "browser"), ("Alt+d", "browser"),
    ("5", "digits"), ("٣", "digits"), ("Shift+1", "digits"), ("Shift+;", "the character that"),
    ("Shift+ß", "with Shift"),
    ("", "not a key"), ("xy", "not a key"), ("Hyper+x", "not a key"), ("\u0301", "not a key"), ("\u200b", "not a key"),
    ("\x00", "not a key"), ("\u202e", "not a key"), ("__proto__", "not a key"),
    ("☺\ufe0f", "not a key"), ("\ufffd", "not a key"),
    ("\ud800", "not a key"), ("<b>", "not a key")])
def test_what_browser_or_screen_reader_needs_and_what_is_none_is_refused(written, why):
    with pytest.raises(InputError, match=why):
        read_key(written)


def test_a_key_that_is_in_use_names_its_use_and_two_may_be_exchanged():
    assert problems({"undo": "d"}) == {"undo": "the key d is in use: Drop or restore the turn"}
    assert problems({"drop": "u"}) == {"drop": "the key u is in use: Undo"}
    assert problems({"undo": "ö", "drop": "ö"}) == {"undo": "the key ö is in use: Drop or restore the turn"}
    assert problems({"undo": "d", "drop": "u"}) == {} == problems({"undo": "d", "drop": "ö"})
    assert problems({"undo": "x" * 21, "fly": "j"}).keys() == {"undo", "fly"}
    assert pressed(bound({"undo": "d", "drop": "ö"})) == {"u": "", "d": "u", "ö": "d"}


def test_a_key_that_was_chosen_before_an_action_had_it_stays_chosen():
    keys = bound({"undo": "Shift+M", "gone": "d"})
    assert (keys["undo"], keys["join"], keys["drop"]) == ("Shift+M", "", "d")
    assert pressed(keys) == {"u": "", "Shift+M": "u"}


def test_each_has_their_own_and_they_go_with_the_name(db):
    save_keys(db, "ann", {"drop": "⇧ ö", "undo": " ", "redo": "Shift+U"})
    assert keys_of(db, "ann") == USUAL | {"drop": "Ö"} and keys_of(db, "bob") == USUAL
    with db.reading() as session:
        assert session.get_one(OwnKeys, "ann").content == {"drop": "Ö"}
    with pytest.raises(InputError, match="field redo: the key ö is in use"):
        save_keys(db, "ann", {"drop": "ö", "redo": "ö"})
    assert keys_of(db, "ann")["drop"] == "Ö"
    rename(db, "ann", "anna")
    assert keys_of(db, "anna")["drop"] == "Ö" and keys_of(db, "ann") == USUAL
    people.remove(db, "anna")
    assert keys_of(db, "anna") == USUAL
    save_keys(db, "bob", {"drop": "ö"})
    save_keys(db, "bob", {})
    with db.reading() as session:
        assert session.get(OwnKeys, "bob") is None


def test_the_api_tells_and_keeps_the_keys_of_who_asks(app):
    client, ann = app.test_client(), {"Authorization": f"Bearer {app.extensions['tokens']['ann']}"}
    bob = {"Authorization": f"Bearer {app.extensions['tokens']['bob']}"}
    assert client.put("/api/keys", json={"keys": {"drop": "ö"}}, headers=ann).status_code == 200
    told = {each["action"]: each for each in client.get("/api/keys", headers=ann).json}
    assert told["drop"] == {"action": "drop", "does": "Drop or restore the turn", "key": "ö", "usual": "d"}
    assert {each["action"]: each["key"] for each in client.get("/api/keys", headers=bob).json} == USUAL
    for wrong in ({"keys": {"drop": "u"}}, {"keys": {"drop": "F5"}}, {"keys": {"drop": "x" * 21}},
                  {"keys": {"__proto__": "x"}}, {"keys": {"drop": 1}}, {"keys": {"drop": None}}, {"keys": []}, {},
                  {"keys": {}, "more": 1}):
        answer = client.put("/api/keys", json=wrong, headers=ann)
        assert answer.status_code in (400, 422), (wrong, answer.text)
    taken = client.put("/api/keys", json={"keys": {"drop": "u"}}, headers=ann)
    assert "ield drop: the key u is in use: Undo" in taken.json["message"]
    assert client.get("/api/keys").status_code == 401
    assert keys_of(app.extensions["demotape"].db, "ann")["drop"] == "ö"


def test_pages_show_and_say_the_own_keys_escaped(app):
    ann = signed_in(app, "ann")
    token = csrf(ann, "/keys")
    hostile = {"csrf_token": token, "key-next_demonstration": "<", "key-filter": '"', "key-drop": "'"}
    assert ann.post("/keys", data=hostile).status_code == 303
    page = ann.get("/").text
    assert '<kbd aria-hidden="true">&lt;</kbd>' in page and 'aria-keyshortcuts="&#34;"' in page
    assert "data-own-keys='{" in page and r"\u0027" in page.split("data-own-keys='")[1].split("'")[0]
    assert "data-own-keys" not in signed_in(app, "bob").get("/").text
    wrong = ann.post("/keys", data={"csrf_token": token, "key-drop": "<b>", "key-undo": "j"})
    assert wrong.status_code == 400 and "The key j is in use: Next turn" in wrong.text
    assert 'value="&lt;b&gt;"' in wrong.text and "<b>" not in wrong.text.split("</header>")[1]
    assert ann.post("/keys", data={"csrf_token": token, "usual": "all"}).status_code == 303
    assert keys_of(app.extensions["demotape"].db, "ann") == USUAL
