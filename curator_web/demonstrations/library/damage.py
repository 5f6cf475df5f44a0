"""Demonstrations that cannot be shown or exported, with the reason, so that the others continue.

Old databases and disks hold what is refused today: edits and numbers that cannot be, blobs that are gone.
"""

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager

from sqlalchemy import select, update
from sqlalchemy.exc import NoResultFound

from curator_web.db.database import Database
from curator_web.db.models.core import Demonstration
from curator_web.errors import Damaged, InputError
from pipeline.export import FAULTS, LeftOut
from schemas import types

UNREADABLE: tuple[type[Exception], ...] = (*FAULTS, NoResultFound)
LENGTH = 500  # characters of a reason


@contextmanager
def named(demonstration_id: str) -> Iterator[None]:
    """Raise Damaged for what reading a demonstration meets."""
    try:
        yield
    except Damaged:
        raise
    except UNREADABLE as error:
        raise Damaged(demonstration_id, reason(error)) from error


def reason(error: Exception) -> str:
    """Why, in a line. The words of errors that are not ours may hold what was captured."""
    ours = isinstance(error, InputError)
    return str(error)[:LENGTH].rstrip(".") if ours else f"its data cannot be read ({type(error).__name__})"


def blobs_of(turns: Iterable[types.Turn]) -> set[str]:
    """The blobs that the turns' states name."""
    states = [turn["state"] for turn in turns if turn["type"] == "browser" and turn["state"] and not turn["dropped"]]
    return {name for state in states for name in (state["dom"], state["elements"], state["screenshot"]) if name}


def note(db: Database, damaged: Iterable[LeftOut], intact: Collection[str] = ()) -> None:
    """Record for the list which demonstrations are damaged and why, and which are `intact` after all."""
    reasons = {left_out.id: left_out.reason[:LENGTH] for left_out in damaged}
    with db.reading() as session:
        stored = {name: said for name, said in session.execute(
            select(Demonstration.id, Demonstration.damage).where(Demonstration.damage.is_not(None)))}
    changes: dict[str, str | None] = {name: None for name in stored if name in intact and name not in reasons}
    changes |= {name: said for name, said in reasons.items() if stored.get(name) != said}
    if not changes:
        return
    with db.writing() as session:
        for name, said in changes.items():
            session.execute(update(Demonstration).where(Demonstration.id == name).values(damage=said))
