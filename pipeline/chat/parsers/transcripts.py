"""Transcripts as text, which meeting tools save as Word files: Teams (`Ann Lee 0:05`, then text), Google Meet
(`00:05:00` in a separate line, then `Ann Lee: text`) and Rev (`Ann Lee (00:05):`, text on the same line or below)."""

import re

from pipeline.chat.log import MINUTE, SECOND, Document, Message, Reader, Reading, Stamp

from .blocks import Header, HeaderParser, count_headers, read_blocks
from .times import clock_time

_TEAMS = re.compile(r"(\S[^\t]{0,99}?)[ \t]{2,}((?:\d{1,2}:)?\d{1,2}:\d{2})")
# What the tools add in lines of their own: Teams about the transcription, Otter and Rev at the end
_NOTICE = re.compile(r"(.{1,100}) (?:started|stopped) (?:transcription|recording)")
_TRAILER = re.compile(r"Transcri(?:bed|pt) by https?://\S{1,100}|This transcript was exported on .{1,200}")
_LAST_LINE = re.compile(r"Transcri(?:bed|pt) by \S{1,100}\.\w{2,10}")
_REV = re.compile(r"(\S.{0,99}?) \(((?:\d{1,2}:)?\d{1,2}:\d{2})\):(?: (.*))?")
_TEAMS_CUE = re.compile(r"(\d{1,2}:\d{1,2}:\d{1,2}(?:\.\d{1,9})?) --> \d{1,2}:\d{1,2}:\d{1,2}(?:\.\d{1,9})?")
_MEET_TIME = re.compile(r"(\d{2}:\d{2}:\d{2})")
_MEET_SAID = re.compile(r"([^:]{1,100}): (.+)")


def _teams_header(line: str) -> Header | None:
    match = _TEAMS.fullmatch(line.strip())
    if not match:
        return None
    time = match[2] if match[2].count(":") == 2 else f"0:{match[2]}"
    return Header(match[1], clock_time(time, "offset"))


def _rev_header(line: str) -> Header | None:
    plain = line.strip()
    if plain.startswith("**") and plain.endswith("**"):  # bold in Markdown, without the colon
        plain = plain.strip("*").rstrip(":") + ":"
    match = _REV.fullmatch(plain)
    if not match:
        return None
    time = match[2] if match[2].count(":") == 2 else f"0:{match[2]}"
    return Header(match[1], clock_time(time, "offset"), match[3] or "")


def _recognise_teams(document: Document) -> int:
    return count_headers(document, _teams_header)


def _read_teams(document: Document) -> Reading:
    return _read_headed(document, _teams_header)


def _recognise_rev(document: Document) -> int:
    return count_headers(document, _rev_header)


def _read_rev(document: Document) -> Reading:
    return _read_headed(document, _rev_header)


def _read_headed(document: Document, parse: HeaderParser) -> Reading:
    """Messages below their headers, without what the tool adds."""
    headers = filter(None, map(parse, document.lines))
    speakers = {header.speaker.strip() for header in headers}
    lines = [line.strip() for line in document.lines if line.strip()]
    first_and_last = {*lines[:1], *lines[-1:]}

    def is_notice(line: str) -> bool:
        notice = _NOTICE.fullmatch(line.strip())
        is_trailer = _TRAILER.fullmatch(line.strip()) or (
            [line.strip()] == lines[-1:] and _LAST_LINE.fullmatch(line.strip()))
        return bool(is_trailer or notice and (notice[1] in speakers or line.strip() in first_and_last))

    return read_blocks(document, parse, is_notice)


def _recognise_cues(document: Document) -> int:
    return sum(_TEAMS_CUE.fullmatch(line.strip()) is not None for line in document.lines)


def _read_cues(document: Document) -> Reading:
    """The older form of Teams: times, the name, the text, each in a line of its own."""
    reading = Reading()
    lines = [line.strip() for line in document.lines]
    starts = [index for index, line in enumerate(lines) if _TEAMS_CUE.fullmatch(line)]
    reading.problems += [(line_number, "text before the first passage")
                         for line_number, line in enumerate(lines[:starts[0]] if starts else (), 1) if line]
    for line_number, until in zip(starts, [*starts[1:], len(lines)], strict=False):
        block = [line for line in lines[line_number + 1:until] if line]
        match = _TEAMS_CUE.fullmatch(lines[line_number])
        stamp = clock_time(re.sub(r"(?<!\d)(\d)(?=[:.]|$)", r"0\1", match[1]), "offset") if match else None
        if stamp is None or len(block) < 2:
            reading.problems.append((line_number + 1, "a passage without a name, a text or a time"))
        else:
            reading.messages.append(Message(block[0], "\n".join(block[1:]), stamp, line_number + 1))
    return reading


def _recognise_meet(document: Document) -> int:
    times = sum(_MEET_TIME.fullmatch(line.strip()) is not None for line in document.lines)
    return times + sum(_MEET_SAID.fullmatch(line.strip()) is not None for line in document.lines) if times else 0


def _read_meet(document: Document) -> Reading:
    """The time stands before a passage of some minutes, so what is said in it is known to that passage only."""
    reading = Reading()
    stamp: Stamp | None = None
    for number, line in enumerate(document.lines, 1):
        text = line.strip()
        if _MEET_TIME.fullmatch(text):
            begun = clock_time(text, "offset")
            stamp = begun and Stamp(begun.seconds, "offset", MINUTE if begun.seconds % 60 == 0 else SECOND)
        elif (said := _MEET_SAID.fullmatch(text)) and stamp is not None:
            reading.messages.append(Message(said[1], said[2], stamp, number))
        elif text:
            why = "no speaker" if stamp else "text before the first time"
            reading.problems.append((number, why))
    return reading


READERS = (Reader("teams", _recognise_teams, _read_teams), Reader("teams-cues", _recognise_cues, _read_cues),
           Reader("meet", _recognise_meet, _read_meet), Reader("rev", _recognise_rev, _read_rev))
