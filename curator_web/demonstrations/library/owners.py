"""The owner of a recording: another user's recording with the same id gets another id."""

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from curator_web.db.database import Database
from curator_web.db.models.core import ID_LENGTH, LEAD, Demonstration, RecordingOwner, User
from curator_web.users import members

MAX_CLAIM_ATTEMPTS = 5  # to claim an id that others claim at the same moment


def claim(db: Database, sent_as: str, user_name: str | None) -> str:
    """The id under which this person's recording is kept; it is theirs from now on.

    That is the id it was sent under, if it is nobody's yet or may be renewed by them (`_may_renew`); else one that is
    made of it, the same each time. `user_name`: None on the server's command line.
    """
    for _ in range(MAX_CLAIM_ATTEMPTS - 1):
        try:
            with db.writing() as session:
                return _claim(session, sent_as, user_name)
        except IntegrityError:  # PostgreSQL: another process claimed it a moment ago
            continue
    with db.writing() as session:
        return _claim(session, sent_as, user_name)


def release(db: Database, recording: str, user_name: str | None) -> None:
    """Give an id back that was claimed for a recording which then could not be imported."""
    with db.writing() as session:
        row = session.get(RecordingOwner, recording, with_for_update=True)
        if row and row.who == user_name and not _used(session, recording):
            session.delete(row)


def adopt(session: Session, recording: str, user_name: str | None) -> RecordingOwner:
    """Make what is no user's this person's, where they may renew it; returns whose it is."""
    row = session.get_one(RecordingOwner, recording, with_for_update=True)
    if user_name and row.who != user_name and _may_renew(session, row, user_name):
        row.who = user_name
    return row


def _claim(session: Session, sent_as: str, user_name: str | None) -> str:
    row = session.get(RecordingOwner, sent_as, with_for_update=True)
    if row and _may_renew(session, row, user_name):
        return sent_as
    own = select(RecordingOwner.recording).where(RecordingOwner.sent_as == sent_as, RecordingOwner.who == user_name)
    if user_name and (existing := session.scalars(own).first()):
        return existing
    free, number = sent_as, 1
    while session.get(RecordingOwner, free) or session.get(Demonstration, free):
        number += 1
        free = f"{sent_as[:ID_LENGTH - 1 - len(str(number))]}-{number}"
    session.add(RecordingOwner(recording=free, sent_as=sent_as, who=user_name))
    return free


def _may_renew(session: Session, row: RecordingOwner, user_name: str | None) -> bool:
    """Whether this person may send a recording of that owner's again.

    The owner may, and who works on the server. What is no user's (imported on the server, or from before there were
    accounts) a lead of its project may renew, and without accounts the one person there is.
    """
    if user_name is None or row.who == user_name or session.scalars(select(User.name).limit(1)).first() is None:
        return True
    demonstration = session.scalars(select(Demonstration).where(Demonstration.recording == row.recording)
                                    .order_by(Demonstration.imported_at)).first()  # not the parts of it
    return (demonstration is not None and members.role_of(session, user_name, demonstration.home) == LEAD
            and (row.who is None or session.get(User, row.who) is None))


def _used(session: Session, recording: str) -> bool:
    return session.scalars(select(Demonstration.id).where(Demonstration.recording == recording)).first() is not None
