"""Notifications."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"

ID = sa.String(100)


def _required(name: str, kind: sa.types.TypeEngine | type) -> sa.Column:
    return sa.Column(name, kind, nullable=False)


def _foreign(table: str, column: str, other: str, key: str = "id") -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint([column], [f"{other}.{key}"], name=f"fk_{table}_{column}_{other}")


def upgrade() -> None:
    time = sa.DateTime(timezone=True)
    table = "notifications"
    op.create_table(
        table, _required("id", sa.Integer), _required("who", ID), _required("project", ID),
        _required("kind", sa.String(20)), sa.Column("by", ID), sa.Column("demonstration_id", ID),
        sa.Column("comment", sa.Integer), sa.Column("task_id", ID), sa.Column("job", sa.Integer),
        _required("count", sa.Integer), _required("made_at", time), sa.Column("read_at", time),
        sa.PrimaryKeyConstraint("id", name="pk_notifications"), _foreign(table, "project", "projects"),
        _foreign(table, "demonstration_id", "demonstrations"), _foreign(table, "comment", "comments"),
        _foreign(table, "task_id", "tasks"), _foreign(table, "job", "jobs"))
    op.create_index("ix_notifications_who_read_at_id", table, ["who", "read_at", "id"])
    op.create_index("ix_notifications_read_at", table, ["read_at"])


def downgrade() -> None:
    op.drop_table("notifications")
