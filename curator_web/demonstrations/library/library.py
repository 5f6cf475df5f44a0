"""The demonstrations that the review app holds: importing, listing and reading them. Also the Python API."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from curator_web.db import audit
from curator_web.db.database import Database
from curator_web.db.models.core import (
    DRAFT,
    ID_LENGTH,
    MAIN,
    BaseTurns,
    Comment,
    Demonstration,
    Edit,
    StatusChange,
)
from curator_web.db.models.deletion_models import NOWHERE
from curator_web.db.models.scheme_models import Answer
from curator_web.errors import Damaged, ErrorText, NotFound
from curator_web.storage.recordings import ID, RecordingStore
from curator_web.tasks import assignment
from curator_web.users import BY_COMMAND, project_settings
from curator_web.users.project_settings import Settings
from pipeline import proofs
from pipeline.turns.edits import apply_edits, labels_after, outcome_after, standing, task_after, turns_of_others
from pipeline.turns.video_placement import alignment_after
from recorder.reader import Recording
from schemas import DemonstrationSchema, InputError, types
from schemas.actors import actor_of
from schemas.files import read_json, validated
from schemas.formats.outcome import OutcomeSchema
from schemas.text import storable
from schemas.types.outcome import Outcome

from . import (
    copies,
    damage,
    facets,
    outcome_results,
    owners,
    project_rules,
    replay_proofs,
    search_index,
    validation_cache,
)
from .summary import of_base, site
from .turn_texts import texts_of

_OUTCOME = OutcomeSchema()
SCHEMA = DemonstrationSchema()  # to be made takes longer than to read many a demonstration


@dataclass(frozen=True)
class Imported:
    """The outcome of an import: `new`; `known`: unchanged; `renewed`: processed again and not edited, so the new turns
    count; `kept`: processed again, but the edits and their turns stay. `sent_as`: the id that it was sent under, where
    another user's recording has that id."""

    id: str
    outcome: Literal["new", "known", "renewed", "kept"]
    sent_as: str | None = None


@dataclass(frozen=True)
class Review:
    """One demonstration as a reviewer works on it: with the checks that are in use in its project, by `settings`."""

    row: Demonstration
    base: types.Demonstration
    edits: list[types.Edit]
    cached: BaseTurns | None = None  # lets a session find the turns again without reading them again
    folded: list[types.Turn] | None = None  # the turns after the edits, where they are known already
    settings: Settings = Settings()
    derived: dict[str, tuple[object, Any]] = field(default_factory=dict, compare=False, repr=False)

    def derive(self, name: str, compute: Callable[[], Any], of: object = None) -> Any:
        """What follows from the turns, or from `of`, computed once for all requests that share a cached review."""
        source = self.turns if of is None else of
        known, value = self.derived.get(name, (None, None))
        if known is not source:
            value = compute()
            self.derived[name] = source, value
        return value

    @cached_property
    def turns(self) -> list[types.Turn]:
        """The turns after the edits; raises Damaged when they cannot be had."""
        if self.folded is not None:
            return self.folded
        with damage.named(self.row.id):
            return project_rules.marked(apply_edits(self.base["turns"], self.edits), self.settings, self.edits)

    @cached_property
    def elsewhere(self) -> tuple[list[types.Turn], list[types.Turn]]:
        """The turns of the recording that are other demonstrations' since a split: those before, and those behind."""
        with damage.named(self.row.id):
            return turns_of_others(self.base["turns"], self.edits)

    @property
    def recorded(self) -> list[types.Turn]:
        """The turns as the pipeline made them, without those that are other demonstrations'."""
        away = {turn["id"] for part in self.elsewhere for turn in part}
        return [turn for turn in self.base["turns"] if turn["id"] not in away]

    @property
    def state_after(self) -> types.TurnState | None:
        """The state that the last turn led to, where the demonstration was split behind it."""
        behind = (turn["state"] for turn in self.elsewhere[1] if turn["type"] == "browser")
        return next((state for state in behind if state), None)

    @property
    def part(self) -> tuple[float, float]:
        """From when to when the session is this demonstration's, in seconds of the recording: to the state that its
        last turn led to. Without bounds where it was not split."""
        before, behind = self.elsewhere
        if not before and not behind:
            return -math.inf, math.inf
        own = [turn["timestamp"] for turn in self.recorded if turn["type"] == "browser" and turn["state"]]
        after = [turn["timestamp"] for turn in behind if turn["type"] == "browser" and turn["state"]]
        return min(own, default=-math.inf) if before else -math.inf, min(after, default=math.inf)

    @property
    def task(self) -> str:
        """What the navigator was asked to do, after the edits."""
        return task_after(self.base["task"], self.edits)

    @property
    def labels(self) -> dict[str, list[str]]:
        """What is said of the demonstration itself, after the edits."""
        return labels_after(self.base.get("labels", {}), self.edits)

    @property
    def outcome(self) -> Outcome | None:
        """What makes the task done, after the edits; None where nothing says it."""
        return outcome_after(self.base.get("outcome"), self.edits)

    @property
    def alignment(self) -> types.Alignment | None:
        """How the external video lies on the recording's clock, after the edits; None without one."""
        return alignment_after(self.base.get("alignment"), (edit for _, edit in standing(self.edits)))

    def with_edits(self, edits: list[types.Edit]) -> "Review":
        """The same with another log of edits."""
        return replace(self, edits=edits, folded=None)

    def current(self) -> types.Demonstration:
        """The demonstration with its edits folded in; raises Damaged."""
        current: types.Demonstration = {**self.base, "task": self.task, "turns": self.turns}
        if alignment := self.alignment:
            current["alignment"] = alignment
        if said := self.labels:
            current["labels"] = said
        current.pop("outcome", None)
        if checks := self.outcome:
            current["outcome"] = checks
        return current

    def checked(self, digests: dict[str, str] | None = None) -> types.Demonstration:
        """The same, when all in it is as it may be today; raises Damaged.

        `digests`: receives its digest (`validation_cache`) if it was not validated yet.
        """
        current = self.current()
        with damage.named(self.row.id):
            digest = validation_cache.digest(current)
            if digest != self.row.sound:
                validated(current, SCHEMA, "its turns")
                if digests is not None:
                    digests[self.row.id] = digest
        return current


