"""The keys that people chose for themselves."""

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"


def upgrade() -> None:
    op.create_table("own_keys", sa.Column("who", sa.String(100), nullable=False),
                    sa.Column("content", sa.JSON, nullable=False), sa.PrimaryKeyConstraint("who", name="pk_own_keys"))


def downgrade() -> None:
    op.drop_table("own_keys")
