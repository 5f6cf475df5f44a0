"""Texts as WebArena-Verified compares them: in ASCII and lower case, without insignificant characters. Pure functions.

Its rules, in this order: trade marks are left out, compatibility forms become plain (NFKC), a hyphen beside a letter
becomes a space, control characters go, other letters become ASCII, white space becomes one space, in lower case. For
the letters it has a table of the whole of Unicode; here Latin ones with marks and common signs are known, and of what
holds others nothing is said.
"""

import re
import unicodedata

from schemas.limits import OUTCOME_TEXT

_MARKS = dict.fromkeys(map(ord, "™®℠©"))
_HYPHENS = "-‐‑‒–—―−\u00ad"  # noqa: RUF001 - they are meant
_HYPHEN = re.compile(f"(?<=[a-zA-Z])[{_HYPHENS}]|[{_HYPHENS}](?=[a-zA-Z])")
_PLAIN = str.maketrans({
    "‘": "'", "’": "'", "“": '"', "”": '"', "‹": "<", "›": ">", "«": "<<", "»": ">>", "‐": "-", "‑": "-",  # noqa: RUF001
    "‒": "-", "–": "-", "—": "--", "―": "--", "−": "-", "•": "*", "·": "*", "°": "deg", "€": "EUR", "ß": "ss",  # noqa: RUF001
    "æ": "ae", "ø": "o", "œ": "oe", "ł": "l", "đ": "d", "×": "x", "÷": "/", "′": "'"})  # noqa: RUF001
_QUOTES = "'\"`.,;:!?"


class Undecided(Exception):
    """What is said is that it cannot be said; why."""


def fold_text(text: str) -> str:
    """A text as it is compared; raises Undecided for one with letters that are not known here."""
    if len(text) > OUTCOME_TEXT:
        raise Undecided("the text is too long")
    plain = _HYPHEN.sub(" ", unicodedata.normalize("NFKC", text.translate(_MARKS)))
    folded_text = "".join(map(_replacement, plain))
    if not folded_text.isascii():
        folded_text = "".join(map(_ascii, folded_text.translate(_PLAIN)))
    return " ".join(folded_text.split()).lower()


def is_pattern(value: object) -> bool:
    """Whether a value is taken for a regular expression."""
    return isinstance(value, str) and len(value) > 1 and value.startswith("^") and value.endswith("$")


def bare(text: str) -> str:
    """A folded text without quotes and punctuation around it."""
    return text.strip(_QUOTES)


def _replacement(character: str) -> str:
    if not unicodedata.category(character).startswith("C"):
        return character
    return " " if character in "\t\n\r" else ""


def _ascii(character: str) -> str:
    if character.isascii():
        return character
    base, *marks = list(unicodedata.normalize("NFD", character))
    if base.isascii() and base.isalpha() and marks and all(unicodedata.category(mark) == "Mn" for mark in marks):
        return base
    raise Undecided(f"it holds a letter that is not compared here (U+{ord(character):04X})")
