"""Demonstrations that a member may not see: the work of others in a pair or in training, and known answers. Leads see
everything.
"""

from collections.abc import Iterable
from functools import lru_cache

from sqlalchemy import Select, bindparam, exists, or_, select, union_all
from sqlalchemy.orm import Session

from curator_web.db.database import Database
from curator_web.db.models.core import COPIES, LEAD, Demonstration
from curator_web.db.models.training_models import Training
from curator_web.demonstrations.library import pairs
from curator_web.errors import ErrorText, NotFound
from curator_web.users import Account, members

from . import training_attempts

MAX_INLINE_IDS = 200  # written into a query; more become a subquery


def require_visible(db: Database, demonstration_id: str, account: Account) -> None:
    """Raise NotFound for a demonstration that this person may not see."""
    if account.leads:
        return
    with db.reading() as session:
        if _hides(session, demonstration_id, account.name, account.project):
            raise NotFound(ErrorText("unknown demonstration %(demonstration_id)r",
                                     demonstration_id=demonstration_id))


def hidden_ids(session: Session, account: Account) -> list[str] | Select[str] | None:
    """Ids of demonstrations that this person may not see, or a query for them where they are many, for a `not_in`
    condition; None where they see all of their project."""
    if account.leads or not _hides_any(session, account.project):
        return None
    hidden = _hidden_query(account.name, account.project)
    rare_ids = list(session.scalars(hidden.limit(MAX_INLINE_IDS + 1)))  # asked once: a page has several conditions
    return hidden if len(rare_ids) > MAX_INLINE_IDS else rare_ids or None


def cannot_see(session: Session, row: Demonstration, names: Iterable[str]) -> set[str]:
    """The names of those who may not see a demonstration."""
    return {name for name in names if members.role_of(session, name, row.home) != LEAD
            and _hides(session, row.id, name, row.home)}


def _hides(session: Session, demonstration_id: str, user_name: str, project: str) -> bool:
    if not _hides_any(session, project):
        return False
    return session.scalar(_is_hidden_query(user_name, project), {"demonstration_id": demonstration_id}) or False


def _hides_any(session: Session, project: str) -> bool:
    """Whether anything of a project may be hidden from somebody. Most have neither pairs nor training, and to ask
    what is hidden takes longer than the rest of a page."""
    return session.scalar(_ANY, {"project": project, "copies": COPIES + project}) or False


_ANY = select(or_(
    exists().where(Demonstration.project == bindparam("copies")),
    exists().where(Training.demonstration_id == Demonstration.id, Demonstration.project == bindparam("project"))))


@lru_cache(pairs.MAX_CACHED_QUERIES)
def _is_hidden_query(user_name: str, project: str) -> Select[tuple[bool]]:
    hidden = _hidden_query(user_name, project).subquery()
    return select(exists().where(hidden.c.id == bindparam("demonstration_id")))


@lru_cache(pairs.MAX_CACHED_QUERIES)
def _hidden_query(user_name: str, project: str) -> Select[str]:
    return select(union_all(pairs.hidden(user_name, project),
                            training_attempts.hidden(user_name, project)).subquery().c.id)
