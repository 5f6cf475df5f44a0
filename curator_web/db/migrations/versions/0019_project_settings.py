"""What leads set for a project, and its export presets."""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"

ID = sa.String(100)


def upgrade() -> None:
    op.create_table(
        "project_settings", sa.Column("project", ID, nullable=False), sa.Column("content", sa.JSON, nullable=False),
        sa.Column("splits", sa.JSON),
        sa.PrimaryKeyConstraint("project", name="pk_project_settings"),
        sa.ForeignKeyConstraint(["project"], ["projects.id"], name="fk_project_settings_project_projects"))
    op.create_table(
        "export_presets", sa.Column("id", sa.Integer, nullable=False), sa.Column("project", ID, nullable=False),
        sa.Column("name", sa.String(60), nullable=False), sa.Column("content", sa.JSON, nullable=False),
        sa.Column("changed_by", ID, nullable=False),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_export_presets"),
        sa.ForeignKeyConstraint(["project"], ["projects.id"], name="fk_export_presets_project_projects"),
        sa.UniqueConstraint("project", "name", name="uq_export_presets_project_name"))


def downgrade() -> None:
    op.drop_table("export_presets")
    op.drop_table("project_settings")
