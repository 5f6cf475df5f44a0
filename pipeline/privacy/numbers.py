"""Numbers of persons: cards, accounts, national ids, telephones. Those with check digits are checked."""

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import NamedTuple

import phonenumbers
from phonenumbers import NumberParseException
from stdnum import iban
from stdnum import luhn as luhn_number
from stdnum.cn import ric
from stdnum.de import idnr
from stdnum.es import dni, nie
from stdnum.fr import nir
from stdnum.jp import in_ as my_number
from stdnum.kr import rrn
from stdnum.us import ssn

from .patterns import is_isolated, pattern, spans

Spans = Iterator[tuple[int, int]]
_CUE_CHARS = 40  # characters before a number in which a word tells what it is
_NO_NINO_PREFIXES = frozenset({"BG", "GB", "KN", "NK", "NT", "TN", "ZZ"})
_WITHOUT_SEPARATORS = str.maketrans("", "", " \u00a0\u2009\u202f-./")

_DIGITS = pattern(r"[0-9]+")
_LAYOUTS = frozenset({(4, 4, 4, 4), (4, 4, 4, 4, 3), (4, 4, 4, 4, 2), (4, 4, 4, 4, 1), (4, 6, 5), (4, 6, 4), (4, 4, 5),
                      *((length,) for length in range(13, 20))})
_CARD_LIKE = pattern(r"[0-9]{13}|[0-9]{4}[^0-9]{1,3}[0-9]{4,6}[^0-9]{1,3}[0-9]{4}")  # most texts have none
_FIRST_GROUPS = frozenset(layout[0] for layout in _LAYOUTS)
_CARD_GAPS = frozenset({" ", "-", ".", "/", "_", "  ", " - ", "\t"})
_LONGEST_GAP = max(map(len, _CARD_GAPS))
_CARD_CUE = re.compile(
    r"(?:card|karte|carte|tarjeta|kredit|\bcc|\bpan|number|\bnum|\bno|\bq|query|search|text|value)[\w-]{0,20}=$",
    re.IGNORECASE)
_ISSUERS = re.compile(r"4|5[0-8]|6|3[0-9]|2[2-7]|1800|81")


def cards(text: str) -> Spans:
    """Card numbers: digits in the groups that cards have, with the check digit of ISO/IEC 7812."""
    if not _CARD_LIKE.search(text):
        return
    groups = list(spans(_DIGITS, text))
    start = 0
    while start < len(groups):
        length = groups[start][1] - groups[start][0]
        used = _card_groups(text, groups[start:start + 5]) if length in _FIRST_GROUPS else 0
        if used:
            yield groups[start][0], groups[start + used - 1][1]
        start += used or 1


def _card_groups(text: str, groups: list[tuple[int, int]]) -> int:
    """How many of the groups from the first one on are a card number; 0 when they are none."""
    together = 1
    while together < len(groups) and _joins(text, groups[together - 1], groups[together]):
        together += 1
    for count in range(together, 0, -1):
        start, end = groups[0][0], groups[count - 1][1]
        layout = tuple(last - first for first, last in groups[:count])
        if layout not in _LAYOUTS or not _is_card_isolated(text, start, end, count):
            continue
        digits = text[start:end].translate(_WITHOUT_SEPARATORS)
        if _ISSUERS.match(digits) and len(set(digits)) > 1 and luhn_number.is_valid(digits):
            return count
    return 0


def _joins(text: str, first: tuple[int, int], second: tuple[int, int]) -> bool:
    return second[0] - first[1] <= _LONGEST_GAP and text[first[1]:second[0]] in _CARD_GAPS


def _is_card_isolated(text: str, start: int, end: int, groups: int) -> bool:
    """Whether no longer number contains it. After an equals sign, only one that is written in groups or is named."""
    if is_isolated(text, start, end, ".,-+/=", "-"):
        return True
    return (text[start - 1:start] == "=" and is_isolated(text, start, end, after="-")
            and (groups > 1 or _CARD_CUE.search(text[max(0, start - _CUE_CHARS):start]) is not None))


_IBAN_START = pattern(r"[A-Z]{2}[0-9]{2}", ignore_case=True)
_IBAN_REST = re.compile(r"(?:[ .-]?[A-Za-z0-9]){11,30}")
_LONGEST_IBAN = 70  # characters, with a separator before each


def accounts(text: str) -> Spans:
    """IBANs: of the length and structure that their country has, with their check digits (ISO 13616)."""
    ended = 0
    for start, _ in spans(_IBAN_START, text):
        length = _iban_length(text[start:start + 2].upper()) if start >= ended else 0
        rest = _IBAN_REST.match(text, start + 4, start + _LONGEST_IBAN) if length else None
        if not rest:
            continue
        indices = [index for index in range(start, rest.end()) if text[index].isalnum()]
        if length > len(indices):
            continue
        end = indices[length - 1] + 1
        number = text[start:end].translate(_WITHOUT_SEPARATORS).upper()
        if is_isolated(text, start, end) and iban.is_valid(number, check_country=False):
            ended = end
            yield start, end


