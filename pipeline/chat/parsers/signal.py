"""Signal's chats as signal-export 3.9 writes them in Markdown: `[2026-03-02 10:15:00] Ann: text`, then quotes,
reactions `(- Ann: 👍 -)`, stickers `(( 👍 ))` and links to files in `media`."""

import re
from collections.abc import Iterator
from datetime import date

from pipeline.chat.log import Document, Message, Reaction, Reader, Reading, Stamp

from .message_extras import with_files
from .times import clock_time

_LINE = re.compile(r"\[(\d{4}-\d{2}-\d{2}) (\d{2}:\d{2}:\d{2})\] ([^:]{1,100}): ?(.*)")
_REACTIONS = re.compile(r"\(- (.{1,2000}) -\)")
_REACTION = re.compile(r"(.{1,100}): (\S{1,40})")
_STICKER = re.compile(r"\(\( (.{1,40}) \)\)")
_FILE = re.compile(r"!?\[([^\[\]]{0,200})\]\((?:\./media|\.\./exported_stickers)/[^()\s]{1,500}\)")
_NOT_EXPORTED = re.compile(r"\((?:media|attachment) not exported\)")
_DELETED = "(This message was deleted)"
_CALL = re.compile(r"(?:Incoming|Outgoing|Missed) (?:\w{1,20} )?call(?: \([^()]{1,60}\))?")


def recognise(document: Document) -> int:
    """The number of lines that begin a message, and one more for what only Signal's have; WhatsApp's can look alike."""
    messages = sum(_LINE.fullmatch(line) is not None for line in document.lines)
    marks = any(_REACTIONS.fullmatch(line.strip()) or _FILE.search(line) or _NOT_EXPORTED.search(line)
                or (_LINE.fullmatch(line) and line.endswith("  ")) for line in document.lines)
    return messages + (1 if marks else -1) if messages else 0


def read(document: Document) -> Reading:
    """Messages, with the quoted text, reactions and files of each."""
    reading = Reading()
    for number, match, lines in _blocks(document, reading):
        stamp = _stamp(match[1], match[2])
        text, quote, reactions = _parts([match[4], *lines])
        if stamp is None:
            reading.problems.append((number, "invalid date or time"))
        elif text == _DELETED:
            reading.problems.append((number, "a message that was deleted"))
        elif _CALL.fullmatch(text):
            reading.problems.append((number, "a call, no utterance"))
        elif not text:
            reading.problems.append((number, "a message without text"))
        else:
            reading.messages.append(Message(match[3].strip(), text, stamp, number, quote=quote, reactions=reactions))
    return reading


def _blocks(document: Document, reading: Reading) -> Iterator[tuple[int, re.Match[str], list[str]]]:
    """Each line that begins a message, by its number, and the lines after it."""
    current: tuple[int, re.Match[str], list[str]] | None = None
    for number, line in enumerate(document.lines, 1):
        if match := _LINE.fullmatch(line):
            if current:
                yield current
            current = number, match, []
        elif current:
            current[2].append(line)
        elif line.strip():
            reading.problems.append((number, "text before the first message"))
    if current:
        yield current


def _parts(lines: list[str]) -> tuple[str, str, tuple[Reaction, ...]]:
    """The text with its files, the text that it quotes, and the reactions of a message."""
    text, quote, files = list[str](), list[str](), list[object]()
    reactions: dict[str, list[str]] = {}
    for line in (line.rstrip() for line in lines):
        if line.startswith("> ") and not any(text):
            quote.append(line[2:])
        elif match := _REACTIONS.fullmatch(line):
            for one in filter(None, map(_REACTION.fullmatch, match[1].split(", "))):
                reactions.setdefault(one[2], []).append(one[1])
        elif match := _STICKER.fullmatch(line):
            text.append(match[1])
        else:
            files += [name or None for name in _FILE.findall(line)] + [None for _ in _NOT_EXPORTED.findall(line)]
            text.append(_NOT_EXPORTED.sub("", _FILE.sub("", line)).rstrip())
    said = with_files("\n".join(text).strip(), files)
    counted = tuple(Reaction(emoji, len(names), tuple(names)) for emoji, names in reactions.items())
    return said, "\n".join(quote), counted


def _stamp(day: str, time: str) -> Stamp | None:
    clock = clock_time(time)
    try:
        return Stamp(clock.seconds, "clock", clock.precision, date.fromisoformat(day)) if clock else None
    except ValueError:
        return None


READERS = (Reader("signal", recognise, read),)
