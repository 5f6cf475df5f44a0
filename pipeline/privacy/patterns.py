"""Patterns over captured text, by RE2: time is linear in the length of the text, however hostile."""

from collections.abc import Iterator
from typing import Any

import re2

LETTER = r"A-Za-z\x{C0}-\x{24F}"  # of the Latin script
_LATIN_END = 0x24F
_MEMORY = 32 << 20  # bytes of a pattern's states: with RE2's 8 MiB, a page with fonts in it takes five times as long


def pattern(*parts: str, ignore_case: bool = False) -> Any:
    """A compiled pattern of parts that are written one after the other. Raises at what RE2 cannot do in linear time."""
    options = re2.Options()
    options.max_mem, options.log_errors = _MEMORY, False
    return re2.compile(("(?i)" if ignore_case else "") + "".join(parts), options)


def spans(compiled: Any, text: str, group: int = 0) -> Iterator[tuple[int, int]]:
    """Where a pattern, or a group of it, is found."""
    for match in compiled.finditer(text):
        yield match.span(group)


def is_isolated(text: str, start: int, end: int, before: str = "", after: str = "") -> bool:
    """Whether no Latin letter or digit stands right beside a stretch, and none of the signs `before` and `after`."""
    left, right = text[start - 1] if start else " ", text[end] if end < len(text) else " "
    return not (_is_word(left) or left in before or _is_word(right) or right in after)


def _is_word(character: str) -> bool:
    return character == "_" or (character.isalnum() and ord(character) <= _LATIN_END)