@lru_cache(maxsize=700)
def _iban_length(country: str) -> int:
    """Characters of a country's IBANs; 0 when it has none."""
    for _, about in iban._ibandb.info(country):
        if "bban" in about:
            return 4 + sum(int(number) for number in re.findall(r"(\d{1,3})!", about["bban"]))
    return 0


class _IdKind(NamedTuple):
    """A kind of national id. `pattern`: of its text; `is_valid`: whether its letters and digits are valid; `cue`: a
    regular expression that must match shortly before it, if any."""

    pattern: object
    is_valid: Callable[[str], bool]
    cue: str = ""


def _has_nino_prefix(number: str) -> bool:
    """Whether a British NINO can begin so; it has no check digit."""
    return number[:2].upper() not in _NO_NINO_PREFIXES


def _is_ric(number: str) -> bool:
    """The check digit and a date of birth; the county may have been another's at that time."""
    month, day = int(number[10:12]), int(number[12:14])
    return 1 <= month <= 12 and 1 <= day <= 31 and number[-1].upper() == ric.calc_check_digit(number)


def _is_rrn(number: str) -> bool:
    """Numbers since 2020 have no check digit: the date of birth and the digit behind it must be right."""
    month, day = int(number[2:4]), int(number[4:6])
    return 1 <= month <= 12 and 1 <= day <= 31 and number[6] in "12345678"


_SSN = r"social security|\bssn\b|sozialversicherung|社会安全"
_MY_NUMBER = r"my ?number|マイナンバー|個人番号"
_ID_KINDS = (
    _IdKind(pattern(r"[0-9]{3}[- ][0-9]{2}[- ][0-9]{4}"), ssn.is_valid),
    _IdKind(pattern(r"[0-9]{9}"), ssn.is_valid, _SSN),
    _IdKind(pattern(r"[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?[0-9]{2} ?[0-9]{2} ?[0-9]{2} ?[A-D]"), _has_nino_prefix),
    _IdKind(pattern(r"[1-9][0-9] ?[0-9]{3} ?[0-9]{3} ?[0-9]{3}"), idnr.is_valid),
    _IdKind(pattern(r"[1278] ?[0-9]{2} ?[0-9]{2} ?[0-9][0-9AB] ?[0-9]{3} ?[0-9]{3} ?[0-9]{2}"), nir.is_valid),
    _IdKind(pattern(r"[0-9]{8}[- ]?[A-Z]"), dni.is_valid),
    _IdKind(pattern(r"[XYZ][- ]?[0-9]{7}[- ]?[A-Z]"), nie.is_valid),
    _IdKind(pattern(r"[1-9][0-9]{5} ?(?:18|19|20)[0-9]{6} ?[0-9]{3}[0-9Xx]"), _is_ric),
    _IdKind(pattern(r"[0-9]{6}-[0-9]{7}"), _is_rrn),
    _IdKind(pattern(r"[0-9]{13}"), rrn.is_valid, "주민"),
    _IdKind(pattern(r"[0-9]{4}[ -][0-9]{4}[ -][0-9]{4}"), my_number.is_valid),
    _IdKind(pattern(r"[0-9]{12}"), my_number.is_valid, _MY_NUMBER),
)


def national_ids(text: str) -> Spans:
    """Numbers that states give to persons, by the kinds that are known: valid ones that are no part of a longer number,
    after a cue if their kind has one."""
    for kind in _ID_KINDS:
        for start, end in spans(kind.pattern, text):
            is_complete = is_isolated(text, start, end, ".,-+/=#", "-") and not _goes_on(text, end)
            if (is_complete and _is_cued(kind, text, start)
                    and kind.is_valid(text[start:end].translate(_WITHOUT_SEPARATORS))):
                yield start, end


def _is_cued(kind: _IdKind, text: str, start: int) -> bool:
    """Whether a cue of an id's kind precedes its start, or the kind needs none."""
    return not kind.cue or bool(re.search(kind.cue, text[max(0, start - _CUE_CHARS):start], re.IGNORECASE))


def _goes_on(text: str, end: int) -> bool:
    """Whether it is only the beginning of a decimal number, or one more group of digits follows."""
    return text[end:end + 1] in (".", ",", " ") and text[end + 1:end + 2].isdigit()


_SIGN = r"[ .\x{A0}\x{202F}/-]?"
_INTERNATIONAL = pattern(r"(?:\+|\b00)[1-9][0-9]{0,2}", _SIGN, r"(?:\(0?[0-9]{1,4}\)", _SIGN, r")?[0-9]{1,12}(?:",
       _SIGN,
                         r"[0-9]{2,12}){0,5}")