def import_recording(db: Database, store: RecordingStore, path: Path | str, recorded_by: str | None = None,
                     project: str | None = None) -> Imported:
    """Take a processed recording into a project of the app; importing it again is safe and loses no edits.

    `recorded_by`: the user who recorded it, whose it is then and who can be asked; None on the server's command line.
    `project`: None for the one that it is in already, else for the first.

    Raises InputError when the folder is not a recording, is still being recorded, was not processed yet, when another
    recording of the same id is there, when that id is another user's, or when it is in another project.
    """
    recording = Recording(path)
    demonstration = _read(recording)
    proof = proofs.read(recording.layout.root, demonstration)
    actor = actor_of(recording.manifest.get("provenance", {}))
    if owners.claim(db, recording.id, recorded_by) != recording.id:
        raise InputError(f"{path}: the id {recording.id} is used by another user's recording")
    if store.holds(recording.id):
        stored = store.open(recording.id).manifest
        if stored["started_at"] != recording.manifest["started_at"]:
            raise InputError(f"{path}: another recording with the id {recording.id} is already imported")
    store.add(recording)
    with db.writing() as session:
        row = session.get(Demonstration, demonstration["id"], with_for_update=True)
        if row and row.recording != recording.id:
            raise InputError(f"{path}: the demonstration {row.id} belongs to another recording")
        if row and row.project == NOWHERE:
            raise InputError(f"{path}: this demonstration was deleted; a lead can restore it on the page Deleted")
        if row and project not in (None, row.project):
            raise InputError(f"{path}: this recording belongs to another project")
        outcome = _renew(session, row, demonstration) if row else "new"
        if not row:
            row = _insert(session, demonstration, recording.manifest["started_at"], project or MAIN)
            copies.make_if_chosen(session, row, demonstration)
        row.damage = None  # what was missing came along
        row.actor = actor
        row.outcome = None if outcome == "renewed" else row.outcome
        if proof:
            replay_proofs.store_proof(session, row, load(session, row.id).turns, proof, None)
        owner = owners.adopt(session, recording.id, recorded_by)
        if recorded_by and not row.recorded_by:
            row.recorded_by = recorded_by
            facets.add_person(session, row.id, recorded_by)
        assignment.link_recording(session, row, recording.manifest.get("provenance"), recorded_by)
        audit.note(session, recorded_by or BY_COMMAND, f"import {outcome}", row.id, owner=owner.who,
                   sent_as=owner.sent_as)
    if outcome in ("new", "renewed") and "outcome" in demonstration:
        outcome_results.evaluate_own(db, recording, demonstration)
    return Imported(demonstration["id"], outcome)


def review(db: Database, demonstration_id: str) -> Review:
    """One demonstration with its base turns and edits; raises NotFound, Damaged."""
    with db.reading() as session:
        return load(session, demonstration_id)


def current(db: Database, demonstration_id: str) -> types.Demonstration:
    """One demonstration with its edits folded in; raises NotFound, Damaged."""
    return review(db, demonstration_id).checked()


def listed(db: Database, demonstration_id: str, project: str | None = None) -> Demonstration:
    """What the list has of one demonstration; raises NotFound, also for one of another project where one is named."""
    with db.reading() as session:
        row = row_of(session, demonstration_id)
    if project not in (None, row.project):
        raise _not_found(demonstration_id)
    return row


