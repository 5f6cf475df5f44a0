"""Typed values, compared as WebArena-Verified does (version 1.2.3): one alternative must match. Pure functions.

Where its parsers of dates, prices and numbers in words would guess, nothing is said here: Undecided.
"""

import re
from collections.abc import Callable
from datetime import date
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import Any

import re2

from schemas import InputError
from schemas.types.outcome import Value

from .addresses import address_of
from .folding import Undecided, bare, fold_text, is_pattern


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_TOLERANCE = Decimal("0.1")
_SECONDS, _SHARE = 180.0, 0.1  # that durations may differ by: the larger
_YES, _NO = ("true", "yes", "y", "1", "t", "on"), ("false", "no", "n", "0", "f", "off")
_NUMBER_WORDS = _words(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion point")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH_NAMES = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
                "november", "december")
_DATE_WORDS = _words(  # that dateutil knows besides; a text with any other word is no date
    "sept mon tue wed thu fri sat sun monday tuesday wednesday thursday friday saturday sunday at on and ad m t of st "
    "nd rd th h hour hours minute minutes s second seconds am a pm p utc gmt z").union(_MONTHS, _MONTH_NAMES)
_DATES = (
    re.compile(r"(?P<y>\d{4})([-/])(?P<m>\d{1,2})\2(?P<d>\d{1,2})"),
    re.compile(r"(?P<m>\d{1,2})([-/])(?P<d>\d{1,2})\2(?P<y>\d{4})"),
    re.compile(r"(?P<m>[a-z]{3,9}) (?P<d>\d{1,2}),? (?P<y>\d{4})"),
    re.compile(r"(?P<d>\d{1,2}) (?P<m>[a-z]{3,9}),? (?P<y>\d{4})"))
_WORD = re.compile(r"[a-z]+")
_CLOCK = re.compile(r"(\d{1,3}):(\d{2}):(\d{2})")
_LASTING = re.compile(r"(?:(\d{1,4}) ?(?:h|hrs?|hours?))?,? ?(?:(\d{1,4}) ?(?:m|mins?|minutes?))?,? ?"
                      r"(?:(\d{1,4}) ?(?:s|secs?|seconds?))?")
_AMOUNTS = re.compile(r"[\d.,]+")
_AMOUNT = re.compile(r"\.?\d[\d.,]{0,30}")
# Of what a pattern says, what RE2 and Python's own expressions read otherwise.
_OTHERWISE = ("[:", "{,", "\\Z", "\\z")


class Unfit(Exception):
    """A value that is none of the type."""


@lru_cache(maxsize=1000)
def compiled(pattern: str, ignore_case: bool) -> Any:
    """A regular expression of a task; raises InputError for one that RE2 does not read as Python does."""
    options = re2.Options()
    options.case_sensitive, options.log_errors = not ignore_case, False
    try:
        if any(token in pattern for token in _OTHERWISE) or not pattern.isascii():
            raise re.error("has what is read otherwise elsewhere")
        re.compile(pattern)  # what is wrong for its evaluator
        return re2.compile(pattern, options)
    except (re.error, re2.error, RecursionError, OverflowError) as error:
        reason = error.args[0].decode() if isinstance(error.args[0], bytes) else str(error)
        raise InputError(f"pattern {pattern[:60]!r}: {reason[:80]}") from None


def fits(value: Value, actual: Any) -> bool:
    """Whether a value from JSON, a form or a text is one that is wanted; raises Undecided."""
    wanted = value.get("any_of", [])
    if actual is None:
        return None in wanted
    known = [value_wanted for value_wanted in wanted if value_wanted is not None]
    if value["type"] == "currency":  # whose other alternatives its evaluator does not look at
        known = known[:1]
    if isinstance(actual, str) and actual in known and not _is_blank_non_text(value, actual):
        return True
    if value["type"] in ("string", "parameter"):
        return _text_fits(value, known, actual)
    if value["type"] == "url" and _is_other_address(known, actual):
        return False
    try:
        forms = _forms(value["type"], actual)
    except Unfit:
        return False
    meant = [_FORMS[value["type"]](alternative) for alternative in known]
    if value["type"] == "currency":
        return abs(meant[0] - forms[0]) <= _TOLERANCE if meant else False
    if value["type"] == "duration":
        return any(abs(expected - actual_form) <= max(_SECONDS, max(expected, actual_form) * _SHARE)
                   for expected in meant for actual_form in forms)
    return any(expected == actual_form for expected in meant for actual_form in forms)


