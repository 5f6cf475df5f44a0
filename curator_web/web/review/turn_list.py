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
from schemas import types
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
    old, new = before.review.turns, after.review.turns
    shorter = min(len(old), len(new))
    first = next((index for index in range(shorter) if _differ(old[index], new[index])), shorter)
    same = next((back for back in range(shorter - first) if _differ(old[-1 - back], new[-1 - back])), shorter - first)
    others = _affected(before, after, first, same)
    first = min([first, *others])
    same = min([same, *(len(new) - 1 - index for index in others)])
    return {"from": before.row.version, "first": first, "removed": len(old) - same - first,
            "added": records(after, range(first, len(new) - same), trouble)}


def _differ(turn: types.Turn, other: types.Turn) -> bool:
    return turn is not other and turn != other


def _affected(before: ReviewView, after: ReviewView, first: int, same: int) -> list[int]:
    """The indexes of equal turns whose records an edit changed: where visits begin, what was moved, and replies.
    `first`, `same`: how many turns are equal at the beginning and at the end."""
    old, new = before.review.turns, after.review.turns
    starts = [set(view.visit_starts) for view in (before, after)]
    counts = len(old), len(new)
    from_end = [{count - start for start in indexes} for count, indexes in zip(counts, starts, strict=True)]
    indexes = {start for start in starts[0] ^ starts[1] if start < first}
    indexes |= {len(new) - back for back in from_end[0] ^ from_end[1] if back <= same}
    moved = before.moved ^ after.moved
    said = {turn["id"] for turns in (old, new) for turn in turns[first:len(turns) - same] if turn["type"] == "chat"}
    if moved or said:
        indexes |= {index for index, turn in enumerate(new) if turn["id"] in moved or (
            turn["type"] == "chat" and turn.get("reply_to", "") in said)}
    return sorted(indexes)


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
