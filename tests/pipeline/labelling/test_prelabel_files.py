"""Files of pre-labels: JSON Lines, with the line and field of a mistake."""

import pytest

from pipeline.labelling.prelabel_files import read_prelabels
from schemas import InputError


def test_lines_are_read(tmp_path):
    path = tmp_path / "prelabels.jsonl"
    path.write_text('{"demonstration": "rec-1", "question": "clear", "turn": "t3", "value": 4}\n\n'
                    '{"demonstration": "rec-1", "question": "success", "value": null}\n', encoding="utf-8")
    assert read_prelabels(path) == [
        {"demonstration": "rec-1", "question": "clear", "turn": "t3", "value": 4},
        {"demonstration": "rec-1", "question": "success", "turn": "", "value": None}]


@pytest.mark.parametrize("content, message", [
    ("", ": has no pre-labels"), ("{", ", line 1: not JSON"), ("[" * 100_000, ", line 1: not JSON"),
    ('{"question": "a", "value": 1}', ", line 1: field demonstration: Missing data for required field."),
    ('{"demonstration": "a", "question": "a", "value": {}}',
     ", line 1: field value: Must be a text, a whole number or a list.")])
def test_a_mistake_is_named(tmp_path, content, message):
    path = tmp_path / "prelabels.jsonl"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError) as error:
        read_prelabels(path)
    assert str(error.value) == f"{path}{message}"
