"""Who acted in a demonstration, and the last result of outcome checks on it.

Actors are only in the recordings, so the app reads them later; results are in the jobs that tried the checks.
"""

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0024"

_WORDS = {True: "success", False: "failure", None: "undecided"}


def upgrade() -> None:
    for name in ("actor", "outcome"):
        op.add_column("demonstrations", sa.Column(name, sa.String(20)))
    jobs = sa.table("jobs", sa.column("id"), sa.column("kind"), sa.column("state"), sa.column("result", sa.JSON))
    demonstrations = sa.table("demonstrations", sa.column("id"), sa.column("outcome"))
    connection = op.get_bind()
    trials = sa.select(jobs.c.result).where(jobs.c.kind == "trial", jobs.c.state == "done").order_by(jobs.c.id)
    outcomes = {row["id"]: _WORDS[row["holds"]] for result in connection.scalars(trials).all()
                for row in result.get("rows", ()) if "holds" in row}
    for demonstration, outcome in outcomes.items():
        connection.execute(sa.update(demonstrations).where(demonstrations.c.id == demonstration)
                           .values(outcome=outcome))


def downgrade() -> None:
    for name in ("outcome", "actor"):
        op.drop_column("demonstrations", name)
