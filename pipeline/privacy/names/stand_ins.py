"""Stand-ins: replacements of a person's name or an address, equal for equal values.

A stand-in is a digest under a key, so that whoever has the data set cannot try names, and no process needs to know what
another one found.
"""

import hmac
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable
from html import unescape
from html.entities import codepoint2name
from typing import Any
from urllib.parse import quote, unquote_plus

import re2

from schemas.normalised_text import normalise

from . import lists
from .words import AMBIGUOUS, NEVER, PARTICLES, TITLES

_DIGITS = 6  # of the digest: sixteen million stand-ins
_GAP = re.compile(r"[\s,._+·・＝-]+")
_BETWEEN = rb"(?:[ \t\r\n._+,-]|\xc2\xa0|\xe3\x80\x80|\xe2\x80[\x80-\x8a\xaf]|%20|%2[Cc]|&nbsp;|&#160;){1,3}"
_GROUP = 200  # names in one pattern
_MEMORY = 128 << 20  # bytes that a pattern may take
_ESCAPED = re.compile(rb"(?:%[0-9A-Fa-f]{2}|\\[nrt])$")


class StandIns:
    """Makes stand-ins under a key."""

    def __init__(self, key: str):
        self._key = key.encode()

    def stand_in_for(self, value: str, kind: str) -> str:
        """`[PERSON 3f2a81]` or `[ADDRESS …]`. `value` in any of the ways in which it may be written."""
        return self._of_words(words(value), kind)

    def replacing(self, persons: Iterable[str]) -> "PersonReplacer":
        """What replaces the names of these persons."""
        return PersonReplacer(persons, lambda parts: self._of_words(parts, "person"))

    def _of_words(self, parts: tuple[str, ...], kind: str) -> str:
        normal = " ".join([kind, *(sorted(parts) if kind == "person" else parts)])
        return f"[{kind.upper()} {hmac.digest(self._key, normal.encode('utf-8', 'replace'), 'sha256').hex()[:_DIGITS]}]"


def words(value: str) -> tuple[str, ...]:
    """The words of a name or address, without case, accents, titles and what is escaped."""
    plain = unicodedata.normalize("NFKD", unescape(unquote_plus(normalise(value).text)).casefold())
    plain = unicodedata.normalize("NFC",
                                  "".join(character for character in plain if unicodedata.category(character) != "Mn"))
    parts = tuple(word for word in re.split(r"[\W_]+", plain) if word)
    if not any(word.isascii() for word in parts):
        return ("".join(parts),)  # names in Chinese characters are written with a space, or without
    return tuple(word for word in parts if word not in TITLES or len(word) == 1) or parts


class PersonReplacer:
    """Replaces names in UTF-8, as texts, HTML, addresses and JSON have them.

    In any case, the surname first or last, and a part alone where it can only be one of these persons'. `stand_in`
    makes the stand-in of a name's words.
    """

    def __init__(self, persons: Iterable[str], stand_in: Any):
        self._stand_in = stand_in
        self.persons = sorted(set(persons), key=lambda name: (-len(name), name))
        self._parts = _parts(self.persons) if self.persons else {}  # without names, no lists are needed
        forms = [_written(name) for name in self.persons] + [b"|".join(map(_escaped, _alone(part)))
                                                             for part in self._parts]
        options = re2.Options()
        options.encoding, options.max_mem, options.log_errors = re2.Options.Encoding.LATIN1, _MEMORY, False
        self._patterns = [re2.compile(b"|".join(forms[start:start + _GROUP]), options)
                          for start in range(0, len(forms), _GROUP)]

    def text(self, text: str) -> str:
        """The text without them."""
        if not self._patterns or not text:
            return text
        content = text.encode("utf-8", "surrogatepass")
        clean = self.content(content)
        return text if clean is content else clean.decode("utf-8", "surrogatepass")

    def content(self, content: bytes) -> bytes:
        """The same of UTF-8; itself when nothing is in it."""
        for compiled in self._patterns:
            parts, position = [], 0
            for match in compiled.finditer(content):
                start, end = match.span()
                if _is_clear(content, start, end):
                    parts += [content[position:start], self._stand_in_for(content[start:end])]
                    position = end
            content = b"".join([*parts, content[position:]]) if parts else content
        return content

    def stand_ins(self) -> list[str]:
        """The stand-ins of all of them, in the order of `persons`."""
        return [self._stand_in_for(name.encode("utf-8", "surrogatepass")).decode() for name in self.persons]

    def count(self) -> int:
        """How many different persons."""
        return len(set(self.stand_ins()))

    def _stand_in_for(self, written: bytes) -> bytes:
        parts = words(_unescaped(written.decode("utf-8", "surrogatepass")))
        if len(parts) == 1 and parts[0] in self._parts:
            parts = self._parts[parts[0]]
        return str(self._stand_in(parts)).encode()


