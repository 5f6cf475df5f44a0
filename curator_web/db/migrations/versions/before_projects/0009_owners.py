"""Recordings have owners, uploads the name that their sender gives them, and demonstrations say what is damaged."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"

ID = sa.String(100)


def upgrade() -> None:
    op.create_table(
        "recording_owners",
        sa.Column("recording", ID, nullable=False),
        sa.Column("sent_as", ID, nullable=False),
        sa.Column("who", ID),
        sa.PrimaryKeyConstraint("recording", name="pk_recording_owners"),
        sa.UniqueConstraint("sent_as", "who", name="uq_recording_owners_sent_as_who"),
    )
    # A recording may have several demonstrations in databases that were filled by hand; then any that has a name says.
    op.get_bind().execute(sa.text(
        "INSERT INTO recording_owners (recording, sent_as, who) "
        "SELECT recording, recording, max(recorded_by) FROM demonstrations GROUP BY recording"))
    op.add_column("demonstrations", sa.Column("damage", sa.Text))
    op.add_column("uploads", sa.Column("name", ID))
    op.get_bind().execute(sa.text("UPDATE uploads SET name = id"))
    with op.batch_alter_table("uploads") as uploads:
        uploads.alter_column("name", existing_type=ID, nullable=False)
        uploads.create_unique_constraint("uq_uploads_who_name", ["who", "name"])


def downgrade() -> None:
    with op.batch_alter_table("uploads") as uploads:
        uploads.drop_constraint("uq_uploads_who_name", type_="unique")
        uploads.drop_column("name")
    op.drop_column("demonstrations", "damage")
    op.drop_table("recording_owners")
