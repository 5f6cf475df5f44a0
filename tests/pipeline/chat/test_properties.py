"""Chat readers raise nothing but their own error, whatever the bytes, and lose no message."""

import tempfile
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline.chat import KINDS, merge_chat, read_chat
from pipeline.chat.parsers.zoom import _TO
from schemas import DemonstrationSchema, InputError
from schemas.files import validated

from .test_kinds import TABLE

START = datetime(2024, 3, 5, 14, 30, 0, tzinfo=timezone(timedelta(hours=-5)))
_PIECES = st.sampled_from([
    "14:30:05", "\t", " ", "From ", "From  ", " to ", "  to  ", " : ", ":", "\n", "\r\n", "(Privately)", "(10:57 AM)",
    "[Ann]", "WEBVTT", " --> ", "<v Ben>", "00:00:01.000", '{"speaker": "a", "text": "b", "time": ', "1e999", "-1", "}",
    '{"messages": [', '{"author": {}, "timestamp": "2024-01-01T00:00:00Z", "content": ""}', "]}", "speaker,text,time",
    "a,b,9999-12-31T23:59:59", "0001-01-01T00:00:00+14:00", '"', "Replying to \"", "99:99:99", "\ufeff", "é", "\0",
    "2024-03-05 ", "9" * 19, "null", "\u2028", "²:³",
    'Reacted to "', '" with 👍', "Ann:👍", '" with ', 'Removed a 👍 reaction from "', '"reactions": ["👍", 7], ',
    '"id": "a", ', '"reply_to": "a", ', "\n\t", "(edited)",
])
_TEXT = st.lists(_PIECES | st.text(max_size=6), max_size=30).map("".join)
_BYTES = st.one_of(st.binary(max_size=300), _TEXT.map(lambda text: text.encode("utf-8", "surrogatepass")),
                   st.tuples(st.sampled_from([entry[0] for entry in TABLE.values()]), st.binary(max_size=4),
                             st.integers(0, 200)).map(
                       lambda parts: (text := parts[0].encode())[:parts[2]] + parts[1] + text[parts[2] + 3:]))


@pytest.mark.parametrize("kind", [None, *KINDS])
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(content=_BYTES, base=st.sampled_from([None, "wall", "offset", "utc"]))
def test_any_bytes(kind, content, base):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / ("2024-03-05.json" if kind == "slack" else "chat")
        path.write_bytes(content)
        try:
            log = read_chat(path.parent if kind == "slack" else path, started_at=START, duration=600.0, kind=kind,
                            time_base=base)
        except InputError as error:
            assert "\n" not in str(error)
            return
    assert log.lines
    assert all(line.utterance.strip() and line.role in ("instructor", "navigator") for line in log.lines)
    assert all(line.reply_to is None or 0 <= line.reply_to < len(log.lines) for line in log.lines)
    validated({"format": "demotape/demonstration", "version": 1, "id": "a", "recording": "a", "task": "",
               "turns": merge_chat({"turns": []}, log)["turns"]}, DemonstrationSchema(), "placed")


_NAME = st.text("abcdefghijkl: ()-é", min_size=1, max_size=12).map(str.strip).filter(
    lambda name: name and " : " not in name and not set(name.split()) & {"a", "à"} and not name.endswith((":", ")")))
_SAID = st.text("abc :,.-é", min_size=1, max_size=30).map(str.strip).filter(bool)


@settings(max_examples=60, deadline=None)
@given(messages=st.lists(st.tuples(_NAME, _SAID, st.integers(0, 599)), min_size=1, max_size=12),
       word=st.sampled_from(sorted(_TO)), newer=st.booleans())
def test_what_zoom_wrote_is_read_back(messages, word, newer):
    to = _TO[word][0]
    messages.sort(key=lambda message: message[2])
    written = []
    for name, said, second in messages:
        clock = (START + timedelta(seconds=second)).strftime("%H:%M:%S")
        address = f"{word} {name} {to} X"
        written.append(f"{clock} {address}:\n\t{said}\n" if newer else f"{clock}\t {address} : {said}\n")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "chat.txt"
        path.write_text("".join(written), encoding="utf-8")
        log = read_chat(path, started_at=START, duration=600.0)
    assert log.kind == ("zoom-newer" if newer else "zoom-older")
    assert [(line.speaker, line.utterance, line.time) for line in log.lines] == [
        (name, said, float(second)) for name, said, second in messages]
