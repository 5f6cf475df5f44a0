"""The demonstrations of an export: which of a project are selected, and what an export reads of them."""

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import select

from curator_web.db.database import Database
from curator_web.db.models.core import INVALID, MAIN, STATUSES, Demonstration
from curator_web.demonstrations.schemes.exported import answers_for_export
from curator_web.demonstrations.schemes.versions import read_current
from curator_web.errors import Damaged, ErrorText
from curator_web.storage.names_key import names_key
from curator_web.storage.recordings import RecordingStore
from pipeline.export import ANY, LeftOut, ListedFacts, Selection, Source, order_key
from pipeline.export.selection import UNDECIDED
from schemas import InputError
from schemas.actors import UNKNOWN_ACTOR

from . import damage, labels, review_states, validation_cache
from .library import review

EVERYTHING = Selection()
NOTED_TOGETHER = 200  # demonstrations that an export has validated


def exportable(db: Database, store: RecordingStore, selection: Selection = EVERYTHING,
               damaged: list[LeftOut] | None = None, not_selected: Counter[str] | None = None,
               project: str = MAIN) -> Iterator[Source]:
    """A project's demonstrations as they are now, each with its recording and what became of it in review, in the order
    that exports have them in (`pipeline.export.place`).

    Of the selection, only what the list contains is compared: status, review, proof, actor, outcome, user and day; what
    is left out is counted in `not_selected`. Without a status: all but those marked invalid. What cannot be read is
    noted in `damaged` and left out; without it, it raises Damaged. Raises InputError for a status that does not exist.
    """
    if selection.status and selection.status not in STATUSES:
        raise InputError(ErrorText("status: unknown status %(status)r; choose from %(which)s", status=selection.status,
                                   which=", ".join((*STATUSES, ANY))))
    key, definitions, sound = names_key(db, store), labels.definitions(db, project), dict[str, str]()
    questions = tuple(read_current(db, project).scheme["questions"])
    for demonstration_id in selected(db, selection, Counter() if not_selected is None else not_selected, project):
        try:
            with db.in_one_session() as now:
                exported = review(now, demonstration_id)
                state = review_states.review_state(now, exported.row, key)
            with damage.named(demonstration_id):
                recording = store.open(exported.row.recording)
            current = labels.without_texts(exported.checked(sound), definitions)
            with db.reading() as session:
                people = answers_for_export(session, exported.row, current["turns"], key)
            if people:
                current = {**current, "answers": people}
            current.pop("outcome", None)  # no export has it, so none is made again where only it has changed
        except Damaged as error:
            if damaged is None:
                raise
            damaged.append(LeftOut(demonstration_id, store.without_paths(error.reason)))
        else:
            yield Source(current, recording, review=state, recorded=exported.base, questions=questions)
        if len(sound) >= NOTED_TOGETHER:
            validation_cache.note(db, sound)
            sound.clear()
    validation_cache.note(db, sound)


def selected(db: Database, selection: Selection, not_selected: Counter[str], project: str = MAIN) -> list[str]:
    """Ids of what is selected of a project by what the list contains; the others are counted by reason."""
    columns = (Demonstration.id, Demonstration.status, Demonstration.reviewed_by, Demonstration.recorded_by,
               Demonstration.recorded_at, Demonstration.proof, Demonstration.actor, Demonstration.outcome)
    ids = []
    with db.reading() as session:
        for row in session.execute(select(*columns).where(Demonstration.project == project)
                                   .order_by(Demonstration.id)):
            if reason := refusal_reason(selection, row):
                not_selected[reason] += 1
            else:
                ids.append(row.id)
    return sorted(ids, key=order_key)


def refusal_reason(selection: Selection, row: Any) -> str:
    """Why a row of the list's table is not selected; empty if it is. Without a status, invalid ones are not."""
    recorded_at: datetime = row.recorded_at
    facts = ListedFacts(row.status, review_states.validated(row.status, row.reviewed_by), row.recorded_by,
                        recorded_at.date(), row.proof or "", row.actor, row.outcome or UNDECIDED)
    if reason := selection.refuses(facts):
        return reason
    return f"demonstration: its status is {INVALID}" if row.status == INVALID != selection.status else ""


def properties(db: Database, project: str) -> Mapping[str, Mapping[str, str]]:
    """Status, actor and outcome of each demonstration of a project, by id, as a manifest counts them."""
    columns = (Demonstration.id, Demonstration.status, Demonstration.actor, Demonstration.outcome)
    with db.reading() as session:
        return {row.id: {"status": row.status, "actor": row.actor or UNKNOWN_ACTOR,
                         "outcome": row.outcome or UNDECIDED}
                for row in session.execute(select(*columns).where(Demonstration.project == project))}
