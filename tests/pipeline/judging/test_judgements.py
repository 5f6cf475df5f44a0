"""Judgements are read again from a file that anybody may have changed: each bad line is named."""

import json

import pytest

from pipeline.judging.judgements import MAX_LINES, read_judgements
from pipeline.judging.model_judge import Judgement
from schemas import InputError

LINE = {"id": "rec-1", "judge": "llava", "host": "127.0.0.1:8000", "verdict": "success", "reason": "It is shown.",
        "seconds": 1.5, "prompt_tokens": 900, "completion_tokens": None, "request": "a" * 64}
GOOD = json.dumps(LINE).encode()


def test_lines_are_read_as_they_were_written():
    other = json.dumps(LINE | {"id": "rec-2", "reason": "a\0b\ud83d"}).encode()
    first, second = read_judgements("v.jsonl", b"\xef\xbb\xbf" + GOOD + b"\r\n\n" + other)
    assert first == Judgement(**LINE) and second.reason == "a\ufffdb\ufffd"


@pytest.mark.parametrize(("line", "said"), [
    (b"{", "not JSON"), (b"[]", "Invalid input"), (b"\0", "not JSON"), (b'{"id": "\xff"}', "not JSON"),
    (b"[" * 90_000, "not JSON"), (b"[" * 900 + b"]" * 900, "line 2"), (b"7" * 5000, "line 2"),
    (b'{"a": 1, "a": 2}', "occurs twice"), (GOOD[:-1] + b', "id": "rec-9"}', "occurs twice"),
    (b'"' + b"x" * 200_000 + b'"', "longer than"), (GOOD, "judges 'rec-1' twice"),
    *((json.dumps(LINE | {"id": "rec-2"} | change).encode(), said) for change, said in (
        ({"verdict": "perhaps"}, "field verdict"), ({"seconds": -1}, "field seconds"), ({"seconds": 1e300}, "seconds"),
        ({"reason": "x" * 4001}, "field reason"), ({"prompt_tokens": 1.5}, "prompt_tokens"), ({"id": ""}, "field id"),
        ({"judge": "x" * 91}, "field judge"), ({"more": 1}, "field more"), ({"request": "x"}, "field request"),
        ({"seconds": float("nan")}, "field seconds")))])
def test_a_bad_line_is_named(line, said):
    with pytest.raises(InputError, match="^v.jsonl, line 2: .*") as error:
        read_judgements("v.jsonl", GOOD + b"\n" + line + b"\n" + GOOD)
    assert said in str(error.value) and "\n" not in str(error.value)


def test_a_file_without_any_or_with_too_many_is_refused():
    with pytest.raises(InputError, match="contains no judgement"):
        read_judgements("v.jsonl", b"\n \n")
    many = b"\n".join(GOOD.replace(b"rec-1", b"r%d" % number) for number in range(MAX_LINES + 1))
    with pytest.raises(InputError, match="more than 20,000"):
        read_judgements("v.jsonl", many)
