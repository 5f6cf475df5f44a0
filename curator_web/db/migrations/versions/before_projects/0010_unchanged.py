"""Second reviews say whether anything was changed, instead of an agreement that was none."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    op.add_column("second_reviews", sa.Column("unchanged", sa.Boolean))
    names = ("intent_match", "element_iou", "chrf")
    table = sa.table("second_reviews", sa.column("unchanged"), *(sa.column(name) for name in names))
    is_unchanged = sa.and_(*(sa.func.coalesce(table.c[name], 1.0) == 1.0 for name in names))
    op.get_bind().execute(sa.update(table).values(unchanged=sa.case((is_unchanged, sa.true()), else_=sa.false())))
    with op.batch_alter_table("second_reviews") as reviews:
        reviews.alter_column("unchanged", existing_type=sa.Boolean, nullable=False)
        for name in ("turns", *names):
            reviews.drop_column(name)


def downgrade() -> None:
    op.add_column("second_reviews", sa.Column("turns", sa.Integer, nullable=False, server_default="0"))
    for name in ("intent_match", "element_iou", "chrf"):
        op.add_column("second_reviews", sa.Column(name, sa.Double))
    op.drop_column("second_reviews", "unchanged")
