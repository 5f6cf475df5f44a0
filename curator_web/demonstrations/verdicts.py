"""Judges' verdicts, kept beside people's labels and held against them, for leads; `judging` says who may see what."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, islice
from typing import cast

from sqlalchemy import ColumnElement, and_, func, select
from sqlalchemy.orm import Session

from curator_web.db import audit
from curator_web.db.database import Database
from curator_web.db.judging_models import PersonLabel, Verdict
from curator_web.db.models import Demonstration, Project
from curator_web.errors import ErrorText, InputError
from curator_web.users import Account
from curator_web.users.projects import expect_lead
from pipeline.evaluate.reliability import Group, Reliability, kappa_interval, reliability
from pipeline.judging.figures import Figures, figures
from pipeline.judging.model_judge import Judgement
from pipeline.judging.verdicts import Verdict as Name

from . import judging

AT_ONCE = 1000  # verdicts that are looked up at a time
SHOWN = 200  # disagreements
SAID = {True: "success", False: "failure"}


@dataclass(frozen=True)
class Taken:
    """What came of taking verdicts: how many are new, how many replaced one of the same judge, and how many are of no
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


def take(db: Database, given: Sequence[Judgement], account: Account) -> Taken:
    """Keep verdicts, each instead of what the same judge said of the same recording before. Raises NotAllowed,
    InputError for two of one judge about one recording."""
    expect_lead(account)
    if len({_key(each) for each in given}) < len(given):
        raise InputError(ErrorText("a judge judges the same recording twice; leave one of them out"))
    new = replaced = 0
    with db.writing() as session:
        session.get_one(Project, account.project, with_for_update=True)  # nobody else takes the same ones meanwhile
        left = iter(given)
        while some := list(islice(left, AT_ONCE)):
            here, held = _known(session, [each.id for each in some], account)
            for each in (each for each in some if each.id in here):
                row = held.get(_key(each))
                replaced, new = replaced + bool(row), new + (not row)
                _keep(session, row, each, account.project)
        audit.note(session, account.name, "verdicts taken", project=account.project, new=new, replaced=replaced)
    return Taken(new, replaced, len(given) - new - replaced)


def judges(db: Database, account: Account) -> list[Judge]:
    """Who judged, without what they say. Raises NotAllowed."""
    expect_lead(account)
    counted = (func.count(), func.sum(Verdict.milliseconds), func.sum(Verdict.prompt_tokens),
               func.sum(Verdict.completion_tokens))
    with db.reading() as session:
        rows = session.execute(select(Verdict.judge, Verdict.host, *counted)
                               .join_from(Demonstration, Verdict, _of_demonstration(account))
                               .where(*judging.there(account)).group_by(Verdict.judge, Verdict.host)
                               .order_by(Verdict.judge, Verdict.host)).all()
    return [Judge(judge, host, count, int(milliseconds) / 1000, _whole(prompt), _whole(completion))
            for judge, host, count, milliseconds, prompt, completion in rows]


def results(db: Database, account: Account) -> Results:
    """Judges held against people, on what a lead may see of both. Raises NotAllowed."""
    expect_lead(account)
    with db.reading() as session:
        mine = select(PersonLabel.demonstration_id).where(
            PersonLabel.project == account.project, PersonLabel.who == account.name, PersonLabel.shown_at.is_not(None))
        tasks = {name: task for name, task in session.execute(
            select(Demonstration.id, Demonstration.task).where(*judging.there(account), Demonstration.id.in_(mine)))}
        labels = session.scalars(select(PersonLabel).where(
            PersonLabel.project == account.project, PersonLabel.done.is_not(None),
            PersonLabel.demonstration_id.in_(mine)).order_by(PersonLabel.demonstration_id, PersonLabel.who)).all()
        verdicts = session.scalars(select(Verdict).where(
            Verdict.project == account.project, Verdict.demonstration_id.in_(mine))
            .order_by(Verdict.demonstration_id, Verdict.judge, Verdict.host)).all()
    said: dict[str, list[bool]] = defaultdict(list)
    for each in labels:
        if each.demonstration_id in tasks and each.done is not None:
            said[each.demonstration_id].append(each.done)
    counts = {name: Counter(each) for name, each in said.items()}
    most = {name: each[True] > each[False] for name, each in counts.items() if each[True] != each[False]}
    found = [_judgement(each) for each in verdicts if each.demonstration_id in tasks]
    apart = [Disagreement(each.id, tasks[each.id], each.judge, each.host, each.verdict, each.reason,
                          counts[each.id][True], counts[each.id][False])
             for each in found if each.id in most and each.verdict != SAID[most[each.id]]]
    measured = [(judge, _figures(judge, found, most)) for judge in judges(db, account)]
    return Results(len(tasks), most, len(said) - len(most), _people(said.values()), measured, len(apart), apart[:SHOWN])


def _figures(judge: Judge, found: Iterable[Judgement], labels: Mapping[str, bool]) -> Figures:
    return figures(judge.judge, [each for each in found if each.host == judge.host], labels)


def _people(said: Iterable[Sequence[bool]]) -> People | None:
    """What each two said of the same one, who is first by name in the first place; None where nobody did."""
    table: Group = [(SAID[first], SAID[second], count) for (first, second), count in sorted(
        Counter(pair for each in said for pair in combinations(each, 2)).items())]
    return People(reliability([table]), *kappa_interval(table)) if table else None


def _of_demonstration(account: Account) -> ColumnElement[bool]:
    return and_(Verdict.demonstration_id == Demonstration.id, Verdict.project == account.project)


def _known(session: Session, ids: list[str], account: Account) -> tuple[set[str], dict[tuple[str, str, str], Verdict]]:
    """Which of these recordings are in the project, and what is kept of them."""
    here = session.scalars(select(Demonstration.id).where(
        Demonstration.project == account.project, Demonstration.id == Demonstration.recording,
        Demonstration.id.in_(ids)))
    held = session.scalars(select(Verdict).where(Verdict.project == account.project,
                                                 Verdict.demonstration_id.in_(ids)))
    return set(here), {(each.demonstration_id, each.judge, each.host): each for each in held}


def _key(each: Judgement) -> tuple[str, str, str]:
    return each.id, each.judge, each.host


def _keep(session: Session, row: Verdict | None, each: Judgement, project: str) -> None:
    if row is None:
        row = Verdict(project=project, demonstration_id=each.id, judge=each.judge, host=each.host)
        session.add(row)
    row.verdict, row.reason, row.milliseconds = each.verdict, each.reason, round(each.seconds * 1000)
    row.prompt_tokens, row.completion_tokens = each.prompt_tokens, each.completion_tokens


def _judgement(row: Verdict) -> Judgement:
    return Judgement(row.demonstration_id, row.judge, row.host, cast(Name, row.verdict), row.reason,
                     row.milliseconds / 1000, row.prompt_tokens, row.completion_tokens, "")


def _whole(total: int | None) -> int | None:
    """A sum of PostgreSQL's is a decimal number."""
    return None if total is None else int(total)
