"""Actions as agents write them: what each string asks for, or what is wrong in it and where."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.export.formats.mind2web_actions import _operation, _repr
from pipeline.export.grammars.acts import Act, NoForm, Session
from pipeline.export.grammars.table import GRAMMARS
from pipeline.export.source import Options, Source
from pipeline.export.states import States
from replay.running.action_forms import BROWSERGYM, WEBLINX
from replay.running.action_strings import LONGEST, ParsedAction, parse
from schemas import UID_ATTRIBUTE, InputError
from schemas.formats.arguments import ARGUMENTS
from schemas.intents import INTENTS
from tests.support.samples.recording_fixtures import VIEWPORT, make_demonstration, write_recording

NAVIGATOR = {"speaker": "navigator"}
GOOGLE = {"url": "https://www.google.com/"}
CHOICE = "Element: {}\nAction: {}\nValue: {}"
GOOD = {  # string: intent, arguments and what tells the target
    "weblinx": [
        ('click(uid="67e2a5fb-8b1d-41a0")', "click", {}, {"uid": "67e2a5fb-8b1d-41a0"}),
        ("click(uid='12')", "click", {}, {"uid": "12"}),
        ("  click( uid = 67e2a5fb-8b1d )\n", "click", {}, {"uid": "67e2a5fb-8b1d"}),
        ("click(x=10, y=20.5)", "click", {"x": 10, "y": 20.5}, {}),
        ('Click(uid="12")', "click", {}, {"uid": "12"}),
        ('text_input(text="two lamps", uid="7")', "textInput", {"text": "two lamps"}, {"uid": "7"}),
        ('textInput(uid="7", text="a, b) (c")', "textInput", {"text": "a, b) (c"}, {"uid": "7"}),
        ('textinput(text="say "hi", you", uid="7")', "textInput", {"text": 'say "hi", you'}, {"uid": "7"}),
        (r'textInput(text="a \"b\", uid=\"9\"", uid="7")', "textInput", {"text": 'a "b", uid="9"'}, {"uid": "7"}),
        (r'textInput(text="one\ntwo\tC:\x", uid="7")', "textInput", {"text": "one\ntwo\tC:\\x"}, {"uid": "7"}),
        ('textInput(text="", uid="7")', "textInput", {"text": ""}, {"uid": "7"}),
        ('textInput(text=5, uid=7)', "textInput", {"text": "5"}, {"uid": "7"}),
        ('load(url="https://shop.example/?a=(b)")', "load", {"url": "https://shop.example/?a=(b)"}, {}),
        ("scroll(x=0, y=200)", "scroll", {"x": 0, "y": 200}, {}),
        ("scroll(y=1.2e+06)", "scroll", {"x": 0, "y": 1_200_000}, {}),
        ('scroll(x="0", y="-5")', "scroll", {"x": 0, "y": -5}, {}),
        ('submit(uid="f5")', "submit", {}, {"uid": "f5"}),
        ('change(value="Price", uid="18")', "change", {"value": "Price"}, {"uid": "18"}),
        ('hover(uid="15")', "hover", {}, {"uid": "15"}),
        ('copy(text="lämps")', "copy", {"text": "lämps"}, {}),
        ('paste(text="lämps", uid="3")', "paste", {"text": "lämps"}, {"uid": "3"}),
        ("tabcreate()", "tabcreate", {}, {}), ("tab_create(target=2)", "tabcreate", {"tab": 2}, {}),
        ("tabswitch(origin=-1, target=2)", "tabswitch", {"origin": None, "target": 2}, {}),
        ("tabswitch(target=2)", "tabswitch", {"target": 2}, {}),
        ("tabremove(target=2)", "tabremove", {"tab": 2}, {}),
        ('say(speaker="navigator", utterance="Done: "two"")', "say", NAVIGATOR | {"utterance": 'Done: "two"'}, {}),
        ('say(utterance="Which?")', "say", NAVIGATOR | {"utterance": "Which?"}, {}),
        ('Action: click(uid="12")', "click", {}, {"uid": "12"}),
    ],
    "mind2web": [
        ("[button]  Search -> CLICK", "click", {}, {"described": ("button", "Search")}),
        ("[textbox]  City -> TYPE: Paris", "textInput", {"text": "Paris"}, {"described": ("textbox", "City")}),
        ("[combobox] Sort -> SELECT: Price", "change", {"label": "Price"}, {"described": ("combobox", "Sort")}),
        ("[span]   -> CLICK", "click", {}, {"described": ("span", "")}),
        ("[link] a -> b -> HOVER", "hover", {}, {"described": ("link", "a -> b")}),
        ("[textbox] To -> TYPE: a -> CLICK", "textInput", {"text": "a -> CLICK"}, {"described": ("textbox", "To")}),
        ("[input] Search -> enter", "press", {"key": "Enter"}, {"described": ("input", "Search")}),
        (CHOICE.format("12", "TYPE", "Paris"), "textInput", {"text": "Paris"}, {"uid": "12"}),
        (CHOICE.format("67e2-a", "CLICK", "None"), "click", {}, {"uid": "67e2-a"}),
        ("Element: 12\nAction: CLICK", "click", {}, {"uid": "12"}),
        (CHOICE.format('<select bid="7" aria-label="Sort &amp; go"><option>a</option></select>', "SELECT", "Price"),
         "change", {"label": "Price"}, {"uid": "7", "described": ("select", "Sort & go")}),
        (CHOICE.format("<div role='button' id=5>\n <b>Find</b> it</div>", "click", ""), "click", {},
         {"described": ("button", "Find it")}),
        (CHOICE.format('<a title="x > y">z</a>', "CLICK", ""), "click", {}, {"described": ("a", "x > y")}),
        (CHOICE.format("12", "TYPE", "Value: 3\nAction: 4"), "textInput", {"text": "Value: 3\nAction: 4"},
         {"uid": "12"}),
        ("Thought: I see.\n" + CHOICE.format("12", "TYPE", "x"), "textInput", {"text": "x"}, {"uid": "12"}),
    ],
    "webvoyager": [
        ("Click [12]", "click", {}, {"number": 12}), ("click 12", "click", {}, {"number": 12}),
        ("Type [3]; Paris", "textInput", {"text": "Paris"}, {"number": 3}),
        ("Type [3]; [Paris]", "textInput", {"text": "Paris"}, {"number": 3}),
        ("Type [3] [a]; b", "textInput", {"text": "[a]; b"}, {"number": 3}),
        ("Scroll [WINDOW]; [down]", "scroll", {"direction": "down"}, {}),
        ("Scroll WINDOW; up", "scroll", {"direction": "up"}, {}),
        ("Scroll [3]; [up]", "scroll", {"direction": "up"}, {"number": 3}),
        ("Wait", "wait", {}, {}), ("GoBack", "back", {}, {}), ("Go back.", "back", {}, {}),
        ("Google", "load", GOOGLE, {}),
        ("ANSWER; [42 [m]]", "say", NAVIGATOR | {"utterance": "42 [m]"}, {}),
        ("ANSWER; one\ntwo", "say", NAVIGATOR | {"utterance": "one\ntwo"}, {}),
        ("Action: Click [12]", "click", {}, {"number": 12}), ("Action: Wait", "wait", {}, {}),
        ("Thought: The page is long.\nAction: Scroll [WINDOW]; [down]", "scroll", {"direction": "down"}, {}),
    ],
    "browsergym": [
        ("click('12')", "click", {}, {"uid": "12"}),
        ("click('12', button='right', modifiers=['Shift', 'ControlOrMeta'])", "click",
         {"button": 2, "modifiers": ["Shift", "Control"]}, {"uid": "12"}),
        ('click(bid="a51")', "click", {}, {"uid": "a51"}),
        ("dblclick('12', 'middle')", "dblclick", {"button": 1}, {"uid": "12"}),
        ("hover('b8')", "hover", {}, {"uid": "b8"}), ("focus('3')", "click", {"focus_only": True}, {"uid": "3"}),
        ("fill('7', 'two lamps')", "textInput", {"text": "two lamps"}, {"uid": "7"}),
        (r"""fill("7", 'it\'s\n"one"')""", "textInput", {"text": "it's\n\"one\""}, {"uid": "7"}),
        ("fill('7', 'a' 'b', True)", "textInput", {"text": "ab"}, {"uid": "7"}),
        ("clear('3')", "textInput", {"text": ""}, {"uid": "3"}),
        ("check('3')", "change", {"checked": True}, {"uid": "3"}),
        ("uncheck('3')", "change", {"checked": False}, {"uid": "3"}),
        ("select_option('4', 'x')", "change", {"value": "x"}, {"uid": "4"}),
        ("select_option('4', ['x'])", "change", {"value": "x"}, {"uid": "4"}),
        ("select_option('4', ['x', 'y'])", "change", {"values": ["x", "y"]}, {"uid": "4"}),
        ("press('3','Enter')", "press", {"key": "Enter"}, {"uid": "3"}),
        ("press('3', ' ')", "press", {"key": " "}, {"uid": "3"}),
        ("keyboard_press('Control+a')", "press", {"key": "Control+a"}, {}),
        ("keyboard_type('lamps')", "textInput", {"text": "lamps"}, {}),
        ("scroll(0, -200.5)", "scroll", {"dx": 0, "dy": -200.5}, {}),
        ("scroll(delta_x=0, delta_y=+200)", "scroll", {"dx": 0, "dy": 200}, {}),
        ("goto('https://shop.example/')", "load", {"url": "https://shop.example/"}, {}), ("go_back()", "back", {}, {}),
        ("go_forward()", "forward", {}, {}), ("new_tab()", "tabcreate", {}, {}), ("tab_close()", "tabremove", {}, {}),
        ("tab_focus(1)", "tabswitch", {"place": 1}, {}),
        ("drag_and_drop('1','2')", "drag", {"to_uid": "2"}, {"uid": "1"}),
        ("mouse_click(10, 20, 'right')", "click", {"x": 10, "y": 20, "button": 2}, {}),
        ("mouse_move(10, 20)", "hover", {"x": 10, "y": 20}, {}),
        ("mouse_drag_and_drop(1, 1, 2, 2.5)", "drag", {"from": {"x": 1, "y": 1}, "to": {"x": 2, "y": 2.5}}, {}),
        ("upload_file('3', '/etc/a.pdf')", "upload", {"files": ["a.pdf"]}, {"uid": "3"}),
        (r"upload_file('3', ['C:\\a.pdf', 'b'])", "upload", {"files": ["a.pdf", "b"]}, {"uid": "3"}),
        ("mouse_upload_file(1, 2, 'a')", "upload", {"x": 1, "y": 2, "files": ["a"]}, {}),
        ("send_msg_to_user('It is done.')", "say", NAVIGATOR | {"utterance": "It is done."}, {}),
        ("report_infeasible('No field.')", "say", NAVIGATOR | {"utterance": "No field."}, {}),
        ("noop()", "wait", {"seconds": 1.0}, {}), ("noop(500)", "wait", {"seconds": 0.5}, {}),
        ("```click('12')```", "click", {}, {"uid": "12"}), ("```python\nclick('12')\n```", "click", {}, {"uid": "12"}),
        ("<action>\nclick('12')\n</action>", "click", {}, {"uid": "12"}),
        ("Action:\n```\nclick('12')\n```", "click", {}, {"uid": "12"}),
    ],
}
WRONG = [  # string, grammar, character, what is told, what would be right
    ("", None, 1, "it is empty", "click('12')"), ("  \n", None, 4, "it is empty", "click('12')"),
    ("I would click it", None, 1, "'I would click it' does not begin an action", "click('12')"),
    ("clik('12')", None, 1, "'clik' is not an action of browsergym", "click('12')"),
    ('klick(uid="12")', None, 1, "'klick' is not an action of weblinx", 'click(uid="12")'),
    ("click", "browsergym", 1, "the name of an action and an opening bracket are missing", "click('12')"),
    ("click()", None, 7, "bid is missing", "click('12')"),
    ("click('12'", None, 6, "'(' was never closed", "click('12')"),
    ("click(12)", None, 7, "bid has to be a text in quotes", "click('12')"),
    ("click('')", None, 7, "bid is empty", "click('12')"),
    ("click('1 2')", None, 7, "bid has characters that no uid has", "click('12')"),
    ("click('12', 'top')", None, 13, "button has to be 'left', 'middle' or 'right'", "click('12')"),
    ("click('12', modifiers=['Hyper'])", None, 23,
     "modifiers has to be a list of Alt, Control, ControlOrMeta, Meta, Shift", "click('12')"),
    ("click('12', foo=3)", None, 17, "click takes no 'foo'", "click('12')"),
    ("click('12', bid='3')", None, 17, "bid occurs twice", "click('12')"),
    ("click(*['12'])", None, 7, "a value is not a literal", "click('12')"),
    ("click(**{'bid': '12'})", None, 9, "click takes no '**'", "click('12')"),
    ("click(__import__('os'))", None, 7, "a value is not a literal", "click('12')"),
    ("click('12'); click('13')", None, 12, "there is more than one action", "click('12')"),
    ("click('12')\nclick('13')", None, 13, "there is more than one action", "click('12')"),
    ("click('12').click()", None, 1, "it must be a single action", "click('12')"),
    ("fill('7')", None, 9, "value is missing", "fill('12', 'two lamps')"),
    ("fill('7', 'ä', 'b')", None, 16, "enable_autocomplete_menu has to be True or False", "fill('12', 'two lamps')"),
    ("fill('7', 'two lamps)", None, 11, "unterminated string literal", "fill('12', 'two lamps')"),
    ("fill('7',\n 5)", None, 12, "value has to be a text in quotes", "fill('12', 'two lamps')"),
    ("scroll(0, '200')", None, 11, "delta_y has to be a number", "scroll(0, 200)"),
    ("scroll(0, 1e999)", None, 11, "delta_y has to be between -1000000000 and 1000000000", "scroll(0, 200)"),
    ("scroll(True, 1)", None, 8, "delta_x has to be a number", "scroll(0, 200)"),
    ("go_back('12')", None, 9, "go_back takes no value", "go_back()"),
    ("tab_focus(-1)", None, 11, "index has to be 0 or more", "tab_focus(1)"),
    ("tab_focus(1.5)", None, 11, "index has to be a whole number", "tab_focus(1)"),
    ("goto('')", None, 6, "url is empty", "goto('https://shop.example/')"),
    ("goto('a b')", None, 6, "url has blanks or quotes in it", "goto('https://shop.example/')"),
    ("noop(-1)", None, 6, "wait_ms has to be between 0 and 600000", "noop()"),
    ("select_option('4', [])", None, 20, "options has to be a text in quotes or a list of them",
     "select_option('12', 'Price')"),
    ("mouse_down(1, 2)", None, 16, "this is only a part of an action", "mouse_drag_and_drop(10, 20, 30, 40)"),
    ("upload_file('3', '/')", None, 18, "file is empty", "upload_file('12', 'letter.pdf')"),
    ("click('\ud800')", None, 1, "a character that no text has", "click('12')"),
    ('click(uid="12"', None, 11, "the text in quotes does not end, or no bracket closes after it", 'click(uid="12")'),
    ('click(uid="12") and more', None, 11, "the text in quotes does not end, or no bracket closes after it",
     'click(uid="12")'),
    ('click(uid="12") click(uid="13")', None, 11, "uid has characters that no uid has", 'click(uid="12")'),
    ("click(uid=12) now", None, 14, "unexpected text after the action", 'click(uid="12")'),
    ("click(uid=)", None, 11, "a value is missing", 'click(uid="12")'),
    ("click(x=1)", None, 10, "uid is missing", 'click(uid="12")'),
    ("click(x=1, y=two)", None, 14, "y has to be a number", 'click(uid="12")'),
    ("scroll(x=1 y=2)", None, 12, "a comma is missing", "scroll(x=0, y=200)"),
    ("scroll(x=1", None, 11, "the closing bracket is missing", "scroll(x=0, y=200)"),
    ('textInput("lamps", uid="7")', "weblinx", 11, "a value has no name", 'textInput(text="two lamps", uid="12")'),
    ('textInput(text="lamps")', None, 23, "uid is missing", 'textInput(text="two lamps", uid="12")'),
    ('say(speaker="user", utterance="a")', None, 13, "speaker has to be 'navigator' or 'instructor'",
     'say(speaker="navigator", utterance="It is done.")'),
    ("tabswitch()", None, 11, "target is missing", "tabswitch(origin=1, target=2)"),
    ("[button Search -> CLICK", None, 1, "the role or tag of the element in square brackets is missing",
     "[button]  Search -> CLICK"),
    ("[button] Search", None, 16, "an arrow and an operation are missing", "[button]  Search -> CLICK"),
    ("[button] Search -> PUSH", None, 20, "unknown operation 'PUSH'", "[button]  Search -> CLICK"),
    ("[textbox] City -> TYPE", None, 23, "TYPE needs a value behind a colon", "[textbox]  City -> TYPE: Paris"),
    ("[button] Search -> CLICK: it", None, 25, "CLICK takes no value", "[button]  Search -> CLICK"),
    ("Action: CLICK\nValue: ", None, 21, "the line Element: is missing or empty",
     'the lines "Element: 12", "Action: TYPE" and "Value: Paris"'),
    ("Element: C.\nAction: CLICK", None, 10, "a letter names an unknown choice",
     'the lines "Element: 12", "Action: TYPE" and "Value: Paris"'),
    ("Element: 12\nAction: PUSH", None, 21, "unknown operation 'PUSH'",
     'the lines "Element: 12", "Action: TYPE" and "Value: Paris"'),
    ("Element: 12\nAction: TYPE", None, 25, "TYPE needs the line Value:",
     'the lines "Element: 12", "Action: TYPE" and "Value: Paris"'),
    ("Element: <a\nAction: CLICK", None, 10, "the tag of the element does not end",
     'Element: <button aria-label="Search">'),
    ("Element: two words\nAction: CLICK", None, 10, "it is neither HTML of an element nor a uid",
     'the lines "Element: 12", "Action: TYPE" and "Value: Paris"'),
    ("Click the button", None, 7, "the number of a box is missing", "Click [12]"),
    ("Click [12", None, 7, "the number of a box is missing", "Click [12]"),
    ("Click [12] [13]", None, 11, "unexpected text after the action", "Click [12]"),
    ("Action: Type [3]", None, 17, "a semicolon and a text are missing", "Type [3]; [Paris]"),
    ("Scroll [3]; [left]", None, 11, "a semicolon and up or down are missing", "Scroll [WINDOW]; [down]"),
    ("ANSWER;", None, 7, "a semicolon and a text are missing", "ANSWER; [It is done.]"),
    ("Press [3]", "webvoyager", 1, "it does not begin with an action of webvoyager", "Click [12]"),
]
TABLE = [(grammar, *case) for grammar, cases in GOOD.items() for case in cases]
# What a grammar writes as another action, by our intents; the rest is written as what it is.
LOSSY = {
    "browsergym": {"submit": "press", "copy": "press", "paste": "press"},
    "weblinx": {"dblclick": "click", "reload": "load", "back": "load"},
    "mind2web": {"dblclick": "click", "submit": "press"},
}


def test_the_tables_are_long_enough():
    assert len(TABLE) >= 60 and len(WRONG) >= 40


@pytest.mark.parametrize("grammar, text, intent, arguments, target", TABLE, ids=lambda told: repr(told)[:40])
def test_what_a_string_asks_for(grammar, text, intent, arguments, target):
    expected = ParsedAction(intent, arguments, grammar=grammar, **target)
    assert parse(text) == expected and parse(text, grammar) == expected
    assert intent in INTENTS or intent == "wait"


@pytest.mark.parametrize("text, grammar, at, what, right", WRONG, ids=lambda told: repr(told)[:40])
def test_what_is_wrong_in_a_string(text, grammar, at, what, right):
    with pytest.raises(InputError) as error:
        parse(text, grammar)
    assert str(error.value) == f"the action is invalid at character {at}: {what}; a valid example is {right}"


@pytest.mark.parametrize("forms, grammar", [(BROWSERGYM, "browsergym"), (WEBLINX, "weblinx")])
def test_what_is_said_to_be_right_is_right(forms, grammar):
    for form in forms.values():
        assert parse(form.example).grammar == grammar
    for *_, right in WRONG:
        assert right.startswith(("the lines", "Element: <")) or parse(right)


def test_arguments_are_those_of_demonstrations():
    """Whatever is told under a name of theirs is of their type."""
    for _, text, intent, arguments, _ in TABLE:
        if intent not in ("say", "wait"):
            known = {name: value for name, value in arguments.items()
                     if name in {field.data_key or key for key, field in ARGUMENTS[intent]().fields.items()}}
            assert not ARGUMENTS[intent]().validate(known, partial=True), text


def test_other_grammars_and_long_strings():
    with pytest.raises(InputError, match="^unknown grammar 'xpath'; use one of weblinx, mind2web, "):
        parse("click('12')", "xpath")
    with pytest.raises(InputError, match="longer than 20000 characters"):
        parse("click('" + "1" * LONGEST + "')")


@pytest.fixture(scope="module")
def acts(tmp_path_factory) -> list[Act]:
    recording = write_recording(tmp_path_factory.mktemp("actions") / "rec")
    states = States(Source(make_demonstration(recording), recording), UID_ATTRIBUTE, Options(), "jpg")
    session = Session(states.source.turns, recording, states.known)
    return [session.act(index, states.page(turn["state"]) if turn.get("state") else None, VIEWPORT)
            for index, turn in enumerate(states.source.turns)]


@pytest.mark.parametrize("grammar", ["browsergym", "weblinx"])
def test_what_our_exports_write_is_read(acts, grammar):
    read = set()
    for act in acts:
        try:
            text = GRAMMARS[grammar].write(act)
        except NoForm:
            continue
        asked, told = parse(text), act.turn.get("arguments", {})
        expected = LOSSY[grammar].get(act.intent, act.intent)
        if act.intent == "change" and grammar == "browsergym" and "checked" in told:
            expected = "click"
        assert (asked.grammar, asked.intent) == (grammar, expected), text
        aimed = act.intent == "press" or (act.intent != "drag" and INTENTS[act.intent].acts_on_element)
        assert asked.uid == (act.uid if aimed else None), text
        if act.intent in ("textInput", "load"):
            assert asked.arguments.items() <= told.items()
        if act.intent == "say":
            assert asked.arguments["utterance"] == act.turn["utterance"]
        read.add(act.intent)
    assert len(read) >= 16


def test_what_our_mind2web_exports_write_is_read(acts):
    read = set()
    for act in acts:
        if not (act.turn["type"] == "browser" and INTENTS[act.intent].mind2web and act.turn["element"]):
            continue
        element, told = act.turn["element"], act.turn["arguments"]
        asked = parse(_repr(act.turn, _operation(act.turn)))
        expected = "click" if "checked" in told else LOSSY["mind2web"].get(act.intent, act.intent)
        assert (asked.grammar, asked.intent) == ("mind2web", expected)
        name = " ".join((element["name"] or element["text"]).split())
        assert asked.described == (element["role"] or element["tag"], name)
        read.add(act.intent)
    assert len(read) >= 6


def crashes(text: str, grammar: str | None = None) -> None:
    try:
        asked = parse(text, grammar)
    except InputError as error:
        assert str(error) and "\n" not in str(error)
    else:
        assert asked.intent in INTENTS or asked.intent == "wait"


GRAMMARS_READ = tuple(GOOD)
PIECES = st.sampled_from([
    *(text for _, text, *_ in TABLE), *(text for text, *_ in WRONG), *BROWSERGYM, *WEBLINX, "(", ")", "'", '"', ",",
    "=",
    "\\", "\n", "[", "]", ";", ":", "->", "<", ">", "uid", "Action:", "```", "-", "1e9", "0x1F", "b'a'",
    "f'{x}'", "\0", "\r", "\x0c", "\ud800", "lambda:", "1j", "nan", "٣", "{", "}", "#"])


@settings(max_examples=300, deadline=None)
@given(st.lists(PIECES | st.text(max_size=4), max_size=8).map("".join) | st.text(st.characters()),
       st.sampled_from([None, *GRAMMARS_READ]))
def test_no_string_crashes_it(text, grammar):
    crashes(text, grammar)


@pytest.mark.parametrize("piece", [
    "(", "[", "-", "~", "1+", "not ", "lambda:", "a.", "a[", "{1:", "'", '"', "```", " ", '="', "a=' ", "->", "-> TYPE",
    "Element:", "Action: ", "<a ", "a", "1", "9" * 5000 + ",", "\\", '", uid="', '", a', "x if y else ", "\n", "('",
    "**a,"])
def test_long_strings_are_read_soon(piece):
    start = time.thread_time()
    for begin, end in (("", ""), ("click(", ")"), ('click(uid="', '")'), ("click('", "')"), ("[", "] a"), ("```", "x"),
                       ("Element: <a ", ">\nAction: CLICK"), ("Type [3]; ", "")):
        crashes(begin + (piece * LONGEST)[:LONGEST - len(begin + end)] + end)
    assert time.thread_time() - start < 2
