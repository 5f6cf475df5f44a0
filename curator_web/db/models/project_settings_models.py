"""The tables of what leads set for a project, and of its export presets."""

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from curator_web.db.columns import ID_LENGTH

from .core import Base

PRESET_NAME_LENGTH = 60


class ProjectSettings(Base):
    """What the leads of a project set for it; a project without a row has what is usual.

    `content`: fields of `users.project_settings.SettingsSchema` but `splits`, the split rule, which may be large and is
    read only where it is asked for.
    """

    __tablename__ = "project_settings"

    project: Mapped[str] = mapped_column(ForeignKey("projects.id"), primary_key=True)
    content: Mapped[dict[str, Any]]
    splits: Mapped[dict[str, Any] | None] = mapped_column(deferred=True)


class ExportPreset(Base):
    """Options of exports under a name. `content`: as `POST /api/exports` takes them; what is absent is as usual."""

    __tablename__ = "export_presets"
    __table_args__ = (UniqueConstraint("project", "name", name="uq_export_presets_project_name"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    project: Mapped[str] = mapped_column(ForeignKey("projects.id"))
    name: Mapped[str] = mapped_column(String(PRESET_NAME_LENGTH))
    content: Mapped[dict[str, Any]]
    changed_by: Mapped[str] = mapped_column(String(ID_LENGTH))
    changed_at: Mapped[datetime]
