"""Users with a token, and uploads with the chunks that have arrived."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

ID = sa.String(100)


def upgrade() -> None:
    op.create_table(
        "users",
        sa.Column("name", ID, nullable=False),
        sa.Column("role", sa.String(20), nullable=False),
        sa.Column("token_sha256", sa.String(64), nullable=False),
        sa.Column("made_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_users"),
        sa.UniqueConstraint("token_sha256", name="uq_users_token_sha256"),
    )
    op.create_table(
        "uploads",
        sa.Column("id", ID, nullable=False),
        sa.Column("who", ID, nullable=False),
        sa.Column("size", sa.BigInteger, nullable=False),
        sa.Column("chunk_size", sa.Integer, nullable=False),
        sa.Column("digests", sa.JSON, nullable=False),
        sa.Column("state", sa.String(20), nullable=False),
        sa.Column("error", sa.Text),
        sa.Column("demonstration", ID),
        sa.Column("begun_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_uploads"),
        sa.ForeignKeyConstraint(["who"], ["users.name"], name="fk_uploads_who_users"),
    )
    op.create_index("ix_uploads_who", "uploads", ["who"])
    op.create_table(
        "uploaded_chunks",
        sa.Column("upload_id", ID, nullable=False),
        sa.Column("number", sa.Integer, nullable=False, autoincrement=False),
        sa.PrimaryKeyConstraint("upload_id", "number", name="pk_uploaded_chunks"),
        sa.ForeignKeyConstraint(["upload_id"], ["uploads.id"], name="fk_uploaded_chunks_upload_id_uploads"),
    )


def downgrade() -> None:
    for table in ("uploaded_chunks", "uploads", "users"):
        op.drop_table(table)
