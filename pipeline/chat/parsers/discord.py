"""Discord exports: one JSON file with `messages`."""

import json
from datetime import datetime

from pipeline.chat.log import MILLISECOND, Document, Message, Reader, Reading

from .times import instant

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
        else:
            reading.messages.append(message)
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
    if entry.get("type", "Default") not in _UTTERANCES:
        return f"a notice of Discord's ({entry['type']}), no utterance"
    if name is None or not isinstance(text, str) or not text.strip():
        return "a message without text or author"
    try:
        moment = datetime.fromisoformat(str(entry.get("timestamp")))
        stamp = instant(moment.timestamp(), MILLISECOND) if moment.tzinfo else None
    except (ValueError, OverflowError):
        stamp = None
    if stamp is None:
        return "its timestamp cannot be read"
    return Message(name.strip(), text.strip(), stamp, number)


def _entries(document: Document) -> list:
    if not document.text.lstrip().startswith("{"):
        return []
    try:
        content = json.loads(document.text)
    except (ValueError, RecursionError):
        return []
    messages = content.get("messages") if isinstance(content, dict) else None
    return messages if isinstance(messages, list) else []


READERS = (Reader("discord", recognise, read),)
