"""Work for a team: passwords, leases, comments, second reviews, audit, jobs; facets and orders of the list."""

from typing import Any

import sqlalchemy as sa
from alembic import op

from curator_web.db.migrations import frozen

revision = "0003"
down_revision = "0002"

ID = sa.String(100)
TIME = sa.DateTime(timezone=True)
ORDERS = ("imported_at", "changed_at", "recorded_at", "turns", "dropped", "edited", "checks")
OLD_INDEXES = {"ix_demonstrations_status_imported_at": ("status", "imported_at"),
               "ix_demonstrations_imported_at": ("imported_at",), "ix_demonstrations_site": ("site",)}
INDEXES = {f"ix_demonstrations_{name}_id": (name, "id") for name in ORDERS} | {
    f"ix_demonstrations_status_{name}_id": ("status", name, "id") for name in ORDERS} | {
    "ix_demonstrations_site_imported_at_id": ("site", "imported_at", "id"),
    "ix_demonstrations_queue": ("assigned_to", "status", "imported_at", "id"),
    "ix_demonstrations_recorded_by": ("recorded_by",), "ix_demonstrations_lease_who": ("lease_who",)}
COLUMNS = (("recorded_by", ID), ("assigned_to", ID), ("lease_who", ID), ("lease_until", TIME), ("submitted_by", ID),
           ("reviewed_by", ID), ("touched_by", ID), ("touched_at", TIME))


def upgrade() -> None:
    for name, kind in COLUMNS:
        op.add_column("demonstrations", sa.Column(name, kind))
    for name in ("work_seconds", "open_comments"):
        op.add_column("demonstrations", sa.Column(name, sa.Integer, nullable=False, server_default="0"))
    for name in OLD_INDEXES:
        op.drop_index(name, "demonstrations")
    for name, columns in INDEXES.items():
        op.create_index(name, "demonstrations", columns)
    op.add_column("users", sa.Column("password_hash", sa.String(255)))
    with op.batch_alter_table("edits") as edits:
        edits.add_column(sa.Column("key", sa.String(80)))
        edits.add_column(sa.Column("version", sa.Integer))
        edits.create_unique_constraint("uq_edits_demonstration_id_key", ["demonstration_id", "key"])
    op.create_index("ix_edits_made_at", "edits", ["made_at"])
    op.add_column("status_changes", sa.Column("edits", sa.Integer))
    op.create_index("ix_status_changes_made_at", "status_changes", ["made_at"])
    _facets()
    _comments()
    _second_reviews()
    _audit()
    _jobs()
    _settings_and_sign_ins()
    _fill_facets(op.get_bind())


def _facets() -> None:
    op.create_table(
        "facets",
        sa.Column("facet", sa.String(20), nullable=False),
        sa.Column("value", ID.with_variant(sa.String(100, collation="C"), "postgresql"), nullable=False),
        sa.Column("demonstration_id", ID, nullable=False),
        sa.Column("count", sa.Integer, nullable=False),
        sa.PrimaryKeyConstraint("facet", "value", "demonstration_id", name="pk_facets"),
        _of_demonstration("facets"),
    )
    op.create_index("ix_facets_demonstration_id_facet_value", "facets", ["demonstration_id", "facet", "value"])


def _fill_facets(connection: sa.Connection) -> None:
    """Facets of what the database held before there were any."""
    names = ("demonstration_id", "number", "content", "who")
    edits, changes, base = (sa.table(name,
                                     *(sa.column(column, sa.JSON if column == "content" else None) for column in names))
                            for name in ("edits", "status_changes", "base_turns"))
    demonstrations = sa.table("demonstrations", *(sa.column(name) for name in ("id", "task", "site")))
    facets = sa.table("facets", *(sa.column(name) for name in ("facet", "value", "demonstration_id", "count")))
    for row in connection.execute(sa.select(demonstrations)).all():
        content: Any = connection.scalar(sa.select(base.c.content).where(base.c.demonstration_id == row.id))
        turns = content["turns"]
        made = connection.execute(sa.select(edits.c.content, edits.c.who).where(edits.c.demonstration_id == row.id)
                                  .order_by(edits.c.number)).all()
        decided = connection.scalars(sa.select(changes.c.who).where(changes.c.demonstration_id == row.id))
        people = {*(edit.who for edit in made), *decided}
        facet_counts = frozen.facets(row.id, row.site, row.task, turns, [edit.content for edit in made], people)
        if facet_counts:
            connection.execute(sa.insert(facets), [
                {"facet": facet, "value": value, "demonstration_id": row.id, "count": count}
                for (facet, value), count in facet_counts.items()])


