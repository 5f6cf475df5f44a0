"""Uploads say when something came last, so that those that rest are given up."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    op.add_column("uploads", sa.Column("touched_at", sa.DateTime(timezone=True)))
    op.get_bind().execute(sa.text("UPDATE uploads SET touched_at = CURRENT_TIMESTAMP"))  # a week from the update on
    with op.batch_alter_table("uploads") as uploads:
        uploads.alter_column("touched_at", existing_type=sa.DateTime(timezone=True), nullable=False)
    op.create_index("ix_uploads_touched_at", "uploads", ["touched_at"])


def downgrade() -> None:
    op.drop_index("ix_uploads_touched_at", "uploads")
    op.drop_column("uploads", "touched_at")
