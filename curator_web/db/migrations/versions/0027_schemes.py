"""Labelling schemes of projects, by version, and the answers of people."""

import sqlalchemy as sa
from alembic import op

revision = "0027"
down_revision = "0026"

ID = sa.String(100)
TIME = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.create_table(
        "scheme_versions", sa.Column("project", ID, nullable=False), sa.Column("number", sa.Integer, nullable=False),
        sa.Column("source", sa.Text, nullable=False), sa.Column("content", sa.JSON, nullable=False),
        sa.Column("who", ID, nullable=False), sa.Column("saved_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("project", "number", name="pk_scheme_versions"),
        sa.ForeignKeyConstraint(["project"], ["projects.id"], name="fk_scheme_versions_project_projects"))
    op.create_table(
        "answers", sa.Column("demonstration_id", ID, nullable=False),
        sa.Column("question", sa.String(40), nullable=False), sa.Column("turn", sa.Text, nullable=False),
        sa.Column("who", ID, nullable=False), sa.Column("value", sa.JSON, nullable=False),
        sa.Column("scheme", sa.Integer, nullable=False), sa.Column("independent", sa.Boolean, nullable=False),
        sa.Column("changed_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("demonstration_id", "question", "turn", "who", name="pk_answers"),
        sa.ForeignKeyConstraint(["demonstration_id"], ["demonstrations.id"],
                                name="fk_answers_demonstration_id_demonstrations"))


def downgrade() -> None:
    for table in ("answers", "scheme_versions"):
        op.drop_table(table)
