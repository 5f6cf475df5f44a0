"""Chat readers of other packages, wrapped so that a failing one does not prevent reading other kinds."""

import math
from dataclasses import replace

from pipeline import plugins
from pipeline.chat.log import MAX_EMOJI_CHARS, Document, Message, Reaction, Reader, Reading, Stamp
from pipeline.plugins import Plugin
from schemas import InputError, limits

STAMPS = ("clock", "instant", "offset", "unknown", "number")


def readers(reserved: tuple[str, ...]) -> dict[str, Reader]:
    """Readers of plug-ins by kind; `reserved` are demotape's own kinds. Complains of those that do not work."""
    return {reader.kind: _guard(plugin, reader) for plugin, reader in plugins.load_each(plugins.CHAT, _fault, reserved)
            if isinstance(reader, Reader)}


def _guard(plugin: Plugin, reader: Reader) -> Reader:
    def recognise(document: Document) -> int:
        try:
            return max(int(reader.recognise(document)), 0)
        except Exception as error:  # foreign code; the file may be of another kind anyway
            plugins.complain(f"{plugins.failure(plugin, error)}; it is taken not to know {document.path.name}")
            return 0

    def read(document: Document) -> Reading:
        try:
            reading = reader.read(document)
            wrong = _wrong(reading)
        except InputError:
            raise
        except Exception as error:
            raise InputError(f"{document.path}: {plugins.failure(plugin, error)}") from error
        if wrong:
            raise InputError(f"{document.path}: {plugin} read {wrong}; mend or uninstall {plugin.distribution}")
        return reading

    return replace(reader, recognise=recognise, read=read)


def _wrong(reading: Reading) -> str:
    """What is not as the contract has it; empty when all is."""
    if not isinstance(reading, Reading):
        return f"{type(reading).__name__}, which is not a Reading"
    for message in reading.messages:
        if not (isinstance(message, Message) and isinstance(message.speaker, str) and isinstance(message.text, str)
                and isinstance(message.line, int) and isinstance(message.stamp, Stamp)):
            return "a value that is not a Message with speaker, text, stamp and line"
        if not all(isinstance(value, str)
                   for value in (message.speaker_id, message.id, message.reply_to, message.quote)):
            return f"a message whose speaker_id, id, reply_to or quote is no text (line {message.line})"
        if not all(_is_reaction(reaction) for reaction in message.reactions):
            return f"a message with a reaction that is none (line {message.line})"
        if message.stamp.kind not in STAMPS or not math.isfinite(message.stamp.seconds):
            return f"a message whose time is none (line {message.line})"
    return ""


def _is_reaction(value: object) -> bool:
    return (isinstance(value, Reaction) and isinstance(value.emoji, str) and 0 < len(value.emoji) <= MAX_EMOJI_CHARS
            and type(value.count) is int and 0 < value.count <= limits.MAX_INTEGER
            and all(isinstance(speaker, str) for speaker in value.speakers))


def _fault(name: str, reader: object) -> str:
    if not isinstance(reader, Reader) or not callable(reader.recognise) or not callable(reader.read):
        return "it is not a pipeline.chat.Reader(kind, recognise, read)"
    return "" if reader.kind == name else f"its kind is {reader.kind!r}, not its name"