def check_value(value: Value) -> None:
    """Raises InputError where what is wanted can itself not be read."""
    for text in value.get("any_of", []):
        if text is not None:
            try:
                form = _FORMS[value["type"]](text)
                if form != form or (value["type"] == "string" and is_pattern(form)):
                    raise Unfit
            except Unfit:
                raise InputError(f"{text!r} is not a {value['type']}") from None
            except Undecided as error:
                if value["type"] not in ("string", "list"):
                    raise InputError(f"{text!r}: {error}") from None
    for pattern in value.get("patterns", []):
        compiled(pattern, True)


def _is_blank_non_text(value: Value, actual: str) -> bool:
    """Whether a text is blank though the value is of a type that no blank text can be."""
    return value["type"] not in ("string", "parameter") and not actual.strip()


def _is_other_address(known: list[Any], actual: Any) -> bool:
    """Whether what was given is no address of a kind that is wanted: without a scheme it would be one of https."""
    return isinstance(actual,
                      str) and ":" not in actual and not any(address.lower().startswith("https") for address in known)


def _text_fits(value: Value, known: list[Any], actual: Any) -> bool:
    form = _FORMS[value["type"]]
    try:
        texts = _forms(value["type"], actual)
    except Unfit:
        return False
    if value["type"] == "string" and any(is_pattern(candidate) for text in texts for candidate in (text, bare(text))):
        raise Undecided("what was given is itself a pattern")
    if "__" in str(actual) and any("http" in str(candidate) for candidate in known):
        raise Undecided("it may name a site by a placeholder")
    if value["type"] == "string" and "patterns" in value and "http" in str(actual):
        raise Undecided("an address in a text is not compared with a pattern")
    if value["type"] == "parameter" and "patterns" in value and not all(map(str.isascii, texts)):
        raise Undecided("it holds letters that are not compared here")
    if any(pattern.match(text) if value["type"] == "parameter" else pattern.fullmatch(text) for pattern in
           (compiled(candidate, value["type"] == "string") for candidate in value.get("patterns", []))
           for text in texts):
        return True
    unsaid: Undecided | None = None
    for candidate in known:
        try:
            meant = form(candidate)
        except Undecided as error:
            unsaid = error
            continue
        if meant in texts or (value["type"] == "string" and bare(meant) in map(bare, texts)):
            if "http" in meant and _addresses(candidate) != _addresses(actual):
                raise Undecided("an address in a text is written in other letters")
            return True
    if unsaid:
        raise unsaid
    return False


def _addresses(text: Any) -> list[str]:
    return [word for word in str(text).split() if "http" in word.lower()]


def _forms(kind: str, actual: Any) -> list[Any]:
    """What was given, as it is compared; a list holds alternatives."""
    if isinstance(actual, dict):
        raise Undecided("an object occurs in place of a value")
    if not isinstance(actual, list):
        return [_FORMS[kind](actual)]
    if len(actual) < 2:
        raise Unfit
    if any(isinstance(entry, dict | list) for entry in actual):
        raise Undecided("a list occurs in place of a value")
    return [_FORMS[kind](entry) for entry in actual]


def _string(actual: Any) -> str:
    return fold_text(actual) if isinstance(actual, str) else str(actual).lower() if actual else ""


def _parameter(actual: Any) -> str:
    return str(actual).lower().strip()


def _number(actual: Any) -> float:
    if isinstance(actual, int | float):
        return float(actual)
    text = fold_text(actual or "")
    try:
        return float(text.replace(",", "").replace(" ", ""))
    except ValueError:
        if not _NUMBER_WORDS.isdisjoint(text.replace("-", " ").split()):
            raise Undecided("a number is told in words") from None
        raise Unfit from None


