"""Comments pinned to turns, and questions to the person who recorded the demonstration."""

from datetime import UTC, datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from curator_web.db import audit
from curator_web.db.database import Database
from curator_web.db.models.core import COMMENT_KINDS, QUESTION, Comment, Demonstration
from curator_web.demonstrations.leases import visibility
from curator_web.demonstrations.library import library
from curator_web.errors import ErrorText, InputError, NotAllowed, NotFound
from curator_web.notifications import publish
from curator_web.users import Account
from curator_web.webhooks import events
from schemas.text import storable

TEXT_LENGTH = 4000
LIMIT = 500  # of one demonstration
LAST_ID = 2**31 - 1  # that an integer column can hold


def add_comment(db: Database, demonstration_id: str, account: Account, text: str, *, turn: str | None = None,
                kind: str = "comment", answers: int | None = None) -> Comment:
    """Say something about a demonstration or one of its turns, or answer what somebody said.

    Raises InputError for what cannot be said, NotFound.
    """
    text = storable(text).strip()
    if not 0 < len(text) <= TEXT_LENGTH:
        raise InputError(ErrorText("field text: 1 to %(text_length)s characters", text_length=TEXT_LENGTH))
    if kind not in COMMENT_KINDS:
        raise InputError(ErrorText("field kind: unknown kind %(kind)r; choose from %(which)s", kind=kind[:40],
                                   which=", ".join(COMMENT_KINDS)))
    with db.writing() as session:
        row = library.row_of(session, demonstration_id, lock=True)
        turn = _checked_turn(session, row, storable(turn), answers)
        if kind == QUESTION and not answers and not row.recorded_by:
            raise InputError(ErrorText("field kind: the person who recorded this demonstration is unknown"))
        if (session.scalar(select(func.count()).where(Comment.demonstration_id == row.id)) or 0) >= LIMIT:
            raise InputError(ErrorText("this demonstration already has the maximum of %(limit)s comments",
                                       limit=LIMIT))
        comment = Comment(demonstration_id=row.id, turn=turn, kind=kind, text=text, who=account.name,
                          made_at=datetime.now(UTC), answers=answers)
        session.add(comment)
        if answers is None:
            row.open_comments += 1
        session.flush()
        audit.note(session, account.name, "asked" if kind == QUESTION else "commented", row.id, comment=comment.id)
        publish.of_comment(session, row, comment, visibility.cannot_see)
        events.of_comment(session, row, comment)
        return comment


def resolve(db: Database, comment_id: int, account: Account) -> Comment:
    """Mark a comment as dealt with. Raises NotFound, InputError for an answer, NotAllowed for who has no part in it."""
    with db.writing() as session:
        comment = session.get(Comment, comment_id) if comment_id <= LAST_ID else None
        if comment is None:
            raise NotFound(ErrorText("unknown comment %(comment_id)s", comment_id=comment_id))
        row = library.row_of(session, comment.demonstration_id, lock=True)
        session.refresh(comment)
        if comment.answers is not None:
            raise InputError(ErrorText("a reply is resolved together with its comment"))
        people = (comment.who, row.recorded_by, row.submitted_by, row.assigned_to, row.lease_who)
        if not account.reviews and account.name not in people:
            raise NotAllowed(ErrorText("you cannot resolve this comment"))
        if comment.resolved_at is None:
            comment.resolved_by, comment.resolved_at = account.name, datetime.now(UTC)
            row.open_comments -= 1
            audit.note(session, account.name, "resolved", row.id, comment=comment.id)
        return comment


def comments_of(db: Database, demonstration_id: str) -> list[Comment]:
    """All comments of a demonstration, each followed by its answers; raises NotFound."""
    with db.reading() as session:
        is_of_demonstration = Comment.demonstration_id == storable(demonstration_id)
        comments = session.scalars(select(Comment).where(is_of_demonstration).order_by(Comment.id)).all()
        if not comments:
            library.row_of(session, demonstration_id)
    return sorted(comments, key=lambda comment: (comment.answers or comment.id, comment.id))


def questions_for(db: Database, account: Account) -> list[tuple[Comment, Demonstration]]:
    """Open questions about what this person recorded, the newest first."""
    with db.reading() as session:
        query = (
            select(Comment, Demonstration).join(Demonstration, Demonstration.id == Comment.demonstration_id)
            .where(Demonstration.project == account.project, Demonstration.recorded_by == account.name,
                   Demonstration.open_comments > 0, Comment.kind == QUESTION,
                   Comment.answers.is_(None), Comment.resolved_at.is_(None))
            .order_by(Comment.id.desc()).limit(LIMIT))
        rows = session.execute(query).all()
        if rows and (hidden := visibility.hidden_ids(session, account)) is not None:
            rows = session.execute(query.where(Demonstration.id.not_in(hidden))).all()
        return [(comment, row) for comment, row in rows]


def _checked_turn(session: Session, row: Demonstration, turn: str | None, answers: int | None) -> str | None:
    if answers is not None:
        answered = session.get(Comment, answers) if 0 < answers <= LAST_ID else None
        if answered is None or answered.demonstration_id != row.id or answered.answers is not None:
            raise InputError(ErrorText("field answers: unknown comment %(answers)s",
                                       answers=answers))
        return answered.turn
    if turn is None:
        return None
    review = library.load(session, row.id)
    if turn not in {turn_["id"] for turn_ in review.current()["turns"]}:
        raise InputError(ErrorText("field turn: unknown turn %(turn)r in this demonstration", turn=turn[:80]))
    return turn
