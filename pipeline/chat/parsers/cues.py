"""Subtitles of the speech in a video, WebVTT or SubRip: cues with their beginning and end, with or without a name.

As a chat log (webvtt.py, subtitles.py) the same files are read leniently; here a damaged cue is an error, as a part of
what was said would be missing without a word.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from html import unescape
from pathlib import Path

from pipeline.chat.log import Document
from schemas import InputError

from .registry import open_document
from .times import clock_time
from .webvtt import cue_name

UNKNOWN = "unknown"  # the name of who speaks where no name is told
_VOICE = re.compile(r"<v(?:\.[^\s<>]{0,200})?[ \t]+([^\s<>][^<>]{0,200})>")
_TAG = re.compile(r"</?[A-Za-z][^<>]{0,400}>|<\d[\d:.]{0,20}>|\{\\[^{}]{0,200}\}")
_NAMED = re.compile(r"([^:\s][^:\n]{0,79}):\s+(\S.*)", re.DOTALL)
_WORDS = 5  # of a name before a colon, at most: more is a sentence
_NO_CUES = ("NOTE", "STYLE", "REGION")
_Block = list[tuple[int, str]]


@dataclass(frozen=True)
class Cue:
    """What one person said, `start` to `end` in seconds of the video's file; `line`: of the subtitles, from 1."""

    speaker: str
    text: str
    start: float
    end: float
    line: int


def read(path: Path, names: Collection[str] = ()) -> tuple[list[Cue], list[tuple[int, str]]]:
    """Cues in the order of their beginnings, and what was left out, by line with the reason.

    `names`: who is known to speak. Raises InputError, which names the line, for a cue that is damaged, and for a file
    that is neither WebVTT nor SubRip.
    """
    document = Document(path) if path.is_dir() else open_document(path)
    if not _is_subtitles(document):
        raise InputError(f"{path}: neither WebVTT nor SubRip; pass the subtitles of the video (.vtt or .srt)")
    problems: list[tuple[int, str]] = []
    cues: list[Cue] = []
    for block in _blocks(document):
        cue = _cue(block, path)
        if _plain(cue.text):
            cues.append(cue)
        else:
            problems.append((cue.line, "a cue without text"))
    return sorted(_split_speaker(cues, names), key=lambda cue: cue.start), problems


def _is_subtitles(document: Document) -> bool:
    return document.lines[:1] != () and (document.lines[0].startswith("WEBVTT")
                                         or any("-->" in line for line in document.lines))


def _blocks(document: Document) -> Iterator[_Block]:
    """What stands between empty lines, each line with its number: cues only."""
    block: _Block = []
    for number, line in enumerate((*document.lines, ""), 1):
        if line.strip():
            block.append((number, line.strip()))
        elif block:
            if block[0] == (1, document.lines[0].strip()) and block[0][1].startswith("WEBVTT"):
                block = block[1:] if any("-->" in text for _, text in block) else []
            if block and block[0][1].split()[0] not in _NO_CUES:
                yield block
            block = []


def _cue(block: _Block, path: Path) -> Cue:
    """The cue of a block: a line that names it, where there is one, its times, and its text as it stands."""
    timing_index = next((index for index, (_, text) in enumerate(block[:2]) if "-->" in text), None)
    if timing_index is None:
        raise _damaged_error(path, block[0][0], "no cue: a line such as 00:00:05.000 --> 00:00:08.000 is missing")
    line, timing = block[timing_index]
    begin, _, rest = timing.partition("-->")
    start, end = _seconds(begin), _seconds((rest.split() or [""])[0])
    if start is None or end is None:
        raise _damaged_error(path, line, "the cue's time cannot be read")
    if end < start:
        raise _damaged_error(path, line, "the cue ends before it begins")
    text = block[timing_index + 1:]
    if more := [number for number, line_text in text if "-->" in line_text]:
        raise _damaged_error(path, more[0], "a cue begins without an empty line before it")
    name = cue_name(block[0][1]) if timing_index else ""
    voice = f"<v {name}>" if name else ""
    return Cue("", voice + "\n".join(line_text for _, line_text in text), start, end, line)


def _damaged_error(path: Path, line: int, reason: str) -> InputError:
    return InputError(f"{path}, line {line}: {reason}; fix it, or pass --without-speech")


def _seconds(text: str) -> float | None:
    text = text.strip().replace(",", ".")
    stamp = clock_time(text if text.count(":") == 2 else f"0:{text}", "offset")
    return stamp.seconds if stamp and stamp.kind == "offset" else None


def _split_speaker(cues: list[Cue], names: Collection[str]) -> Iterator[Cue]:
    """One cue a voice, with the name of who speaks; one that names nobody goes on with the speaker before it."""
    speaker = UNKNOWN
    before_colons = _before_colons(cues, names)
    for cue in cues:
        parts = _VOICE.split(cue.text)
        named = _NAMED.fullmatch(cue.text)
        if len(parts) == 1 and named and _name(named[1]) in before_colons:
            parts = ["", named[1], named[2]]
        for name, said in [("", parts[0]), *zip(parts[1::2], parts[2::2], strict=True)]:
            if text := _plain(said):
                speaker = _name(name) or speaker
                yield replace(cue, speaker=speaker, text=text)


def _before_colons(cues: list[Cue], names: Collection[str]) -> set[str]:
    """The words before colons that are names: said to be, or found before several cues or before half of all."""
    if any(_VOICE.search(cue.text) for cue in cues):
        return set()
    matches = [named for cue in cues if (named := _NAMED.fullmatch(cue.text)) and len(named[1].split()) <= _WORDS]
    counts = Counter(_name(named[1]) for named in matches)
    known = {name.casefold().strip() for name in names}
    return {name for name, count in counts.items()
            if count > 1 or len(matches) * 2 >= len(cues) or name.casefold() in known}


def _name(text: str) -> str:
    """A name without the brackets that tools put around the label of a voice."""
    return _plain(text).strip("[]() ")


def _plain(text: str) -> str:
    """Text without marks, in one line."""
    return " ".join(unescape(_TAG.sub("", text)).split())
