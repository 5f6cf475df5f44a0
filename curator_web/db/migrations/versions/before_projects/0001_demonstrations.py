"""Demonstrations, their base turns, edits and changes of status."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

ID = sa.String(100)
DEMONSTRATION = ("demonstration_id", "demonstrations.id")


def upgrade() -> None:
    op.create_table(
        "demonstrations",
        sa.Column("id", ID, nullable=False),
        sa.Column("recording", ID, nullable=False),
        sa.Column("task", sa.Text, nullable=False),
        sa.Column("site", sa.String(255), nullable=False),
        sa.Column("status", sa.String(20), nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("turns", sa.Integer, nullable=False),
        sa.Column("dropped", sa.Integer, nullable=False),
        sa.Column("edited", sa.Integer, nullable=False),
        sa.Column("checks", sa.Integer, nullable=False),
        sa.Column("recorded_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("imported_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_demonstrations"),
    )
    for columns in (("recording",), ("site",), ("imported_at",), ("status", "imported_at")):
        op.create_index(f"ix_demonstrations_{'_'.join(columns)}", "demonstrations", columns)
    op.create_table(
        "base_turns",
        sa.Column("demonstration_id", ID, nullable=False),
        sa.Column("content", sa.JSON, nullable=False),
        sa.PrimaryKeyConstraint("demonstration_id", name="pk_base_turns"),
        _of_demonstration("base_turns"),
    )
    op.create_table(
        "edits",
        sa.Column("demonstration_id", ID, nullable=False),
        sa.Column("number", sa.Integer, nullable=False, autoincrement=False),
        sa.Column("content", sa.JSON, nullable=False),
        sa.Column("who", ID, nullable=False),
        sa.Column("made_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("demonstration_id", "number", name="pk_edits"),
        _of_demonstration("edits"),
    )
    op.create_table(
        "status_changes",
        sa.Column("demonstration_id", ID, nullable=False),
        sa.Column("number", sa.Integer, nullable=False, autoincrement=False),
        sa.Column("status", sa.String(20), nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("who", ID, nullable=False),
        sa.Column("made_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("demonstration_id", "number", name="pk_status_changes"),
        _of_demonstration("status_changes"),
    )


def downgrade() -> None:
    for table in ("status_changes", "edits", "base_turns", "demonstrations"):
        op.drop_table(table)


def _of_demonstration(table: str) -> sa.ForeignKeyConstraint:
    column, target = DEMONSTRATION
    return sa.ForeignKeyConstraint([column], [target], name=f"fk_{table}_{column}_demonstrations")
