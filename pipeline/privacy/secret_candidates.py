"""Words of a text that may be a typed secret, the likeliest first: each costs a slow digest to compare."""

import re
from collections.abc import Iterable, Iterator

from schemas.normalised_text import normalise
from schemas.secret_digests import LONGEST
from schemas.shared import SECRETS

_SHORTEST: int = SECRETS["distinct_value"]  # characters: shorter values have no digest
_MAX_WORDS = 6  # of a text or quotation that may be a passphrase as a whole
_LONGEST_TEXT = 100_000  # characters of a text that are looked through
_OPENING, _CLOSING = "([{<\"'“‘«「『`", ")]}>\"'”’»」』`"
_PAUSES, _ENDS = ".,;:…。，；：", ".,;:!?…。，；：！？"
_QUOTED = re.compile("[\"“«「『`]([^\"“”«»「」『』`\n]{6,200})[\"”»」』`]")
_AFTER_COLON = re.compile(r"[:=：＝][ \t]{0,9}([^\n]{6,200})")
_PARTS = re.compile(r"[=&?#/,;|:：]")
_PRINTABLE = re.compile(r"[!-~]{6,200}")  # in a text of a script without spaces
_NUMBER = re.compile(r"[\d.,:/+%$€£¥-]+")
_PLAIN = re.compile(r"[A-Za-z]?[a-z]*")
_JOINED_WORDS = re.compile(r"[^\W\d_]+(?:['’.-][^\W\d_]+)*")


def secret_candidates(texts: Iterable[str]) -> list[str]:
    """Each candidate once, the likeliest first, then in the order of the texts."""
    likelihoods: dict[str, int] = {}
    for text in texts:
        text = text[:_LONGEST_TEXT]
        usual = normalise(text).text
        for written in (text, usual) if usual != text else (text,):
            for candidate in _phrases_of(written):
                if likelihood := _likelihood(candidate):
                    likelihoods[candidate] = max(likelihoods.get(candidate, 0), likelihood + 1)
            for candidate in _words_of(written):
                if candidate not in likelihoods and (likelihood := _likelihood(candidate)):
                    likelihoods[candidate] = likelihood
    return sorted(likelihoods, key=lambda candidate: -likelihoods[candidate])


def _phrases_of(text: str) -> Iterator[str]:
    """The text itself, its quotations, and what follows a colon."""
    yield text.strip()
    for pattern in (_QUOTED, _AFTER_COLON):
        yield from (match[1].strip() for match in pattern.finditer(text))


def _words_of(text: str) -> Iterator[str]:
    """Its words and their parts, with and without signs around them."""
    for word in text.split():
        yield word
        yield (bare := word.strip(_OPENING + _CLOSING + _PAUSES))
        yield bare.rstrip(_ENDS)
        parts = _PARTS.split(word)
        yield from parts if len(parts) > 1 else ()
        if not word.isascii():
            yield from (match[0] for match in _PRINTABLE.finditer(word))


def _likelihood(value: str) -> int:
    """How much a value is like a password, from 1; 0 for what has no digest or is taken out anyway."""
    if (len(value) < _SHORTEST or len(value.encode("utf-8", "surrogatepass")) > LONGEST or _PLAIN.fullmatch(value)
            or value.count(" ") >= _MAX_WORDS or "REDACTED" in value or value.startswith(("http:", "https:", "data:"))):
        return 0
    kinds = sum((any(map(str.islower, value)), any(map(str.isupper, value)), any(map(str.isdigit, value)),
                 any(not (character.isalnum() or character.isspace()) for character in value)))
    if _NUMBER.fullmatch(value):
        return 2 if value.isdigit() else 1
    if " " in value or _JOINED_WORDS.fullmatch(value):
        return max(1, kinds - 1)
    return 2 * kinds
