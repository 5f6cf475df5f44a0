"""Names of persons in Korean text: a surname and a given name of two syllables, with possible suffixes."""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from pipeline.privacy.patterns import pattern

from . import lists

_COMPOUND = "남궁|황보|제갈|선우|독고|사공|서문"
_TITLES = ("님|씨|선생님|선생|과장|부장|팀장|대리|사장|교수|박사|차장|실장|이사|대표|기사|간호사|의사|드림|"
           "올림|고객|군|양")
_PARTICLE = ("은|는|이|가|을|를|과|와|의|도|에게|께|께서|한테|랑|이랑|하고|입니다|이고|이며|이에요|예요|라고|"
             "이라고|으로|로|만|에게서|이라|아|야|님")
_LABEL = ("(?:이름|성명|이름은|이름이|받는 ?사람|받는 ?분|보내는 ?사람|수령인|수취인|예약자|예약자는|"
          "예약자명|승객|탑승객|고객|고객명|사용자|로그인 ?사용자|직원|담당자|연락처|환자|학생|작성자|"
          "저자|회원|투숙객|안녕하세요|감사합니다)")


@lru_cache(maxsize=1)
def _patterns() -> tuple[Any, Any, Any]:
    single = "".join(sorted(name for name in lists.names_of("ko", "ko_KR").surnames if len(name) == 1))
    surnames = f"(?:{_COMPOUND}|[{single}])"
    titled = pattern(rf"({surnames}\p{{Hangul}}{{0,2}}?)( ?)({_TITLES})(?:\P{{Hangul}}|$|{_PARTICLE})")
    labelled = pattern(rf"{_LABEL}[0-9 ]{{0,4}}[:：=,]?[ \t]*({surnames}\p{{Hangul}}{{1,2}}?)"
                       rf"(?:{_PARTICLE})?(?:\P{{Hangul}}|$)")
    free = pattern(rf"({surnames})(\p{{Hangul}}{{2}}|\p{{Hangul}})((?:{_PARTICLE}){{0,2}})(?:\P{{Hangul}}|$)")
    return titled, labelled, free


# Words that are written like a name.
_COMMON = frozenset((
    "이용자", "이메일", "이미지", "이벤트", "이순신", "이용은", "이것은", "고객님", "고객은", "고객이",
    "고객의", "안내문", "주문서", "주문은", "주소지", "문의는", "문의가", "전화기", "정보는", "정보가", "정보를",
    "정보의", "장바구", "하나의", "하나는", "한국의", "한국은", "전자기", "사용자", "강남역", "여행지", "여행은",
    "서울시", "성남시", "남자아", "현재는", "방문자", "공지사", "선택은", "인기는", "국가의", "안중근", "홍길동",
    "이니스", "정관장", "대한민", "도서관", "우리는", "우리가", "우리의", "우리를", "우리와", "여자는", "주인공"))


def persons(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of every name in a text."""
    if not any("가" <= character <= "힣" for character in text):
        return
    titled, labelled, free = _patterns()
    for match in titled.finditer(text):
        start, end = match.span(1)
        name = match.group(1)
        is_syllable_with_suffix = len(name) == 1 and match.group(3) in "군양씨님"
        if not _is_inside_word(text, start) and len(name) != 2 and not is_syllable_with_suffix:
            yield start, end if len(name) > 1 else match.end(3)
    for match in labelled.finditer(text):
        if not _is_inside_word(text, match.start()) and match.group(1) not in _COMMON:
            yield match.span(1)
    for match in free.finditer(text):
        start = match.start(1)
        surname, first_name, name = match.group(1), match.group(2), match.group(1) + match.group(2)
        if _is_inside_word(text, start) or name in _COMMON:
            continue
        firsts, seconds = _first_names()
        known = [first_name[0] in firsts, first_name[-1] in seconds]
        usual = len(surname) == 2 or surname in lists.usual_surnames("ko_KR")
        if len(first_name) == 2 and usual and (all(known) or (len(surname) == 2 and any(known))):
            yield start, match.end(2)


def _is_inside_word(text: str, start: int) -> bool:
    """Whether a Hangul character precedes a position, so that no word begins there."""
    return start > 0 and "가" <= text[start - 1] <= "힣"


@lru_cache(maxsize=1)
def _first_names() -> tuple[frozenset[str], frozenset[str]]:
    """Syllables that given names begin with, and end with."""
    names = [name for name in lists.names_of("ko", "ko_KR").first_names if len(name) == 2]
    return frozenset(name[0] for name in names), frozenset(name[1] for name in names)
