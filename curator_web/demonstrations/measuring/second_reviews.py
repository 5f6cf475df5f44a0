"""Second reviews: whether who decided changed anything of what was submitted. Noted when the decision is made.

This is no agreement of two people: the second one began with the first one's work.
"""

from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from curator_web.db.models.core import SUBMITTED, SecondReview, StatusChange
from curator_web.demonstrations.library.library import Review


def note(session: Session, review: Review, number: int, user_name: str, now: datetime) -> None:
    """Compare what the first person handed in with what the second one made of it; `number` is the decision's."""
    submitted = session.scalars(select(StatusChange).where(
        StatusChange.demonstration_id == review.row.id, StatusChange.status == SUBMITTED)
        .order_by(StatusChange.number.desc()).limit(1)).first()
    if submitted is None or submitted.edits is None or submitted.who == user_name:
        return
    handed_in = review.with_edits(review.edits[:submitted.edits])
    session.add(SecondReview(demonstration_id=review.row.id, number=number, first=submitted.who, second=user_name,
                             made_at=now, unchanged=handed_in.current() == review.current()))
