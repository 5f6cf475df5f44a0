"""The chat of a room in the database: each message is stored once and in order, before it is sent to anybody."""

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import func, select

from curator_web.db.database import Database
from curator_web.db.models.room_models import Room, RoomMessage
from curator_web.errors import Conflict, ErrorText, InputError
from schemas.formats.room import DELETE, EDIT, MAX_UNCERTAINTY_S, SAY
from schemas.text import storable

from .rooms import require_open

MAX_MESSAGES = 5000  # in a room
DETAILS = ("region", "success", "model")  # fields of a message that most messages do not have


def store(db: Database, room_id: str, speaker: str, user_name: str | None, message: dict[str, Any]) -> dict[str, Any]:
    """Store a message (`ChatMessageSchema`) and return it as `as_sent` has it; one with the same id was stored before.

    Raises InputError for one that changes nothing that this speaker said, or an id that somebody else used; Conflict
    when the room is over or full.
    """
    with db.writing() as session:
        room = session.get_one(Room, room_id, with_for_update=True)  # one number a message
        before = _find(session, room_id, message["id"])
        if before is not None:
            if before.speaker != speaker:
                raise InputError("room: the id of a message is used already")
            return as_sent(before)
        require_open(room)
        changed = _find(session, room_id, message["changes"]) if message["changes"] else None
        if message["kind"] != SAY and message["region"]:
            raise InputError("room: only an utterance can point")
        is_change = message["kind"] in (EDIT, DELETE)
        if is_change and (changed is None or changed.speaker != speaker or changed.kind != SAY):
            raise InputError("room: only one's own messages can be edited or deleted")
        last = session.scalar(select(func.max(RoomMessage.number)).where(RoomMessage.room_id == room_id)) or 0
        if last >= MAX_MESSAGES:
            raise Conflict(ErrorText("this room has %(most)s messages; no more are accepted", most=MAX_MESSAGES))
        row = RoomMessage(
            room_id=room_id, number=last + 1, id=message["id"], speaker=speaker, who=user_name, kind=message["kind"],
            text=storable(message["text"]).strip(), changes=message["changes"] if is_change else None,
            **_measured(message), time=message.get("time"), refused=None, stored_at=datetime.now(UTC),
            details={name: message[name] for name in DETAILS if message[name] is not None} or None)
        session.add(row)
        return as_sent(row)


def settle(db: Database, room_id: str, receipt: dict[str, Any]) -> dict[str, Any] | None:
    """Note that the recorder has written a message, or refuses it (`ReceiptSchema`); returns the message, None when
    there is none or that was known. A later refusal does not change a written message."""
    with db.writing() as session:
        row = _find(session, room_id, receipt["id"])
        if row is None or row.time is not None or row.refused is not None:
            return None
        row.time, row.refused = receipt["time"], receipt["refused"]
        return as_sent(row)


def all_of(db: Database, room_id: str) -> list[dict[str, Any]]:
    """All messages of a room, in order."""
    with db.reading() as session:
        return [as_sent(row) for row in session.scalars(
            select(RoomMessage).where(RoomMessage.room_id == room_id).order_by(RoomMessage.number))]


def undelivered(db: Database, room_id: str) -> list[dict[str, Any]]:
    """The messages that the recorder has neither written nor refused, in order."""
    return [message for message in all_of(db, room_id) if message["time"] is None and message["refused"] is None]


def as_sent(row: RoomMessage) -> dict[str, Any]:
    """A message as participants get it."""
    return {"type": "chat", **{name: getattr(row, name) for name in (
        "number", "id", "speaker", "kind", "text", "changes", "began", "sent", "uncertainty", "time", "refused")},
        **{name: (row.details or {}).get(name) for name in DETAILS}}


def _measured(message: dict[str, Any]) -> dict[str, float | None]:
    """The sender's times, if its measurement of the clock is good enough."""
    uncertainty = message["uncertainty"]
    known = uncertainty is not None and uncertainty <= MAX_UNCERTAINTY_S
    return {name: message[name] if known else None for name in ("began", "sent", "uncertainty")}


def _find(session: Any, room_id: str, message_id: str) -> RoomMessage | None:
    return session.scalars(select(RoomMessage).where(RoomMessage.room_id == room_id,
                                                     RoomMessage.id == message_id)).first()
