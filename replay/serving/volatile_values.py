"""Values that differ between runs of a page, recognised by name, appearance and origin. Pure functions; `ServedValues`
reads recorded answers.

A value that an earlier answer gave comes back in a replay as it was. So a value that differs from such a one was
chosen, however random it looks: another product, another order. So was a moment that is not the one of the request.
"""

import re
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from functools import cache

from replay.archive.exchanges import Archive, Recorded, header
from schemas import DemotapeError

StableParts = Callable[[str], bool]  # whether a recorded value cannot vary by itself, however it looks
WALL = (978_307_200, 2_000_000_000)  # seconds since 1970 that count as a time of now: 2001 to 2033
LONGEST = 4096  # characters of a value that is looked at

_BY_NAME = frozenset((
    "_", "__", "cb", "cachebust", "cachebuster", "cachebreaker", "nocache", "dc", "rnd", "rand", "random", "timestamp",
    "nonce", "callback", "jsonp", "jsoncallback", "requestid", "correlationid", "traceid", "spanid", "traceparent",
    "elapsed", "idempotencykey", "clientmutationid", "gclid", "fbclid", "msclkid", "csrf", "xsrf", "csrftoken",
    "xsrftoken", "csrfmiddlewaretoken", "authenticitytoken", "requestverificationtoken", "formbuildid", "formtoken",
    "token",
))
_CHOICES = frozenset((
    "q", "query", "search", "s", "k", "term", "terms", "keyword", "keywords", "text", "name", "title", "message",
    "content", "comment", "subject", "email", "username", "user", "login", "page", "offset", "limit", "size", "sort",
    "order", "filter", "category", "lang", "language", "locale", "city", "country", "date", "price",
))
_TRACKING = "utm"  # utm_source and its kin
_UUID = re.compile(r"[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}")
_TIMESTAMP = re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}[\d:.,]*(?:Z|[+-]\d{2}:?\d{2})?")
_FRACTION = re.compile(r"0\.\d{8,}")
_RUN = re.compile(r"[A-Za-z0-9]+")
_TOKENS = re.compile(rb"[A-Za-z0-9]{5,}")
_WORD = re.compile(r"[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}|[A-Za-z0-9]+")
_WRITTEN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~+/=:")
_FEWEST = 8  # characters of a run that may have been made by chance
_HOUR = 3600.0
_MAX_SEARCHED_BYTES, _MAX_ANSWER_BYTES = 64 << 20, 1 << 20  # bytes of answers in which recorded values are looked for


def nothing_stable(value: str) -> bool:
    """For where no answers are known."""
    return False


def everything_stable(value: str) -> bool:
    """For where nothing varies by itself."""
    return True


def varies_by_name(name: str) -> bool:
    """Whether a parameter, field or member of that name tells nothing of what is asked for."""
    plain = name.lower()
    if plain.startswith((_TRACKING + "_", "_ga", "_gl")) or plain in _BY_NAME:
        return True
    return "".join(filter(str.isalnum, plain)) in _BY_NAME


def is_time(value: str) -> bool:
    """Whether a value is a moment: seconds or milliseconds since 1970, or ISO 8601 with a time of day.

    A day alone is none: the clock of a replay stands at the recorded day, so another one was chosen.
    """
    return bool(parse_timestamp(value))


def parse_timestamp(value: str) -> float:
    """The moment that a value tells, in seconds since 1970; 0 when it tells none."""
    if not 10 <= len(value) <= 40 or not value.isascii():
        return 0.0
    if _TIMESTAMP.fullmatch(value):
        try:
            parsed = datetime.fromisoformat(value)
        except ValueError:
            return 0.0
        return (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).timestamp()
    digits, dot, parts = value.partition(".")
    if not digits.isdigit() or (dot and not parts.isdigit()) or len(digits) not in (10, 13):
        return 0.0
    seconds = int(digits) / (1000 if len(digits) == 13 else 1)
    return seconds if WALL[0] <= seconds <= WALL[1] else 0.0


def is_random(value: str) -> bool:
    """Whether a value looks as if it was made by chance: a UUID, hexadecimal, base64, a long number, a fraction."""
    if not _FEWEST <= len(value) <= LONGEST or not _WRITTEN.issuperset(value):
        return False
    if _UUID.fullmatch(value) or _FRACTION.fullmatch(value):
        return True
    run = max(_RUN.findall(value), key=len, default="")
    digits = sum(map(str.isdigit, run))
    if len(run) < _FEWEST or digits < 2:
        return False
    if digits == len(run):
        return digits >= 12
    if set(run.lower()) <= set("0123456789abcdef"):
        return True
    mixed = not run.islower() and not run.isupper()
    return _changes(run) >= max(3, len(run) * (0.45 if mixed else 0.3))


def is_made(value: str) -> bool:
    """Whether a value looks random or is a moment."""
    return is_time(value) or is_random(value)


def is_made_segment(segment: str) -> bool:
    """The same of a part of a path, where a number of five digits is enough."""
    return (len(segment) >= 5 and segment.isascii() and segment.isdigit()) or is_random(segment)


