"""Names of persons in text in Latin letters: English, German, French, Spanish, and foreign names in these languages.

A known given name with what follows it, a title, a greeting or a label before it make a name of capitalised words. What
street, place and brand names show is none.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from pipeline.privacy.patterns import LETTER, is_isolated, pattern

from . import lists
from .words import (
    AMBIGUOUS,
    BRANDS,
    GREETINGS,
    IN_CODE,
    LABELS,
    NEVER,
    PARTICLES,
    PLACE_WORDS_AFTER,
    PLACE_WORDS_BEFORE,
    SAINTS,
    TITLES,
)

_WORD = rf"\p{{Lu}}[{LETTER}'’-]{{0,40}}"
_GAP = r"[ \x{A0}]"
_RUN = pattern(rf"{_WORD}\.?(?:{_GAP}(?:(?:{'|'.join(sorted(PARTICLES))}){_GAP}){{0,2}}{_WORD}\.?){{0,7}}")
_INITIALS = pattern(rf"[{LETTER}]{{2,30}}[._][{LETTER}]{{2,30}}")
_CUED = 40  # characters before a name in which a label may stand
_LONGEST = 4  # capitalised words of a name
_LABEL_ENDS = tuple(sorted(LABELS, key=len, reverse=True))


def persons(text: str) -> Iterator[tuple[int, int]]:
    """Where names stand."""
    until = 0
    for match in _RUN.finditer(text):
        start, end = match.span()
        if start and (text[start - 1].isalnum() or text[start - 1] in "_@/"):
            continue
        for span in _in_run(text, start, end):
            if span[0] >= until:
                span = _turned(text, span)
                until = span[1]
                yield span
    for match in _INITIALS.finditer(text):
        start, end = match.span()
        if is_isolated(text, start, end, "./@#=-", "/@(=-") and _is_login(match.group()):
            yield start, end


def _in_run(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Names in capitalised words that follow each other."""
    words = _words(text, start, end)
    index, cued = 0, _cued(text, start)
    while index < len(words):
        word = words[index][2]
        if word in TITLES or (word in GREETINGS
                              and index + 1 < len(words)) or word.rstrip("s") in _labels_of_one_word():
            cued = word in TITLES or word in GREETINGS or cued
            index += 1
            continue
        stop = _until(words, index)
        if stop > index and _is_name(text, words, index, stop, cued) and not _is_place_name(text, words, index, stop):
            last = words[stop - 1]
            close = last[1] - (text[last[1] - 1] == "." and len(last[2]) > 1)
            close -= text[:close].endswith(("'s", "’s")) and 2
            yield words[index][0], close
            index = stop
        else:
            index += 1
        cued = False


def _words(text: str, start: int, end: int) -> list[tuple[int, int, str]]:
    words, position = [], start
    for word in text[start:end].replace("\u00a0", " ").split(" "):
        words.append((position, position + len(word), word.lower().rstrip(".")))
        position += len(word) + 1
    return words


def _until(words: list[tuple[int, int, str]], index: int) -> int:
    """Behind the last word that may belong to the name that begins with a word."""
    stop, capitals = index, 0
    while stop < len(words) and capitals < _LONGEST:
        word = words[stop][2]
        if word in NEVER or word in TITLES and len(word) > 1 or stop > index and word in PLACE_WORDS_AFTER:
            break
        capitals += word not in PARTICLES
        stop += 1
    while stop > index and words[stop - 1][2] in PARTICLES:
        stop -= 1
    return stop


def _is_name(text: str, words: list[tuple[int, int, str]], index: int, stop: int, cued: bool) -> bool:
    known, first, count = lists.latin(), words[index][2], stop - index
    if cued:
        return True
    if first in PARTICLES:
        return False
    if count > 1:
        if " ".join(word for _, _, word in words[index:index + 2]).replace("'s", "").replace("’s", "") in BRANDS:
            return False
        second = words[stop - 1][2]
        if first not in known.usual and _begins_sentence(text, words[index][0]) and (
                words[index + 1][2] in known.usual or text[words[stop - 1][1]:].startswith(", ")):
            return False  # "Ask Ann Lee": somebody is called Ask
        if _is_first_name(first, known.first_names):
            is_certain = first in known.usual and first not in AMBIGUOUS
            return (is_certain
                    or _is_first_name(second, known.surnames)) and words[index + 1][2] not in PLACE_WORDS_AFTER
        return False
    if index and words[index - 1][2] in SAINTS:
        return False
    alone = words[index][:2]
    if stop == len(words) and first in known.surnames and _turned(text, alone) != alone:
        return True
    starts_run = index == 0 or words[index - 1][2] in NEVER
    shouted = text[slice(*alone)].isupper()  # a heading, a constant
    return (starts_run and first in known.usual and first not in AMBIGUOUS and len(first) > 2
            and stop == len(words) and not shouted and first not in lists.place_names())


