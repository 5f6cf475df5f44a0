"""Known answers: a lead's answers about demonstrations in the usual work, with which those of annotators are compared.

Annotators meet such a demonstration as any other; only leads see that its answers are known.
"""

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import UTC, datetime

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from curator_web.db import audit
from curator_web.db.database import Database
from curator_web.db.models.core import Demonstration
from curator_web.db.models.scheme_models import Answer, KnownAnswer
from curator_web.demonstrations.library import copies, library
from curator_web.errors import ErrorText, InputError, NotFound
from curator_web.users import Account
from curator_web.users.projects import require_lead

from .answers import answers_of


@dataclass
class Score:
    """How many of a person's answers were compared with known ones, and how many are equal."""

    compared: int = 0
    equal: int = 0

    @property
    def share(self) -> float | None:
        """The share of equal answers; None without any."""
        return self.equal / self.compared if self.compared else None


@dataclass
class AnnotatorReport:
    """The answers of one person to what is known, in all and by question."""

    who: str
    total: Score = field(default_factory=Score)
    by_question: dict[str, Score] = field(default_factory=lambda: defaultdict(Score))

    @property
    def scores(self) -> list[tuple[str, Score]]:
        """The score in all (with an empty name), then those of the questions, by name."""
        return [("", self.total), *sorted(self.by_question.items())]


def make_known(db: Database, demonstration_id: str, account: Account) -> int:
    """Have a lead's own answers about a demonstration be its known ones, instead of earlier ones; they are no answers
    any more, so that nobody sees them. Returns how many there are. Raises NotAllowed, NotFound, InputError for none."""
    require_lead(account)
    with db.writing() as session:
        row = _row_in_project(session, demonstration_id, account)
        own = [answer for answer in answers_of(session, [row.id]) if answer.who == account.name]
        if not own:
            raise InputError(ErrorText("answer questions about this demonstration first; your answers become the "
                                       "known ones"))
        _forget(session, row.id)
        for answer in own:
            session.add(KnownAnswer(demonstration_id=row.id, question=answer.question, turn=answer.turn,
                                    value=answer.value, who=account.name, saved_at=datetime.now(UTC)))
            session.delete(answer)
        audit.note(session, account.name, "answers known", row.id, count=len(own))
        return len(own)


def forget_known(db: Database, demonstration_id: str, account: Account) -> None:
    """Have a demonstration no known answers. Raises NotAllowed, NotFound."""
    require_lead(account)
    with db.writing() as session:
        row = _row_in_project(session, demonstration_id, account)
        _forget(session, row.id)
        audit.note(session, account.name, "answers known", row.id, count=0)


def count_known(session: Session, demonstration_id: str) -> int:
    """How many answers of a demonstration are known."""
    return session.scalar(select(func.count()).where(KnownAnswer.demonstration_id == demonstration_id)) or 0


def report(db: Database, project: str) -> list[AnnotatorReport]:
    """How often each person answered as is known, by name; of independent answers, also at copies for second
    annotators and training."""
    with db.reading() as session:
        known = {(row.demonstration_id, row.question, row.turn): row.value for row in session.scalars(
            select(KnownAnswer).join(Demonstration, Demonstration.id == KnownAnswer.demonstration_id)
            .where(Demonstration.project == project))}
        originals = sorted({name for name, _, _ in known})
        answers = [answer for original in originals for answer in session.scalars(select(Answer).where(
            Answer.demonstration_id.in_(copies.with_copy(session, original)), Answer.independent))]
        bases = {answer.demonstration_id: copies.base_of(session, answer.demonstration_id) for answer in answers}
    reports: dict[str, AnnotatorReport] = {}
    for answer in answers:
        key = (bases[answer.demonstration_id], answer.question, answer.turn)
        if key in known:
            person = reports.setdefault(answer.who, AnnotatorReport(answer.who))
            for score in (person.total, person.by_question[answer.question]):
                score.compared += 1
                score.equal += answer.value == known[key]
    return [reports[name] for name in sorted(reports)]


def _row_in_project(session: Session, demonstration_id: str, account: Account) -> Demonstration:
    """The demonstration's row; raises NotFound, also for one of another project."""
    row = library.row_of(session, demonstration_id, lock=True)
    if row.project != account.project:
        raise NotFound(ErrorText("unknown demonstration %(demonstration_id)r", demonstration_id=demonstration_id))
    return row


def _forget(session: Session, demonstration_id: str) -> None:
    session.execute(delete(KnownAnswer).where(KnownAnswer.demonstration_id == demonstration_id))
