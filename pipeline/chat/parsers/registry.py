"""All kinds of chat log, and detection of a file's kind."""

from pathlib import Path

from pipeline.chat.log import Document, Reader
from schemas import InputError, limits
from schemas.files import read_named

from . import discord, docx, plugged, signal, slack, subtitles, tables, transcripts, webvtt, whatsapp, zoom

READERS: dict[str, Reader] = {
    reader.kind: reader
    for module in (zoom, webvtt, subtitles, slack, discord, signal, whatsapp, transcripts, tables)
    for reader in module.READERS
}
KINDS = tuple(READERS)


def readers() -> dict[str, Reader]:
    """All readers by kind, those of plug-ins first: where two recognise the same, they are the more special ones."""
    return plugged.readers(KINDS) | READERS


def open_document(path: Path) -> Document:
    """A chat file decoded, or an export's folder; raises InputError when it cannot be read or is no text."""
    if path.is_dir():
        return Document(path)
    content = read_named(path, limits.CHAT)
    text = _decode(content)
    if text is None and content.startswith(b"PK\x03\x04") and path.suffix.lower() != ".docx":
        raise InputError(f"{path}: a zip file, not a text file; unpack it and pass the chat log, or the folder of a "
                         "channel, in it")
    if text is None:
        raise InputError(f"{path}: not a text file; pass a chat log ({', '.join(KINDS)})")
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return Document(path, text, tuple(text.split("\n")))


def find_reader(document: Document, kind: str | None) -> Reader:
    """The reader of a kind, or the one that recognises most of the file; raises InputError when none does."""
    known = readers()
    if kind is not None:
        if kind not in known:
            raise InputError(f"unknown chat kind {kind!r}; choose one of {', '.join(known)}")
        if kind in READERS and document.is_folder and kind != "slack":
            raise InputError(f"{document.path}: not a {kind} chat; only a Slack export is a folder")
        return known[kind]
    scores = {name: reader.recognise(document) for name, reader in known.items()
              if not document.is_folder or name not in READERS or reader in slack.READERS}
    best = max(scores, key=scores.__getitem__)
    if not scores[best]:
        raise InputError(f"{document.path}: not a chat log of any kind that is known ({', '.join(known)})")
    return known[best]


def _decode(content: bytes) -> str | None:
    """Text in UTF-8 or UTF-16 by its mark, UTF-16 by its zeros, else UTF-8, else Windows' western code page; None for
    no text at all."""
    if content.startswith(b"PK\x03\x04"):
        return docx.text_of(content)
    try:
        if content.startswith((b"\xff\xfe", b"\xfe\xff")):
            return content.decode("utf-16")
        for zeros, encoding in ((content[1:200:2], "utf-16-le"), (content[:200:2], "utf-16-be")):
            if len(content) % 2 == 0 and zeros.count(0) > len(zeros) // 2:
                return content.decode(encoding)
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        if b"\0" in content:
            return None
        return content.decode("cp1252", "replace")
