"""Finds personal data and secrets in text: addresses, telephones, cards, accounts, national ids, tokens, passwords.

One finder for what a reviewer is told of and for what is taken out. It prefers to miss an odd one over crying wolf at
every number: what has check digits is checked (`numbers`), a token needs a name before it or the look of a well-known
issuer's, a password must be told as one (`spoken`). All patterns are RE2's, so time is linear in the length of a text.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from . import numbers, spoken
from .patterns import LETTER, is_isolated, pattern, spans

KINDS = {"email": "an e-mail address", "phone": "a telephone number", "card": "a card number",
         "iban": "a bank account number", "id": "a national identity number", "token": "a token or password"}
NAME_KINDS = {"person": "a person's name", "address": "a postal address"}  # what pipeline/privacy/names finds


@dataclass(frozen=True)
class Span:
    """A stretch of a text, from `start` to before `end`, and the kind of data in it (a key of KINDS)."""

    start: int
    end: int
    kind: str


def find(text: str) -> list[Span]:
    """Spans in order; none overlaps another."""
    all_spans: list[Span] = []
    for kind, finder in FINDERS:
        new = [Span(start, end, kind) for start, end in sorted(set(finder(text)))]
        all_spans = merge_spans(all_spans, new)
    return all_spans


def merge_spans(known: list[Span], new: list[Span]) -> list[Span]:
    """Both, without those of the new ones that overlap one before them or a known one."""
    free: list[Span] = []
    for span in new:
        index = bisect_left(known, span.start, key=lambda known_span: known_span.start)
        clear = ((index == 0 or known[index - 1].end <= span.start)
                 and (index == len(known) or span.end <= known[index].start))
        if clear and (not free or free[-1].end <= span.start):
            free.append(span)
    return sorted([*known, *free], key=lambda span: span.start) if free else known


def replace(text: str, by: Callable[[Span], str]) -> str:
    """The text with every span replaced."""
    parts, position = [], 0
    for span in find(text):
        parts += [text[position:span.start], by(span)]
        position = span.end
    return "".join([*parts, text[position:]])


_EMAIL = pattern(rf"[{LETTER}0-9][{LETTER}0-9_.+%'-]{{0,63}}@(?:[{LETTER}0-9-]{{1,63}}\.){{1,8}}[{LETTER}]{{2,24}}")
_WEB_TOKEN = pattern(r"eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}")  # JSON Web Token
# Bounded: an unbounded alternative that stays open beside others that are found would cost the square of the length.
_TOKENS = pattern(
    r"gh[pousr]_[A-Za-z0-9]{30,255}|github_pat_\w{30,255}|glpat-[\w-]{20,255}",
    r"|sk-(?:[a-z]{2,8}-)?[\w-]{20,255}|[sr]k_(?:live|test)_\w{16,255}|xox[abeoprs]-[\w-]{10,255}",
    r"|(?:AKIA|ASIA)[A-Z0-9]{16}|AIza[\w-]{35}|npm_\w{36}|pypi-[\w-]{50,1000}|hf_[A-Za-z0-9]{30,255}")
_PRIVATE_KEY = pattern(r"-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----")
_NAMED = pattern(
    r"(?:^|[?&;\s\"'{,])(?:access[_-]?token|refresh[_-]?token|id[_-]?token|auth[_-]?token|token|api[_-]?key|apikey|secret",
    r"|client[_-]?secret|password|passwd|pwd|session(?:[_-]?id)?|sid|signature|sig|auth|jwt|bearer)[\"']?(?:\s*[:=]\s*|\s)",
    r"[\"']?([^\s&\"'<>;,#]{8,})", ignore_case=True)
_BEARER = pattern(r"\bbearer\s+([\w.~+/=-]{16,})", ignore_case=True)
_USERINFO = pattern(r"\b[a-z][a-z0-9+.-]{1,20}://[^/\s:@]{1,64}:([^/\s@]{3,128})@")


def _emails(text: str) -> Iterator[tuple[int, int]]:
    if "@" in text:
        yield from (span for span in spans(_EMAIL, text) if is_isolated(text, *span, ".+%-", "-"))


def _tokens(text: str) -> Iterator[tuple[int, int]]:
    for compiled in (_WEB_TOKEN, _TOKENS):
        yield from (span for span in spans(compiled, text) if is_isolated(text, *span, "-"))
    yield from spans(_PRIVATE_KEY, text)
    for compiled in (_BEARER, _USERINFO, _NAMED):
        yield from ((start, end) for start, end in spans(compiled, text, 1) if _is_secret(text[start:end]))
    yield from spoken.secrets(text)


def _is_secret(value: str) -> bool:
    """Whether a named value looks made up by a machine or a careful person: not a word, not what was masked."""
    if "REDACTED" in value or value.strip("*•") == "":
        return False
    kinds = (any("a" <= character <= "z" for character in value) + any("A" <= character <= "Z" for character in value)
             + any(character.isdigit() for character in value) + any(not (character.isalnum() or character == "_")
                                                                     for character in value))
    return kinds >= 2 and (any(character.isdigit() for character in value) or len(value) >= 20)


# A token may hold what looks like a number, an address none of the others: the order is the order of trust.
FINDERS: tuple[tuple[str, Callable[[str], Iterator[tuple[int, int]]]], ...] = (
    ("token", _tokens), ("email", _emails), ("iban", numbers.accounts), ("card", numbers.cards),
    ("id", numbers.national_ids), ("phone", numbers.phones))