def _comments() -> None:
    op.create_table(
        "comments",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("demonstration_id", ID, nullable=False),
        sa.Column("turn", sa.Text),
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("who", ID, nullable=False),
        sa.Column("made_at", TIME, nullable=False),
        sa.Column("answers", sa.Integer),
        sa.Column("resolved_by", ID),
        sa.Column("resolved_at", TIME),
        sa.PrimaryKeyConstraint("id", name="pk_comments"),
        sa.ForeignKeyConstraint(["answers"], ["comments.id"], name="fk_comments_answers_comments"),
        _of_demonstration("comments"),
    )
    op.create_index("ix_comments_demonstration_id", "comments", ["demonstration_id"])


def _second_reviews() -> None:
    op.create_table(
        "second_reviews",
        sa.Column("demonstration_id", ID, nullable=False),
        sa.Column("number", sa.Integer, nullable=False, autoincrement=False),
        sa.Column("first", ID, nullable=False),
        sa.Column("second", ID, nullable=False),
        sa.Column("made_at", TIME, nullable=False),
        sa.Column("turns", sa.Integer, nullable=False),
        sa.Column("intent_match", sa.Double),
        sa.Column("element_iou", sa.Double),
        sa.PrimaryKeyConstraint("demonstration_id", "number", name="pk_second_reviews"),
        _of_demonstration("second_reviews"),
    )
    op.create_index("ix_second_reviews_made_at", "second_reviews", ["made_at"])


def _audit() -> None:
    op.create_table(
        "audit",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("made_at", TIME, nullable=False),
        sa.Column("who", ID, nullable=False),
        sa.Column("what", sa.String(40), nullable=False),
        sa.Column("demonstration_id", ID),
        sa.Column("details", sa.JSON, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_audit"),
    )
    for column in ("made_at", "demonstration_id"):
        op.create_index(f"ix_audit_{column}", "audit", [column])


def _jobs() -> None:
    op.create_table(
        "jobs",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("who", ID, nullable=False),
        sa.Column("state", sa.String(20), nullable=False),
        sa.Column("arguments", sa.JSON, nullable=False),
        sa.Column("done", sa.Integer, nullable=False),
        sa.Column("total", sa.Integer),
        sa.Column("note", sa.Text, nullable=False),
        sa.Column("result", sa.JSON, nullable=False),
        sa.Column("worker", ID),
        sa.Column("tries", sa.Integer, nullable=False),
        sa.Column("made_at", TIME, nullable=False),
        sa.Column("beat_at", TIME),
        sa.Column("ended_at", TIME),
        sa.PrimaryKeyConstraint("id", name="pk_jobs"),
    )
    op.create_index("ix_jobs_state_id", "jobs", ["state", "id"])


def _settings_and_sign_ins() -> None:
    op.create_table(
        "settings",
        sa.Column("name", ID, nullable=False),
        sa.Column("value", sa.JSON, nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_settings"),
    )
    op.create_table(
        "failed_sign_ins",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("name", ID, nullable=False),
        sa.Column("address", ID, nullable=False),
        sa.Column("made_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_failed_sign_ins"),
    )
    for column in ("name", "address"):
        op.create_index(f"ix_failed_sign_ins_{column}_made_at", "failed_sign_ins", [column, "made_at"])


def downgrade() -> None:
    for table in ("failed_sign_ins", "settings", "jobs", "audit", "second_reviews", "comments", "facets"):
        op.drop_table(table)
    op.drop_index("ix_status_changes_made_at", "status_changes")
    op.drop_column("status_changes", "edits")
    op.drop_index("ix_edits_made_at", "edits")
    with op.batch_alter_table("edits") as edits:
        edits.drop_constraint("uq_edits_demonstration_id_key", type_="unique")
        edits.drop_column("key")
        edits.drop_column("version")
    op.drop_column("users", "password_hash")
    for name in INDEXES:
        op.drop_index(name, "demonstrations")
    for name, columns in OLD_INDEXES.items():
        op.create_index(name, "demonstrations", columns)
    for name in (*(name for name, _ in COLUMNS), "work_seconds", "open_comments"):
        op.drop_column("demonstrations", name)


def _of_demonstration(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(["demonstration_id"], ["demonstrations.id"],
                                   name=f"fk_{table}_demonstration_id_demonstrations")