def _parts(persons: list[str]) -> dict[str, tuple[str, ...]]:
    """Given names and surnames that only one person has, with all words of that person's."""
    known, full_names = lists.latin(), defaultdict(set)
    for name in persons:
        name_parts = words(name)
        if len(name_parts) > 1:
            for part in (name_parts[0], name_parts[-1]):
                full_names[part].add(tuple(sorted(name_parts)))
    return {part: next(iter(names)) for part, names in full_names.items()
            if len(names) == 1 and len(part) > 2 and part not in AMBIGUOUS | NEVER | PARTICLES
            and (part in known.first_names or part in known.surnames)}


def _alone(part: str) -> list[str]:
    return [part.capitalize(), part.upper()]


def _written(name: str) -> bytes:
    """A pattern of all ways to write a name."""
    parts = [part for part in _GAP.split(name) if part]
    if len(parts) == 1:
        plain = name.lower() not in AMBIGUOUS | NEVER and (len(name) > 2 or not name.isascii())
        verbatim = [name] if plain or not name.islower() else []
        return b"|".join(map(_escaped, dict.fromkeys([*_alone(name), *verbatim])))
    forms = [_BETWEEN.join(map(_any_case, order)) for order in (parts, [parts[-1], *parts[:-1]])]
    if not any(character.isascii() for part in parts for character in part):
        forms.append(b"".join(map(_any_case, parts)))  # Chinese characters need no space
    return b"|".join(forms)


def _any_case(part: str) -> bytes:
    """A pattern of a word in any case."""
    if part.isascii() and part.isalnum():
        return b"(?i:" + part.encode() + b")"
    cases = dict.fromkeys((part, part.lower(), part.upper(), part.capitalize(), part.title()))
    return b"(?:" + b"|".join(map(_escaped, cases)) + b")"


def _escaped(word: str) -> bytes:
    """A pattern of a word as it stands in text, HTML, an address and JSON."""
    named = "".join(f"&{codepoint2name[ord(character)]};" if ord(character) in codepoint2name else character
                    for character in word)
    json = "".join(character if character.isascii() else "".join(f"\\u{unit:04x}" for unit in _utf16(character))
                   for character in word)
    forms = dict.fromkeys((word, named, json, quote(word, errors="replace"), word.replace("'", "&#39;"),
                           word.replace("'", "&#x27;"), "".join(f"&#{ord(c)};" if ord(c) > 127 else c for c in word)))
    return b"|".join(re.escape(form.encode("utf-8", "surrogatepass")) for form in forms)


def _utf16(character: str) -> list[int]:
    content = character.encode("utf-16-be", "surrogatepass")
    return [int.from_bytes(content[index:index + 2], "big") for index in range(0, len(content), 2)]


def _unescaped(text: str) -> str:
    return re.sub(r"\\u([0-9a-fA-F]{4})", lambda match: chr(int(match[1], 16)), text)


def _is_clear(content: bytes, start: int, end: int) -> bool:
    """Whether what was found is no part of a longer word in Latin letters."""
    if content[start:start + 1].isalnum() and _letter(content[max(0, start - 2):start]) and not _ESCAPED.search(
            content[max(0, start - 3):start]):
        return False
    return not (content[end - 1:end].isalnum() and (_letter(content[end:end + 1]) or (
        0xC3 <= (content[end:end + 1] or b"\0")[0] <= 0xC9)))


def _letter(before: bytes) -> bool:
    """Whether bytes end with a Latin letter or a digit."""
    return before[-1:].isalnum() or (len(before) > 1 and 0xC3 <= before[0] <= 0xC9 and 0x80 <= before[1] < 0xC0)