def _boolean(actual: Any) -> bool:
    if isinstance(actual, int | float):
        return bool(actual)
    text = fold_text(actual or "")
    if text not in _YES + _NO:
        raise Unfit
    return text in _YES


def _currency(actual: Any) -> Decimal:
    text = fold_text(actual) if isinstance(actual, str) else "" if actual is None else str(actual)
    amounts = [amount_text for amount_text in _AMOUNTS.findall(text) if any(map(str.isdigit, amount_text))]
    if not amounts:
        if "free" in text:
            return Decimal(0)
        raise Unfit
    negative = text.startswith("-")
    amount = amounts[0].rstrip(",.")
    if len(amounts) > 1 or set(text[1:] if negative else text) & set("-%'") or not _AMOUNT.fullmatch(amount) or (
            amount.startswith(".") and amount.count(".") > 1):
        raise Undecided("what is the price in it is not sure")
    point = "." if text.rfind(".") > text.rfind(",") else ","
    amount = amount.replace(",", "") if point == "." else amount.replace(".", "").replace(",", ".")
    try:
        value = Decimal(str(float(Decimal(amount))))
    except InvalidOperation:
        raise Unfit from None
    return -value if negative else value


def _date(actual: Any) -> str:
    text = " ".join(fold_text(actual).replace(",", ", ").split()) if isinstance(actual, str) else ""
    if not text:
        raise Unfit
    for pattern in _DATES:
        if match := pattern.fullmatch(text):
            try:
                return date(int(match["y"]), _month(match["m"]), int(match["d"])).isoformat()
            except ValueError:
                break
    if not _DATE_WORDS.issuperset(_WORD.findall(text)):
        raise Unfit
    raise Undecided("how this date is read is not sure")


def _month(text: str) -> int:
    if text.isdigit():
        return int(text)
    for names in (_MONTHS, _MONTH_NAMES):
        if text in names:
            return names.index(text) + 1
    raise ValueError(text)


def _duration(actual: Any) -> float:
    text = fold_text(actual) if isinstance(actual, str) else str(actual or "")
    match = _CLOCK.fullmatch(text) or _LASTING.fullmatch(text)
    if match and any(match.groups()):
        hours, minutes, seconds = (int(group or 0) for group in match.groups())
        return float(hours * 3600 + minutes * 60 + seconds)
    try:
        float(text)
    except ValueError:
        if any(map(str.isdigit, text)):
            raise Undecided("how this duration is read is not sure") from None
    raise Unfit


def _named_month(actual: Any) -> int:
    if isinstance(actual, bool | float) or actual is None:
        raise Undecided("how this month is read is not sure")
    text = fold_text(actual) if isinstance(actual, str) else str(actual)
    try:
        number = int(text) if text.removeprefix("-").isdigit() else _month(text)
    except ValueError:
        if not _DATE_WORDS.issuperset(_WORD.findall(text)) or not text:
            raise Unfit from None
        raise Undecided("how this month is read is not sure") from None
    if not 1 <= number <= 12:
        raise Unfit
    return number


def _list(actual: Any) -> tuple[str, ...]:
    text = fold_text(actual) if isinstance(actual, str) else str(actual) if actual else ""
    items = sorted(item.strip() for item in text.split(",") if item.strip())
    if not items:
        raise Unfit
    return tuple(items)


def _url(actual: Any) -> Any:
    if not isinstance(actual, str) or not actual.strip() or is_pattern(actual.strip()):
        raise Unfit if not isinstance(actual, str) or not actual.strip() else Undecided("it is itself a pattern")
    return address_of(actual).normalized


_FORMS: dict[str, Callable[[Any], Any]] = {
    "string": _string, "parameter": _parameter, "number": _number, "boolean": _boolean, "currency": _currency,
    "date": _date, "month": _named_month, "duration": _duration, "list": _list, "url": _url}
