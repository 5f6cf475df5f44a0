"""Demonstrations that two people annotate, and the share of them that a project wants."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"

ID = sa.String(100)
TIME = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.add_column("projects", sa.Column("double_share", sa.Integer, nullable=False, server_default="0"))
    op.create_table(
        "pairs", sa.Column("original", ID, nullable=False), sa.Column("copy", ID, nullable=False),
        sa.Column("made_by", ID, nullable=False), sa.Column("made_at", TIME, nullable=False),
        sa.Column("told", sa.JSON), sa.Column("outcome", sa.String(20)), sa.Column("ended_by", ID),
        sa.Column("ended_at", TIME),
        sa.PrimaryKeyConstraint("original", name="pk_pairs"), sa.UniqueConstraint("copy", name="uq_pairs_copy"),
        sa.ForeignKeyConstraint(["original"], ["demonstrations.id"], name="fk_pairs_original_demonstrations"),
        sa.ForeignKeyConstraint(["copy"], ["demonstrations.id"], name="fk_pairs_copy_demonstrations"))


def downgrade() -> None:
    op.drop_table("pairs")
    # A copy has no base turns, without which no earlier version opens it: it goes, with what was done in it.
    for table in ("facets", "demonstration_texts", "edits", "status_changes", "second_reviews"):
        op.execute(f"DELETE FROM {table} WHERE demonstration_id LIKE '%~2'")
    op.execute("DELETE FROM comments WHERE demonstration_id LIKE '%~2' AND answers IS NOT NULL")
    op.execute("DELETE FROM comments WHERE demonstration_id LIKE '%~2'")
    op.execute("DELETE FROM demonstrations WHERE id LIKE '%~2'")
    op.drop_column("projects", "double_share")
