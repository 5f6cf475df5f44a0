"""Run by Alembic: applies migrations on the connection that curator_web.db.database hands over."""

from alembic import context

# The caller began the transaction (BEGIN IMMEDIATE on SQLite), so table changes are all or nothing there too.
context.configure(connection=context.config.attributes["connection"], transactional_ddl=True, render_as_batch=True)
with context.begin_transaction():
    context.run_migrations()
