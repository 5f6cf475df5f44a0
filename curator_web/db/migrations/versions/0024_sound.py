"""By which content and rules a demonstration was last found to be as it may be."""

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"


def upgrade() -> None:
    op.add_column("demonstrations", sa.Column("sound", sa.String(64)))


def downgrade() -> None:
    op.drop_column("demonstrations", "sound")
