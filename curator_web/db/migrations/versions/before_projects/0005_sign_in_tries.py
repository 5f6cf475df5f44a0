"""Sign-ins are counted before they are tried, one row a counter; names are no longer kept in clear."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.drop_table("failed_sign_ins")
    op.create_table(
        "sign_in_tries",
        sa.Column("key", sa.String(64), nullable=False),
        sa.Column("count", sa.Integer, nullable=False),
        sa.Column("since", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_sign_in_tries"),
    )
    op.create_index("ix_sign_in_tries_since", "sign_in_tries", ["since"])


def downgrade() -> None:
    op.drop_table("sign_in_tries")
    op.create_table(
        "failed_sign_ins",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("address", sa.String(100), nullable=False),
        sa.Column("made_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_failed_sign_ins"),
    )
    op.create_index("ix_failed_sign_ins_name_made_at", "failed_sign_ins", ["name", "made_at"])
    op.create_index("ix_failed_sign_ins_address_made_at", "failed_sign_ins", ["address", "made_at"])
