"""Second reviews: what who decided changed of what was submitted. Worked out once, when the decision is made.

This is no agreement of two people: the second one began with the first one's work.
"""

from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from curator_web.db.models import SUBMITTED, SecondReview, StatusChange
from pipeline.evaluate import agreement
from pipeline.turns.edits import apply_edits
from schemas import types

from .library import Review


def note_second_review(session: Session, found: Review, number: int, who: str, now: datetime) -> None:
    """Compare what the first person handed in with what the second one made of it; `number` is the decision's."""
    submitted = session.scalars(select(StatusChange).where(
        StatusChange.demonstration_id == found.row.id, StatusChange.status == SUBMITTED)
        .order_by(StatusChange.number.desc()).limit(1)).first()
    if submitted is None or submitted.edits is None or submitted.who == who:
        return
    session.add(SecondReview(demonstration_id=found.row.id, number=number, first=submitted.who, second=who,
                             made_at=now, unchanged=_unchanged(found, submitted.edits),
                             **compared(found.base["turns"], found.edits, submitted.edits)))


def _unchanged(found: Review, first: int) -> bool:
    """Whether the second person left everything as it was handed in."""
    handed_in = found.with_edits(found.edits[:first])
    return (handed_in.turns, handed_in.task) == (found.turns, found.task)


def compared(base: list[types.Turn], edits: list[types.Edit], first: int) -> dict[str, float | None]:
    """What a second review says of the first: the demonstration after its `first` edits beside it after all of them.

    `turns` that either has; `intent_match`, `element_iou`, `chrf` as `pipeline.evaluate.agreement` defines them.
    """
    agreed = agreement({"turns": apply_edits(base, edits[:first])}, {"turns": apply_edits(base, edits)})
    return {"turns": agreed.matched + agreed.only_a + agreed.only_b, "intent_match": agreed.intent_match,
            "element_iou": agreed.element_iou, "chrf": agreed.chrf}
