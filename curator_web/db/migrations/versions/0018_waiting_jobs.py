"""What a job waits for that was away, and when it is tried again."""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"

TIME = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.add_column("jobs", sa.Column("waits_for", sa.String(20)))
    op.add_column("jobs", sa.Column("waits_since", TIME))
    op.add_column("jobs", sa.Column("next_at", TIME))


def downgrade() -> None:
    for name in ("waits_for", "waits_since", "next_at"):
        op.drop_column("jobs", name)
