"""A sample of demonstrations that people label as done or not, as judges are asked to, each on their own.

Nobody sees what judges or others say of one before they have labelled it themselves, or have given up labelling it;
leads neither. From when they may see it on, their label of it changes no more.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Select, and_, func, select
from sqlalchemy.orm import Session

from curator_web.db import audit
from curator_web.db.database import Database
from curator_web.db.models.core import INVALID, BaseTurns, Demonstration, Project
from curator_web.db.models.judging_models import PersonLabel, Sampled
from curator_web.demonstrations.leases import visibility
from curator_web.demonstrations.library import damage
from curator_web.errors import Conflict, ErrorText, InputError, NotFound
from curator_web.storage.recordings import RecordingStore
from curator_web.users import Account
from curator_web.users.projects import require_lead
from pipeline.judging.labels import Candidate, drawn
from pipeline.judging.trajectory import last_answer, select_turns
from schemas import limits

DRAW_LIMIT = 1000  # demonstrations at a time
SEED_LIMIT = limits.MAX_INTEGER


@dataclass(frozen=True)
class LabellingProgress:
    """How far somebody is: of what is handed out, how much they have labelled or given up, how much is left, and which
    label they may still change. `people`: for a lead, who has labelled how many."""

    drawn: int
    labelled: int
    given_up: int
    left: int
    last: str | None
    people: list[tuple[str, int]]


@dataclass(frozen=True)
class LabellingQuestion:
    """What somebody is asked about, as a judge is: `screenshots` are names, the oldest first; `done`: what they said
    before."""

    id: str
    recording: str
    task: str
    answer: str
    screenshots: list[str]
    done: bool | None


def in_project(account: Account) -> list[Any]:
    """Conditions for the whole recordings of a project; a judge's ids are those of recordings."""
    return [Demonstration.project == account.project, Demonstration.id == Demonstration.recording,
            Demonstration.status != INVALID]


def draw(db: Database, count: int, seed: int, account: Account) -> int:
    """Draw so many demonstrations more for people to label, each website with its share, by a seed; returns how many
    there were. What was drawn before stays as it is. Raises NotAllowed, InputError."""
    require_lead(account)
    if not 0 < count <= DRAW_LIMIT:
        raise InputError(ErrorText("field count: must be a number from 1 to %(most)s", most=DRAW_LIMIT))
    if abs(seed) > SEED_LIMIT:
        raise InputError(ErrorText("field %(name)s: must be a whole number of at most 15 digits", name="seed"))
    with db.writing() as session:
        session.get_one(Project, account.project, with_for_update=True)  # nobody else draws meanwhile
        before = select(Sampled.demonstration_id).where(Sampled.project == account.project)
        rows = session.execute(select(Demonstration.id, Demonstration.site).where(
            *in_project(account), Demonstration.damage.is_(None), Demonstration.task != "",
                                                                                  Demonstration.id.not_in(before)))
        chosen = drawn([Candidate(name, site, "", "") for name, site in rows], count, seed)
        last = session.scalar(select(func.max(Sampled.number)).where(Sampled.project == account.project)) or 0
        session.add_all(Sampled(project=account.project, demonstration_id=candidate.id, number=number,
                                made_by=account.name, made_at=datetime.now(UTC))
                        for number, candidate in enumerate(chosen, last + 1))
        audit.note(session, account.name, "sample drawn", project=account.project, count=len(chosen), seed=seed)
        return len(chosen)


def labelling_progress(db: Database, account: Account) -> LabellingProgress:
    """How far somebody is with labelling."""
    with db.reading() as session:
        handed_out = session.execute(_handed_out(session, account)).all()
        opened = [entry for entry in handed_out if entry.who]
        said = [entry for entry in opened if entry.done is not None]
        return LabellingProgress(len(handed_out), len(said), len(opened) - len(said), len(handed_out) - len(opened),
                                 _last(session, account),
                                 _people(session, account) if account.leads else [])


def following(db: Database, account: Account, after: str | None = None) -> str | None:
    """The id of what somebody labels next: the first that they have not, behind `after` where there is one. None where
    all is done."""
    with db.reading() as session:
        handed_out = session.execute(_handed_out(session, account)).all()
    unlabelled = [entry for entry in handed_out if not entry.who]
    current_number = next((entry.number for entry in handed_out if entry.id == after), 0)
    order = sorted(unlabelled, key=lambda entry: (entry.id == after, entry.number < current_number, entry.number))
    return order[0].id if order else None


def labelling_question(db: Database, store: RecordingStore, demonstration_id: str,
                       account: Account) -> LabellingQuestion:
    """What somebody is asked about one that they have not labelled, or labelled last: as `demotape process` wrote it.
    Raises NotFound, Conflict, Damaged."""
    with db.reading() as session:
        stored = _require_open(session, demonstration_id, account)
        base = session.get_one(BaseTurns, demonstration_id).content
    with damage.named(demonstration_id):
        names = select_turns(base["turns"], store.open(base["recording"]).manifest.get("last_state"))
    return LabellingQuestion(demonstration_id, base["recording"], base["task"], last_answer(base["turns"]),
                             names[-limits.JUDGED_SCREENSHOTS:], stored.done if stored else None)


