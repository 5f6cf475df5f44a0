"""Every intent in every grammar: how it is written, or why not."""

import ast
import json
from collections import Counter

import pytest

from pipeline.export.grammars.acts import Act, NoForm, Session, split_keys
from pipeline.export.grammars.table import GRAMMARS
from pipeline.export.source import Options, Source
from pipeline.export.states import States
from schemas import UID_ATTRIBUTE
from schemas.intents import INTENTS
from tests.support.samples.recording_fixtures import VIEWPORT, make_demonstration, write_recording

BROWSERGYM = ["goto('https://shop.example/')", "click('10', modifiers=['Shift'])", "fill('10', 'lamps')",
              "press('10', 'Enter')", "press('f5', 'Enter')", "dblclick('15', modifiers=['Shift'])", "click('f6')",
              "click('g5')", "select_option('18', 'Two')", "hover('15')", "click: no element", "scroll(0, 110.5)",
              "keyboard_press('Control+c')", "keyboard_press('Control+v')", "mouse_drag_and_drop(1, 1, 2, 2)",
              "upload_file('10', 'a.pdf')", "dialog: no equal in BrowserGym", "reload: no equal in BrowserGym",
              "go_back()", "go_forward()", "new_tab()", "tab_focus(1)", "tab_close()"]
WEBLINX = ['load(url="https://shop.example/")', 'click(uid="10")', 'textInput(text="lamps", uid="10")',
           "press: no equal in WebLINX", 'submit(uid="f5")', 'click(uid="15")', 'click(uid="f6")',
           'change(value="true", uid="g5")', 'change(value="2", uid="18")', 'hover(uid="15")', "click: no element",
           "scroll(x=0, y=120.5)", 'copy(text="lämps")', 'paste(text="lämps")', "drag: no equal in WebLINX",
           "upload: no equal in WebLINX", "dialog: no equal in WebLINX", 'load(url="https://shop.example/?q=lamps")',
           'load(url="https://shop.example/")', "forward: address unknown", "tabcreate(target=2)",
           "tabswitch(origin=1, target=2)", "tabremove(target=2)"]
COMPUTER_USE = [
    [("key", "ctrl+l"), ("type", "https://shop.example/"), ("key", "Return")],
    [("left_click", [100, 100], "shift")], [("type", "lamps")], [("key", "Return")], [("key", "Return")],
    [("double_click", [100, 100], "shift")], [("left_click", [140, 280])], [("left_click", [5, 8])],
    "change: the browser's own list or chooser is not in the picture", [("mouse_move", [100, 100])],
    [("left_click", [100, 100], "shift")], [("scroll", [640, 400], "down", 1)], [("key", "ctrl+c")],
    [("key", "ctrl+v")], [("left_click_drag", [2, 2], [4, 4])], "upload: what it acts on is not in the picture",
    [("key", "Return")], [("key", "F5")], [("key", "alt+Left")], [("key", "alt+Right")], [("key", "ctrl+t")],
    [("key", "ctrl+2")], [("key", "ctrl+w")]]


@pytest.fixture(scope="module")
def acts(tmp_path_factory) -> list[Act]:
    """All turns of a demonstration with every intent; the picture has two pixels in a CSS pixel."""
    recording = write_recording(tmp_path_factory.mktemp("grammars") / "rec")
    states = States(Source(make_demonstration(recording), recording), UID_ATTRIBUTE, Options(), "jpg")
    turns = states.source.turns
    session = Session(turns, recording, states.known)
    size = {side: 2 * length for side, length in VIEWPORT.items()}
    return [session.act(index, states.page(turn["state"]) if turn.get("state") else None, size)
            for index, turn in enumerate(turns)]


def written(grammar: str, act: Act) -> str:
    try:
        return GRAMMARS[grammar].write(act)
    except NoForm as reason:
        return str(reason)


@pytest.mark.parametrize("grammar, expected", [("browsergym", BROWSERGYM), ("weblinx", WEBLINX)])
def test_how_each_action_is_written(acts, grammar, expected):
    assert [written(grammar, act) for act in acts if act.turn["type"] == "browser"] == expected


def test_computer_use_points_into_the_picture(acts):
    for act, expected in zip(acts[1:], COMPUTER_USE, strict=False):
        text = written("computer-use", act)
        found = [tuple(json.loads(line).values()) for line in text.splitlines()] if text.startswith("{") else text
        assert found == expected


def test_every_intent_has_a_form_or_a_reason_in_every_grammar(acts):
    assert {act.intent for act in acts} == set(INTENTS)
    for grammar in GRAMMARS:
        forms = Counter(act.intent for act in acts if "(" in written(grammar, act) or written(grammar, act)[0] == "{")
        assert len(forms) >= 16, grammar


def test_browsergym_can_parse_them_all(acts):
    """One call of a name that its high-level action set has, with literals."""
    names = {"click", "dblclick", "hover", "fill", "select_option", "press", "keyboard_press", "upload_file", "scroll",
             "mouse_drag_and_drop", "goto", "go_back", "go_forward", "new_tab", "tab_focus", "tab_close",
             "send_msg_to_user"}
    calls = [ast.parse(text, mode="eval").body for act in acts if "(" in (text := written("browsergym", act))]
    assert {call.func.id for call in calls} == names
    assert all(ast.literal_eval(value) is not None for call in calls for value in call.args)


def test_hostile_values_stay_values(acts):
    [typed] = [act for act in acts if act.intent == "textInput"]
    for text in ("'), goto('https://evil.example", 'a"\n\\', "\ud800", "</s>"):
        act = Act(typed.turn | {"arguments": {"text": text}}, "1'")
        call = ast.parse(written("browsergym", act), mode="eval").body
        assert [ast.literal_eval(value) for value in call.args] == ["1'", text]
        told = [json.loads(line) for line in written("computer-use", Act(act.turn, focused=True)).splitlines()]
        assert told == [{"action": "type", "text": text}]


def test_what_has_no_place_is_told(acts):
    [typed] = [act for act in acts if act.intent == "textInput"]
    assert written("browsergym", Act(typed.turn)) == "textInput: target missing from the page"
    assert written("weblinx", Act(typed.turn)) == "textInput: target missing from the page"
    click = next(act for act in acts if act.intent == "click")
    assert written("computer-use", Act(click.turn)) == "click: no good picture for its coordinates"
    small = {"width": 20, "height": 20}
    assert written("computer-use", Act(click.turn, picture=small)) == "click: outside of the picture"
    assert len(written("computer-use", Act(typed.turn, picture={"width": 640, "height": 400})).splitlines()) == 2
    [created] = [act for act in acts if act.intent == "tabcreate"]
    for grammar in ("browsergym", "computer-use"):
        assert written(grammar, Act(created.turn, opened=True)) == "tabcreate: the page opened it"


@pytest.mark.parametrize("keys, expected", [
    ("a", ([], "a")), ("Control+a", (["Control"], "a")), ("Control+Shift++", (["Control", "Shift"], "+")),
    ("+", ([], "+")), ("Shift+", ([], "Shift+"))])
def test_keys(keys, expected):
    assert split_keys(keys) == expected
