"""Finds personal data and secrets in text: e-mail addresses, telephone numbers, card numbers, tokens.

One finder for what a reviewer is told of and for what is taken out. It prefers to miss an odd one over crying wolf at
every number: a telephone number needs a plus, brackets or the groups of one; a card its check digit; a token a name
before it or the look of a well-known issuer's.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass

KINDS = {"email": "an e-mail address", "phone": "a telephone number", "card": "a card number",
         "token": "a token or password"}


@dataclass(frozen=True)
class Span:
    """A stretch of a text, from `start` to before `end`, and the kind of data in it (a key of KINDS)."""

    start: int
    end: int
    kind: str


def find(text: str) -> list[Span]:
    """Spans in order; none overlaps another."""
    spans: list[Span] = []
    for kind, finder in _FINDERS:
        for start, end in finder(text):
            place = bisect_left(spans, start, key=lambda span: span.start)
            if (place == 0 or spans[place - 1].end <= start) and (place == len(spans) or end <= spans[place].start):
                spans.insert(place, Span(start, end, kind))
    return spans


def replace(text: str, by: Callable[[Span], str]) -> str:
    """The text with every span replaced."""
    parts, at = [], 0
    for span in find(text):
        parts += [text[at:span.start], by(span)]
        at = span.end
    return "".join([*parts, text[at:]])


_EMAIL = re.compile(r"(?<![\w.+%-])[A-Za-z0-9][\w.+%-]{0,63}@(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}(?![\w-])")
_CARD = re.compile(r"(?<![\d.,-])[2-6]\d{3}(?:[ -]?\d{2,6}){2,4}(?![\d-]|[.,]\d)")
_PHONE = re.compile(r"""(?<![\w.+/=-])(?:
    \+\d{1,3}[ .-]?(?:\(0?\d{1,4}\)[ .-]?)?\d{1,4}(?:[ ./-]?\d{2,4}){1,4}   # +49 (0)30 123 45 67
    | \(\d{3}\)[ ]?\d{3}[ .-]\d{4}                                          # (212) 555-0123
    | (?:1[ .-])?[2-9]\d{2}([ .-])[2-9]\d{2}\1\d{4}                         # 212-555-0123
    | 0\d{2,4}[ /-]\d{3,4}[ -]?\d{3,5}                                      # 0171 2345678
    )(?![\w-]|[.]\d)""", re.X)
_TOKENS = re.compile(r"""(?<![\w-])(?:
    eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}            # JSON Web Token
    | gh[pousr]_[A-Za-z0-9]{30,} | github_pat_\w{30,} | glpat-[\w-]{20,}
    | sk-(?:[a-z]{2,8}-)?[\w-]{20,} | [sr]k_(?:live|test)_\w{16,} | xox[abeoprs]-[\w-]{10,}
    | (?:AKIA|ASIA)[A-Z0-9]{16} | AIza[\w-]{35} | npm_\w{36} | pypi-[\w-]{50,} | hf_[A-Za-z0-9]{30,}
    )(?![\w-])""", re.X)
_PRIVATE_KEY = re.compile(r"-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----")
_NAMED = re.compile(r"""(?i)(?:^|[?&;\s"'{,])(?:access[_-]?token|refresh[_-]?token|id[_-]?token|auth[_-]?token|token
    |api[_-]?key|apikey|secret|client[_-]?secret|password|passwd|pwd|session(?:[_-]?id)?|sid|signature|sig|auth
    |jwt|bearer)["']?(?:\s*[:=]\s*|\s)["']?([^\s&"'<>;,\#]{8,})""", re.X)
_BEARER = re.compile(r"(?i)\bbearer\s+([\w.~+/=-]{16,})")
_USERINFO = re.compile(r"\b[a-z][a-z0-9+.-]{1,20}://[^/\s:@]{1,64}:([^/\s@]{3,128})@")


def _emails(text: str) -> Iterator[tuple[int, int]]:
    if "@" in text:
        yield from (found.span() for found in _EMAIL.finditer(text))


def _cards(text: str) -> Iterator[tuple[int, int]]:
    for found in _CARD.finditer(text):
        digits = re.sub(r"\D", "", found[0])
        if 13 <= len(digits) <= 19 and len(set(digits)) > 1 and luhn(digits):
            yield found.span()


def luhn(digits: str) -> bool:
    """Whether the last digit is the check digit of the others (ISO/IEC 7812-1, annex B)."""
    total = 0
    for number, digit in enumerate(reversed(digits)):
        value = int(digit) * (1 + number % 2)
        total += value - 9 if value > 9 else value
    return total % 10 == 0


def _phones(text: str) -> Iterator[tuple[int, int]]:
    for found in _PHONE.finditer(text):
        if 7 <= sum(character.isdigit() for character in found[0]) <= 15:
            yield found.span()


def _tokens(text: str) -> Iterator[tuple[int, int]]:
    for pattern in (_TOKENS, _PRIVATE_KEY):
        yield from (found.span() for found in pattern.finditer(text))
    for pattern in (_BEARER, _USERINFO, _NAMED):
        yield from (found.span(1) for found in pattern.finditer(text) if _is_secret(found[1]))


def _is_secret(value: str) -> bool:
    """Whether a named value looks made up by a machine or a careful person: not a word, not what was masked."""
    if "REDACTED" in value or value.strip("*•") == "":
        return False
    kinds = sum(bool(re.search(pattern, value)) for pattern in (r"[a-z]", r"[A-Z]", r"\d", r"[^\w]"))
    return kinds >= 2 and (any(character.isdigit() for character in value) or len(value) >= 20)


# A token may hold what looks like a number, an address none of the others: the order is the order of trust.
_FINDERS = (("token", _tokens), ("email", _emails), ("card", _cards), ("phone", _phones))
