"""Training as leads configure it: demonstrations, repetitions, exemptions, and progress of annotators."""

from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from curator_web.db import audit
from curator_web.db.database import Database
from curator_web.db.models.core import ACTIVE, ANNOTATOR, Demonstration, Member, Project, User
from curator_web.db.models.training_models import Training, TrainingAttempt
from curator_web.demonstrations.leases import leases, training_attempts
from curator_web.demonstrations.leases.training_attempts import SETTLED, TrainingProgress
from curator_web.demonstrations.library import library
from curator_web.demonstrations.measuring.agreement import AgreementRow, rows_of
from curator_web.errors import ErrorText, InputError, NotFound
from curator_web.users import Account, project_settings
from curator_web.users.projects import require_lead

from . import split_links

AGAIN, LET_PASS = DECISIONS = ("again", "through")
PASSED, LET_THROUGH, BELOW, TO_DO, NOTHING = STATES = ("passed", "let-through", "below", "to-do", "nothing")
ALONE = ErrorText("field ids: training requires accounts; create them first (demotape user add)")
DONE = ErrorText("You have finished the training. A lead must review it before you get more work.")


@dataclass(frozen=True)
class Trainee:
    """An annotator, how far they are, and how far what they answered is like the known answers (`rows`)."""

    who: str
    standing: TrainingProgress
    trained_by: str | None
    rows: list[AgreementRow]

    @property
    def state(self) -> str:
        """One of STATES. BELOW: everything is done, and less of it is right than the pass mark requires."""
        if self.trained_by:
            return PASSED if self.trained_by == self.who else LET_THROUGH
        if not self.standing.due:
            return NOTHING
        if self.standing.left:
            return TO_DO
        return PASSED if self.standing.passed else BELOW


@dataclass(frozen=True)
class Overview:
    """The training of a project. `demonstrations`: those marked; none for who does not lead it."""

    first: bool
    mark: float
    demonstrations: list[Demonstration]
    people: list[Trainee]


def choose(db: Database, ids: list[str], account: Account) -> int:
    """Have these demonstrations be training, all or none; returns of how many that is new. Raises NotAllowed, NotFound,
    InputError for one that is not settled or no whole recording."""
    require_lead(account)
    if account.alone:
        raise InputError(ALONE)
    with db.writing() as session:
        made = 0
        for row in leases.chosen(session, ids, account):
            if session.get(Training, row.id):
                continue
            if row.status not in SETTLED:
                raise InputError(ErrorText("demonstration %(id)s is %(status)s; training requires validated or "
                                           "approved demonstrations", id=row.id, status=row.status))
            if split_links.is_part(row.id, library.load(session, row.id).edits):
                raise InputError(ErrorText("demonstration %(id)s was split; training requires whole recordings",
                                           id=row.id))
            session.add(Training(demonstration_id=row.id, made_by=account.name, made_at=datetime.now(UTC)))
            audit.note(session, account.name, "training chosen", row.id)
            made += 1
        return made


def take_out(db: Database, ids: list[str], account: Account) -> int:
    """Have these demonstrations be no training any more; returns how many were. What was answered is kept. Raises
    NotAllowed, NotFound."""
    require_lead(account)
    with db.writing() as session:
        in_training = [row.id for row in leases.chosen(session, ids, account) if session.get(Training, row.id)]
        training_attempts.take_out(session, in_training)
        for name in in_training:
            audit.note(session, account.name, "training ended", name)
        return len(in_training)


def decide(db: Database, user_name: str, decision: str, account: Account) -> None:
    """Give an annotator the training again, so that their answers count no more, or let them through. Raises
    NotAllowed, NotFound for who is no annotator of the account's project, InputError."""
    require_lead(account)
    if decision not in DECISIONS:
        raise InputError(ErrorText("field decision: unknown decision %(decision)r; choose from "
                                   "%(which)s", decision=decision[:40],
                                   which=", ".join(DECISIONS)))
    with db.writing() as session:
        member = session.get(Member, (account.project, user_name), with_for_update=True)
        if member is None or member.role != ANNOTATOR:
            raise NotFound(ErrorText("unknown annotator %(who)r in this project", who=user_name[:80]))
        now = training_attempts.training_progress(session, account.project, user_name)
        answers = {answer.original: [answer.agreed, answer.points] for answer in now.answers}
        audit.note(session, account.name, f"training {decision}", project=account.project, of=user_name,
                   answers=answers)
        unfinished = [] if decision == AGAIN else [TrainingAttempt.submitted_at.is_(None)]
        in_project = select(Demonstration.id).where(Demonstration.project == account.project)
        training_attempts.end(session, TrainingAttempt.who == user_name, TrainingAttempt.original.in_(in_project),
                              *unfinished)
        member.trained_by = account.name if decision == LET_PASS else None


def overview(db: Database, account: Account) -> Overview:
    """The training of the account's project: a lead's has all annotators, others' themselves."""
    with db.reading() as session:
        settings = project_settings.settings_of(session, account.project)
        members = select(Member).join(User, User.name == Member.who).where(
            Member.project == account.project, Member.role == ANNOTATOR, User.state == ACTIVE)
        if not account.leads:
            members = members.where(Member.who == account.name)
        marked = select(Demonstration).join(Training, Training.demonstration_id == Demonstration.id).where(
            Demonstration.project == account.project).order_by(Training.made_at, Demonstration.id)
        labels = session.get_one(Project, account.project).labels
        people = [_trainee(session, member, labels) for member in session.scalars(members.order_by(Member.who))]
        return Overview(settings.training_first, settings.pass_mark,
                        list(session.scalars(marked)) if account.leads else [], people)


def is_training(db: Database, demonstration_id: str) -> bool:
    """Whether a demonstration is marked as training."""
    with db.reading() as session:
        return session.get(Training, demonstration_id) is not None


def waits(db: Database, account: Account) -> bool:
    """Whether somebody has done all of their training, and gets no more until a lead has looked at it."""
    with db.writing() as session:
        now = training_attempts.comes_first(session, account)
        return now is not None and not now.left


def _trainee(session: Session, member: Member, labels: list[dict]) -> Trainee:
    now = training_attempts.training_progress(session, member.project, member.who)
    observations = [(answer.original, answer.told or {}) for answer in now.answers]
    return Trainee(member.who, now, member.trained_by, rows_of(observations, labels))
