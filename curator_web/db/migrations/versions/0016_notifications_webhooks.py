"""Notifications, and webhooks with their deliveries; whether who is given a task sees its expected answer."""

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
    _webhooks(time)
    op.add_column("projects", sa.Column("answers_shown", sa.Boolean, nullable=False, server_default=sa.false()))


def _webhooks(time: sa.types.TypeEngine) -> None:
    table = "webhooks"
    op.create_table(
        table, _required("id", sa.Integer), _required("project", ID), _required("url", sa.Text),
        _required("events", sa.JSON), _required("secret", sa.Text), _required("state", sa.String(20)),
        _required("made_by", ID), _required("made_at", time), sa.Column("busy_until", time),
        sa.Column("failing_since", time), _required("failures", sa.Integer),
        sa.PrimaryKeyConstraint("id", name="pk_webhooks"), _foreign(table, "project", "projects"))
    op.create_index("ix_webhooks_project", table, ["project"])
    table = "webhook_deliveries"
    op.create_table(
        table, _required("id", sa.Integer), _required("webhook_id", sa.Integer), _required("message", sa.String(40)),
        _required("event", sa.String(40)), _required("body", sa.JSON), _required("state", sa.String(20)),
        _required("tries", sa.Integer), _required("next_at", time), sa.Column("code", sa.Integer),
        sa.Column("problem", sa.String(100)), _required("made_at", time), sa.Column("ended_at", time),
        sa.PrimaryKeyConstraint("id", name="pk_webhook_deliveries"), _foreign(table, "webhook_id", "webhooks"),
        sa.UniqueConstraint("message", name="uq_webhook_deliveries_message"))
    op.create_index("ix_webhook_deliveries_state_next_at", table, ["state", "next_at"])
    op.create_index("ix_webhook_deliveries_webhook_id_id", table, ["webhook_id", "id"])
    op.create_index("ix_webhook_deliveries_ended_at", table, ["ended_at"])


def downgrade() -> None:
    op.drop_column("projects", "answers_shown")
    for table in ("webhook_deliveries", "webhooks", "notifications"):
        op.drop_table(table)
