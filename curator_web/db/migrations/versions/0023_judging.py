"""Samples that people label without seeing what judges said of them, their labels, and what judges said."""

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"

ID = sa.String(100)
TIME = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.create_table(
        "judging_sample", sa.Column("project", ID, nullable=False), sa.Column("demonstration_id", ID, nullable=False),
        sa.Column("number", sa.Integer, nullable=False), sa.Column("made_by", ID, nullable=False),
        sa.Column("made_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("project", "demonstration_id", name="pk_judging_sample"),
        *_references("judging_sample"))
    op.create_table(
        "judging_labels", sa.Column("project", ID, nullable=False), sa.Column("demonstration_id", ID, nullable=False),
        sa.Column("who", ID, nullable=False), sa.Column("done", sa.Boolean), sa.Column("made_at", TIME, nullable=False),
        sa.Column("shown_at", TIME),
        sa.PrimaryKeyConstraint("project", "demonstration_id", "who", name="pk_judging_labels"),
        sa.ForeignKeyConstraint(["project", "demonstration_id"],
                                ["judging_sample.project", "judging_sample.demonstration_id"],
                                name="fk_judging_labels_project_judging_sample"))
    op.create_table(
        "judging_verdicts", sa.Column("project", ID, nullable=False),
        sa.Column("demonstration_id", ID, nullable=False), sa.Column("judge", sa.String(100), nullable=False),
        sa.Column("host", sa.String(300), nullable=False), sa.Column("verdict", sa.String(20), nullable=False),
        sa.Column("reason", sa.Text, nullable=False), sa.Column("milliseconds", sa.BigInteger, nullable=False),
        sa.Column("prompt_tokens", sa.BigInteger), sa.Column("completion_tokens", sa.BigInteger),
        sa.PrimaryKeyConstraint("project", "demonstration_id", "judge", "host", name="pk_judging_verdicts"),
        *_references("judging_verdicts"))
    for table in ("judging_sample", "judging_verdicts"):
        op.create_index(f"ix_{table}_demonstration_id", table, ["demonstration_id"])


def downgrade() -> None:
    for table in ("judging_verdicts", "judging_labels", "judging_sample"):
        op.drop_table(table)


def _references(table: str) -> list[sa.ForeignKeyConstraint]:
    return [sa.ForeignKeyConstraint(["project"], ["projects.id"], name=f"fk_{table}_project_projects"),
            sa.ForeignKeyConstraint(["demonstration_id"], ["demonstrations.id"],
                                    name=f"fk_{table}_demonstration_id_demonstrations")]
