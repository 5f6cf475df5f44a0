"""The turn list of a long session: the page contains the rows around the selected turn, and asks here for others.

What a script needs of every turn (id, marks, words to filter by) is a list that it asks for once, and that an edit
changes in one place: all but the rows that are equal before and behind.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from flask import Blueprint, render_template, request
from flask_babel import gettext as _

from curator_web.access.services import services
from curator_web.demonstrations.library import replay_proofs, review_cache
from curator_web.errors import ErrorText, InputError
from curator_web.web.shell.display_names import SPEAKER_WORDS, VERDICTS
from schemas.types.proof import TurnProof

from .presentation import WINDOW_TURNS, ReviewView, TurnView

blueprint = Blueprint("turn_list", __name__)
DROPPED, CHECK, STARTS_VISIT = 1, 2, 4  # marks of a turn, as turn_list.js reads them
MAX_ROWS = 3 * WINDOW_TURNS  # of one answer
_RANGES = re.compile("[0-9]{1,7}(-[0-9]{1,7})?(,[0-9]{1,7}(-[0-9]{1,7})?){0,999}")
Record = list[Any]  # id, marks, words


@blueprint.get("/demonstrations/<demonstration_id>/turn-list")
def turns(demonstration_id: str) -> str:
    """The rows of the turns at some places (`at`: from 0, such as 3-40,77); those that do not exist are left out."""
    review = review_cache.cached_review(services().db, demonstration_id, intact=True)
    review_view = ReviewView(review)
    return render_template("review/_turn_list.html", review=review_view, row=review.row, turn=None,
                           trouble=replay_proofs.failing_turns(services().db, review.row),
                           visits=review_view.visits_of(_indexes(request.args.get("at", ""), review_view.count)))


@blueprint.get("/demonstrations/<demonstration_id>/turn-index")
def index(demonstration_id: str) -> dict[str, Any]:
    """The records of all turns, and the version that has them."""
    review = review_cache.cached_review(services().db, demonstration_id, intact=True)
    trouble = replay_proofs.failing_turns(services().db, review.row)
    review_view = ReviewView(review)
    return {"version": review.row.version, "turns": records(review_view, range(review_view.count), trouble)}


def records(review_view: ReviewView, indexes: Iterable[int], trouble: Mapping[str, TurnProof]) -> list[Record]:
    """What turn_list.js has of turns."""
    starts = set(review_view.visit_starts)
    return [_record(review_view.turn_at(index), index in starts, trouble) for index in indexes]


def changes(before: ReviewView, after: ReviewView, trouble: Mapping[str, TurnProof]) -> dict[str, Any] | None:
    """How an edit changed the records; None where the page contains all turns, and needs none."""
    if not (before.is_windowed and after.is_windowed):
        return None
    old, new = _Comparable(before), _Comparable(after)
    shorter = min(before.count, after.count)
    first = next((index for index in range(shorter) if old[index] != new[index]), shorter)
    last = next((back for back in range(1, shorter - first + 1) if old[before.count - back] != new[after.count - back]),
                shorter - first + 1) - 1
    return {"from": before.row.version, "first": first, "removed": before.count - last - first,
            "added": records(after, range(first, after.count - last), trouble)}


class _Comparable:
    """What the record of a turn is made of, by the turn's index."""

    def __init__(self, review_view: ReviewView):
        self._view = review_view
        self._starts = set(review_view.visit_starts)
        self._said = {turn["id"]: turn["utterance"] for turn in review_view.review.turns if turn["type"] == "chat"}

    def __getitem__(self, index: int) -> tuple[Any, ...]:
        turn = self._view.review.turns[index]
        quote = self._said.get(turn.get("reply_to", "")) if turn["type"] == "chat" else None
        return turn, index in self._starts, turn["id"] in self._view.moved, quote


def _record(turn: TurnView, starts_visit: bool, trouble: Mapping[str, TurnProof]) -> Record:
    flags = dict(turn.flags)
    words = [str(SPEAKER_WORDS.get(turn.kind, turn.kind)), turn.time, turn.label, turn.detail, turn.quote,
             *(word for _kind, word in turn.flags), *(reaction["emoji"] for reaction in turn.reactions)]
    if turn.spoken:
        words.append(_(", spoken"))
    proof = trouble.get(turn.id)
    if proof:
        words.append(_("replay: %(verdict)s", verdict=VERDICTS.get(proof["verdict"], proof["verdict"])))
    has_check = "check" in flags or (proof is not None and proof["verdict"] != "failed")
    marks = (DROPPED * turn.turn["dropped"] + CHECK * has_check + STARTS_VISIT * starts_visit)
    return [turn.id, marks, " ".join(filter(None, words))]


def _indexes(text: str, count: int) -> list[int]:
    """Ascending indexes below `count`; raises InputError for what is no list of places, or names too many."""
    if not _RANGES.fullmatch(text):
        raise InputError(ErrorText("at: must be places of turns such as 3-40,77"))
    indexes = set[int]()
    for part in text.split(","):
        first, _dash, last = part.partition("-")
        indexes.update(range(int(first), min(int(last or first) + 1, count, int(first) + MAX_ROWS)))
    return [index for index in sorted(indexes) if index < count][:MAX_ROWS]
