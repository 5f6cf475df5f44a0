"""Rooms for tasks of the task bank."""

import sqlalchemy as sa
from alembic import op

revision = "0031"
down_revision = "0030"


def upgrade() -> None:
    op.add_column("rooms", sa.Column("task_id", sa.String(100)))


def downgrade() -> None:
    with op.batch_alter_table("rooms") as batch:
        batch.drop_column("task_id")
