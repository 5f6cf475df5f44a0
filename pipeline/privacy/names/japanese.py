"""Names of persons in Japanese text, by a dictionary of surnames and given names, and by titles and labels."""

from collections.abc import Iterator
from itertools import islice
from typing import Any

from pipeline.privacy.patterns import pattern

from . import lists

_TITLES = frozenset((
    "さん", "様", "さま", "氏", "君", "くん", "ちゃん", "先生", "部長", "課長", "社長", "教授", "殿", "主任",
    "係長", "先輩", "店長", "医師", "会長", "専務", "常務", "博士"))
_TITLE = pattern(r"(?:部|課|社|係|店|会)長|(?:さん|様|さま|氏|くん|先生|教授|殿|主任)")
_LABEL = pattern("(?:氏名|お名前|名前|宛名|お届け先|届け先|送り先|請求先|予約者|予約者名|搭乗者|乗客|宿泊者|お客様|"
                 "顧客|社員|担当者|担当|連絡先|受取人|差出人|ログイン中|ユーザー|ユーザー名|会員|患者|"
                 "著者|作成者|カード名義人|名義)"
                 r"[0-9０-９]{0,3}[ \t\x{3000}]*(?:[:：=は]|[ \t])[ \t\x{3000}]*")
_FOREIGN = pattern(r"\p{Katakana}[\p{Katakana}ー]{1,12}(?:[・＝ ]\p{Katakana}[\p{Katakana}ー]{1,12}){1,3}")
_SAID = ("と申します", "といいます", "さん", "様", "氏", "さま", "先生")
_PLACE_SUFFIXES = (
    "館", "像", "通り", "記念", "賞", "駅", "空港", "公園", "神社", "寺", "屋", "橋", "市", "県", "町", "区", "村",
    "杯", "大学", "病院")
_EASTERN = pattern(r"[\p{Han}\p{Katakana}]")
_KANA = pattern(r"[\p{Hiragana}\p{Katakana}]")
_CHUNK = 500  # characters that are looked at together: what the tokenizer takes for them may be their square
_LONGEST = 24  # of a name that begins in one chunk and ends in the next
_JAPANESE = pattern(r"[\p{Han}\p{Hiragana}\p{Katakana}ー・々〆ヶ \x{3000}]+")


def persons(text: str) -> Iterator[tuple[int, int]]:
    """Where names stand."""
    if _EASTERN.search(text) is None:
        return
    for match in _FOREIGN.finditer(text):
        if text[match.end():].startswith(_SAID) if match.end() > len(text) - 8 else text[
                match.end():match.end() + 8].startswith(_SAID):
            yield match.span()
    labelled = {match.end() for match in _LABEL.finditer(text)}
    japanese = _KANA.search(text) is not None
    for run in _JAPANESE.finditer(text):
        for offset in range(run.start(), run.end(), _CHUNK):
            part = text[offset:min(offset + _CHUNK + _LONGEST, run.end())]
            if any("\u4e00" <= character <= "\u9fff" for character in part):
                words = [(offset + morpheme.begin(), offset + morpheme.end(), morpheme.surface(), _kind(morpheme))
                         for morpheme in lists.japanese().tokenize(part)]
                for start, end in _names(words, labelled):
                    if japanese or start in labelled or _alone(text, start, end):
                        yield start, end


def _alone(text: str, start: int, end: int) -> bool:
    """Whether no Chinese character stands beside a name but a title: without kana, a text may be Chinese."""
    after = text[end:end + 2]
    return not any("\u4e00" <= character <= "\u9fff" for character in (text[max(0, start - 1):start] + (
        "" if after.startswith(tuple(_TITLES)) else after[:1])))


def _kind(word: Any) -> str:
    part = word.part_of_speech()
    return part[3] if part[2] == "人名" else "地名" if part[2] == "地名" else part[0]


def _names(words: list[tuple[int, int, str, str]], labelled: set[int]) -> Iterator[tuple[int, int]]:
    """Names in the words of one stretch."""
    index = 0
    while index < len(words):
        end = _name(words, index, words[index][0] in labelled)
        if end > index:
            title = words[end][2] if end < len(words) else ""
            alone = words[end - 1][1] - words[index][0] == 1 and title in _TITLES  # a single character names nobody
            yield words[index][0], words[end][1] if alone else words[end - 1][1]
            index = end
        else:
            index += 1


def _name(words: list[tuple[int, int, str, str]], index: int, labelled: bool) -> int:
    """Behind the last word of a name that begins with a word; the word's own place when none does."""
    kind = words[index][3]
    after = [word for word in islice(words, index + 1, index + 4)]
    gap = 1 if after and not after[0][2].strip() else 0
    following = after[gap] if len(after) > gap else None
    if kind == "姓" and following is not None and (
            following[3] == "名" or (following[3] in ("地名", "名詞", "姓") and gap and len(following[2]) < 4)):
        end = index + gap + 2
        return index if _is_place_name(words, end) else end
    if kind in ("姓", "名", "地名") and following is not None and following[2] in _TITLES:
        return index + 1
    if (kind == "姓" or (kind in ("地名", "名詞") and len(words[index][2]) < 4)) and labelled:
        return index + 2 + gap if following is not None and following[3] in ("名", "名詞", "姓", "地名") and (
            len(following[2]) < 4) and following[2] not in _TITLES else index + 1
    return index


def _is_place_name(words: list[tuple[int, int, str, str]], index: int) -> bool:
    return index < len(words) and words[index][2].startswith(_PLACE_SUFFIXES)
