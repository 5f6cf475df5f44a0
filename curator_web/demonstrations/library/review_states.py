"""The review state of a demonstration in exports, with pseudonyms for people."""

import hmac

from sqlalchemy import select

from curator_web.db.database import Database
from curator_web.db.models.core import APPROVED, VALIDATED, Demonstration, Edit
from curator_web.users import BY_COMMAND
from pipeline.export import ReviewState


def review_state(db: Database, row: Demonstration, key: str) -> ReviewState:
    """The status, who edited or submitted it, and who validated it; `key`: what the pseudonyms are made with."""
    with db.reading() as session:
        editors = session.scalars(select(Edit.who).where(Edit.demonstration_id == row.id).distinct()).all()
    people = {*editors, row.submitted_by} - {None, BY_COMMAND}
    validator = row.reviewed_by if validated(row.status, row.reviewed_by) else None
    return ReviewState(row.status, tuple(sorted(pseudonym(person, key) for person in people if person)),
                       pseudonym(validator, key) if validator else "", row.proof or "")


def validated(status: str, reviewed_by: str | None) -> bool:
    """Whether somebody validated it, and it stands."""
    return reviewed_by is not None and status in (VALIDATED, APPROVED)


def pseudonym(user_name: str, key: str) -> str:
    """The same for the same user in all exports of a data folder; nobody can tell whose it is by trying names."""
    return f"reviewer-{hmac.digest(key.encode(), f'user {user_name}'.encode(), 'sha256').hex()[:8]}"
