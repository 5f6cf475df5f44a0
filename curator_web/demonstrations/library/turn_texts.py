"""Texts of turns by which demonstrations are found: utterances, typed texts, titles of pages, and names of targets.

Texts are split into words as both databases index them: small letters without accents; scripts that write without
spaces, as pairs of neighbouring letters.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from schemas import types
from schemas.shared import REDACTED

from .plain_text import plain

TEXT_LENGTH = 400  # characters of a turn
WORD_LENGTH = 40
WORDS_LIMIT = 20_000  # different words of a demonstration
TURNS_LIMIT = 20_000  # of which texts are kept
_CACHED_TEXTS = 8192  # an edit changes one text of a long session; the words of the others are known then
_WORD = re.compile(r"[^\W_]+")
_UNSPACED = "\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff"  # Thai and Lao; Hiragana and Katakana; Han
_RUN = re.compile(f"[{_UNSPACED}]+|[^{_UNSPACED}]+")
_IS_UNSPACED = re.compile(f"[{_UNSPACED}]")
_ARGUMENTS = ("text", "label", "value", "message")  # what was typed or chosen, and what a dialog said
TurnTexts = list[list[str]]  # [turn, text] of each turn that has one


def texts_of(turns: Sequence[types.Turn]) -> TurnTexts:
    """The text of each turn, dropped ones included, as a reviewer sees them."""
    texts = ([turn["id"], turn_text(turn)] for turn in turns[:TURNS_LIMIT])
    return [[turn_id, text] for turn_id, text in texts if text]


def turn_text(turn: types.Turn) -> str:
    """What was said, typed or chosen in a turn, the name of its target and the title of its page, without what was
    redacted."""
    pieces: list[str] = []
    if turn["type"] == "chat":
        pieces.append(turn["utterance"])
    else:
        arguments: dict = {**turn["arguments"]}
        pieces += (value for name in _ARGUMENTS if isinstance(value := arguments.get(name), str))
        if element := turn["element"]:
            pieces += (element["name"], element["text"])
        if state := turn["state"]:
            pieces.append(state["title"])
    shown = dict.fromkeys(" ".join(piece.replace(REDACTED, " ")[:TEXT_LENGTH].split()) for piece in pieces)
    return " · ".join(piece for piece in shown if piece)[:TEXT_LENGTH]


def differ(before: Sequence[types.Turn], after: Sequence[types.Turn]) -> bool:
    """Whether an edit changed any text; most do not, and the words of a long session are not read again then."""
    known = {turn["id"]: turn for turn in before}
    if len(known) != len(after):
        return True
    for turn in after:
        other = known.get(turn["id"])
        if other is None or (other is not turn and turn_text(other) != turn_text(turn)):
            return True
    return False


def words_of(texts: Iterable[str]) -> list[str]:
    """The different words of texts, in their order of appearance."""
    words: dict[str, None] = {}
    for text in texts:
        words.update(dict.fromkeys(_cached_words(text)))
        if len(words) >= WORDS_LIMIT:
            break
    return list(words)[:WORDS_LIMIT]


@lru_cache(_CACHED_TEXTS)
def _cached_words(text: str) -> tuple[str, ...]:
    return tuple(split_words(text))


def split_words(text: str) -> list[str]:
    """The words of a text as they are indexed."""
    words: list[str] = []
    for word in _WORD.findall(plain(text)):
        for run in _RUN.findall(word):
            if _IS_UNSPACED.match(run) and len(run) > 1:
                words += (run[index:index + 2] for index in range(len(run) - 1))
            else:
                words.append(run[:WORD_LENGTH])
    return words
