"""The tables. Only portable types, so that SQLite and PostgreSQL hold the same."""

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, BigInteger, Double, ForeignKey, Index, MetaData, String, Text, UniqueConstraint, false
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from curator_web.db.columns import BY_BYTES, ID_LENGTH, Stored, UtcTime
from schemas import types

DRAFT, SUBMITTED, RETURNED, VALIDATED, APPROVED, INVALID = STATUSES = (
    "draft", "submitted", "returned", "validated", "approved", "invalid")
ANNOTATOR, VALIDATOR, LEAD = ROLES = ("annotator", "validator", "lead")
RECEIVING, PROCESSING, IMPORTED, FAILED = UPLOAD_STATES = ("receiving", "processing", "imported", "failed")
COMMENT, QUESTION = COMMENT_KINDS = ("comment", "question")
ACTIVE, DISABLED, REMOVED = ("active", "disabled", "removed")  # what a user is
BROWSER_LENGTH = 200
ISSUER_LENGTH = 200
SUBJECT_LENGTH = 255  # OpenID Connect Core 1.0, section 2: at most
KEY_LENGTH = 80
PROJECT_NAME_LENGTH = 80
MAIN = "main"  # the project that every database has from the start
COPIES = "copies:"  # before the project's id in what second annotators work on: no list, queue, figure or export has it

ORDERS = ("imported_at", "changed_at", "recorded_at", "turns", "dropped", "edited", "checks")


class Base(DeclarativeBase):
    """Constraints have names, so that later migrations can change them."""

    metadata = MetaData(naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
        "uq": "uq_%(table_name)s_%(column_0_name)s",
    })
    type_annotation_map = {datetime: UtcTime, float: Double, dict[str, Any]: JSON, list[Any]: JSON}


class Project(Base):
    """One data set in the making: its members, its guidelines, and what its lead set for it."""

    __tablename__ = "projects"

    id: Mapped[str] = mapped_column(String(ID_LENGTH), primary_key=True)
    name: Mapped[str] = mapped_column(String(PROJECT_NAME_LENGTH))
    goal: Mapped[int | None]
    labels: Mapped[list[Any]] = mapped_column(default=list)
    answers_shown: Mapped[bool] = mapped_column(default=False, server_default=false())
    double_share: Mapped[int] = mapped_column(default=0, server_default="0")  # percent; see `pair_models`
    made_at: Mapped[datetime]


class Member(Base):
    """Who is in a project, and as what. `trained_by`: themselves, who passed its training, or the lead who let them
    through; see `training_models`."""

    __tablename__ = "members"

    project: Mapped[str] = mapped_column(ForeignKey("projects.id"), primary_key=True)
    who: Mapped[str] = mapped_column(ForeignKey("users.name"), primary_key=True, index=True)
    role: Mapped[str] = mapped_column(String(20))
    joined_at: Mapped[datetime]
    trained_by: Mapped[str | None] = mapped_column(String(ID_LENGTH))


