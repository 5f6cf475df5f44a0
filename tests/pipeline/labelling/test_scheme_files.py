"""Labelling schemes as text: read by YAML 1.2, with the line, question and field of the first mistake."""

import json

import pytest

from pipeline.labelling.scheme_files import MAX_CHARACTERS, SchemeError, read_scheme, read_scheme_file
from schemas import InputError

SCHEME = """\
# What we ask
questions:
  - name: success
    question: Was the task done?
    scope: demonstration
    kind: choice
    options: [yes, partly, no]
    required: true
  - name: clear
    question: Is the intention clear?
    scope: turn
    kind: scale
    minimum: 1
    maximum: 5
    intents: [click]
    when: {success: [yes, partly]}
"""


def test_a_scheme_is_read_as_it_was_written():
    success, clear = read_scheme(SCHEME)["questions"]
    assert success == {"name": "success", "question": "Was the task done?", "scope": "demonstration", "kind": "choice",
                       "options": ["yes", "partly", "no"], "required": True}
    assert clear["when"] == {"success": ["yes", "partly"]} and clear["required"] is False and clear["maximum"] == 5
    assert read_scheme(json.dumps({"questions": [success, clear]})) == {"questions": [success, clear]}
    assert read_scheme("questions: []") == {"questions": []}
    assert read_scheme(SCHEME.replace("\n", "\r\n")) == {"questions": [success, clear]}


@pytest.mark.parametrize("before, after, message", [
    ("[yes, partly, no]", "[yes, yes]", "line 7: question success: field options: Options must be unique."),
    ("[yes, partly, no]", "[1, 2]", "line 7: question success: field options.0: Not a valid string."),
    ("kind: scale", "kind: dance",
     "line 12: question clear: field kind: Must be one of: choice, several, scale, text, span."),
    ("required: true", "required: yes", "line 8: question success: field required: Not a valid boolean."),
    ("    kind: choice\n", "", "line 3: question success: field kind: Missing data for required field."),
    ("[yes, partly]}", "maybe}", "line 16: question clear: field when: 'maybe' is not an answer of success."),
    ("success: [yes, partly]", "later: 1", "line 16: question clear: field when: later is not an earlier question."),
    ("maximum: 5", "maximum: 1", "line 14: question clear: field maximum: Must be 1 to 100 more than minimum."),
    ("maximum: 5", "options: [a]", "line 9: question clear: field maximum: Required by kind scale."),
    ("scope: turn", "scope: demonstration", "line 15: question clear: field intents: Allowed with scope turn only."),
    ("name: clear", "name: success", "line 9: question success: field name: Must be unique."),
    ("name: clear", "name: Clear it", "line 9: question Clear it: field name: Use lower case letters, digits, _ and -, "
                                      "first a letter."),
    ("kind: scale", "colour: red", "line 9: question clear: field kind: Missing data for required field."),
    ("kind: scale", "kind: scale\n    kind: text", "line 13: not YAML (the field kind occurs twice)"),
    ("[click]", "[click", "line 16: not YAML (expected ',' or ']', but got ':')"),
    ("[click]", "&all [click]", "line 15: not YAML (anchors are not allowed)"),
    ("[click]", "*all", "line 15: not YAML (aliases are not allowed)"),
    ("[click]", "!!python/name:os.system x", "line 15: not YAML (tags are not allowed)"),
    ("# What we ask", "\x01", "line 1: the character U+0001 is not allowed"),
    ("questions:", "question:", "line 2: field questions: Missing data for required field."),
])
def test_a_mistake_is_named_with_line_question_and_field(before, after, message):
    assert before in SCHEME
    with pytest.raises(SchemeError) as error:
        read_scheme(SCHEME.replace(before, after, 1))
    assert str(error.value) == message


@pytest.mark.parametrize("text", ["", "# only a comment", "[" * 100_000, "a: " * 50_000, "x" * (MAX_CHARACTERS + 1),
                                  "questions: []\n---\nquestions: []", "- 1", "7", '{"questions": [null]}'])
def test_what_is_no_scheme_is_refused(text):
    with pytest.raises(SchemeError):
        read_scheme(text)


def test_a_file_is_named(tmp_path):
    path = tmp_path / "scheme.yaml"
    for content, message in ((b"\xff", "not UTF-8"), (b"questions: 1", "line 1: field questions: Not a valid list.")):
        path.write_bytes(content)
        with pytest.raises(InputError) as error:
            read_scheme_file(path)
        assert str(error.value) == f"{path}: {message}"
    path.write_text(SCHEME, encoding="utf-8-sig")
    assert read_scheme_file(path) == SCHEME
