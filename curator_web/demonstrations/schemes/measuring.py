"""Agreement on the questions of a labelling scheme: of the two annotators of each pair, before anything was settled."""

from collections import defaultdict
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from curator_web.db.database import Database
from curator_web.db.models.core import Demonstration
from curator_web.db.models.pair_models import Pair
from curator_web.db.models.scheme_models import Answer
from pipeline.evaluate.alpha import Alpha, Level, krippendorff_alpha
from pipeline.labelling.answers import checked_value
from schemas import InputError, types
from schemas.formats.scheme import SCALE, SPAN, TEXT

from .versions import current_scheme

IN_A_QUERY = 500  # demonstrations


@dataclass(frozen=True)
class QuestionAgreement:
    """How far annotators agree on a question. `level`: of measurement, by which alpha is computed; empty for texts
    and spans, which are not compared."""

    question: types.Question
    level: Level | str
    measured: Alpha


def agreement(db: Database, project: str) -> list[QuestionAgreement]:
    """The agreement on each question in force, of independent answers in pairs that both annotators have submitted."""
    with db.reading() as session:
        scheme = current_scheme(session, project).scheme
        originals = _compared(session, project)
        answers = _independent_answers(session, list(originals))
    return [_measured(question, [(originals[answer.demonstration_id], answer) for answer in answers
                                 if answer.question == question["name"]])
            for question in scheme["questions"]]


def valid_value(question: types.Question, answer: Any) -> Any:
    """An answer's value; None where it was given to an earlier version of the question that allowed other values."""
    try:
        return checked_value(question, answer)
    except InputError:
        return None


def _measured(question: types.Question, answers: list[tuple[str, Answer]]) -> QuestionAgreement:
    if question["kind"] in (TEXT, SPAN):
        return QuestionAgreement(question, "", Alpha(0))
    units: dict[str, dict[str, list[Hashable]]] = defaultdict(lambda: defaultdict(list))
    for original, answer in answers:
        value = valid_value(question, answer.value)
        if value is not None:
            units[original][answer.turn].append(tuple(value) if isinstance(value, list) else value)
    level: Level = "ordinal" if question["kind"] == SCALE else "nominal"
    groups = [list(by_turn.values()) for _, by_turn in sorted(units.items())]
    return QuestionAgreement(question, level, krippendorff_alpha(groups, level))


def _compared(session: Session, project: str) -> dict[str, str]:
    """The demonstrations of pairs that both have submitted, each with the original of its pair."""
    pairs = session.execute(
        select(Pair.original, Pair.copy).join(Demonstration, Demonstration.id == Pair.original)
        .where(Demonstration.project == project, Pair.told.is_not(None))).all()
    return {name: pair.original for pair in pairs for name in (pair.original, pair.copy)}


def _independent_answers(session: Session, ids: list[str]) -> list[Answer]:
    answers: list[Answer] = []
    for start in range(0, len(ids), IN_A_QUERY):
        answers += session.scalars(select(Answer).where(
            Answer.demonstration_id.in_(ids[start:start + IN_A_QUERY]), Answer.independent)
            .order_by(Answer.demonstration_id, Answer.question, Answer.turn, Answer.who))
    return answers
