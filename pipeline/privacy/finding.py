"""Finds personal data and secrets in text: addresses, telephones, cards, accounts, national ids, tokens, passwords.

One finder for what a reviewer is told of and for what is taken out. It prefers to miss an odd one over crying wolf at
every number: what has check digits is checked (`numbers`), a token needs a name before it or the look of a well-known
issuer's, a password must be told as one (`spoken`). All patterns are RE2's, so time is linear in the length of a text.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from schemas.normalised_text import NormalisedText, normalise

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
    """Spans in order, in whatever way what they contain is encoded; none overlaps another."""
    normalised = normalise(text)
    if normalised.is_raw:
        return _find_plain(text)
    return find_normalised(normalised, _find_plain(normalised.text), _named_in_address(text))


def _find_plain(text: str) -> list[Span]:
    all_spans: list[Span] = []
    for kind, finder in FINDERS:
        new = [Span(start, end, kind) for start, end in sorted(set(finder(text)))]
        all_spans = merge_spans(all_spans, new)
    return all_spans


def find_normalised(normalised: NormalisedText, in_normalised: Iterable[Span],
                    in_raw: Iterable[Span] = ()) -> list[Span]:
    """Spans of the raw text, from those of the normalised one and from further ones of the raw one, which are left out
    where they would cut an escape. Spans that overlap are joined, with the kind of the first."""
    mapped = [Span(*normalised.raw_span(span.start, span.end), span.kind) for span in in_normalised]
    mapped += (span for span in in_raw if not normalised.cuts_escape(span.start, span.end))
    joined: list[Span] = []
    for span in sorted(mapped, key=lambda span: (span.start, -span.end)):
        if joined and span.start < joined[-1].end:
            last = joined.pop()
            span = Span(last.start, max(last.end, span.end), last.kind)
        joined.append(span)
    return joined


def _named_in_address(raw: str) -> list[Span]:
    """Named secrets whose escapes stand for signs that would end them."""
    if "%" not in raw:
        return []
    return [Span(start, end, "token") for start, end in spans(_NAMED, raw, 1) if _is_secret(raw[start:end])]


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


# Scripts whose words stand without spaces: letters of others beside them belong to other words.
_JOINED = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}"
_SPACED = (r"\p{Latin}\p{Greek}\p{Cyrillic}\p{Armenian}\p{Hebrew}\p{Arabic}\p{Devanagari}\p{Bengali}\p{Tamil}"
           r"\p{Georgian}")
_TOP_LEVELS = (
    rf"(?:xn--[A-Za-z0-9-]{{2,59}}|[{LETTER}]{{2,24}}|[\p{{Cyrillic}}\p{{Greek}}\p{{Hebrew}}\p{{Arabic}}]{{2,24}}",
    r"|[\p{Devanagari}\p{Bengali}\p{Tamil}\p{Georgian}\p{Armenian}\p{M}]{2,24}",
    r"|[\p{Han}\p{Katakana}\p{Hangul}]{2,8})")
# Without bounds: a class with the letters of many scripts, repeated up to 63 times, is a program of megabytes.
_DOMAIN = (rf"@(?:(?:[{LETTER}0-9\p{{M}}-]+\.)+|(?:[\p{{L}}\p{{M}}\p{{N}}-]+\.)+)", *_TOP_LEVELS)
_EMAIL = pattern(
    rf"(?:[_{_SPACED}0-9][{_SPACED}\p{{M}}\p{{N}}_.+%'-]*",
    rf"|[{_JOINED}][{_JOINED}\p{{M}}0-9._-]*",
    # A quoted local part (RFC 5322), which must not begin in the text before it.
    r"|\"[\p{L}\p{N}](?:[\p{L}\p{M}\p{N} .!#$%&*+/?^_{|}~-]*[\p{L}\p{N}])?\")", *_DOMAIN)
_LONGEST_LOCAL, _LONGEST_DOMAIN = 66, 255  # characters, with quotes; one more shows that it is longer
# What follows the dot of a file or package: `icon@2x.png`.
_FILES = frozenset({
    "png", "jpg", "jpeg", "gif", "svg", "webp", "avif", "ico", "css", "scss", "less", "js", "mjs", "cjs", "tsx", "jsx",
    "json", "map", "tgz", "html", "htm", "woff", "ttf", "pdf", "xml", "yml", "yaml", "txt"})
_WEB_TOKEN = pattern(r"eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}")  # JSON Web Token
# Bounded: an unbounded alternative that stays open beside others that are found would cost the square of the length.
_TOKENS = pattern(
    r"gh[pousr]_[A-Za-z0-9]{30,255}|github_pat_\w{30,255}|glpat-[\w-]{20,255}",
    r"|sk-(?:[a-z]{2,8}-)?[\w-]{20,255}|[sr]k_(?:live|test)_\w{16,255}|xox[abeoprs]-[\w-]{10,255}",
    r"|(?:AKIA|ASIA)[A-Z0-9]{16}|AIza[\w-]{35}|npm_\w{36}|pypi-[\w-]{50,1000}|hf_[A-Za-z0-9]{30,255}")
_PRIVATE_KEY = pattern(r"-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----")
_NAMED = pattern(
    r"(?:^|[?&;\s\"'{,])(?:access[_-]?token|refresh[_-]?token|id[_-]?token|auth[_-]?token|token|api[_-]?key|apikey|secret",
    r"|client[_-]?secret|password|passwd|pwd|session(?:[_-]?id)?|sid|signature|sig|auth|jwt|bearer)[\"']?",
    r"(?:\s*[:=]\s*|[ \t])[\"']?([^\s&\"'<>;,#]{8,})", ignore_case=True)
_BEARER = pattern(r"\bbearer\s+([\w.~+/=-]{16,})", ignore_case=True)
_USERINFO = pattern(r"\b[a-z][a-z0-9+.-]{1,20}://[^/\s:@]{1,64}:([^/\s@]{3,128})@")


def _emails(text: str) -> Iterator[tuple[int, int]]:
    for first, last in _around_signs(text):
        around = text[first:last]
        yield from ((first + start, first + end) for start, end in spans(_EMAIL, around)
                    if _is_email(text, first + start, first + end))


def _around_signs(text: str) -> Iterator[tuple[int, int]]:
    """Stretches around every `@` in which an address fits; those that overlap are one. The pattern is slow, as it has
    the letters of many scripts."""
    at = text.find("@")
    while at >= 0:
        first, last = max(0, at - _LONGEST_LOCAL - 1), at + _LONGEST_DOMAIN
        while 0 <= (at := text.find("@", at + 1)) < last + _LONGEST_LOCAL:
            last = at + _LONGEST_DOMAIN
        yield first, last


def _is_email(text: str, start: int, end: int) -> bool:
    local, _, domain = text[start:end].rpartition("@")
    if local == "git" or len(local) > _LONGEST_LOCAL or domain.rpartition(".")[2].lower() in _FILES:
        return False
    before, after = (".+%-", "-")
    return is_isolated(text, start, end, before, after) or (
        text[start] == '"' and not text[start - 1:start].isalnum() and is_isolated(text, end - 1, end, after=after))


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