def label(db: Database, demonstration_id: str, done: bool, account: Account) -> None:
    """Have somebody say whether a task was done, or change what they said last. Raises NotFound, Conflict."""
    with db.writing() as session:
        stored = _require_open(session, demonstration_id, account, lock=True)
        now = datetime.now(UTC)
        if stored:
            stored.done, stored.made_at = done, now
        else:
            session.add(PersonLabel(project=account.project, demonstration_id=demonstration_id, who=account.name,
                                    done=done, made_at=now))


def show(db: Database, account: Account, everything: bool) -> int:
    """Have a lead see from now on what judges and others say of all that they have labelled; with `everything` also of
    what they have not, which they give up labelling. Returns of how many that is new. Raises NotAllowed."""
    require_lead(account)
    now = datetime.now(UTC)
    with db.writing() as session:
        sampled = session.scalars(select(Sampled).where(Sampled.project == account.project)
                                  .order_by(Sampled.number).with_for_update()).all()
        own_labels = {label_row.demonstration_id: label_row for label_row in session.scalars(select(PersonLabel).where(
            PersonLabel.project == account.project, PersonLabel.who == account.name))}
        opened = [label_row for label_row in own_labels.values() if label_row.shown_at is None]
        for label_row in opened:
            label_row.shown_at = now
        unlabelled = [sampled_row.demonstration_id for sampled_row in sampled
                      if sampled_row.demonstration_id not in own_labels] if everything else []
        session.add_all(PersonLabel(project=account.project, demonstration_id=name, who=account.name, done=None,
                                    made_at=now, shown_at=now) for name in unlabelled)
        audit.note(session, account.name, "verdicts shown", project=account.project, labelled=len(opened),
                   given_up=len(unlabelled))
        return len(opened) + len(unlabelled)


def _of_demonstration(account: Account) -> Any:
    return and_(PersonLabel.demonstration_id == Demonstration.id, PersonLabel.project == account.project)


def _handed_out(session: Session, account: Account) -> Select[str, int, str, bool | None]:
    """What somebody is handed out, in order: each with its number, and what they said; `who` is None where they have
    not."""
    query = (
        select(Demonstration.id, Sampled.number, PersonLabel.who, PersonLabel.done)
        .join(Sampled, and_(Sampled.demonstration_id == Demonstration.id, Sampled.project == account.project))
        .outerjoin(PersonLabel, and_(_of_demonstration(account), PersonLabel.who == account.name))
        .where(*in_project(account), Demonstration.damage.is_(None)).order_by(Sampled.number))
    hidden = visibility.hidden_ids(session, account)
    return query if hidden is None else query.where(Demonstration.id.not_in(hidden))


def _people(session: Session, account: Account) -> list[tuple[str, int]]:
    """Who has labelled how many."""
    rows = session.execute(
        select(PersonLabel.who, func.count()).join_from(Demonstration, PersonLabel, _of_demonstration(account))
        .where(*in_project(account), PersonLabel.done.is_not(None)).group_by(PersonLabel.who).order_by(PersonLabel.who))
    return [(user_name, count) for user_name, count in rows]


def _require_open(session: Session, demonstration_id: str, account: Account, *, lock: bool = False
                  ) -> PersonLabel | None:
    """Somebody's label of one that is handed out to them, if they may still change it; None where they have not
    labelled it."""
    if lock:  # of several at once of the same person, one makes the label
        session.get(Sampled, (account.project, demonstration_id), with_for_update=True)
    if session.execute(_handed_out(session, account).where(Demonstration.id == demonstration_id)).first() is None:
        raise NotFound(ErrorText("demonstration %(id)r is not assigned for labelling", id=demonstration_id[:100]))
    stored = session.get(PersonLabel, (account.project, demonstration_id, account.name))
    if stored and stored.shown_at:
        raise Conflict(ErrorText("you can see the labels of others; your label can no longer be changed"))
    if stored and _last(session, account) != demonstration_id:
        raise Conflict(ErrorText("you labelled another recording after this one; only the last label can be changed"))
    return stored


def _last(session: Session, account: Account) -> str | None:
    """What somebody labelled last, if they may still change that."""
    newest = session.scalars(select(PersonLabel).where(
        PersonLabel.project == account.project, PersonLabel.who == account.name, PersonLabel.done.is_not(None))
        .order_by(PersonLabel.made_at.desc(), PersonLabel.demonstration_id).limit(1)).first()
    return newest.demonstration_id if newest and newest.shown_at is None else None
