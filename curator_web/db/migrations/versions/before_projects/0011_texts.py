"""Parts of words are found in id, site and task, whatever their accents: texts with trigrams instead of words."""

import sqlalchemy as sa
from alembic import op

from curator_web.db.migrations import frozen

revision = "0011"
down_revision = "0010"

BATCH = 1000
TRIGRAMS = (
    "CREATE VIRTUAL TABLE demonstration_trigrams USING fts5(text, content='demonstration_texts', "
    "content_rowid='number', tokenize='trigram', detail='full')",
    "CREATE TRIGGER demonstration_texts_added AFTER INSERT ON demonstration_texts BEGIN "
    "INSERT INTO demonstration_trigrams(rowid, text) VALUES (new.number, new.text); END",
    "CREATE TRIGGER demonstration_texts_removed AFTER DELETE ON demonstration_texts BEGIN "
    "INSERT INTO demonstration_trigrams(demonstration_trigrams, rowid, text) "
    "VALUES ('delete', old.number, old.text); END",
    "CREATE TRIGGER demonstration_texts_changed AFTER UPDATE ON demonstration_texts BEGIN "
    "INSERT INTO demonstration_trigrams(demonstration_trigrams, rowid, text) "
    "VALUES ('delete', old.number, old.text); "
    "INSERT INTO demonstration_trigrams(rowid, text) VALUES (new.number, new.text); END",
)


def upgrade() -> None:
    texts = op.create_table(
        "demonstration_texts",
        sa.Column("number", sa.Integer, nullable=False, autoincrement=True),
        sa.Column("demonstration_id", sa.String(100), nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("number", name="pk_demonstration_texts"),
        sa.ForeignKeyConstraint(["demonstration_id"], ["demonstrations.id"],
                                name="fk_demonstration_texts_demonstration_id_demonstrations"),
        sa.UniqueConstraint("demonstration_id", name="uq_demonstration_texts_demonstration_id"),
    )
    connection = op.get_bind()
    if connection.dialect.name == "sqlite":
        for statement in TRIGRAMS:
            op.execute(statement)
    demonstrations = sa.table("demonstrations", *(sa.column(name) for name in ("id", "site", "task")))
    rows = connection.execute(sa.select(demonstrations).order_by(demonstrations.c.id)).all()
    for begin in range(0, len(rows), BATCH):
        connection.execute(sa.insert(texts), [
            {"demonstration_id": row.id, "text": frozen.searched(row.id, row.site, row.task)}
            for row in rows[begin:begin + BATCH]])
    if connection.dialect.name == "postgresql":
        _index(connection)
    facets = sa.table("facets", sa.column("facet"))
    connection.execute(sa.delete(facets).where(facets.c.facet == "word"))


def _index(connection: sa.Connection) -> None:
    """Where the extension is not there, or this user may not add it, texts are gone through one by one."""
    try:
        with connection.begin_nested():
            connection.execute(sa.text("CREATE EXTENSION IF NOT EXISTS pg_trgm"))
            connection.execute(sa.text("CREATE INDEX ix_demonstration_texts_text ON demonstration_texts "
                                       "USING gin (text gin_trgm_ops)"))
    except sa.exc.DBAPIError:
        pass


def downgrade() -> None:
    if op.get_bind().dialect.name == "sqlite":
        op.execute("DROP TABLE demonstration_trigrams")
    op.drop_table("demonstration_texts")
