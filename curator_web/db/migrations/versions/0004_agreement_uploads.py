"""chrF of second reviews; uploads are imported by jobs."""

from datetime import UTC, datetime

import sqlalchemy as sa
from alembic import op

from curator_web.demonstrations import agreement

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.add_column("second_reviews", sa.Column("chrf", sa.Double))
    with op.batch_alter_table("uploads") as uploads:
        uploads.add_column(sa.Column("job", sa.Integer))
        uploads.create_foreign_key("fk_uploads_job_jobs", "jobs", ["job"], ["id"])
    _hand_over(op.get_bind())
    agreement.fill(op.get_bind())


def _hand_over(connection: sa.Connection) -> None:
    """Packages that were being imported become jobs; those that were jobs are found under their whole name."""
    jobs = sa.table("jobs", sa.column("id", sa.Integer), sa.column("kind", sa.String), sa.column("who", sa.String),
                    sa.column("state", sa.String), sa.column("arguments", sa.JSON), sa.column("note", sa.Text),
                    sa.column("result", sa.JSON), sa.column("done", sa.Integer), sa.column("tries", sa.Integer),
                    sa.column("made_at", sa.DateTime(timezone=True)))
    uploads = sa.table("uploads", sa.column("id", sa.String), sa.column("who", sa.String),
                       sa.column("state", sa.String), sa.column("job", sa.Integer))
    for row in connection.execute(sa.select(jobs.c.id, jobs.c.arguments).where(jobs.c.kind == "import")).all():
        given = row.arguments | {"file": f"uploads/{row.arguments['file']}"}
        connection.execute(sa.update(jobs).where(jobs.c.id == row.id).values(arguments=given))
    for row in connection.execute(sa.select(uploads.c.id, uploads.c.who).where(uploads.c.state == "processing")).all():
        number = connection.scalar(sa.insert(jobs).values(
            kind="import", who=row.who, state="queued", note="", result={}, done=0, tries=0, made_at=datetime.now(UTC),
            arguments={"file": f"uploads/{row.id}.zip", "name": f"recording {row.id}", "who": row.who}
        ).returning(jobs.c.id))
        connection.execute(sa.update(uploads).where(uploads.c.id == row.id).values(job=number))


def downgrade() -> None:
    with op.batch_alter_table("uploads") as uploads:
        uploads.drop_constraint("fk_uploads_job_jobs", type_="foreignkey")
        uploads.drop_column("job")
    op.drop_column("second_reviews", "chrf")
