"""WebVTT transcripts, as meeting tools save them: `Name: text` or `<v Name>text`."""

import re
from collections.abc import Iterable, Iterator
from html import unescape

from pipeline.chat.log import Document, Message, Reader, Reading, Stamp

from .times import clock_time

_VOICE = re.compile(r"<v(?:\.[^\s<>]*)?[ \t]+([^\s<>][^<>]*)>")
_TAG = re.compile(r"</?[A-Za-z][^<>]*>|<\d[\d:.]*>")
_NAMED = re.compile(r"([^:\s][^:]{0,79}):\s+(.*)", re.DOTALL)
_NAMED_CUE = re.compile(r'\d{1,9} "([^"<>]{1,100})" \(\d{1,20}\)')  # Webex: the cue's identifier


def recognise(document: Document) -> int:
    """A file that says so in its first line, or holds cue times."""
    if not any(line.startswith("WEBVTT") for line in document.lines[:1]):
        return 0
    return 1 + sum("-->" in line for line in document.lines)


def read(document: Document) -> Reading:
    """Cues; a cue that names nobody goes on with the speaker before it."""
    return read_cues(_cues(document))


def read_cues(cues: Iterable[tuple[int, str, list[str]]]) -> Reading:
    """The same of cues by line number, timing and text lines."""
    reading = Reading()
    speaker = ""
    for number, timing, lines in cues:
        stamp = _start(timing)
        text = "\n".join(lines).strip()
        if stamp is None:
            reading.problems.append((number, "the cue's time cannot be read"))
        elif not text:
            reading.problems.append((number, "a cue without text"))
        else:
            speaker = _read_cue(reading, text, stamp, number, speaker)
    return reading


def _read_cue(reading: Reading, text: str, stamp: Stamp, number: int, speaker: str) -> str:
    """Append the cue's messages, one a voice; returns the last speaker."""
    parts = _VOICE.split(text)
    if len(parts) == 1 and (named := _NAMED.fullmatch(text)):
        parts = ["", named[1], named[2]]
    voices = [(speaker, parts[0]), *zip(parts[1::2], parts[2::2], strict=True)]
    for name, said in voices:
        said = unescape(_TAG.sub("", said)).strip()
        name = unescape(name).strip()
        if not said:
            continue
        if not name:
            reading.problems.append((number, "no speaker"))
            continue
        reading.messages.append(Message(name, said, stamp, number))
        speaker = name
    return speaker


def _cues(document: Document) -> Iterator[tuple[int, str, list[str]]]:
    """Line number, timing line and text lines of each cue."""
    number, timing = 0, None
    text: list[str] = []
    before = ""
    for line_number, line in enumerate(document.lines, 1):
        if "-->" in line:
            if timing is not None:
                yield number, timing, text
            name = cue_name(before)
            number, timing, text = line_number, line, [f"<v {name}>"] if name else []
        elif not line.strip():
            if timing is not None:
                yield number, timing, text
            timing, text = None, []
        elif timing is not None:
            text.append(line)
        before = line
    if timing is not None:
        yield number, timing, text


def cue_name(identifier: str) -> str:
    """The name of who speaks in the identifier of a cue of Webex; empty for other identifiers."""
    match = _NAMED_CUE.fullmatch(identifier.strip())
    return match[1].strip() if match else ""


def _start(timing: str) -> Stamp | None:
    start = timing.partition("-->")[0].strip()
    return clock_time(start.replace(",", ".") if start.count(":") == 2 else f"0:{start}", "offset")


READERS = (Reader("webvtt", recognise, read),)
