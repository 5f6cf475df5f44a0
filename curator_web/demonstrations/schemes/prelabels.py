"""Pre-labels: answers of a model or a file, which are suggested to annotators and count only once confirmed."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from curator_web.db import audit
from curator_web.db.database import Database
from curator_web.db.models.core import Demonstration
from curator_web.db.models.scheme_models import SOURCE_LENGTH, Prelabel
from curator_web.demonstrations.library import library
from curator_web.demonstrations.library.copies import base_of
from curator_web.errors import ErrorText, InputError
from curator_web.users import Account
from curator_web.users.projects import require_lead
from pipeline.labelling.answers import checked_value, question_of
from schemas.formats.scheme import TURN
from schemas.text import storable

from .versions import current_scheme

MAX_PRELABELS = 1000  # in a request


def save_prelabels(db: Database, source: str, new: Iterable[Mapping[str, Any]], account: Account) -> int:
    """Have pre-labels of a source replace what was suggested for the same questions; all or none. Each has
    `demonstration`, `question`, `value` (None removes it) and, about a turn, `turn`. Returns how many there were.

    Raises NotAllowed, and InputError naming the first entry that does not fit.
    """
    require_lead(account)
    source = storable(source).strip()
    if not 0 < len(source) <= SOURCE_LENGTH:
        raise InputError(ErrorText("field source: must have 1 to %(length)s characters", length=SOURCE_LENGTH))
    count = 0
    with db.writing() as session:
        turns: dict[str, set[str]] = {}
        for count, entry in enumerate(new, 1):
            try:
                _save(session, source, storable(dict(entry)), turns, account)
            except InputError as error:
                raise InputError(f"pre-label {count}: {error}") from None
        audit.note(session, account.name, "pre-labels saved", project=account.project, source=source, count=count)
    return count


def prelabels_of(session: Session, demonstration_id: str, turns: Collection[str]) -> Sequence[Prelabel]:
    """What is suggested for a demonstration, or the one that it is a copy of, at these turns (empty: about itself)."""
    return session.scalars(select(Prelabel).where(Prelabel.demonstration_id == base_of(session, demonstration_id),
                                                  Prelabel.turn.in_(turns))).all()


def _save(session: Session, source: str, entry: Mapping[str, Any], turns: dict[str, set[str]], account: Account
          ) -> None:
    name, turn = entry["demonstration"], entry.get("turn") or ""
    row = session.get(Demonstration, name)
    if row is None or row.project != account.project:
        raise InputError(ErrorText("unknown demonstration %(demonstration_id)r", demonstration_id=name[:80]))
    question = question_of(current_scheme(session, account.project).scheme, entry["question"])
    if name not in turns:
        turns[name] = {known["id"] for known in library.load(session, name).turns}
    if (question["scope"] == TURN) != bool(turn) or (turn and turn not in turns[name]):
        raise InputError(ErrorText("field turn: unknown turn %(turn)r", turn=turn[:80]))
    value, key = checked_value(question, entry["value"]), (name, question["name"], turn)
    prelabel = session.get(Prelabel, key)
    if value is None:
        if prelabel is not None:
            session.delete(prelabel)
        return
    if prelabel is None:
        prelabel = Prelabel(demonstration_id=name, question=question["name"], turn=turn)
        session.add(prelabel)
    prelabel.value, prelabel.source, prelabel.saved_at = value, source, datetime.now(UTC)
    session.flush()
