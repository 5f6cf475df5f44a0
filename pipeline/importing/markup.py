"""Writing pages from trees of nodes, as HTML with our uids; with a limit, as a small source may describe a huge one."""

import re
from collections.abc import Mapping
from html import escape

from schemas import UID_ATTRIBUTE, InputError, limits

MAX_DEPTH = 256  # of elements in each other: parsers of the result stop there
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.:-]{0,99}")
_ATTRIBUTE = re.compile(r"[^\s\"'<>/=\x00-\x1f\x7f]{1,200}")
_VOID = frozenset({"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source",
                   "track", "wbr"})
_RAW = frozenset({"script", "style", "xmp", "iframe", "noembed", "noframes", "plaintext"})
_END_TAG = re.compile(r"</", re.IGNORECASE)


class MarkupWriter:
    """Puts a page together, tag by tag."""

    def __init__(self, where: str):
        self._where, self._size = where, 0
        self._parts: list[str] = []
        self._raw: list[str] = []  # open elements: the name of one whose text is no markup, else empty

    def start(self, tag: str, attributes: Mapping[str, str], uid: str) -> str | None:
        """Begin an element; returns the name that `end` needs, None where the element cannot have content."""
        name = tag.lower()
        if not _NAME.fullmatch(name):
            name = "span"
        written = "".join(f' {key}="{escape(str(value))}"' for key, value in attributes.items()
                          if _ATTRIBUTE.fullmatch(key) and key.lower() != UID_ATTRIBUTE)
        self._add(f'<{name} {UID_ATTRIBUTE}="{escape(uid)}"{written}>')
        if name in _VOID:
            return None
        self._raw.append(name if name in _RAW else "")
        if len(self._raw) > MAX_DEPTH:
            raise InputError(f"{self._where}: elements are nested deeper than {MAX_DEPTH}")
        return name

    def end(self, name: str) -> None:
        """End an element."""
        self._raw.pop()
        self._add(f"</{name}>")

    def text(self, text: str) -> None:
        """Add a text; in a script or style sheet it cannot end its element."""
        if self._raw and self._raw[-1]:
            self._add(_END_TAG.sub("<\\\\/", text))
        else:
            self._add(escape(text, quote=False))

    def doctype(self) -> None:
        """Add the document type of today's pages."""
        self._add("<!DOCTYPE html>\n")

    def content(self) -> str:
        """The page."""
        return "".join(self._parts)

    def _add(self, part: str) -> None:
        self._size += len(part)
        if self._size > limits.PAGE:
            raise InputError(f"{self._where}: a page of more than {limits.PAGE} characters")
        self._parts.append(part)

