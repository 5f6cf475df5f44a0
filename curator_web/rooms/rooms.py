"""Rooms in the database: opened by a navigator, entered by an instructor and by observers, ended once.

The navigator is who opened the room. The instructor is a named member, or whoever first follows the room's link, which
works once. Those who review in the project may observe.
"""

import hashlib
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from curator_web.db import audit
from curator_web.db.database import Database
from curator_web.db.models.core import Member
from curator_web.db.models.room_models import Room, RoomLink
from curator_web.errors import Conflict, ErrorText, InputError, NotAllowed, NotFound
from curator_web.users import Account
from schemas.text import storable

NAVIGATOR, INSTRUCTOR, OBSERVER = ROLES = ("navigator", "instructor", "observer")
TASK_LENGTH = 4000  # characters
LINK_LIFETIME = timedelta(hours=1)  # in which a link must be followed
ROOM_LIFETIME = timedelta(days=1)  # after which a room that nobody ended is over
LISTED = 50  # rooms on the page
UNKNOWN = ErrorText("unknown room")
OVER = ErrorText("this room has ended")
LINK_USED = ErrorText("this link was used, and works only once; ask the navigator for another room")
LINK_EXPIRED = ErrorText("this link has expired; ask the navigator for another room")


@dataclass(frozen=True)
class OpenedRoom:
    """A new room; `link`: the secret of the link that makes somebody its instructor, None where a member is it."""

    room: Room
    link: str | None
    expires_at: datetime | None


def require_switched_on(capacity: int) -> None:
    """Raises InputError when this server takes no connections to rooms (`LiveRooms.capacity`)."""
    if not capacity:
        raise InputError(ErrorText("rooms are switched off on this server; its administrator sets DEMOTAPE_ROOMS"))


def open_room(db: Database, account: Account, task: str, instructor: str | None, pictures: bool,
              task_id: str | None = None) -> OpenedRoom:
    """Open a room whose navigator is who asks; `task_id`: of the task of the bank that is recorded in it.

    Raises InputError for a task that is too long, or an instructor who is no member of the project or is the navigator.
    """
    task = storable(task).strip()
    if len(task) > TASK_LENGTH:
        raise InputError(ErrorText("field task: at most %(most)s characters", most=TASK_LENGTH))
    now = datetime.now(UTC)
    room = Room(id=secrets.token_urlsafe(12).replace("_", "-"), project=account.project, task=task, pictures=pictures,
                opened_by=account.name, instructor=instructor, task_id=task_id, opened_at=now)
    link = None if instructor else secrets.token_urlsafe(32)
    with db.writing() as session:
        if instructor and (instructor == account.name or session.get(Member, (account.project, instructor)) is None):
            raise InputError(ErrorText("field instructor: %(name)r must be another member of the project",
                                       name=instructor[:40]))
        session.add(room)
        session.flush()
        if link:
            session.add(RoomLink(sha256=_digest(link), room_id=room.id, created_at=now, expires_at=now + LINK_LIFETIME))
        audit.note(session, account.name, "room opened", room=room.id, project=account.project, pictures=pictures)
    return OpenedRoom(room, link, now + LINK_LIFETIME if link else None)


def listed(db: Database, account: Account) -> list[Room]:
    """The rooms that somebody may enter and that are not over, the newest first."""
    now = datetime.now(UTC)
    query = select(Room).where(Room.project == account.project, Room.ended_at.is_(None),
                               Room.opened_at > now - ROOM_LIFETIME).order_by(Room.opened_at.desc()).limit(LISTED)
    if not account.reviews:
        query = query.where(or_(Room.opened_by == account.name, Room.instructor == account.name))
    with db.reading() as session:
        return list(session.scalars(query))


def enter(db: Database, room_id: str, account: Account) -> tuple[Room, str]:
    """A room and the role of a member in its page: instructor or observer. Raises NotFound for who may not enter."""
    room = existing(db, room_id, account)
    return room, INSTRUCTOR if room.instructor == account.name else OBSERVER


def existing(db: Database, room_id: str, account: Account) -> Room:
    """A room of somebody's project that they may enter; raises NotFound."""
    with db.reading() as session:
        room = session.get(Room, room_id)
    may_enter = room is not None and room.project == account.project and (
        account.reviews or account.name in (room.opened_by, room.instructor))
    if room is None or not may_enter:
        raise NotFound(UNKNOWN)
    return room


def require_navigator(room: Room, account: Account) -> None:
    """Raises NotAllowed for who did not open the room, Conflict when it is over."""
    if room.opened_by != account.name:
        raise NotAllowed(ErrorText("only the user who opened a room can record in it"))
    require_open(room)


def require_open(room: Room) -> None:
    """Raises Conflict when a room is over."""
    if is_over(room):
        raise Conflict(OVER)


def is_over(room: Room) -> bool:
    """Whether a room was ended, or nobody ended it in time."""
    return room.ended_at is not None or room.opened_at < datetime.now(UTC) - ROOM_LIFETIME


def end(db: Database, room_id: str, user_name: str) -> None:
    """End a room; nothing when it is over."""
    with db.writing() as session:
        room = session.get_one(Room, room_id, with_for_update=True)
        if room.ended_at is None:
            room.ended_at = datetime.now(UTC)
            audit.note(session, user_name, "room ended", room=room_id)


def note_recording(db: Database, room_id: str, recording: str) -> Room:
    """A recorder has connected: from now on the room is that recording's. Raises Conflict when it is another's."""
    with db.writing() as session:
        room = session.get_one(Room, room_id, with_for_update=True)
        require_open(room)
        if room.recording not in (None, recording):
            raise Conflict(ErrorText("another recording was made in this room; open another room"))
        room.recording = recording
    return room


def room_of_link(db: Database, link: str) -> Room:
    """The room that an unused link leads to. Raises NotFound for an unknown link, Conflict for one that was used or has
    expired."""
    with db.reading() as session:
        return _require_unused(session, session.get(RoomLink, _digest(link)))


def follow(db: Database, link: str) -> str:
    """Use a link: returns the pass that makes a browser the instructor. Of several at once one gets it. Raises as
    `room_of_link`."""
    granted = secrets.token_urlsafe(32)
    with db.writing() as session:
        row = session.get(RoomLink, _digest(link), with_for_update=True)
        room = _require_unused(session, row)
        if row is not None:
            row.used_at, row.pass_sha256 = datetime.now(UTC), _digest(granted)
        audit.note(session, room.opened_by, "room link used", room=room.id)
    return granted


def room_of_pass(db: Database, granted: str) -> Room:
    """The room of a browser that followed its link; raises NotFound."""
    with db.reading() as session:
        room = session.scalars(select(Room).join(RoomLink, RoomLink.room_id == Room.id).where(
            RoomLink.pass_sha256 == _digest(granted))).first()
    if room is None:
        raise NotFound(UNKNOWN)
    return room


def _require_unused(session: Session, row: RoomLink | None) -> Room:
    if row is None:
        raise NotFound(UNKNOWN)
    if row.used_at is not None:
        raise Conflict(LINK_USED)
    if row.expires_at < datetime.now(UTC):
        raise Conflict(LINK_EXPIRED)
    room = session.get_one(Room, row.room_id)
    require_open(room)
    return room


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()
