"""Discord exports: one JSON file with `messages`, or text (`[05-Mar-24 02:30 PM] ann`, then the message)."""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from itertools import takewhile

from pipeline.chat.log import MILLISECOND, Document, Message, Reaction, Reader, Reading, Stamp

from .days import day_first, month_first, order_of
from .message_extras import UNKNOWN_REACTION, file_names, reactions_of, with_files
from .times import clock_time, instant, minutes_time

_UTTERANCES = ("Default", "Reply", 0, 19)


def recognise(document: Document) -> int:
    """The number of messages that carry an author and a timestamp."""
    return sum(isinstance(entry, dict) and "author" in entry and "timestamp" in entry for entry in _entries(document))


def read(document: Document) -> Reading:
    """Messages, oldest first; joins, pins and calls are notices of Discord's and reported as such."""
    reading = Reading()
    for number, entry in enumerate(_entries(document), 1):
        message = _message(entry, number)
        if isinstance(message, str):
            reading.problems.append((number, message))
            continue
        reactions, unknown = reactions_of(entry.get("reactions"))
        if unknown:
            reading.problems.append((number, UNKNOWN_REACTION))
        reading.messages.append(replace(message, reactions=reactions))
    reading.messages.sort(key=lambda message: message.stamp.seconds)
    return reading


def _message(entry: object, number: int) -> Message | str:
    """One message, or why it is none."""
    if not isinstance(entry, dict):
        return "no message"
    author = entry.get("author")
    author = author if isinstance(author, dict) else {"name": author}
    names = (author.get(key) for key in ("nickname", "global_name", "name", "username"))
    name = next((name for name in names if isinstance(name, str) and name.strip()), None)
    text = entry.get("content")
    if isinstance(text, str):
        text = with_files(text, [*file_names(entry.get("attachments")), *file_names(entry.get("stickers"))])
    if entry.get("type", "Default") not in _UTTERANCES:
        return f"a notice of Discord's ({entry['type']}), no utterance"
    if name is None or not isinstance(text, str) or not text.strip():
        return "a message without text or author"
    try:
        sent_at = datetime.fromisoformat(str(entry.get("timestamp")))
        stamp = instant(sent_at.timestamp(), MILLISECOND) if sent_at.tzinfo else None
    except (ValueError, OverflowError):
        stamp = None
    if stamp is None:
        return "its timestamp cannot be read"
    answered = entry.get("reference") or entry.get("message_reference")
    answered = answered if isinstance(answered, dict) else {}
    return Message(name.strip(), text.strip(), stamp, number, str(author.get("id") or ""), str(entry.get("id") or ""),
                   str(answered.get("messageId") or answered.get("message_id") or ""))


def _entries(document: Document) -> list:
    if not document.text.lstrip().startswith("{"):
        return []
    try:
        content = json.loads(document.text)
    except (ValueError, RecursionError):
        return []
    messages = content.get("messages") if isinstance(content, dict) else None
    return messages if isinstance(messages, list) else []


_MONTHS = {name: str(number) for number, name in enumerate(
    ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"), 1)}
_HEAD = re.compile(r"\[(\d{1,4})[-./](\d{1,2}|[A-Z][a-z]{2})[-./](\d{1,4}),? "
                   r"(\d{1,2}:\d{2}(?::\d{2})?(?: ?[AP]M)?)\] ([^:]{1,100})")
_PARTS = ("{Attachments}", "{Embed}", "{Stickers}", "{Reactions}")  # what follows is no text of the message
_FOOT = re.compile(r"={20,}|Exported \d+ message\(s\)")
_PREAMBLE = ("Guild:", "Channel:", "Topic:", "After:", "Before:", "=====")


def recognise_text(document: Document) -> int:
    """The number of lines that begin a message."""
    return sum(_HEAD.fullmatch(line) is not None for line in document.lines)


def read_text(document: Document) -> Reading:
    """Messages; a time is of the exporter's zone, mostly to the minute."""
    reading = Reading()
    heads = [(index, match) for index, line in enumerate(document.lines) if (match := _HEAD.fullmatch(line))]
    days = [(match[1], _MONTHS.get(match[2], match[2]), match[3]) for _, match in heads]
    order = order_of(days, month_first if any("M" in match[4] for _, match in heads) else day_first)
    if any(match[2] in _MONTHS for _, match in heads):
        order = day_first
    ends = [index for index, _ in heads[1:]] + [len(document.lines)]
    for index, line in enumerate(document.lines[:heads[0][0]] if heads else (), 1):
        if line.strip() and not line.startswith(_PREAMBLE):
            reading.problems.append((index, "text before the first message"))
    for (index, match), day, end in zip(heads, days, ends, strict=False):
        text, reactions, unknown = _body(document.lines[index + 1:end])
        if unknown:
            reading.problems.append((index + 1, UNKNOWN_REACTION))
        time, on = clock_time(match[4]) or minutes_time(match[4]), order(*day)
        if time is None or on is None:
            reading.problems.append((index + 1, "invalid date or time"))
        elif not text:
            reading.problems.append((index + 1, "a message without text"))
        else:
            name = match[5].removesuffix(" (pinned)")
            reading.messages.append(Message(name, text, Stamp(time.seconds, "clock", time.precision, on), index + 1,
                                            name,
                                            reactions=reactions))
    return reading


def _body(lines: Sequence[str]) -> tuple[str, tuple[Reaction, ...], int]:
    """Text, reactions, and how many of these are not understood, of the lines below a header."""
    parts: dict[str, list[str]] = {"": []}
    part = ""
    for line in takewhile(lambda line_text: not _FOOT.match(line_text), lines):
        if line in _PARTS:
            part = line
        parts.setdefault(part, []).append(line)
    files = [line.partition("?")[0].replace("\\", "/").rpartition("/")[2] for name in ("{Attachments}", "{Stickers}")
             for line in parts.get(name, ())[1:] if line.strip()]
    reactions, unknown = reactions_of(" ".join(parts.get("{Reactions}", ())[1:]))
    return with_files("\n".join(parts[""]), files), reactions, unknown


READERS = (Reader("discord", recognise, read), Reader("discord-text", recognise_text, read_text))
