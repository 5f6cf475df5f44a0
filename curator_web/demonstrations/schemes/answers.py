"""Answers of people to the questions of a labelling scheme: stored for each person, and who may see those of others.

A person's answer is *independent* if nobody else had answered it where that person could see it: the two annotators of
a pair answer copies of a demonstration, so both answers are; a reviewer who follows an annotator answers a question
whose answer may be known.
"""

from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import exists, select, update
from sqlalchemy.orm import Session

from curator_web.db.models.core import DRAFT, RETURNED, Demonstration
from curator_web.db.models.scheme_models import Answer, KnownAnswer, Prelabel
from curator_web.demonstrations.library import pairs
from curator_web.demonstrations.library.copies import base_of
from curator_web.users import Account
from pipeline.labelling.answers import Answers
from schemas import types


def answers_of(session: Session, demonstration_ids: Collection[str],
               turns: Collection[str] | None = None) -> Sequence[Answer]:
    """All answers at demonstrations, by demonstration, question, turn and person; with `turns` only those at these
    turns (empty: of the demonstration)."""
    query = select(Answer).where(Answer.demonstration_id.in_(demonstration_ids))
    if turns is not None:
        query = query.where(Answer.turn.in_(turns))
    return session.scalars(query.order_by(Answer.demonstration_id, Answer.question, Answer.turn, Answer.who)).all()


def values_of(answers: Sequence[Answer], user_name: str) -> Answers:
    """What one person answered."""
    return {(answer.question, answer.turn): answer.value for answer in answers if answer.who == user_name}


def visible_demonstrations(session: Session, row: Demonstration, account: Account) -> list[str]:
    """The demonstrations of which somebody who may see this one sees the answers of others: none while it is
    annotated, with that of the other annotator once both of a pair have submitted. Leads see them at any time."""
    paired = pairs.pair_of(session, row.id)
    if not account.leads and (row.status in (DRAFT, RETURNED) or (paired and paired.state == pairs.ANNOTATING)):
        return []
    return [row.id] if paired is None else [paired.first.id, paired.second.id]


def visible_answers(session: Session, row: Demonstration, account: Account,
                    turns: Collection[str] | None = None) -> list[Answer]:
    """A person's own answers at a demonstration, and those of others that they may see."""
    visible = visible_demonstrations(session, row, account)
    return [answer for answer in answers_of(session, {row.id, *visible}, turns)
            if answer.demonstration_id in visible or answer.who == account.name]


def store(session: Session, row: Demonstration, question: types.Question, turn: str, value: Any, scheme: int,
          account: Account) -> None:
    """Have a person's answer be this one; None removes it. `value` is one that `checked_value` returned."""
    answer = session.get(Answer, (row.id, question["name"], turn, account.name))
    if value is None:
        if answer is not None:
            session.delete(answer)
            session.flush()
        return
    is_independent = not _is_answered_by_others(session, row, question["name"], turn, account)
    prelabel = session.get(Prelabel, (base_of(session, row.id), question["name"], turn))
    if answer is None:
        answer = Answer(demonstration_id=row.id, question=question["name"], turn=turn, who=account.name)
        session.add(answer)
    elif answer.value == value:
        return
    else:
        is_independent = is_independent and answer.independent
    answer.value, answer.scheme, answer.independent, answer.changed_at = (
        value, scheme, is_independent, datetime.now(UTC))
    answer.prelabel = prelabel.source if prelabel and prelabel.value == value else None
    session.flush()


def move_answers(session: Session, source: str, target: str, turns: Collection[str] | None) -> None:
    """Have the answers, pre-labels and known answers at these turns, or with None at all turns, be at another
    demonstration. Those of the demonstration itself stay: they are about what it was."""
    for table in (Answer, Prelabel, KnownAnswer):
        moved = update(table).where(table.demonstration_id == source, table.turn != "")
        if turns is not None:
            moved = moved.where(table.turn.in_(turns))
        session.execute(moved.values(demonstration_id=target).execution_options(synchronize_session=False))


def _is_answered_by_others(session: Session, row: Demonstration, question: str, turn: str, account: Account) -> bool:
    """Whether others answered where this person sees it now, or saw it before the demonstration was returned."""
    ids = {row.id, *visible_demonstrations(session, row, account)}
    return session.scalar(select(exists().where(
        Answer.demonstration_id.in_(ids), Answer.question == question, Answer.turn == turn,
        Answer.who != account.name))) or False
