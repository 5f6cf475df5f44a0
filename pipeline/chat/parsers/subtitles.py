"""SubRip (.srt) and SBV (.sbv, as Google Meet saves its chat): cues with `Name: text`."""

import re
from collections.abc import Iterator
from itertools import takewhile

from pipeline.chat.log import Document, Reader, Reading

from . import webvtt

_SRT = re.compile(r"\d{1,3}:\d{2}:\d{2}[,.]\d{1,3}\s*-->\s*\d{1,3}:\d{2}:\d{2}[,.]\d{1,3}.*")
_SBV = re.compile(r"(\d{1,3}:\d{2}:\d{2}\.\d{1,3}),\d{1,3}:\d{2}:\d{2}\.\d{1,3}\s*")


def _is_cue(line: str, kind: re.Pattern[str]) -> bool:
    return kind.fullmatch(line.strip()) is not None


def _recognise_srt(document: Document) -> int:
    if document.lines and document.lines[0].startswith("WEBVTT"):
        return 0
    return sum(_is_cue(line, _SRT) for line in document.lines)


def _recognise_sbv(document: Document) -> int:
    return sum(_is_cue(line, _SBV) for line in document.lines)


def _read_srt(document: Document) -> Reading:
    return webvtt.read(document)


def _read_sbv(document: Document) -> Reading:
    reading = webvtt.read_cues(_sbv_cues(document))
    for number, line in enumerate(takewhile(lambda line: not _is_cue(line, _SBV), document.lines), 1):
        if line.strip():
            reading.problems.append((number, "text before the first cue"))
    return reading


def _sbv_cues(document: Document) -> Iterator[tuple[int, str, list[str]]]:
    """Line number, timing and text lines of each cue."""
    number, timing, text = 0, "", list[str]()
    for line_number, line in enumerate((*document.lines, ""), 1):
        if match := _SBV.fullmatch(line.strip()):
            if timing:
                yield number, timing, text
            number, timing, text = line_number, match[1], []
        elif timing and line.strip():
            text.append(line)
    if timing:
        yield number, timing, text


READERS = (Reader("srt", _recognise_srt, _read_srt), Reader("sbv", _recognise_sbv, _read_sbv))
