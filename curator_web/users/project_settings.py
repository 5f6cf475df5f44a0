"""Settings of a project: intents, checks, review steps, training, consent of recorded people, split rule of exports.

Kept is what is not in use, so that an intent of a later version, or a check of a plug-in that is added, is in use.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from marshmallow import ValidationError, fields, validate
from sqlalchemy.orm import Session

from curator_web.db import audit
from curator_web.db.database import Database
from curator_web.db.models.core import Project
from curator_web.db.models.project_settings_models import ProjectSettings
from curator_web.errors import ErrorText, InputError
from pipeline.checks import UNUSED_INTENT, all_kinds
from pipeline.export import RuleSchema, make_rule
from schemas import BROWSER_INTENTS
from schemas.files import validated
from schemas.formats.parts import Strict
from schemas.text import storable

from .people import Account
from .projects import require_lead

ONE, TWO, THREE = REVIEW_STEPS = (1, 2, 3)
PASS_MARK = 0.8
SESSION, PERSON = CONSENT_PROMPTS = ("session", "person")  # before what consent is requested
COUNTED = ("unused_intents", "unused_checks")  # what decides which turns are to check


def _require_some_left(unused: list[str]) -> None:
    if set(unused) >= set(BROWSER_INTENTS):
        raise ValidationError("Select at least one intent.")


class SettingsSchema(Strict):
    """What is set for a project."""

    unused_intents = fields.List(fields.String(validate=validate.OneOf(BROWSER_INTENTS)), validate=_require_some_left,
                                 metadata={"description": "intents of actions that nobody chooses in this project"})
    unused_checks = fields.List(fields.String(validate=validate.Length(1, 60)), validate=validate.Length(max=200),
                                metadata={"description": "kinds of checks that do not count in this project"})
    review_steps = fields.Integer(strict=True, validate=validate.OneOf(REVIEW_STEPS), metadata={
        "description": "how many people look at each: 1, what is submitted is approved; 2, somebody else approves; "
                       "3, a second person validates and a third one approves"})
    training_first = fields.Boolean(metadata={
        "description": "whether annotators get the training demonstrations, and nothing else until they pass"})
    pass_mark = fields.Float(validate=validate.Range(0, 1), metadata={
        "description": "from which share of the known answers on training is passed"})
    consent_prompt = fields.String(validate=validate.OneOf(CONSENT_PROMPTS), metadata={
        "description": "when consent to publication and the licence are requested for a recording: session, "
                       "before each session; person, once for each named person"})
    splits = fields.Nested(RuleSchema, allow_none=True, metadata={
        "description": "the split rule of exports that name none; null: without one all is train"})


_SCHEMA = SettingsSchema()


@dataclass(frozen=True)
class Settings:
    """What is set for a project, but for its split rule, which is read where it is asked for (`split_rule`)."""

    unused_intents: frozenset[str] = frozenset()
    unused_checks: frozenset[str] = frozenset()
    review_steps: int = TWO
    training_first: bool = False
    pass_mark: float = PASS_MARK
    consent_prompt: str = SESSION

    @property
    def intents(self) -> tuple[str, ...]:
        """The intents that can be chosen."""
        return tuple(intent for intent in BROWSER_INTENTS if intent not in self.unused_intents)

    @property
    def checks(self) -> tuple[str, ...]:
        """The kinds of checks that count; that an intent is not in use is no matter where all are."""
        return tuple(kind for kind in all_kinds() if kind not in self.unused_checks
                     and (kind != UNUSED_INTENT or self.unused_intents))

    def counts_as(self, other_settings: "Settings") -> bool:
        """Whether the same turns are to check."""
        return all(getattr(self, name) == getattr(other_settings, name) for name in COUNTED)


def settings_of(session: Session, project: str) -> Settings:
    """What is set for a project."""
    row = session.get(ProjectSettings, project)
    if row is None:
        return Settings()
    content = row.content
    return Settings(frozenset(content.get("unused_intents", ())), frozenset(content.get("unused_checks", ())),
                    *(content.get(name, _USUAL[name]) for name in ("review_steps", "training_first", "pass_mark",
                                                                   "consent_prompt")))


def read(db: Database, project: str) -> Settings:
    """As `settings_of`, in a transaction of its own."""
    with db.reading() as session:
        return settings_of(session, project)


def split_rule(db: Database, project: str) -> dict[str, Any] | None:
    """The project's split rule, as a file would have it."""
    with db.reading() as session:
        row = session.get(ProjectSettings, project)
        return row.splits if row else None


def settings_fields(db: Database, project: str) -> dict[str, Any]:
    """All of it, as SettingsSchema has it."""
    now = read(db, project)
    return {"unused_intents": [intent for intent in BROWSER_INTENTS if intent in now.unused_intents],
            "unused_checks": sorted(now.unused_checks), "review_steps": now.review_steps,
            "training_first": now.training_first, "pass_mark": now.pass_mark, "consent_prompt": now.consent_prompt,
            "splits": split_rule(db, project)}


def change(session: Session, account: Account, changes: Mapping[str, Any]) -> set[str]:
    """Set what is given for the account's project, within a transaction; what is not given stays. Returns the names of
    what is another than before. Raises NotAllowed, InputError naming the field."""
    require_lead(account)
    wanted = validated(storable(dict(changes)), _SCHEMA, "settings")
    session.get_one(Project, account.project, with_for_update=True)
    row = session.get(ProjectSettings, account.project)
    if row is None:
        row = ProjectSettings(project=account.project, content={}, splits=None)
        session.add(row)
    before = row.content | {"splits": row.splits}
    for name in COUNTED:
        if name in wanted:
            wanted[name] = sorted(set(wanted[name]))
    _require_kinds(wanted.get("unused_checks", ()), before.get("unused_checks", ()))
    if wanted.get("splits"):
        make_rule(wanted["splits"], "field splits")  # complains of it now
    changed = {name for name, value in wanted.items() if value != before.get(name, _USUAL[name])}
    if not changed:
        return changed
    if "splits" in changed:
        row.splits = wanted["splits"]
    row.content = row.content | {name: wanted[name] for name in changed - {"splits"}}
    details: dict[str, Any] = {name: bool(wanted[name]) if name == "splits" else wanted[name]
                               for name in sorted(changed)}
    audit.note(session, account.name, "settings changed", None, project=account.project, **details)
    return changed


_USUAL: dict[str, Any] = {"unused_intents": [], "unused_checks": [], "review_steps": TWO, "training_first": False,
                          "pass_mark": PASS_MARK, "consent_prompt": SESSION, "splits": None}


def _require_kinds(wanted: Any, before: Any) -> None:
    """Raises InputError for a kind that no check has; of a plug-in that was removed it may stay."""
    known = {*all_kinds(), *before}
    for kind in wanted:
        if kind not in known:
            raise InputError(ErrorText("field unused_checks: unknown kind %(kind)r; choose from %(which)s",
                                       kind=kind[:60], which=", ".join(all_kinds())))
