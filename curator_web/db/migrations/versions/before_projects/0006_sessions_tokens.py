"""Sessions of browsers stand in the database; users have several tokens, and may be disabled or removed."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"

ID = sa.String(100)
TIME = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.create_table(
        "web_sessions",
        sa.Column("id_sha256", sa.String(64), nullable=False),
        sa.Column("who", ID, nullable=False),
        sa.Column("browser", sa.String(200), nullable=False),
        sa.Column("made_at", TIME, nullable=False),
        sa.Column("used_at", TIME, nullable=False),
        sa.Column("expires_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("id_sha256", name="pk_web_sessions"),
        sa.ForeignKeyConstraint(["who"], ["users.name"], name="fk_web_sessions_who_users"),
    )
    for column in ("who", "expires_at"):
        op.create_index(f"ix_web_sessions_{column}", "web_sessions", [column])
    op.create_table(
        "tokens",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("who", ID, nullable=False),
        sa.Column("name", ID, nullable=False),
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.Column("scopes", sa.JSON, nullable=False),
        sa.Column("made_at", TIME, nullable=False),
        sa.Column("used_at", TIME),
        sa.Column("expires_at", TIME),
        sa.PrimaryKeyConstraint("id", name="pk_tokens"),
        sa.ForeignKeyConstraint(["who"], ["users.name"], name="fk_tokens_who_users"),
        sa.UniqueConstraint("sha256", name="uq_tokens_sha256"),
        sa.UniqueConstraint("who", "name", name="uq_tokens_who_name"),
    )
    _move_tokens(op.get_bind())
    with op.batch_alter_table("users") as users:
        users.drop_constraint("uq_users_token_sha256", type_="unique")
        users.drop_column("token_sha256")
        users.add_column(sa.Column("state", sa.String(20), nullable=False, server_default="active"))


def _move_tokens(connection: sa.Connection) -> None:
    """The one token that each user had goes on doing all that it did."""
    users = sa.table("users", sa.column("name"), sa.column("token_sha256"), sa.column("made_at", TIME))
    tokens = sa.table("tokens", sa.column("who"), sa.column("name"), sa.column("sha256"),
                      sa.column("scopes", sa.JSON), sa.column("made_at", TIME))
    for row in connection.execute(sa.select(users)).all():
        connection.execute(sa.insert(tokens).values(who=row.name, name="first", sha256=row.token_sha256,
                                                    scopes=["read", "write", "upload"], made_at=row.made_at))


def downgrade() -> None:
    with op.batch_alter_table("users") as users:
        users.drop_column("state")
        users.add_column(sa.Column("token_sha256", sa.String(64)))
    op.execute("UPDATE users SET token_sha256 = COALESCE((SELECT min(sha256) FROM tokens WHERE who = name), name)")
    with op.batch_alter_table("users") as users:
        users.alter_column("token_sha256", nullable=False)
        users.create_unique_constraint("uq_users_token_sha256", ["token_sha256"])
    op.drop_table("tokens")
    op.drop_table("web_sessions")
