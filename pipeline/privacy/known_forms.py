"""Replaces known values in text of any format, in whatever way they are encoded there; the format stays valid."""

import json
import re
from collections.abc import Iterator

from schemas.normalised_text import NormalisedText, normalise

from .finding import Span, find_normalised

_LONG = 2000  # characters of a text from which on a search for each form is faster than one pattern of all
_NUMBER_BEFORE = re.compile(r"(?:(\"\s{0,9}:)|[\[,:])\s{0,9}$")
_NUMBER_AFTER = re.compile(r"\s{0,9}[,}\]]")
_BEFORE = 24  # characters in which the sign before a number of JSON is


class KnownForms:
    """What is replaced by what. `forms`: the longest first, as one may contain another."""

    def __init__(self, written: dict[str, str]):
        self.forms = sorted(written, key=lambda form: (-len(form), form))
        self._written = written
        self._pattern = _any_of(self.forms)

    def replace(self, text: str) -> str:
        """The text with every form replaced."""
        if not self._pattern:
            return text
        normalised = normalise(text)
        replacements = list(self._in_text(normalised, text))
        return _replace_spans(text, replacements) if replacements else text

    def replace_bytes(self, content: bytes) -> bytes:
        """The same in UTF-8; in other bytes only forms that are not encoded."""
        try:
            text = content.decode()
        except UnicodeDecodeError:
            return self._replace_exact(content)
        return content if (clean := self.replace(text)) == text else clean.encode()

    def _in_text(self, normalised: NormalisedText, raw: str) -> Iterator[tuple[Span, str]]:
        """Spans of the raw text, in order, each with what replaces it."""
        in_raw = list(self._matches(raw))
        if normalised.is_raw:
            yield from in_raw
            return
        in_normalised = list(self._matches(normalised.text))
        replaced_by = {normalised.raw_span(span.start, span.end)[0]: by for span, by in in_normalised}
        replaced_by |= {span.start: by for span, by in in_raw}
        joined = find_normalised(normalised, (span for span, _ in in_normalised), (span for span, _ in in_raw))
        yield from ((span, replaced_by[span.start]) for span in joined)

    def _matches(self, text: str) -> Iterator[tuple[Span, str]]:
        pattern = self._pattern
        if len(text) > _LONG:
            pattern = _any_of([form for form in self.forms if form in text])
        for match in pattern.finditer(text) if pattern else ():
            yield Span(match.start(), match.end(), ""), self._written[match.group()]

    def _replace_exact(self, content: bytes) -> bytes:
        written = {form.encode("utf-8", "replace"): by.encode() for form, by in self._written.items()}
        there = [form for form in sorted(written, key=lambda form: (-len(form), form)) if form in content]
        if not there:
            return content
        return re.sub(b"|".join(map(re.escape, there)), lambda match: written[match.group()], content)


def _any_of(forms: list[str]) -> re.Pattern[str] | None:
    return re.compile("|".join(map(re.escape, forms))) if forms else None


def _replace_spans(text: str, replacements: list[tuple[Span, str]]) -> str:
    """The text with spans replaced; a number that is a value of JSON becomes a string of it."""
    parts: list[str] = []
    position, as_strings = 0, None
    for span, by in replacements:
        before = _NUMBER_BEFORE.search(text[max(0, span.start - _BEFORE):span.start])
        if before and text[span.end - 1].isdigit() and _NUMBER_AFTER.match(text, span.end):
            as_strings = _is_json(text) if as_strings is None else as_strings
            by = f'"{by}"' if before[1] or as_strings else by
        parts += (text[position:span.start], by)
        position = span.end
    return "".join([*parts, text[position:]])


def _is_json(text: str) -> bool:
    if text.lstrip()[:1] not in ("{", "["):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
