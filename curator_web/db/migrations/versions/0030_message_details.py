"""Further fields of the messages of rooms: where the instructor points."""

import sqlalchemy as sa
from alembic import op

revision = "0030"
down_revision = "0029"


def upgrade() -> None:
    op.add_column("room_messages", sa.Column("details", sa.JSON))


def downgrade() -> None:
    with op.batch_alter_table("room_messages") as batch:
        batch.drop_column("details")
