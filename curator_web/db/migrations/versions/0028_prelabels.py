"""Pre-labels and known answers to questions of labelling schemes."""

import sqlalchemy as sa
from alembic import op

revision = "0028"
down_revision = "0027"

ID = sa.String(100)
SOURCE = sa.String(80)
TIME = sa.DateTime(timezone=True)


def upgrade() -> None:
    for table, who in (("prelabels", sa.Column("source", SOURCE, nullable=False)),
                       ("known_answers", sa.Column("who", ID, nullable=False))):
        op.create_table(
            table, sa.Column("demonstration_id", ID, nullable=False),
            sa.Column("question", sa.String(40), nullable=False), sa.Column("turn", sa.Text, nullable=False),
            sa.Column("value", sa.JSON, nullable=False), who,
            sa.Column("saved_at", TIME, nullable=False),
            sa.PrimaryKeyConstraint("demonstration_id", "question", "turn", name=f"pk_{table}"),
            sa.ForeignKeyConstraint(["demonstration_id"], ["demonstrations.id"],
                                    name=f"fk_{table}_demonstration_id_demonstrations"))
    op.add_column("answers", sa.Column("prelabel", SOURCE))


def downgrade() -> None:
    with op.batch_alter_table("answers") as batch:
        batch.drop_column("prelabel")
    for table in ("known_answers", "prelabels"):
        op.drop_table(table)
