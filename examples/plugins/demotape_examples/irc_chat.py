"""A chat parser for logs of IRC clients, such as `[14:30:05] <Ann> Please book a table`."""

import re

from pipeline.chat import Document, Message, Reader, Reading, Stamp

_LINE = re.compile(r"\[(\d\d):(\d\d):(\d\d)\] (?:<([^>]+)> (.*)|\*\*\* .*)")


def recognise(document: Document) -> int:
    """The number of lines that look like it."""
    return sum(bool(_LINE.fullmatch(line)) for line in document.lines)


def read(document: Document) -> Reading:
    """One message a line; who came and went (`***`) is left out, and what is neither is told."""
    reading = Reading()
    for number, line in enumerate(document.lines, 1):
        match = _LINE.fullmatch(line)
        if match and match[4]:
            hour, minute, second = (int(match[part]) for part in (1, 2, 3))
            stamp = Stamp(hour * 3600.0 + minute * 60 + second, "clock")
            reading.messages.append(Message(match[4], match[5], stamp, number))
        elif line.strip() and not match:
            reading.problems.append((number, "no line of an IRC log"))
    return reading


READER = Reader("irc", recognise, read)