class Guidelines(Base):
    """A version of a project's guidelines, numbered from 1. Rows are added, never changed."""

    __tablename__ = "guidelines"

    project: Mapped[str] = mapped_column(ForeignKey("projects.id"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    text: Mapped[str] = mapped_column(Text)
    who: Mapped[str] = mapped_column(String(ID_LENGTH))
    made_at: Mapped[datetime]


class Demonstration(Base):
    """One demonstration. The counts are of the current turns, kept here so that lists need not fold edits.

    `damage`: why it could not be shown or exported when that was last tried, None otherwise. `sound`: what it
    was when it was last found valid (`demonstrations.validation_cache`). `proof`: the result of running it again
    (`demonstrations.replay_proofs`), None where nobody has. `actor`: who acted, by its recording (`schemas.actors`),
    None until that is read. `outcome`: the last result of outcome checks on it
    (`demonstrations.library.outcome_results`), None if there is none, or the checks or the end of the session were
    changed since.
    Every order that the list of a project can have is an index that ends with the id, with and without the status
    before it.
    """

    __tablename__ = "demonstrations"
    __table_args__ = (
        *(Index(f"ix_demonstrations_project_{name}_id", "project", name, "id") for name in ORDERS),
        *(Index(f"ix_demonstrations_project_status_{name}_id", "project", "status", name, "id") for name in ORDERS),
        Index("ix_demonstrations_project_site_imported_at_id", "project", "site", "imported_at", "id"),
        Index("ix_demonstrations_queue", "project", "assigned_to", "status", "imported_at", "id"),
    )

    id: Mapped[str] = mapped_column(String(ID_LENGTH), primary_key=True)
    project: Mapped[str] = mapped_column(String(ID_LENGTH), default=MAIN, server_default=MAIN)
    recording: Mapped[str] = mapped_column(String(ID_LENGTH), index=True)
    task: Mapped[str] = mapped_column(Text)
    site: Mapped[str] = mapped_column(String(255))
    status: Mapped[str] = mapped_column(String(20))
    version: Mapped[int]
    turns: Mapped[int]
    dropped: Mapped[int]
    edited: Mapped[int]
    checks: Mapped[int]
    recorded_at: Mapped[datetime]
    imported_at: Mapped[datetime]
    changed_at: Mapped[datetime]
    recorded_by: Mapped[str | None] = mapped_column(String(ID_LENGTH), index=True)
    assigned_to: Mapped[str | None] = mapped_column(String(ID_LENGTH))
    lease_who: Mapped[str | None] = mapped_column(String(ID_LENGTH), index=True)
    lease_until: Mapped[datetime | None]
    submitted_by: Mapped[str | None] = mapped_column(String(ID_LENGTH))
    reviewed_by: Mapped[str | None] = mapped_column(String(ID_LENGTH))
    work_seconds: Mapped[int] = mapped_column(default=0, server_default="0")
    touched_by: Mapped[str | None] = mapped_column(String(ID_LENGTH))
    touched_at: Mapped[datetime | None]
    open_comments: Mapped[int] = mapped_column(default=0, server_default="0")
    damage: Mapped[str | None] = mapped_column(Text)
    sound: Mapped[str | None] = mapped_column(String(64))
    proof: Mapped[str | None] = mapped_column(String(20))
    actor: Mapped[str | None] = mapped_column(String(20))
    outcome: Mapped[str | None] = mapped_column(String(20))
    cover: Mapped[dict[str, Any] | None]  # the picture that lists show (`demonstrations.library.covers`)
    task_id: Mapped[str | None] = mapped_column(String(ID_LENGTH), index=True)  # of the table of tasks

    @property
    def home(self) -> str:
        return self.project.removeprefix(COPIES)


class RecordingOwner(Base):
    """Whose a recording's id is; claimed before its files are stored, so that no two people's are mixed.

    `sent_as` is the id that the owner's package has; `who` is None for what was imported on the server.
    """

    __tablename__ = "recording_owners"
    __table_args__ = (UniqueConstraint("sent_as", "who", name="uq_recording_owners_sent_as_who"),)

    recording: Mapped[str] = mapped_column(String(ID_LENGTH), primary_key=True)
    sent_as: Mapped[str] = mapped_column(String(ID_LENGTH))
    who: Mapped[str | None] = mapped_column(String(ID_LENGTH))


class Facet(Base):
    """Something that a demonstration can be found or counted by; see `curator_web.demonstrations.library.facets`."""

    __tablename__ = "facets"
    __table_args__ = (Index("ix_facets_demonstration_id_facet_value", "demonstration_id", "facet", "value"),)

    facet: Mapped[str] = mapped_column(String(20), primary_key=True)
    value: Mapped[str] = mapped_column(BY_BYTES, primary_key=True)
    demonstration_id: Mapped[str] = mapped_column(ForeignKey("demonstrations.id"), primary_key=True)
    count: Mapped[int]


class DemonstrationText(Base):
    """What a search goes through of one demonstration; see `curator_web.demonstrations.library.search_index`.

    `text`: of its task, site and id; `words`: those and the different words of its turns; `turn_texts`: [turn, text] of
    each turn that has one, from which the list shows those that fit.
    """

    __tablename__ = "demonstration_texts"

    number: Mapped[int] = mapped_column(primary_key=True)
    demonstration_id: Mapped[str] = mapped_column(ForeignKey("demonstrations.id"), unique=True)
    text: Mapped[str] = mapped_column(Text)
    words: Mapped[str] = mapped_column(Text, default="", server_default="")
    turn_texts: Mapped[list[Any]] = mapped_column(default=list, server_default="[]")


class BaseTurns(Base):
    """The demonstration as the pipeline made it; apart from the list's table, because it is large."""

    __tablename__ = "base_turns"

    demonstration_id: Mapped[str] = mapped_column(ForeignKey("demonstrations.id"), primary_key=True)
    content: Mapped[types.Demonstration] = mapped_column(Stored("demonstration"))


class Edit(Base):
    """One edit, numbered from 1 in its demonstration. Rows are added, never changed.

    `key` is the sender's own name for the edit, so that sending it again makes no second one; `version` is the
    demonstration's after it.
    """

    __tablename__ = "edits"
    __table_args__ = (UniqueConstraint("demonstration_id", "key", name="uq_edits_demonstration_id_key"),
                      Index("ix_edits_made_at", "made_at"))

    demonstration_id: Mapped[str] = mapped_column(ForeignKey("demonstrations.id"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    content: Mapped[types.Edit] = mapped_column(Stored("edit"))
    who: Mapped[str] = mapped_column(String(ID_LENGTH))
    made_at: Mapped[datetime]
    key: Mapped[str | None] = mapped_column(String(KEY_LENGTH))
    version: Mapped[int | None]


class StatusChange(Base):
    """One change of status, numbered from 1 in its demonstration. Rows are added, never changed."""

    __tablename__ = "status_changes"
    __table_args__ = (Index("ix_status_changes_made_at", "made_at"),)

    demonstration_id: Mapped[str] = mapped_column(ForeignKey("demonstrations.id"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    status: Mapped[str] = mapped_column(String(20))
    reason: Mapped[str] = mapped_column(Text)
    who: Mapped[str] = mapped_column(String(ID_LENGTH))
    made_at: Mapped[datetime]
    edits: Mapped[int | None]  # how many edits the demonstration had then


class Comment(Base):
    """What somebody says about a demonstration or one of its turns; a question is for who recorded it.

    Answers name what they answer and are never open themselves.
    """

    __tablename__ = "comments"

    id: Mapped[int] = mapped_column(primary_key=True)
    demonstration_id: Mapped[str] = mapped_column(ForeignKey("demonstrations.id"), index=True)
    turn: Mapped[str | None] = mapped_column(Text)
    kind: Mapped[str] = mapped_column(String(20))
    text: Mapped[str] = mapped_column(Text)
    who: Mapped[str] = mapped_column(String(ID_LENGTH))
    made_at: Mapped[datetime]
    answers: Mapped[int | None] = mapped_column(ForeignKey("comments.id"))
    resolved_by: Mapped[str | None] = mapped_column(String(ID_LENGTH))
    resolved_at: Mapped[datetime | None]


class SecondReview(Base):
    """A second person's decision on what a first one handed in; `unchanged`: they left all as it was."""

    __tablename__ = "second_reviews"

    demonstration_id: Mapped[str] = mapped_column(ForeignKey("demonstrations.id"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)  # of the status change
    first: Mapped[str] = mapped_column(String(ID_LENGTH))
    second: Mapped[str] = mapped_column(String(ID_LENGTH))
    made_at: Mapped[datetime] = mapped_column(index=True)
    unchanged: Mapped[bool]


class AuditLine(Base):
    """One step that somebody took. Rows are added, never changed."""

    __tablename__ = "audit"

    id: Mapped[int] = mapped_column(primary_key=True)
    made_at: Mapped[datetime] = mapped_column(index=True)
    who: Mapped[str] = mapped_column(String(ID_LENGTH))
    what: Mapped[str] = mapped_column(String(40))
    demonstration_id: Mapped[str | None] = mapped_column(String(ID_LENGTH), index=True)
    details: Mapped[dict[str, Any]]


class Setting(Base):
    """What all processes share, by name."""

    __tablename__ = "settings"

    name: Mapped[str] = mapped_column(String(ID_LENGTH), primary_key=True)
    value: Mapped[dict[str, Any]]


class SignInAttempts(Base):
    """How often a sign-in was tried since a time, for a name or from an address, of which `key` is a keyed digest."""

    __tablename__ = "sign_in_tries"

    key: Mapped[str] = mapped_column(String(64), primary_key=True)
    count: Mapped[int]
    since: Mapped[datetime] = mapped_column(index=True)


class User(Base):
    """Somebody who may sign in: with a password in the browser, with tokens elsewhere.

    `role`: a lead manages accounts and makes projects; what somebody may do in a project is told by `Member`.
    Of the password its salted scrypt hash is kept; without one, only tokens work. A user who was removed stays as a
    name, so that what was done under it is nobody else's.
    """

    __tablename__ = "users"

    name: Mapped[str] = mapped_column(String(ID_LENGTH), primary_key=True)
    role: Mapped[str] = mapped_column(String(20))
    made_at: Mapped[datetime]
    password_hash: Mapped[str | None] = mapped_column(String(255))
    state: Mapped[str] = mapped_column(String(20), default=ACTIVE, server_default=ACTIVE)


class Token(Base):
    """What a program signs in with; only its SHA-256 is kept."""

    __tablename__ = "tokens"
    __table_args__ = (UniqueConstraint("who", "name", name="uq_tokens_who_name"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    who: Mapped[str] = mapped_column(ForeignKey("users.name"))
    name: Mapped[str] = mapped_column(String(ID_LENGTH))
    sha256: Mapped[str] = mapped_column(String(64), unique=True)
    scopes: Mapped[list[Any]]
    made_at: Mapped[datetime]
    used_at: Mapped[datetime | None]
    expires_at: Mapped[datetime | None]


class WebSession(Base):
    """A browser in which somebody is signed in; of the id in its cookie only the SHA-256 is kept."""

    __tablename__ = "web_sessions"

    id_sha256: Mapped[str] = mapped_column(String(64), primary_key=True)
    who: Mapped[str] = mapped_column(ForeignKey("users.name"), index=True)
    browser: Mapped[str] = mapped_column(String(BROWSER_LENGTH))
    made_at: Mapped[datetime]
    used_at: Mapped[datetime]
    expires_at: Mapped[datetime] = mapped_column(index=True)


class SecondFactor(Base):
    """The second factor of a user: its secret, sealed, and digests of the recovery codes that are left.

    `last_step`: the period of the newest code that was taken; only codes of later ones count.
    """

    __tablename__ = "second_factors"

    who: Mapped[str] = mapped_column(ForeignKey("users.name"), primary_key=True)
    secret: Mapped[str] = mapped_column(Text)
    last_step: Mapped[int] = mapped_column(BigInteger)
    recovery: Mapped[list[Any]]
    made_at: Mapped[datetime]


class Identity(Base):
    """Who a user is at an OpenID provider."""

    __tablename__ = "identities"

    issuer: Mapped[str] = mapped_column(String(ISSUER_LENGTH), primary_key=True)
    subject: Mapped[str] = mapped_column(String(SUBJECT_LENGTH), primary_key=True)
    who: Mapped[str] = mapped_column(ForeignKey("users.name"), index=True)
    made_at: Mapped[datetime]


class Upload(Base):
    """A package on its way in. Its bytes lie in the store; `digests` are its chunks' SHA-256 in order.

    Once they are all there, `job` imports it and says what becomes of it; `error` and `demonstration` are of uploads
    from before there were jobs. `name` is what the sender calls it, each user for themselves.
    """

    __tablename__ = "uploads"
    __table_args__ = (UniqueConstraint("who", "name", name="uq_uploads_who_name"),)

    id: Mapped[str] = mapped_column(String(ID_LENGTH), primary_key=True)
    who: Mapped[str] = mapped_column(ForeignKey("users.name"), index=True)
    name: Mapped[str] = mapped_column(String(ID_LENGTH))
    size: Mapped[int] = mapped_column(BigInteger)
    chunk_size: Mapped[int]
    digests: Mapped[list[Any]]
    project: Mapped[str] = mapped_column(String(ID_LENGTH), default=MAIN, server_default=MAIN)
    state: Mapped[str] = mapped_column(String(20))
    error: Mapped[str | None] = mapped_column(Text)
    demonstration: Mapped[str | None] = mapped_column(String(ID_LENGTH))
    begun_at: Mapped[datetime]
    touched_at: Mapped[datetime] = mapped_column(index=True)
    job: Mapped[int | None] = mapped_column(ForeignKey("jobs.id"))


class UploadedChunk(Base):
    """A chunk of an upload that is on disk and was verified, numbered from 0."""

    __tablename__ = "uploaded_chunks"

    upload_id: Mapped[str] = mapped_column(ForeignKey("uploads.id"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
