"""Users may have a second factor, and may be known by who they are at an OpenID provider."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"

ID = sa.String(100)
TIME = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.create_table(
        "second_factors",
        sa.Column("who", ID, nullable=False),
        sa.Column("secret", sa.Text, nullable=False),
        sa.Column("last_step", sa.BigInteger, nullable=False),
        sa.Column("recovery", sa.JSON, nullable=False),
        sa.Column("made_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("who", name="pk_second_factors"),
        sa.ForeignKeyConstraint(["who"], ["users.name"], name="fk_second_factors_who_users"),
    )
    op.create_table(
        "identities",
        sa.Column("issuer", sa.String(200), nullable=False),
        sa.Column("subject", sa.String(255), nullable=False),
        sa.Column("who", ID, nullable=False),
        sa.Column("made_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("issuer", "subject", name="pk_identities"),
        sa.ForeignKeyConstraint(["who"], ["users.name"], name="fk_identities_who_users"),
    )
    op.create_index("ix_identities_who", "identities", ["who"])


def downgrade() -> None:
    op.drop_table("identities")
    op.drop_table("second_factors")