def _changes(run: str) -> int:
    """How often digits, upper and lower case letters take turns."""
    kinds = ["d" if letter.isdigit() else "u" if letter.isupper() else "l" for letter in run]
    return sum(kind != next_kind for kind, next_kind in zip(kinds, kinds[1:], strict=False))


def may_vary(name: str, recorded: str, actual: str, fixed: StableParts = nothing_stable) -> bool:
    """Whether two values of one name that are not equal may be so by themselves."""
    if varies_by_name(name):
        return True
    if name.lower() in _CHOICES or not is_made(recorded) or not is_made(actual):
        return False
    return is_time(recorded) == is_time(actual) and not fixed(recorded)


def masked(text: str, fixed: StableParts = nothing_stable) -> str:
    """A text with a mark for each word that looks random or is a number that may be a time."""
    return _WORD.sub(lambda word: "\x00" if is_made(word[0]) and not fixed(word[0]) else word[0], text)


def made_words(text: str) -> list[str]:
    """The words of a text that `masked` replaces, in order."""
    return [word for word in _WORD.findall(text) if is_made(word)]


class ServedValues:
    """What recorded answers gave: of the values that requests carry, those that stood in an answer before."""

    def __init__(self, archive: Archive, values: Callable[[], Iterable[str]]):
        """`values`: all that may be asked for; they are gathered, and the answers read, when the first is."""
        self._archive = archive
        self._values = values
        self._first: dict[bytes, int] | None = None

    def fixed(self, exchange: Recorded) -> StableParts:
        """Tells of a value of that request whether it cannot vary by itself: an answer before gave it, or it is a
        moment that was an hour or more away when it was asked."""
        started = self._archive.started
        now = started + exchange.time if started else 0.0

        def is_fixed(value: str) -> bool:
            timestamp = parse_timestamp(value)
            return bool(now and timestamp and abs(timestamp - now) > _HOUR) or self._number(value) < exchange.number
        return is_fixed

    def _number(self, value: str) -> float:
        if self._first is None:
            self._first = self._read({_longest_run(value) for value in self._values()} - {b""})
        return self._first.get(_longest_run(value), float("inf"))

    def _read(self, wanted: set[bytes]) -> dict[bytes, int]:
        first: dict[bytes, int] = {}
        remaining_bytes = _MAX_SEARCHED_BYTES
        for exchange in self._archive.exchanges:
            if remaining_bytes <= 0 or not wanted:
                break
            text = _text_of(exchange)
            remaining_bytes -= len(text)
            present = wanted.intersection(_TOKENS.findall(text))
            first |= dict.fromkeys(present, exchange.number)
            wanted -= present
        return first


def not_of_the_page(archive: Archive, typed: Iterable[str]) -> StableParts:
    """Tells of a value that looks random whether it was typed, or an answer or a channel gave it. The others the page
    made itself: those that it sent before any answer had them, and those that were never sent.

    The archive is read when the first value is asked for.
    """
    @cache
    def runs() -> frozenset[bytes]:
        served = set(_TOKENS.findall(" ".join(typed).encode("utf-8", "replace")))
        made: set[bytes] = set()
        remaining_bytes = _MAX_SEARCHED_BYTES
        for exchange in archive.exchanges:
            address = set(_TOKENS.findall(exchange.url.encode("utf-8", "replace")))
            if exchange.top:  # somebody went there
                served |= address - made
            made |= (address | set(_TOKENS.findall(exchange.body or b""))) - served
            text = _text_of(exchange, remaining_bytes)
            served |= set(_TOKENS.findall(text)) - made
            remaining_bytes = max(0, remaining_bytes - len(text))
        for message in (message for channel in archive.channels for message in channel.messages):
            if message.direction == "received":
                data = message.data if isinstance(message.data, bytes) else message.data.encode("utf-8", "replace")
                served |= set(_TOKENS.findall(data)) - made
        return frozenset(served)

    return lambda value: _longest_run(value) in runs()


def _longest_run(value: str) -> bytes:
    run = max(_RUN.findall(value[:LONGEST]), key=len, default="")
    return run.encode() if len(run) >= 5 else b""


def is_text(answer: Recorded) -> bool:
    """Whether an answer is text, by its media type."""
    kind = header(answer.answer_headers, "content-type").partition(";")[0].strip().lower()
    return kind.startswith("text/") or kind.endswith(("json", "xml", "javascript", "x-www-form-urlencoded"))


def content(exchange: Recorded) -> bytes | None:
    """The content of an answer; None also when it cannot be read, as its file may be gone."""
    try:
        return exchange.answer()
    except (OSError, DemotapeError):
        return None


def _text_of(exchange: Recorded, max_bytes: int = _MAX_ANSWER_BYTES) -> bytes:
    """What an answer says, with its headers, as far as it is looked through."""
    heads = "\n".join(value for _, value in exchange.answer_headers).encode("utf-8", "replace")
    if not is_text(exchange):
        return heads
    return heads + b"\n" + (content(exchange) or b"")[:max_bytes]
