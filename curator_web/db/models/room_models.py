"""The tables of rooms: live sessions of an instructor and a navigator, the links into them, and their messages."""

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, ForeignKey, String, Text, UniqueConstraint, true
from sqlalchemy.orm import Mapped, mapped_column

from curator_web.db.columns import ID_LENGTH

from .core import Base

SECRET_LENGTH = 64  # hexadecimal digits of a SHA-256
MESSAGE_ID_LENGTH = 64
REFUSAL_LENGTH = 20


class Room(Base):
    """A live session: one recording, one navigator (`opened_by`, whose recorder connects), one instructor.

    `instructor`: the member who is it; None where a link makes somebody the instructor. `pictures`: whether the
    instructor sees the screen. `task_id`: of a task of the bank. `recording`: the id of the recording, from when the
    recorder first connects.
    """

    __tablename__ = "rooms"

    id: Mapped[str] = mapped_column(String(ID_LENGTH), primary_key=True)
    project: Mapped[str] = mapped_column(ForeignKey("projects.id"), index=True)
    task: Mapped[str] = mapped_column(Text)
    pictures: Mapped[bool] = mapped_column(default=True, server_default=true())
    opened_by: Mapped[str] = mapped_column(String(ID_LENGTH))
    instructor: Mapped[str | None] = mapped_column(String(ID_LENGTH))
    task_id: Mapped[str | None] = mapped_column(String(ID_LENGTH))
    recording: Mapped[str | None] = mapped_column(String(ID_LENGTH))
    opened_at: Mapped[datetime]
    ended_at: Mapped[datetime | None]


class RoomLink(Base):
    """A link that makes one browser the instructor of a room. Of its secret only the SHA-256 is stored, and of the pass
    that the browser gets for it; `used_at`: when that was."""

    __tablename__ = "room_links"

    sha256: Mapped[str] = mapped_column(String(SECRET_LENGTH), primary_key=True)
    room_id: Mapped[str] = mapped_column(ForeignKey("rooms.id"), index=True)
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    used_at: Mapped[datetime | None]
    pass_sha256: Mapped[str | None] = mapped_column(String(SECRET_LENGTH), unique=True)


class RoomMessage(Base):
    """One message of a room's chat, numbered from 1 in the order in which the server received them.

    `id` is the sender's own, so that a message that is sent again is stored once. `kind`: say, edit or delete;
    `changes`: the id of the message that is edited or deleted. `began`, `sent`: seconds of the recording, by the
    sender's measurement of its clock, which may be off by `uncertainty`. `time`: since when it is in the recording,
    in seconds of it, None before; `refused`: why the recorder did not accept it. `details`: further fields of the
    message (`messages.DETAILS`) that are not None.
    """

    __tablename__ = "room_messages"
    __table_args__ = (UniqueConstraint("room_id", "id", name="uq_room_messages_room_id_id"),)

    room_id: Mapped[str] = mapped_column(ForeignKey("rooms.id"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    id: Mapped[str] = mapped_column(String(MESSAGE_ID_LENGTH))
    speaker: Mapped[str] = mapped_column(String(20))
    who: Mapped[str | None] = mapped_column(String(ID_LENGTH))
    kind: Mapped[str] = mapped_column(String(20))
    text: Mapped[str] = mapped_column(Text)
    changes: Mapped[str | None] = mapped_column(String(MESSAGE_ID_LENGTH))
    began: Mapped[float | None]
    sent: Mapped[float | None]
    uncertainty: Mapped[float | None]
    time: Mapped[float | None]
    refused: Mapped[str | None] = mapped_column(String(REFUSAL_LENGTH))
    details: Mapped[dict[str, Any] | None] = mapped_column(JSON)
    stored_at: Mapped[datetime]
