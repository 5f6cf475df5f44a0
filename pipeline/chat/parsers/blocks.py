"""Text logs with headers followed by text: the loop that they share."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from pipeline.chat.log import Document, Message, Reading, Stamp

_HEADER_LIKE = re.compile(r"\[?\d{1,4}[-:]\d{2}[-:]\d{2}\b")


@dataclass(frozen=True)
class Header:
    """The line that begins a message: who, when, and the text that stands on the same line."""

    speaker: str
    stamp: Stamp | None
    text: str = ""


_MARKS = dict.fromkeys((0x200e, 0x200f, *range(0x202a, 0x202f), *range(0x2066, 0x206a)))  # of the direction of text


def without_marks(line: str) -> str:
    """A line without the invisible marks that chat tools put around names and times."""
    return line.translate(_MARKS)


HeaderParser = Callable[[str], Header | None]


def count_headers(document: Document, parse: HeaderParser) -> int:
    """How many lines begin a message."""
    return sum((header := parse(without_marks(line))) is not None and header.stamp is not None
               for line in document.lines)


def read_blocks(document: Document, parse: HeaderParser,
                is_notice: Callable[[str], bool] = lambda _: False) -> Reading:
    """Messages of a log in which every line that is no header, and no notice of the tool, belongs to the message above
    it."""
    reading = Reading()
    head: Header | None = None
    text: list[str] = []
    number = 0

    def finish() -> None:
        if head is not None and head.stamp is not None:
            content = "\n".join(text).strip()
            if content:
                reading.messages.append(Message(head.speaker.strip(), content, head.stamp, number))
            else:
                reading.problems.append((number, "a message without text"))

    for line_number, line in enumerate(document.lines, 1):
        header = parse(without_marks(line))
        if header is None and is_notice(line):
            reading.problems.append((line_number, "a notice of the tool, no utterance"))
            continue
        if header is None and not _HEADER_LIKE.match(without_marks(line)):
            if head is not None:
                text.append(line.removeprefix("\t"))
            elif line.strip():
                reading.problems.append((line_number, "text before the first message"))
            continue
        finish()
        head, text, number = header, [], line_number
        if header is None:
            reading.problems.append((line_number, "begins like a message, but cannot be read as one"))
        elif header.stamp is None:
            reading.problems.append((line_number, "invalid time of day"))
            head = None
        else:
            text = [header.text]
    finish()
    return reading
