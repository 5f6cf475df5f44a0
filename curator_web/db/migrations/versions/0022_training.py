"""Demonstrations with a known answer, what new annotators answer, and who is done with them."""

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"

ID = sa.String(100)
TIME = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.add_column("members", sa.Column("trained_by", ID))
    op.create_table(
        "training", sa.Column("demonstration_id", ID, nullable=False), sa.Column("made_by", ID, nullable=False),
        sa.Column("made_at", TIME, nullable=False), sa.PrimaryKeyConstraint("demonstration_id", name="pk_training"),
        sa.ForeignKeyConstraint(["demonstration_id"], ["demonstrations.id"],
                                name="fk_training_demonstration_id_demonstrations"))
    op.create_table(
        "training_tries", sa.Column("copy", ID, nullable=False), sa.Column("original", ID, nullable=False),
        sa.Column("who", ID, nullable=False), sa.Column("made_at", TIME, nullable=False), sa.Column("told", sa.JSON),
        sa.Column("agreed", sa.Integer), sa.Column("points", sa.Integer), sa.Column("answer", sa.Integer),
        sa.Column("submitted_at", TIME), sa.Column("ended_at", TIME),
        sa.PrimaryKeyConstraint("copy", name="pk_training_tries"),
        sa.ForeignKeyConstraint(["copy"], ["demonstrations.id"], name="fk_training_tries_copy_demonstrations"),
        sa.ForeignKeyConstraint(["original"], ["demonstrations.id"],
                                name="fk_training_tries_original_demonstrations"),
        sa.ForeignKeyConstraint(["who"], ["users.name"], name="fk_training_tries_who_users"))
    op.create_index("ix_training_tries_original", "training_tries", ["original"])
    op.create_index("ix_training_tries_who", "training_tries", ["who"])


def downgrade() -> None:
    op.drop_table("training_tries")
    op.drop_table("training")
    # An answer has no base turns, without which no earlier version opens it: it goes, with what was done in it.
    for table in ("facets", "demonstration_texts", "edits", "status_changes", "second_reviews", "proofs",
                  "notifications"):
        op.execute(f"DELETE FROM {table} WHERE demonstration_id LIKE '%~t%'")
    op.execute("DELETE FROM comments WHERE demonstration_id LIKE '%~t%' AND answers IS NOT NULL")
    op.execute("DELETE FROM comments WHERE demonstration_id LIKE '%~t%'")
    op.execute("DELETE FROM demonstrations WHERE id LIKE '%~t%'")
    op.drop_column("members", "trained_by")