_NATIONAL = (
    ("US", pattern(r"\([0-9]{3}\) ?[0-9]{3}[ .-][0-9]{4}")),
    ("US", pattern(r"(?:1[ .-])?[2-9][0-9]{2}(?:-[2-9][0-9]{2}-|\.[2-9][0-9]{2}\.| [2-9][0-9]{2} )[0-9]{4}")),
    ("FR", pattern(r"0[1-9](?:[ .\x{A0}-]?[0-9]{2}){4}")),
    ("GB", pattern(r"\(?0[0-9]{2,4}\)?[ -][0-9]{3,4}[ -]?[0-9]{3,4}")),
    ("DE", pattern(r"\(?0[1-9][0-9]{1,4}\)?[ /-]{1,3}[0-9]{2,5}(?:[ -]?[0-9]{2,5}){0,3}")),
    ("ES", pattern(r"[6789][0-9]{2}(?: [0-9]{3} [0-9]{3}|(?: [0-9]{2}){3})")),
    ("CN", pattern(r"1[3-9][0-9][ -]?[0-9]{4}[ -]?[0-9]{4}")),
    ("KR", pattern(r"0[0-9]{1,2}[-. ][0-9]{3,4}[-. ][0-9]{4}")),
    ("JP", pattern(r"0[0-9]{1,4}[- ][0-9]{1,4}[- ][0-9]{3,4}")),
)


_PHONE_CUE = re.compile(
    r"(?:phone|tel|telefon|mobile?|fax|sms|whatsapp|handy|movil|portable|number|\bq|query|text|value)"
    r"[\w-]{0,12}[\"']?[=:]$", re.IGNORECASE)


def phones(text: str) -> Spans:
    """Telephone numbers: with a plus or two zeros before the country's, or as some countries write them at home."""
    for start, end in spans(_INTERNATIONAL, text):
        if _is_standalone(text, start, end) and 8 <= sum(map(str.isdigit, text[start:end])) <= 15:
            yield start, end
    for region, written in _NATIONAL:
        for start, end in spans(written, text):
            if (_is_standalone(text, start, end) and not _is_amount(text, start, end)
                    and not _is_zip_code(text, start, end)
                    and _is_phone(text[start:end], region)):
                yield start, end


def _is_amount(text: str, start: int, end: int) -> bool:
    """Whether digits in groups of three are a part of an amount: after more digits, or beside a currency."""
    if not _THOUSANDS.fullmatch(text, start, end):
        return False
    return bool(_AMOUNT_BEFORE.search(text[max(0, start - 6):start]) or _AMOUNT_AFTER.match(text, end))


def _is_zip_code(text: str, start: int, end: int) -> bool:
    """Whether digits are a ZIP code of the United States (ZIP+4), which follows a city and a state."""
    return bool(_ZIP_CODE.fullmatch(text, start, end) and _STATE_BEFORE.search(text[max(0, start - 8):start]))


_ZIP_CODE = re.compile(r"[0-9]{5}-[0-9]{4}")
_STATE_BEFORE = re.compile(
    r",\s{0,2}(?:A[KLRZ]|C[AOT]|D[CE]|FL|GA|HI|I[ADLN]|K[SY]|LA|M[ADEINOST]|N[CDEHJMVY]|O[HKR]|PA|RI|S[CD]|T[NX]|UT|V[AT]"
    r"|W[AIVY])\s{1,2}$")
_THOUSANDS = re.compile(r"[0-9]{1,3}(?:[ .][0-9]{3}){1,4}")
_AMOUNT_BEFORE = re.compile(r"(?:[0-9][ .]|(?:[€$£¥₩₽]|EUR|USD|CHF)[ ]?)$")
_AMOUNT_AFTER = re.compile(r"[ ]?(?:[€$£¥₩₽%]|EUR|USD|CHF|Euro|Kč|zł|kr\b|元|円|원)")


def _is_standalone(text: str, start: int, end: int) -> bool:
    if _goes_on(text, end):
        return False
    if is_isolated(text, start, end, ".,+/=-#:", "-"):
        return True
    # After the sign of a name or a scheme: an international number, or one whose name says so.
    return (text[start - 1:start] in ("=", ":") and is_isolated(text, start, end, after="-")
            and (text[start] == "+" or _PHONE_CUE.search(text[max(0, start - _CUE_CHARS):start]) is not None))


@lru_cache(maxsize=4096)
def _is_phone(written: str, region: str) -> bool:
    try:
        return phonenumbers.is_possible_number(number := phonenumbers.parse(written, region)) and (
            phonenumbers.is_valid_number(number) or written.startswith("("))
    except NumberParseException:
        return False
