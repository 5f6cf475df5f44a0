"""Export presets: options of exports that a lead keeps under a name; and what an export is then asked for."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from curator_web.db import audit
from curator_web.db.database import Database
from curator_web.db.models.core import Project
from curator_web.db.models.project_settings_models import PRESET_NAME_LENGTH, ExportPreset
from curator_web.errors import ErrorText, InputError, NotFound
from curator_web.users import Account, project_settings
from curator_web.users.projects import require_lead
from schemas.files import validated
from schemas.text import storable

from .export_request import ExportRequestSchema, narrowed, rule, with_defaults

MAX_PRESETS = 100  # of a project
LENGTH = 200_000  # characters of a preset's options as JSON; all of them are read where presets are listed
_SCHEMA = ExportRequestSchema()


@dataclass(frozen=True)
class Preset:
    """A preset as it is shown. `problem`: what of it is not valid any more, and what to do."""

    row: ExportPreset
    problem: str

    def __getattr__(self, name: str) -> Any:
        return getattr(self.row, name)

    @property
    def options(self) -> dict[str, Any]:
        return self.row.content

    @property
    def narrowed(self) -> list[str]:
        """By what besides status and default actors it leaves something out."""
        return narrowed(self.row.content)


def presets(db: Database, account: Account) -> list[Preset]:
    """Those of the account's project, by name. Raises NotAllowed."""
    require_lead(account)
    with db.reading() as session:
        rows = session.scalars(select(ExportPreset).where(ExportPreset.project == account.project)
                               .order_by(ExportPreset.name, ExportPreset.id)).all()
    return [Preset(row, _problem(row)) for row in rows]


def get(db: Database, account: Account, preset_id: int) -> Preset:
    """One of them. Raises NotAllowed, NotFound."""
    require_lead(account)
    with db.reading() as session:
        row = _row(session, account, preset_id)
    return Preset(row, _problem(row))


def save(db: Database, account: Account, name: str, options: Mapping[str, Any]) -> Preset:
    """Keep options under a name; a preset that has it already is changed. Raises NotAllowed, InputError."""
    require_lead(account)
    name, content = _name(name), _content(options)
    with db.writing() as session:
        session.get_one(Project, account.project, with_for_update=True)
        row = _named(session, account.project, name)
        if row is None:
            if len(session.scalars(select(ExportPreset.id).where(
                    ExportPreset.project == account.project)).all()) >= MAX_PRESETS:
                raise InputError(ErrorText("at most %(most)s presets are allowed; delete one first", most=MAX_PRESETS))
            row = ExportPreset(project=account.project, name=name)
            session.add(row)
        _change(row, account, content)
        session.flush()
        audit.note(session, account.name, "preset saved", project=account.project, preset=row.id)
        return Preset(row, "")


def change(db: Database, account: Account, preset_id: int, name: str | None = None,
           options: Mapping[str, Any] | None = None) -> Preset:
    """Give a preset another name or other options. Raises NotAllowed, NotFound, InputError for a name that is taken."""
    require_lead(account)
    content = None if options is None else _content(options)
    with db.writing() as session:
        session.get_one(Project, account.project, with_for_update=True)
        row = _row(session, account, preset_id)
        if name is not None:
            name = _name(name)
            namesake = _named(session, account.project, name)
            if namesake and namesake.id != row.id:
                raise InputError(ErrorText("field name: the preset %(name)r already exists", name=name))
            row.name = name
        _change(row, account, row.content if content is None else content)
        audit.note(session, account.name, "preset changed", project=account.project, preset=row.id)
    return Preset(row, _problem(row))


def remove(db: Database, account: Account, preset_id: int) -> None:
    """Forget a preset. Raises NotAllowed, NotFound."""
    require_lead(account)
    with db.writing() as session:
        row = _row(session, account, preset_id)
        session.delete(row)
        audit.note(session, account.name, "preset removed", project=account.project, preset=preset_id)


def export_arguments(db: Database, project: str, options: Mapping[str, Any], where: str = "export") -> dict[str, Any]:
    """Arguments of an export job of a project: the options, which override those of the preset that they may name
    (`preset`), with the project's split rule if there is none among them. Raises InputError for invalid ones; its
    message begins with `where`, the place that the options come from."""
    requested = {name: value for name, value in options.items() if name != "preset"}
    if options.get("preset"):
        requested = options_of(db, project, options["preset"]) | requested
    request = with_defaults(db, validated(requested, _SCHEMA, where))
    if "splits" not in request:
        request["splits"] = project_settings.split_rule(db, project)
    rule(request)  # raises InputError for an invalid rule now, not when the job runs
    return _SCHEMA.dump(request)


def options_of(db: Database, project: str, name: str) -> dict[str, Any]:
    """The options of a project's preset. Raises InputError where there is none of that name, or it is not valid."""
    with db.reading() as session:
        row = _named(session, project, storable(name))
        if row is None:
            known = session.scalars(select(ExportPreset.name).where(ExportPreset.project == project)
                                    .order_by(ExportPreset.name)).all()
            shown = name[:PRESET_NAME_LENGTH]
            raise InputError(
                ErrorText("field preset: unknown preset %(name)r; choose from %(which)s", name=shown,
                          which=", ".join(known)) if known
                else ErrorText("field preset: unknown preset %(name)r; this project has no presets",
                               name=shown))
    if problem := _problem(row):
        raise InputError(problem)
    return row.content


def _problem(row: ExportPreset) -> str:
    try:
        rule(validated(row.content, _SCHEMA, f"preset {row.name!r}"))
    except InputError as error:
        said = str(error).rstrip(".")
        return (f"{said}; it was valid when the preset was saved: choose another value and save the preset again, or "
                "delete it")
    return ""


def _content(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options as they are kept. Raises InputError naming the field."""
    request = validated(storable(dict(options)), _SCHEMA, "preset")
    rule(request)
    content: dict[str, Any] = _SCHEMA.dump(request)
    if len(json.dumps(content)) > LENGTH:
        raise InputError(ErrorText("preset: its options have more than %(length)s characters; set a large split rule "
                                   "in the project's Settings", length=format(LENGTH, ",")))
    return content


def _change(row: ExportPreset, account: Account, content: dict[str, Any]) -> None:
    row.content, row.changed_by, row.changed_at = content, account.name, datetime.now(UTC)


def _name(name: str) -> str:
    name = " ".join(storable(name).split())
    if not 0 < len(name) <= PRESET_NAME_LENGTH:
        raise InputError(ErrorText("field name: 1 to %(preset_name_length)s characters",
                                   preset_name_length=PRESET_NAME_LENGTH))
    return name


def _named(session: Session, project: str, name: str) -> ExportPreset | None:
    return session.scalars(select(ExportPreset).where(
        ExportPreset.project == project, ExportPreset.name == name)).first()


def _row(session: Session, account: Account, preset_id: int) -> ExportPreset:
    row = session.get(ExportPreset, preset_id)
    if row is None or row.project != account.project:
        raise NotFound(ErrorText("unknown preset %(preset_id)s", preset_id=preset_id))
    return row
