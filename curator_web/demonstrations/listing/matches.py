"""The turns of demonstrations that have words of a search, with the text around these."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from curator_web.db.models.core import DemonstrationText
from curator_web.demonstrations.library.turn_texts import TurnTexts, split_words

SHOWN_TURNS = 2  # of a demonstration
BEFORE, LENGTH = 40, 140  # characters before the first word that fits, and of an excerpt
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True)
class TurnMatch:
    """A turn that has words of the search. `pieces`: the part of its text around the first one, cut where words begin
    and end, each with whether it is such a word."""

    turn: str
    pieces: tuple[tuple[str, bool], ...]

    @property
    def text(self) -> str:
        return "".join(piece for piece, _ in self.pieces)


def matches_of(session: Session, ids: Iterable[str], beginnings: Sequence[str]) -> dict[str, list[TurnMatch]]:
    """The turns of each demonstration that have most of the words, by its id; of some none, where the words are those
    of its task, site or id."""
    rows = session.execute(select(DemonstrationText.demonstration_id, DemonstrationText.turn_texts).where(
        DemonstrationText.demonstration_id.in_(list(ids))))
    matches = {demonstration_id: best_turns(texts, beginnings) for demonstration_id, texts in rows}
    return {demonstration_id: turns for demonstration_id, turns in matches.items() if turns}


def best_turns(texts: TurnTexts, beginnings: Sequence[str]) -> list[TurnMatch]:
    """The turns that have most of the words, the first ones of as many."""
    counted: list[tuple[int, int]] = []
    for index, (_, text) in enumerate(texts):
        words = split_words(text)
        count = sum(any(word.startswith(beginning) for word in words) for beginning in beginnings)
        if count:
            counted.append((-count, index))
            if count == len(beginnings) and sum(best == -count for best, _ in counted) == SHOWN_TURNS:
                break
    return [TurnMatch(texts[index][0], excerpt(texts[index][1], beginnings))
            for _, index in sorted(counted)[:SHOWN_TURNS]]


def excerpt(text: str, beginnings: Sequence[str]) -> tuple[tuple[str, bool], ...]:
    """A part of a text around the first word that fits."""
    spans = [match.span() for match in _WORD.finditer(text) if any(
        word.startswith(beginning) for word in split_words(match[0]) for beginning in beginnings)]
    start = max(spans[0][0] - BEFORE, 0) if spans else 0
    if start:
        start = text.find(" ", start, spans[0][0]) + 1 or start
    end, position = start + LENGTH, start
    pieces: list[tuple[str, bool]] = [("…", False)] if start else []
    for begin, stop in spans:
        if begin >= end:
            break
        pieces += [(text[position:begin], False), (text[begin:stop], True)]
        position = stop
    pieces.append((text[position:max(end, position)] + ("…" if len(text) > max(end, position) else ""), False))
    return tuple((piece, is_word) for piece, is_word in pieces if piece)
