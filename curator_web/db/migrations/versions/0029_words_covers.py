"""Words of utterances, typed texts and page titles for the search, and the picture that the list shows of each.

Both follow from the turns, so the app reads them: jobs that count the demonstrations of a project again.
"""

from datetime import UTC, datetime

import sqlalchemy as sa
from alembic import op

revision = "0029"
down_revision = "0028"

NOWHERE = ""  # the project of deleted demonstrations
WORDS = (
    "CREATE VIRTUAL TABLE demonstration_words USING fts5(words, content='demonstration_texts', "
    "content_rowid='number', tokenize='unicode61', detail='none', prefix='2 3')",
    "CREATE TRIGGER demonstration_words_added AFTER INSERT ON demonstration_texts BEGIN "
    "INSERT INTO demonstration_words(rowid, words) VALUES (new.number, new.words); END",
    "CREATE TRIGGER demonstration_words_removed AFTER DELETE ON demonstration_texts BEGIN "
    "INSERT INTO demonstration_words(demonstration_words, rowid, words) "
    "VALUES ('delete', old.number, old.words); END",
    "CREATE TRIGGER demonstration_words_changed AFTER UPDATE OF words ON demonstration_texts BEGIN "
    "INSERT INTO demonstration_words(demonstration_words, rowid, words) "
    "VALUES ('delete', old.number, old.words); "
    "INSERT INTO demonstration_words(rowid, words) VALUES (new.number, new.words); END",
)
TRIGGERS = ("demonstration_words_added", "demonstration_words_removed", "demonstration_words_changed")


def upgrade() -> None:
    op.add_column("demonstrations", sa.Column("cover", sa.JSON))
    op.add_column("demonstration_texts", sa.Column("words", sa.Text, nullable=False, server_default=""))
    op.add_column("demonstration_texts", sa.Column("turn_texts", sa.JSON, nullable=False, server_default="[]"))
    connection = op.get_bind()
    if connection.dialect.name == "sqlite":
        for statement in WORDS:
            op.execute(statement)
        op.execute("INSERT INTO demonstration_words(demonstration_words) VALUES ('rebuild')")
    else:
        op.execute("CREATE INDEX ix_demonstration_texts_words ON demonstration_texts "
                   "USING gin (to_tsvector('simple', words))")
    _queue_jobs(connection)


def _queue_jobs(connection: sa.Connection) -> None:
    demonstrations = sa.table("demonstrations", sa.column("id"), sa.column("project"))
    jobs = sa.table("jobs", *(sa.column(name) for name in ("kind", "project", "who", "state", "done", "note", "tries")),
                    sa.column("arguments", sa.JSON), sa.column("result", sa.JSON),
                    sa.column("made_at", sa.DateTime(timezone=True)))
    names = connection.scalars(sa.select(demonstrations.c.project).distinct()).all()
    deleted = connection.scalars(sa.select(demonstrations.c.id).where(demonstrations.c.project == NOWHERE)).all()
    for project in sorted({name.removeprefix("copies:") for name in names}):
        ids = sorted(deleted) if project == NOWHERE else None
        connection.execute(sa.insert(jobs).values(
            kind="recount", project=project or "main", who="local", state="queued", arguments={"ids": ids}, done=0,
            note="", result={}, tries=0, made_at=datetime.now(UTC)))


def downgrade() -> None:
    if op.get_bind().dialect.name == "sqlite":
        for name in TRIGGERS:
            op.execute(f"DROP TRIGGER {name}")
        op.execute("DROP TABLE demonstration_words")
    else:
        op.drop_index("ix_demonstration_texts_words", "demonstration_texts")
    for name in ("turn_texts", "words"):
        op.drop_column("demonstration_texts", name)
    op.drop_column("demonstrations", "cover")