def load(session: Session, demonstration_id: str, *, lock: bool = False, known: Review | None = None) -> Review:
    """As `review`, inside a transaction; `lock` keeps others from changing it meanwhile.

    `known`: what was read of it before. It serves again unless something was changed since, as every change of turns or
    edits gives a demonstration a new version.
    """
    row = row_of(session, demonstration_id, lock=lock)
    settings = project_settings.settings_of(session, row.home)
    if known and known.row.id == row.id and known.row.version == row.version and known.settings == settings:
        return replace(known, row=row, cached=None, folded=known.turns)
    with damage.named(row.id):
        edits = session.scalars(select(Edit.content).where(Edit.demonstration_id == row.id).order_by(Edit.number)).all()
        base = session.get_one(BaseTurns, copies.base_of(session, row.id))
        content = base.content if base.demonstration_id == row.id else base.content | {"id": row.id}
        if not settings.counts_as(Settings()):
            content = content | {"turns": project_rules.marked(content["turns"], settings)}
    return Review(row, content, list(edits), base, settings=settings)


def row_of(session: Session, demonstration_id: str, *, lock: bool = False) -> Demonstration:
    """The demonstration's row, inside a transaction; raises NotFound."""
    row = session.get(Demonstration, storable(demonstration_id), with_for_update=lock)
    if row is None:
        raise _not_found(demonstration_id)
    return row


def _not_found(demonstration_id: str) -> NotFound:
    return NotFound(ErrorText("unknown demonstration %(demonstration_id)r",
                              demonstration_id=demonstration_id[:ID_LENGTH]))


def _read(recording: Recording) -> types.Demonstration:
    """The recording's demonstration with the outcome checks beside it, checked."""
    path = recording.layout.demonstration
    if recording.manifest["status"] == "recording":
        raise InputError(f"{recording.layout.root}: the recording is not finished; stop it first")
    if not path.is_file():
        raise InputError(f"{recording.layout.root}: not processed yet; "
                         f"run: demotape process {recording.layout.root}")
    demonstration = read_json(path, SCHEMA)
    if recording.layout.outcome.exists():
        demonstration["outcome"] = read_json(recording.layout.outcome, _OUTCOME)
    demonstration = storable(demonstration)
    if not ID.fullmatch(demonstration["id"]):
        raise InputError(f"{path}: field id: must have at most 100 letters, digits, - and _")
    if demonstration["recording"] != recording.id:
        raise InputError(f"{path}: field recording: {demonstration['recording']!r} instead of {recording.id!r}")
    visited: set[str] = set()
    for number, turn in enumerate(demonstration["turns"]):
        if turn["id"] in visited:
            raise InputError(f"{path}: field turns.{number}.id: {turn['id']!r} occurs twice")
        visited.add(turn["id"])
    return demonstration


def _insert(session: Session, demonstration: types.Demonstration, recorded_at: datetime, project: str
            ) -> Demonstration:
    now, shown = datetime.now(UTC), project_rules.demonstration_in(session, project, demonstration)
    row = Demonstration(
        id=demonstration["id"], project=project, recording=demonstration["recording"], status=DRAFT, version=1,
        recorded_at=recorded_at, imported_at=now, changed_at=now, sound=validation_cache.digest(shown),
        **of_base(shown))
    session.add(row)
    session.flush()  # the base turns refer to the row
    session.add(BaseTurns(demonstration_id=demonstration["id"], content=demonstration))
    _refresh(session, shown)
    return row


def _renew(session: Session, row: Demonstration,
           demonstration: types.Demonstration) -> Literal["known", "renewed", "kept"]:
    """Take over what was processed again, unless people worked on what is there."""
    if (stored := _sound_base(session, row.id)) == demonstration:
        return "known"
    both = copies.with_copy(session, row.id)
    worked = any(session.scalars(select(kind.demonstration_id).where(kind.demonstration_id.in_(both)).limit(1)).first()
                 for kind in (Edit, StatusChange, Comment, Answer))  # some name turns, which may have other ids now
    if stored is not None and worked:
        return "kept"
    session.execute(delete(BaseTurns).where(BaseTurns.demonstration_id == row.id))
    session.add(BaseTurns(demonstration_id=row.id, content=demonstration))
    shown = project_rules.demonstration_in(session, row.home, demonstration)
    for demonstration_row in (session.get_one(Demonstration, name) for name in both):
        demonstration_row.version += 1
        demonstration_row.changed_at = datetime.now(UTC)
        for name, value in of_base(shown).items():
            setattr(demonstration_row, name, value)
        replay_proofs.update_proof_state(session, demonstration_row, shown["turns"])
    _refresh(session, shown)
    return "renewed"


def _sound_base(session: Session, demonstration_id: str) -> types.Demonstration | None:
    """The turns as the pipeline made them; None when they are damaged."""
    content = select(BaseTurns.content).where(BaseTurns.demonstration_id == demonstration_id)
    try:
        with damage.named(demonstration_id):
            return validated(session.scalars(content).one(), SCHEMA, "its turns")
    except Damaged:
        return None


def _refresh(session: Session, demonstration: types.Demonstration) -> None:
    turns = demonstration["turns"]
    search_index.store_text(session, demonstration["id"], site(turns), demonstration["task"], texts_of(turns))
    wanted = facets.of_turns(turns, turns, []) | facets.of_labels(demonstration.get("labels", {}), turns)
    facets.refresh(session, demonstration["id"], wanted, facets.TURN_KINDS)
    facets.refresh(session, demonstration["id"], facets.of_waiting(demonstration), [facets.WAITING])
