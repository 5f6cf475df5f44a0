"""Demonstrations that were deleted and can be restored."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"

ID = sa.String(100)


def upgrade() -> None:
    op.create_table(
        "deletions", sa.Column("demonstration_id", ID, nullable=False), sa.Column("project", ID, nullable=False),
        sa.Column("batch", ID, nullable=False), sa.Column("who", ID, nullable=False),
        sa.Column("made_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("demonstration_id", name="pk_deletions"),
        sa.ForeignKeyConstraint(["demonstration_id"], ["demonstrations.id"],
                                name="fk_deletions_demonstration_id_demonstrations"),
        sa.ForeignKeyConstraint(["project"], ["projects.id"], name="fk_deletions_project_projects"))
    op.create_index("ix_deletions_project_made_at", "deletions", ["project", "made_at"])
    op.create_index("ix_deletions_batch", "deletions", ["batch"])


def downgrade() -> None:
    op.execute("UPDATE demonstrations SET project = (SELECT d.project FROM deletions d "
               "WHERE d.demonstration_id = demonstrations.id) WHERE project = ''")
    op.drop_table("deletions")
