"""Rooms: live sessions of an instructor and a navigator, the links into them, and their messages."""

import sqlalchemy as sa
from alembic import op

revision = "0026"
down_revision = "0025"

ID = sa.String(100)
DIGEST = sa.String(64)
TIME = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.create_table(
        "rooms", sa.Column("id", ID, nullable=False), sa.Column("project", ID, nullable=False),
        sa.Column("task", sa.Text, nullable=False),
        sa.Column("pictures", sa.Boolean, nullable=False, server_default=sa.true()),
        sa.Column("opened_by", ID, nullable=False), sa.Column("instructor", ID), sa.Column("recording", ID),
        sa.Column("opened_at", TIME, nullable=False), sa.Column("ended_at", TIME),
        sa.PrimaryKeyConstraint("id", name="pk_rooms"),
        sa.ForeignKeyConstraint(["project"], ["projects.id"], name="fk_rooms_project_projects"))
    op.create_index("ix_rooms_project", "rooms", ["project"])
    op.create_table(
        "room_links", sa.Column("sha256", DIGEST, nullable=False), sa.Column("room_id", ID, nullable=False),
        sa.Column("created_at", TIME, nullable=False), sa.Column("expires_at", TIME, nullable=False),
        sa.Column("used_at", TIME), sa.Column("pass_sha256", DIGEST),
        sa.PrimaryKeyConstraint("sha256", name="pk_room_links"),
        sa.ForeignKeyConstraint(["room_id"], ["rooms.id"], name="fk_room_links_room_id_rooms"),
        sa.UniqueConstraint("pass_sha256", name="uq_room_links_pass_sha256"))
    op.create_index("ix_room_links_room_id", "room_links", ["room_id"])
    op.create_table(
        "room_messages", sa.Column("room_id", ID, nullable=False), sa.Column("number", sa.Integer, nullable=False),
        sa.Column("id", sa.String(64), nullable=False), sa.Column("speaker", sa.String(20), nullable=False),
        sa.Column("who", ID), sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("text", sa.Text, nullable=False), sa.Column("changes", sa.String(64)), sa.Column("began", sa.Double),
        sa.Column("sent", sa.Double), sa.Column("uncertainty", sa.Double), sa.Column("time", sa.Double),
        sa.Column("refused", sa.String(20)), sa.Column("stored_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("room_id", "number", name="pk_room_messages"),
        sa.ForeignKeyConstraint(["room_id"], ["rooms.id"], name="fk_room_messages_room_id_rooms"),
        sa.UniqueConstraint("room_id", "id", name="uq_room_messages_room_id_id"))


def downgrade() -> None:
    for table in ("room_messages", "room_links", "rooms"):
        op.drop_table(table)
