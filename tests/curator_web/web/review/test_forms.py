"""The form of a turn's arguments: made from the format, read back by the format."""

import pytest
from werkzeug.datastructures import MultiDict

from curator_web.web.shell.forms import argument_fields, converted, parse_arguments
from recorder.writer import RecordingWriter
from schemas import BROWSER_INTENTS, InputError
from schemas.formats.arguments import ARGUMENTS
from tests.support.curator.curator_fixtures import action, manifest, pointer


def test_every_intent_has_a_form_and_converts_to_every_other(tmp_path):
    writer = RecordingWriter(tmp_path / "w", manifest())
    click = action(writer, 1, "click", pointer())
    writer.abandon()
    for intent in BROWSER_INTENTS:
        turn = {"intent": intent, "arguments": converted(click, intent)}
        assert ARGUMENTS[intent]().validate(turn["arguments"]) == {}
        assert isinstance(argument_fields(intent, turn["arguments"]), list)
        for other in BROWSER_INTENTS:
            assert ARGUMENTS[other]().validate(converted(turn, other)) == {}
    assert converted({"intent": "textInput", "arguments": {"text": "Oslo"}}, "change") == {"value": "Oslo"}


def test_form_is_parsed_by_the_format():
    form = MultiDict([("argument.x", "1.5"), ("argument.y", ""), ("argument.button", "2"), ("argument.keyboard", ""),
                      ("argument.modifiers", "Shift"), ("argument.modifiers", "Alt")])
    assert parse_arguments("click", form, {}) == {"x": 1.5, "y": None, "button": 2, "modifiers": ["Alt", "Shift"]}
    for wrong in ("left", "inf", "nan"):
        with pytest.raises(InputError, match="X"):
            parse_arguments("click", MultiDict([("argument.x", wrong), ("argument.button", "0")]), {})


def test_a_number_is_shown_rounded_and_stays_as_it_was_unless_it_is_changed():
    before = {"x": 169.3046875, "y": 20.04, "button": 0, "modifiers": []}
    shown = {field.name: field.value for field in argument_fields("click", before)}
    assert (shown["x"], shown["y"]) == (169.3, 20)
    form = MultiDict([("argument.x", "169.3"), ("argument.y", "21"), ("argument.button", "0")])
    assert parse_arguments("click", form, before) == before | {"y": 21}
