"""Filters of the list that people saved."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"

ID = sa.String(100)


def upgrade() -> None:
    op.create_table(
        "saved_filters", sa.Column("id", sa.Integer, nullable=False), sa.Column("project", ID, nullable=False),
        sa.Column("who", ID, nullable=False), sa.Column("name", sa.String(60), nullable=False),
        sa.Column("shared", sa.Boolean, nullable=False), sa.Column("content", sa.JSON, nullable=False),
        sa.Column("made_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_saved_filters"),
        sa.UniqueConstraint("project", "who", "name", name="uq_saved_filters_project_who_name"),
        sa.ForeignKeyConstraint(["project"], ["projects.id"], name="fk_saved_filters_project_projects"))


def downgrade() -> None:
    op.drop_table("saved_filters")
