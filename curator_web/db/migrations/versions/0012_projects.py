"""Projects: what was there becomes one, whose members are the users; goal and labels are a project's."""

from datetime import UTC, datetime

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"

ID = sa.String(100)
TIME = sa.DateTime(timezone=True)
MAIN, NAME = "main", "Demonstrations"
ORDERS = ("imported_at", "changed_at", "recorded_at", "turns", "dropped", "edited", "checks")
OLD_INDEXES = {f"ix_demonstrations_{name}_id": [name, "id"] for name in ORDERS} | {
    f"ix_demonstrations_status_{name}_id": ["status", name, "id"] for name in ORDERS} | {
    "ix_demonstrations_site_imported_at_id": ["site", "imported_at", "id"],
    "ix_demonstrations_queue": ["assigned_to", "status", "imported_at", "id"]}
INDEXES = {f"ix_demonstrations_project_{name}_id": ["project", name, "id"] for name in ORDERS} | {
    f"ix_demonstrations_project_status_{name}_id": ["project", "status", name, "id"] for name in ORDERS} | {
    "ix_demonstrations_project_site_imported_at_id": ["project", "site", "imported_at", "id"],
    "ix_demonstrations_queue": ["project", "assigned_to", "status", "imported_at", "id"]}


def upgrade() -> None:
    projects = op.create_table(
        "projects", sa.Column("id", ID, nullable=False), sa.Column("name", sa.String(80), nullable=False),
        sa.Column("goal", sa.Integer), sa.Column("labels", sa.JSON, nullable=False),
        sa.Column("made_at", TIME, nullable=False), sa.PrimaryKeyConstraint("id", name="pk_projects"))
    members = op.create_table(
        "members", sa.Column("project", ID, nullable=False), sa.Column("who", ID, nullable=False),
        sa.Column("role", sa.String(20), nullable=False), sa.Column("joined_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("project", "who", name="pk_members"),
        sa.ForeignKeyConstraint(["project"], ["projects.id"], name="fk_members_project_projects"),
        sa.ForeignKeyConstraint(["who"], ["users.name"], name="fk_members_who_users"))
    op.create_index("ix_members_who", "members", ["who"])
    op.create_table(
        "guidelines", sa.Column("project", ID, nullable=False),
        sa.Column("number", sa.Integer, nullable=False, autoincrement=False),
        sa.Column("text", sa.Text, nullable=False), sa.Column("who", ID, nullable=False),
        sa.Column("made_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("project", "number", name="pk_guidelines"),
        sa.ForeignKeyConstraint(["project"], ["projects.id"], name="fk_guidelines_project_projects"))
    for table in ("demonstrations", "jobs", "uploads"):
        op.add_column(table, sa.Column("project", ID, nullable=False, server_default=MAIN))
    for name in OLD_INDEXES:
        op.drop_index(name, "demonstrations")
    for name, columns in INDEXES.items():
        op.create_index(name, "demonstrations", columns)
    op.create_index("ix_jobs_project_kind_id", "jobs", ["project", "kind", "id"])
    _fill(op.get_bind(), projects, members)


def _fill(connection: sa.Connection, projects: sa.Table, members: sa.Table) -> None:
    settings = sa.table("settings", sa.column("name"), sa.column("value", sa.JSON))
    users = sa.table("users", *(sa.column(name) for name in ("name", "role", "state")), sa.column("made_at", TIME))
    stored = {name: value for name, value in connection.execute(
        sa.select(settings).where(settings.c.name.in_(["goal", "labels"])))}
    connection.execute(sa.insert(projects), {
        "id": MAIN, "name": NAME, "goal": stored.get("goal", {}).get("goal"),
        "labels": stored.get("labels", {}).get("labels", []), "made_at": datetime.now(UTC)})
    connection.execute(sa.delete(settings).where(settings.c.name.in_(["goal", "labels"])))
    people = connection.execute(sa.select(users).where(users.c.state != "removed")).all()
    if people:
        connection.execute(sa.insert(members), [
            {"project": MAIN, "who": user.name, "role": user.role, "joined_at": user.made_at} for user in people])


def downgrade() -> None:
    for name in INDEXES:
        op.drop_index(name, "demonstrations")
    op.drop_index("ix_jobs_project_kind_id", "jobs")
    for table in ("demonstrations", "jobs", "uploads"):
        op.drop_column(table, "project")
    for name, columns in OLD_INDEXES.items():
        op.create_index(name, "demonstrations", columns)
    for table in ("guidelines", "members", "projects"):
        op.drop_table(table)
