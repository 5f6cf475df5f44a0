"""Judges' verdicts, kept beside people's labels and compared with them, for leads; `labelling`: who may see what."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, islice
from typing import cast

from sqlalchemy import ColumnElement, and_, func, select
from sqlalchemy.orm import Session

from curator_web.db import audit
from curator_web.db.database import Database
from curator_web.db.models.core import Demonstration, Project
from curator_web.db.models.judging_models import PersonLabel, Verdict
from curator_web.errors import ErrorText, InputError
from curator_web.users import Account
from curator_web.users.projects import require_lead
from pipeline.evaluate.reliability import Group, Reliability, kappa_interval, reliability
from pipeline.judging.figures import Figures, figures
from pipeline.judging.model_judge import Judgement
from pipeline.judging.verdicts import Verdict as Name

from . import labelling

AT_ONCE = 1000  # verdicts that are looked up at a time
SHOWN = 200  # disagreements
SAID = {True: "success", False: "failure"}


@dataclass(frozen=True)
class AcceptedVerdicts:
    """The result of taking verdicts: how many are new, how many replaced one of the same judge, and how many are of no
    recording in the project, so that they were left out."""

    new: int
    replaced: int
    strangers: int


@dataclass(frozen=True)
class Judge:
    """A judge: how many verdicts there are, and what they took in all; tokens are None where it told none."""

    judge: str
    host: str
    verdicts: int
    seconds: float
    prompt_tokens: int | None
    completion_tokens: int | None


@dataclass(frozen=True)
class Disagreement:
    """Where a judge says otherwise than most people. `done`, `not_done`: how many people say so."""

    id: str
    task: str
    judge: str
    host: str
    verdict: str
    reason: str
    done: int
    not_done: int


@dataclass(frozen=True)
class People:
    """How far people agree among themselves: each two who labelled the same demonstration; `low`, `high`: 95 % interval
    of kappa."""

    measured: Reliability
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Results:
    """Of the `open` demonstrations whose verdicts and labels who asks may see. `labels`: what most people say, by id;
    `ties`: those of which as many say one as the other, which count for nothing. `disagreeing`: how many there are,
    also those that `disagreements` is too long to have."""

    open: int
    labels: dict[str, bool]
    ties: int
    people: People | None
    figures: list[tuple[Judge, Figures]]
    disagreeing: int
    disagreements: list[Disagreement]


def store_verdicts(db: Database, judgements: Sequence[Judgement], account: Account) -> AcceptedVerdicts:
    """Keep verdicts, each instead of what the same judge said of the same recording before. Raises NotAllowed,
    InputError for two of one judge about one recording."""
    require_lead(account)
    if len({_key(judgement) for judgement in judgements}) < len(judgements):
        raise InputError(ErrorText("a judge judges the same recording twice; remove one of them"))
    new = replaced = 0
    with db.writing() as session:
        session.get_one(Project, account.project, with_for_update=True)  # nobody else takes the same ones meanwhile
        remaining = iter(judgements)
        while batch := list(islice(remaining, AT_ONCE)):
            in_project, stored = _known(session, [judgement.id for judgement in batch], account)
            for judgement in (judgement for judgement in batch if judgement.id in in_project):
                row = stored.get(_key(judgement))
                replaced, new = replaced + bool(row), new + (not row)
                _store(session, row, judgement, account.project)
        audit.note(session, account.name, "verdicts taken", project=account.project, new=new, replaced=replaced)
    return AcceptedVerdicts(new, replaced, len(judgements) - new - replaced)


def judges(db: Database, account: Account) -> list[Judge]:
    """Who judged, without what they say. Raises NotAllowed."""
    require_lead(account)
    counted = (func.count(), func.sum(Verdict.milliseconds), func.sum(Verdict.prompt_tokens),
               func.sum(Verdict.completion_tokens))
    with db.reading() as session:
        rows = session.execute(select(Verdict.judge, Verdict.host, *counted)
                               .join_from(Demonstration, Verdict, _of_demonstration(account))
                               .where(*labelling.in_project(account)).group_by(Verdict.judge, Verdict.host)
                               .order_by(Verdict.judge, Verdict.host)).all()
    return [Judge(judge, host, count, int(milliseconds) / 1000, _as_integer(prompt), _as_integer(completion))
            for judge, host, count, milliseconds, prompt, completion in rows]


def results(db: Database, account: Account) -> Results:
    """Judges compared with people, on what a lead may see of both. Raises NotAllowed."""
    require_lead(account)
    with db.reading() as session:
        own_labels = select(PersonLabel.demonstration_id).where(
            PersonLabel.project == account.project, PersonLabel.who == account.name, PersonLabel.shown_at.is_not(None))
        tasks = {name: task for name, task in session.execute(
            select(Demonstration.id, Demonstration.task).where(*labelling.in_project(account),
                                                               Demonstration.id.in_(own_labels)))}
        labels = session.scalars(select(PersonLabel).where(
            PersonLabel.project == account.project, PersonLabel.done.is_not(None),
            PersonLabel.demonstration_id.in_(own_labels)).order_by(PersonLabel.demonstration_id, PersonLabel.who)).all()
        verdicts = session.scalars(select(Verdict).where(
            Verdict.project == account.project, Verdict.demonstration_id.in_(own_labels))
            .order_by(Verdict.demonstration_id, Verdict.judge, Verdict.host)).all()
    said: dict[str, list[bool]] = defaultdict(list)
    for label in labels:
        if label.demonstration_id in tasks and label.done is not None:
            said[label.demonstration_id].append(label.done)
    counts = {name: Counter(answers) for name, answers in said.items()}
    majority = {name: counted[True] > counted[False] for name, counted in counts.items()
                if counted[True] != counted[False]}
    judgements = [_judgement(verdict_row) for verdict_row in verdicts if verdict_row.demonstration_id in tasks]
    disagreements = [Disagreement(judgement.id, tasks[judgement.id], judgement.judge, judgement.host, judgement.verdict,
                                  judgement.reason,
                                  counts[judgement.id][True], counts[judgement.id][False])
                     for judgement in judgements if judgement.id in majority
                     and judgement.verdict != SAID[majority[judgement.id]]]
    measured = [(judge, _figures(judge, judgements, majority)) for judge in judges(db, account)]
    return Results(len(tasks), majority, len(said) - len(majority), _people(said.values()), measured,
                   len(disagreements), disagreements[:SHOWN])


def _figures(judge: Judge, judgements: Iterable[Judgement], labels: Mapping[str, bool]) -> Figures:
    return figures(judge.judge, [judgement for judgement in judgements if judgement.host == judge.host], labels)


def _people(said: Iterable[Sequence[bool]]) -> People | None:
    """What each two said of the same one, who is first by name in the first place; None where nobody did."""
    table: Group = [(SAID[first], SAID[second], count) for (first, second), count in sorted(
        Counter(pair for answers in said for pair in combinations(answers, 2)).items())]
    return People(reliability([table]), *kappa_interval(table)) if table else None


def _of_demonstration(account: Account) -> ColumnElement[bool]:
    return and_(Verdict.demonstration_id == Demonstration.id, Verdict.project == account.project)


def _known(session: Session, ids: list[str], account: Account) -> tuple[set[str], dict[tuple[str, str, str], Verdict]]:
    """Which of these recordings are in the project, and what is kept of them."""
    in_project = session.scalars(select(Demonstration.id).where(
        Demonstration.project == account.project, Demonstration.id == Demonstration.recording,
        Demonstration.id.in_(ids)))
    stored = session.scalars(select(Verdict).where(Verdict.project == account.project,
                                                   Verdict.demonstration_id.in_(ids)))
    return set(in_project), {(verdict_row.demonstration_id, verdict_row.judge, verdict_row.host): verdict_row
                             for verdict_row in stored}


def _key(judgement: Judgement) -> tuple[str, str, str]:
    return judgement.id, judgement.judge, judgement.host


def _store(session: Session, row: Verdict | None, judgement: Judgement, project: str) -> None:
    if row is None:
        row = Verdict(project=project, demonstration_id=judgement.id, judge=judgement.judge, host=judgement.host)
        session.add(row)
    row.verdict, row.reason, row.milliseconds = judgement.verdict, judgement.reason, round(judgement.seconds * 1000)
    row.prompt_tokens, row.completion_tokens = judgement.prompt_tokens, judgement.completion_tokens


def _judgement(row: Verdict) -> Judgement:
    return Judgement(row.demonstration_id, row.judge, row.host, cast(Name, row.verdict), row.reason,
                     row.milliseconds / 1000, row.prompt_tokens, row.completion_tokens, "")


def _as_integer(total: int | None) -> int | None:
    """A sum of PostgreSQL's is a decimal number."""
    return None if total is None else int(total)
