"""Answering questions of a labelling scheme: who may edit a demonstration may, each for themselves."""

from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy.orm import Session

from curator_web.db.database import Database
from curator_web.db.models.core import Demonstration
from curator_web.demonstrations.leases import leases, training_attempts, visibility
from curator_web.demonstrations.library import library, pairs
from curator_web.demonstrations.schemes import answers
from curator_web.demonstrations.schemes.prelabels import prelabels_of
from curator_web.demonstrations.schemes.versions import NumberedScheme, current_scheme
from curator_web.errors import Conflict, ErrorText, InputError
from curator_web.users import Account
from pipeline.labelling.answers import changed_spans, checked_value, is_applicable, question_of, require_turns
from schemas import types
from schemas.text import storable

from .editing import LOCKED
from .workflow import may_edit

MAX_ANSWERS = 1000  # in a request


def answer(db: Database, demonstration_id: str, new_answers: Iterable[Mapping[str, Any]], account: Account,
           known: library.Review | None = None) -> None:
    """Have a person's answers to questions be these, in this order, all or none. Each has `question`, `value` (None:
    no answer) and, for one about a turn, `turn`. `known`: the demonstration as it was read before.

    Raises InputError for an unknown question or turn, for a value that the question does not allow and for a question
    that does not apply there; NotAllowed, Conflict and NotFound as an edit does.
    """
    visibility.require_visible(db, demonstration_id, account)
    with db.writing() as session:
        review = library.load(session, demonstration_id, lock=True, known=known)
        _require_answerable(session, review.row, account)
        scheme = current_scheme(session, review.row.home)
        for single in new_answers:
            _answer(session, review, scheme, storable(dict(single)), account)
        leases.touch(session, review.row, account)


def confirm(db: Database, demonstration_id: str, question: str, turn: str, account: Account,
            known: library.Review | None = None) -> None:
    """Have a person's answer be what a pre-label suggests. Raises InputError where nothing is suggested, and as
    `answer` does."""
    with db.reading() as session:
        value = next((row.value for row in prelabels_of(session, demonstration_id, {turn})
                      if row.question == question), None)
    if value is None:
        raise InputError(ErrorText("question %(name)s: no answer is suggested", name=question[:40]))
    answer(db, demonstration_id, [{"question": question, "turn": turn, "value": value}], account, known)


def change_spans(db: Database, demonstration_id: str, question: str, change: str, turn: str, account: Account,
                 known: library.Review) -> None:
    """Begin a span at a turn, extend the last one to it, or remove the last one. Raises as `answer` does."""
    with db.reading() as session:
        stored = answers.values_of(answers.answers_of(session, [demonstration_id], {""}), account.name)
    spans = changed_spans(stored.get((question, ""), []), change, turn)
    answer(db, demonstration_id, [{"question": question, "value": spans}], account, known)


def _require_answerable(session: Session, row: Demonstration, account: Account) -> None:
    """Raises NotAllowed or Conflict where this person cannot edit the demonstration."""
    if row.status in LOCKED:
        raise Conflict(ErrorText("this demonstration is %(status)s; reopen it to answer questions", status=row.status))
    pairs.require_editable(session, row, account)
    training_attempts.require_own_attempt(session, row.id, account)
    may_edit(row, account)


def _answer(session: Session, review: library.Review, scheme: NumberedScheme, single: Mapping[str, Any],
            account: Account) -> None:
    question, turn_id = question_of(scheme.scheme, single["question"]), single.get("turn") or ""
    value = checked_value(question, single["value"])
    require_turns(question, value, review.turns)
    turn = _turn(review, turn_id)
    stored = answers.answers_of(session, [review.row.id], {"", turn_id})
    if value is not None and not is_applicable(question, turn, answers.values_of(stored, account.name)):
        raise InputError(ErrorText("question %(name)s: does not apply here", name=question["name"]))
    answers.store(session, review.row, question, turn_id, value, scheme.number, account)


def _turn(review: library.Review, turn_id: str) -> types.Turn | None:
    """The turn of an id; None without one. Raises InputError."""
    if not turn_id:
        return None
    turn = next((turn for turn in review.turns if turn["id"] == turn_id), None)
    if turn is None:
        raise InputError(ErrorText("field turn: unknown turn %(turn)r", turn=turn_id[:80]))
    return turn
