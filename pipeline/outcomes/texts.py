"""Conditions on texts, numbers and addresses in outcome checks. Pure functions.

Texts are compared as VisualWebArena's evaluators do (Koh et al., 2024): in lower case, without the quotes around them;
a single word must be a word of the text, several are looked for as they stand. Words are those of the Penn Treebank's
tokenization, which those evaluators use.
"""

import math
import operator
import re
from collections.abc import Callable, Sequence

from schemas.types.outcome import Match

from .folding import Undecided
from .values import fits

# Whether a text means the same as another.
Judge = Callable[[str, str], bool]
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_FINAL_STOP = re.compile(r"(?<!\.)\.([\])}>\"'»”’ ]{0,20})$")
_SEPARATED = re.compile(r"([;@#$%&*?!()\[\]{}<>\"“”‘’«»„`]|\.{2,100}|--|[:,](?=\D|$))")
_ENDING = re.compile(r"(?<=[^' ])('s|'m|'d|'ll|'re|'ve|n't|')(?= |$)", re.I)
_TWO_WORDS = re.compile(r"\b(can)(not)\b|\b(gon|wan)(na)\b|\b(gim|lem)(me)\b|\b(got)(ta)\b", re.I)
_LEADING = re.compile(r"(^|(?<= ))'(?=\w)")
_COMPARISONS = (("<=", operator.le), (">=", operator.ge), ("==", operator.eq), ("<", operator.lt), (">", operator.gt))
_SHOWN = 80  # characters of a text, in a reason


def clean(text: str) -> str:
    """A text as it is compared."""
    text = text.strip()
    for quote in ("'", '"'):
        if len(text) > 1 and text.startswith(quote) and text.endswith(quote):
            return text[1:-1].lower()
    return text.lower()


def words(text: str) -> list[str]:
    """The words and signs of a text, in order."""
    parts: list[str] = []
    for sentence in _SENTENCE.split(text):
        spaced = _SEPARATED.sub(r" \1 ", _FINAL_STOP.sub(r" . \1", sentence.strip()))
        ended = _ENDING.sub(r" \1 ", _LEADING.sub(" ' ", spaced))
        parts += _TWO_WORDS.sub(lambda two: " ".join(filter(None, two.groups())), ended).split()
    return parts


def is_in(part: str, text: str) -> bool:
    """Whether a text includes another: a single word as a word, several as they stand."""
    part, text = clean(part), clean(text)
    return part in words(text) if len(words(part)) == 1 else part in text


def holds(match: Match, text: str, judge: Judge | None = None) -> tuple[bool | None, str]:
    """Whether a text fulfils all conditions, and if not, the first reason; None and a reason when it cannot be decided,
    as for a meaning without a judge."""
    if reason := _words_mismatch(match, text) or _numbers_mismatch(match, text):
        return False, reason
    if "value" in match and not (outcome := _value_holds(match, text))[0]:
        return outcome
    if "fuzzy" not in match:
        return True, ""
    if judge is None:
        return None, f"the meaning {shorten(match['fuzzy'])} requires a judge"
    is_similar = judge(match["fuzzy"], text)
    return is_similar, "" if is_similar else f"it does not mean {shorten(match['fuzzy'])}"


def _words_mismatch(match: Match, text: str) -> str:
    """Why a text does not fulfil the conditions on its words; empty when it does."""
    if "exact" in match and not any(clean(accepted) == clean(text) for accepted in match["exact"]):
        return f"{shorten(text)} is not {_or(match['exact'])}"
    for alternatives in match.get("includes", ()):
        if not any(is_in(alternative, text) for alternative in alternatives):
            return f"{_or(alternatives)} is not in {shorten(text)}"
    for excluded in match.get("excludes", ()):
        if is_in(excluded, text):
            return f"{shorten(excluded)} is in {shorten(text)}"
    if "one_of" in match and not any(clean(alternative) in clean(text) for alternative in match["one_of"]):
        return f"none of {_or(match['one_of'])} is in {shorten(text)}"
    return ""


def _numbers_mismatch(match: Match, text: str) -> str:
    """Why a text is not a number that fulfils the comparisons; empty when it is, or there are none."""
    for alternatives in match.get("numbers", ()):
        value = _number(text)
        if value is None:
            return f"{shorten(text)} is not a number"
        if not any(_compares(value, alternative) for alternative in alternatives):
            return f"{shorten(text)} is not {' or '.join(alternatives)}"
    return ""


def address_holds(match: Match, url: str) -> tuple[bool | None, str]:
    """As `holds`, for an address: as it stands, but for a slash at its end and how this machine is called."""
    now = _plain(url)
    if "exact" in match and now not in map(_plain, match["exact"]):
        return False, f"the address is {shorten(url)}, not {_or(match['exact'])}"
    for alternatives in [*match.get("includes", ()), *([match["one_of"]] if "one_of" in match else [])]:
        if not any(_plain(alternative) in now for alternative in alternatives):
            return False, f"{_or(alternatives)} is not in the address {shorten(url)}"
    for excluded in match.get("excludes", ()):
        if _plain(excluded) in now:
            return False, f"{shorten(excluded)} is in the address {shorten(url)}"
    if match.keys() & {"numbers", "fuzzy"}:
        return None, "an address is compared with exact, includes, excludes, one_of or value"
    return _value_holds(match, url) if "value" in match else (True, "")


def _value_holds(match: Match, text: str) -> tuple[bool | None, str]:
    value = match["value"]
    try:
        return (True, "") if fits(value, text) else (False,
                                                     f"{shorten(text)} is not the expected {value['type']}")
    except Undecided as error:
        return None, str(error)


def shorten(text: str) -> str:
    """A text in a reason."""
    text = " ".join(text.split())
    return f"“{text if len(text) <= _SHOWN else text[:_SHOWN] + '…'}”"


def _or(texts: Sequence[str]) -> str:
    return " or ".join(shorten(text) for text in texts[:5]) + (" or others" if len(texts) > 5 else "")


def _plain(url: str) -> str:
    url = url.replace("localhost", "127.0.0.1")
    return url[:-1] if url.endswith("/") else url


def _number(text: str) -> float | None:
    try:
        value = float(text.strip().replace(",", ""))
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _compares(value: float, condition: str) -> bool:
    """Whether a number fulfils a condition such as `>= 12`; False for what is none."""
    for sign, compare in _COMPARISONS:
        if condition.strip().startswith(sign):
            other = _number(condition.strip().removeprefix(sign))
            return other is not None and bool(compare(value, other))
    return False
