"""What somebody may not see yet, or not at all, of the demonstrations of a project that they are in: what others do in
a pair or in training, and the known answers of what they have to answer themselves. Leads see all."""

from collections.abc import Iterable

from sqlalchemy import Select, exists, select, union_all
from sqlalchemy.orm import Session

from curator_web.db.database import Database
from curator_web.db.models import LEAD, Demonstration
from curator_web.errors import ErrorText, NotFound
from curator_web.users import Account, members

from . import pairs, tries


def expect(db: Database, demonstration_id: str, account: Account) -> None:
    """Raises NotFound for a demonstration that this person may not see."""
    if account.leads:
        return
    with db.reading() as session:
        if _hides(session, demonstration_id, account.name, account.project):
            raise NotFound(ErrorText("there is no demonstration %(demonstration_id)r",
                                     demonstration_id=demonstration_id))


def hidden_from(account: Account) -> Select[tuple[str]] | None:
    """Ids of what this person may not see; None for who may see all."""
    return None if account.leads else _hidden(account.name, account.project)


def unseen_by(session: Session, row: Demonstration, names: Iterable[str]) -> set[str]:
    """Which of these people may not see a demonstration."""
    return {name for name in names if members.role_of(session, name, row.home) != LEAD
            and _hides(session, row.id, name, row.home)}


def _hides(session: Session, demonstration_id: str, who: str, project: str) -> bool:
    sight = _hidden(who, project).subquery()
    return session.scalar(select(exists().where(sight.c.id == demonstration_id))) or False


def _hidden(who: str, project: str) -> Select[tuple[str]]:
    return select(union_all(pairs.hidden(who, project), tries.hidden(who, project)).subquery().c.id)
