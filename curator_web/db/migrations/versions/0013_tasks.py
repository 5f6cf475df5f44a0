"""Tasks of projects, who was given which, and of which one a demonstration is."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"

ID = sa.String(100)
TIME = sa.DateTime(timezone=True)
STATE = sa.String(20)


def upgrade() -> None:
    texts = ("text", "url", "answer", "unachievable", "reason")
    op.create_table(
        "tasks", sa.Column("id", ID, nullable=False), sa.Column("project", ID, nullable=False),
        sa.Column("state", STATE, nullable=False), *(sa.Column(name, sa.Text, nullable=False) for name in texts),
        sa.Column("site", sa.String(255), nullable=False), sa.Column("category", sa.String(80), nullable=False),
        sa.Column("difficulty", STATE, nullable=False), sa.Column("wanted", sa.Integer, nullable=False),
        sa.Column("seed", sa.Boolean, nullable=False), sa.Column("alike", sa.JSON, nullable=False),
        sa.Column("proposed_by", ID, nullable=False), sa.Column("made_at", TIME, nullable=False),
        sa.Column("decided_by", ID), sa.PrimaryKeyConstraint("id", name="pk_tasks"),
        sa.ForeignKeyConstraint(["project"], ["projects.id"], name="fk_tasks_project_projects"))
    op.create_index("ix_tasks_project_state_made_at_id", "tasks", ["project", "state", "made_at", "id"])
    op.create_index("ix_tasks_project_site", "tasks", ["project", "site"])
    op.create_table(
        "assignments", sa.Column("task_id", ID, nullable=False), sa.Column("who", ID, nullable=False),
        sa.Column("state", STATE, nullable=False), sa.Column("reason", sa.Text, nullable=False),
        sa.Column("changed_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("task_id", "who", name="pk_assignments"),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name="fk_assignments_task_id_tasks"))
    op.create_index("ix_assignments_who", "assignments", ["who"])
    op.add_column("demonstrations", sa.Column("task_id", ID))
    op.create_index("ix_demonstrations_task_id", "demonstrations", ["task_id"])


def downgrade() -> None:
    op.drop_index("ix_demonstrations_task_id", "demonstrations")
    op.drop_column("demonstrations", "task_id")
    op.drop_table("assignments")
    op.drop_table("tasks")
