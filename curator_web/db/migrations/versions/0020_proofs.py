"""What came of running demonstrations again."""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"

ID = sa.String(100)


def upgrade() -> None:
    op.create_table(
        "proofs", sa.Column("demonstration_id", ID, nullable=False), sa.Column("content", sa.JSON, nullable=False),
        sa.Column("who", ID), sa.Column("made_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("demonstration_id", name="pk_proofs"),
        sa.ForeignKeyConstraint(["demonstration_id"], ["demonstrations.id"],
                                name="fk_proofs_demonstration_id_demonstrations"))
    op.add_column("demonstrations", sa.Column("proof", sa.String(20)))


def downgrade() -> None:
    op.drop_column("demonstrations", "proof")
    op.drop_table("proofs")