def _begins_sentence(text: str, start: int) -> bool:
    before = text[max(0, start - 3):start].rstrip()
    return not before or before[-1] in ".!?"


def _is_first_name(word: str, names: frozenset[str]) -> bool:
    return word in names or ("-" in word and all(part in names for part in word.split("-") if part))


def _is_place_name(text: str, words: list[tuple[int, int, str]], index: int, stop: int) -> bool:
    """Whether what stands around makes a street, a place or a firm of it."""
    if stop < len(words) and words[stop][2] in PLACE_WORDS_AFTER:
        return True
    after = text[words[stop - 1][1]:words[stop - 1][1] + 16]
    if after[:1] in ("-", "®", "™") or (after[:2].strip() == "&"):
        return True
    before = text[max(0, words[index][0] - 16):words[index][0]].lower()
    preceding = before.replace("\u00a0", " ").split()
    return bool(preceding) and before.endswith(" ") and preceding[-1] in PLACE_WORDS_BEFORE


def _cued(text: str, start: int) -> bool:
    """Whether what stands before a capitalised word announces a name."""
    before = text[max(0, start - _CUED):start].lower()
    bare = before.rstrip(" \u00a0\t:：=\"'>,;-–([*")
    gap = before[len(bare):]
    if not gap or "\n" in gap:
        return False
    if gap.strip(" \u00a0") == "" and bare.endswith(tuple(TITLES_WRITTEN)):
        return is_isolated(bare, len(bare) - len(bare.split()[-1]), len(bare))
    last = bare.split()[-1] if bare.split() else ""
    if last.strip(".,!") in TITLES and "," not in gap and ":" not in gap:
        return len(last) > 2 or last.endswith(".")
    if last in GREETINGS and ":" not in gap:
        return True
    while bare[-1:].isdigit() or bare.endswith(" "):
        bare = bare[:-1]
    return bare.endswith(_LABEL_ENDS) and any(bare.endswith(label)
                                              and is_isolated(bare, len(bare) - len(label), len(bare))
               and (" " in label or ":" in gap or "=" in gap or '"' in gap)
               and not (label in IN_CODE and any(mark in gap for mark in "\"'=")) for label in _LABEL_ENDS)


TITLES_WRITTEN = ("mr.", "mrs.", "ms.", "dr.", "prof.", "m.", "mme", "mlle", "sr.", "sra.", "srta.", "dra.")


@lru_cache(maxsize=1)
def _labels_of_one_word() -> frozenset[str]:
    return frozenset(label for label in LABELS if " " not in label)


def _turned(text: str, span: tuple[int, int]) -> tuple[int, int]:
    """With what follows, where a surname is written before a given name: "Lee, Ann"."""
    known, surname = lists.latin(), text[span[0]:span[1]].lower()
    if " " in surname or text[span[1]:span[1] + 2] != ", ":
        return span
    match: Any = _RUN.match(text[span[1] + 2:span[1] + 80])  # only that: the text is written anew for RE2
    if match is None or not _is_first_name(match.group().split()[0].lower(), known.first_names):
        return span
    if surname in known.usual and surname not in known.surnames:
        return span
    return span[0], span[1] + 2 + len(match.group().split()[0].rstrip("."))


def _is_login(word: str) -> bool:
    first, _, last = word.lower().replace("_", ".").partition(".")
    known = lists.latin()
    plain = len(last) > 4 or (len(last) > 2 and last in known.surnames)
    return plain and first in known.usual and first not in AMBIGUOUS
