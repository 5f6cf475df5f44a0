"""WhatsApp's exports: `[05/03/2024, 14:30:05] Ann: text` and `05/03/24, 2:30 PM - Ann: text`, days in any order."""

import re
from collections.abc import Iterator
from datetime import date

from pipeline.chat.log import Document, Message, Reader, Reading, Stamp

from .blocks import unmarked
from .days import order_of
from .times import clock_time, minutes_time

_LINE = re.compile(r"\[?(\d{1,4})[./-](\d{1,2})[./-](\d{1,4}),?[ ]+"
                   r"(\d{1,2}[:.]\d{2}(?:[:.]\d{2})?(?:[ ]?[AaPp]\.?[ ]?[Mm]\.?)?)(?:\][ ]|[ ]-[ ])(.*)")
_SAID = re.compile(r"([^:]{1,100}): ?(.*)")
_SPACES = str.maketrans("\u202f\xa0", "  ")
_EDITED = re.compile(r"<(?:This message was edited|Diese Nachricht wurde bearbeitet|Se editó este mensaje\.?|"
                     r"Ce message a été modifié)>$")
_GONE = ("This message was deleted", "You deleted this message", "Diese Nachricht wurde gelöscht",
         "Se eliminó este mensaje", "Ce message a été supprimé")


def recognise(document: Document) -> int:
    """The number of lines in which somebody says something."""
    return sum((match := _LINE.fullmatch(_plain(line))) is not None and ": " in match[5] for line in document.lines)


def read(document: Document) -> Reading:
    """Messages; what WhatsApp tells itself, and what was deleted, is reported."""
    reading, heads = Reading(), list(_blocks(document))
    order = order_of([(match[1], match[2], match[3]) for _, match, _ in heads])
    for number, match, more in heads:
        said = _SAID.fullmatch(match[5])
        stamp = _stamp(match[4], order(match[1], match[2], match[3]))
        if said is None:
            reading.problems.append((number, "a notice of WhatsApp's, no utterance"))
            continue
        text = _EDITED.sub("", "\n".join([said[2], *more]).rstrip()).strip()
        if stamp is None:
            reading.problems.append((number, "there is no such day or time"))
        elif not text or text.rstrip(".").startswith(_GONE):
            reading.problems.append((number, "a message that was deleted, or without text"))
        else:
            reading.messages.append(Message(said[1].strip(), text, stamp, number))
    return reading


def _blocks(document: Document) -> Iterator[tuple[int, re.Match[str], list[str]]]:
    """Each line that begins a message, by its number, and the lines after it."""
    found: tuple[int, re.Match[str], list[str]] | None = None
    for number, line in enumerate(document.lines, 1):
        if match := _LINE.fullmatch(_plain(line)):
            if found:
                yield found
            found = number, match, []
        elif found:
            found[2].append(unmarked(line))
    if found:
        yield found


def _plain(line: str) -> str:
    return unmarked(line).translate(_SPACES)


def _stamp(text: str, day: date | None) -> Stamp | None:
    text = re.sub(r"(?<=\d)\.(?=\d)", ":", text)
    found = clock_time(text) or minutes_time(text)
    return Stamp(found.seconds, "clock", found.precision, day) if found and day else None


READERS = (Reader("whatsapp", recognise, read),)
