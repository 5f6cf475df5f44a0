"""The text of a body of the network, in whatever charset it came, and back to the same bytes. Pure functions."""

import codecs

from schemas.text import encode_windows_1252

_BYTE_ORDER_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_READ_AS_WINDOWS_1252 = ("windows-1252", "iso-8859-1", "latin1", "latin-1", "ascii", "us-ascii", "cp1252", "l1")
_SAMPLE_LENGTH = 1000  # bytes that are looked at for the zeros of UTF-16
BYTES = "latin-1"  # of which each byte is a letter: ASCII in it is found, and nothing is lost


def text_of(content: bytes, charset: str = "") -> tuple[str, str]:
    """The text and the codec that gives the same bytes again. `charset`: in which the browser read it, or its header
    says it is; what is in no known charset is read byte by byte."""
    for name in (*_marked(content), *_by_zeros(content), charset, "utf-8"):  # UTF-16 may be valid UTF-8 with zeros
        try:
            text = content.decode(codec := codecs.lookup(name).name) if name else None
            if text is not None and text.encode(codec) == content:
                return text, codec
        except (LookupError, UnicodeError, ValueError):
            continue
    return content.decode(BYTES), BYTES


def bytes_of(text: str, size: int, *charsets: str) -> tuple[bytes, str] | None:
    """The bytes that a browser decoded to a text, and their charset; None where no charset gives that many.

    `size`: how many came; `charsets`: what they may be in, besides UTF-8, UTF-16 and what is read without a charset
    (windows-1252). A byte order mark is no part of what browsers tell.
    """
    for name in dict.fromkeys((*charsets, "utf-8", "windows-1252", "utf-16le", "utf-16be")):
        codec = _codec(name)
        content = _encoded(text, codec) if codec else None
        marks = [mark for mark, of in _BYTE_ORDER_MARKS if of == codec]
        for candidate in () if content is None else (content, *(mark + content for mark in marks)):
            if len(candidate) == size:
                return candidate, name
    return None


def _codec(charset: str) -> str:
    """The codec of a charset's label as browsers read it; empty for an unknown one."""
    label = charset.strip().lower()
    if label in _READ_AS_WINDOWS_1252:
        return "cp1252"
    try:
        return codecs.lookup({"utf-16": "utf-16-le", "utf-16le": "utf-16-le", "utf-16be": "utf-16-be"}.get(
            label, label)).name if label else ""
    except (LookupError, ValueError):
        return ""


def _encoded(text: str, codec: str) -> bytes | None:
    try:
        return text.encode(codec, "surrogatepass" if codec.startswith("utf") else "strict")
    except UnicodeError:
        if codec != "cp1252":
            return None
    try:
        return encode_windows_1252(text)
    except UnicodeError:
        return None


def charset_of(kind: str) -> str:
    """The charset that a media type names; empty when it names none."""
    for part in kind.split(";")[1:]:
        name, _, value = part.partition("=")
        if name.strip().lower() == "charset":
            return value.strip().strip("\"'")
    return ""


def _marked(content: bytes) -> list[str]:
    return [name for mark, name in _BYTE_ORDER_MARKS if content.startswith(mark)]


def _by_zeros(content: bytes) -> list[str]:
    """UTF-16 without a mark: every second byte of text in Latin letters is 0."""
    sample = content[:_SAMPLE_LENGTH]
    if len(content) % 2 or sample.count(0) * 3 < len(sample):
        return []
    return ["utf-16-le" if sample[1::2].count(0) >= sample[::2].count(0) else "utf-16-be"]
