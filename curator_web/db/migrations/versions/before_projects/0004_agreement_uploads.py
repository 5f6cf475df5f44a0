"""chrF of second reviews; uploads are imported by jobs."""

from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa
from alembic import op

from curator_web.db.migrations import frozen

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.add_column("second_reviews", sa.Column("chrf", sa.Double))
    with op.batch_alter_table("uploads") as uploads:
        uploads.add_column(sa.Column("job", sa.Integer))
        uploads.create_foreign_key("fk_uploads_job_jobs", "jobs", ["job"], ["id"])
    _hand_over(op.get_bind())
    _compare_again(op.get_bind())


def _hand_over(connection: sa.Connection) -> None:
    """Packages that were being imported become jobs; those that were jobs are found under their whole name."""
    jobs = sa.table("jobs", sa.column("id", sa.Integer), sa.column("kind", sa.String), sa.column("who", sa.String),
                    sa.column("state", sa.String), sa.column("arguments", sa.JSON), sa.column("note", sa.Text),
                    sa.column("result", sa.JSON), sa.column("done", sa.Integer), sa.column("tries", sa.Integer),
                    sa.column("made_at", sa.DateTime(timezone=True)))
    uploads = sa.table("uploads", sa.column("id", sa.String), sa.column("who", sa.String),
                       sa.column("state", sa.String), sa.column("job", sa.Integer))
    for row in connection.execute(sa.select(jobs.c.id, jobs.c.arguments).where(jobs.c.kind == "import")).all():
        arguments = row.arguments | {"file": f"uploads/{row.arguments['file']}"}
        connection.execute(sa.update(jobs).where(jobs.c.id == row.id).values(arguments=arguments))
    for row in connection.execute(sa.select(uploads.c.id, uploads.c.who).where(uploads.c.state == "processing")).all():
        number = connection.scalar(sa.insert(jobs).values(
            kind="import", who=row.who, state="queued", note="", result={}, done=0, tries=0, made_at=datetime.now(UTC),
            arguments={"file": f"uploads/{row.id}.zip", "name": f"recording {row.id}", "who": row.who}
        ).returning(jobs.c.id))
        connection.execute(sa.update(uploads).where(uploads.c.id == row.id).values(job=number))


def _compare_again(connection: sa.Connection) -> None:
    """Second reviews were worked out by another rule, without chrF."""
    names = ("demonstration_id", "number", "content", "status", "edits")
    edits, changes, base = (sa.table(name,
                                     *(sa.column(column, sa.JSON if column == "content" else None) for column in names))
                            for name in ("edits", "status_changes", "base_turns"))
    reviews = sa.table("second_reviews", *(sa.column(name) for name in (
        "demonstration_id", "number", "turns", "intent_match", "element_iou", "chrf")))
    for row in connection.execute(sa.select(reviews.c.demonstration_id, reviews.c.number)).all():
        steps = connection.execute(sa.select(changes.c.number, changes.c.status, changes.c.edits).where(
            changes.c.demonstration_id == row.demonstration_id).order_by(changes.c.number)).all()
        first = [step.edits for step in steps if step.status == "submitted" and step.number < row.number]
        last = next((step.edits for step in steps if step.number == row.number), None)
        if not first or first[-1] is None or last is None:
            continue
        content: Any = connection.scalar(
            sa.select(base.c.content).where(base.c.demonstration_id == row.demonstration_id))
        turns = content["turns"]
        made = connection.scalars(sa.select(edits.c.content).where(
            edits.c.demonstration_id == row.demonstration_id).order_by(edits.c.number).limit(last))
        connection.execute(
            sa.update(reviews).where(reviews.c.demonstration_id == row.demonstration_id, reviews.c.number == row.number)
            .values(**frozen.compared(turns, list(made), first[-1])))


def downgrade() -> None:
    with op.batch_alter_table("uploads") as uploads:
        uploads.drop_constraint("fk_uploads_job_jobs", type_="foreignkey")
        uploads.drop_column("job")
    op.drop_column("second_reviews", "chrf")
