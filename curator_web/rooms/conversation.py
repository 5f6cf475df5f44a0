"""One connection to a room: what is received changes the database and the room, what waits in the outbox is sent."""

import json
import threading
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from websockets.exceptions import ConnectionClosed
from websockets.sync.server import ServerConnection

from curator_web.db.database import Database
from curator_web.errors import Conflict, InputError, ServiceUnavailable
from schemas.formats.room import (
    ENDED,
    FROM_INSTRUCTOR,
    FROM_OBSERVER,
    FROM_RECORDER,
    JPEG,
    MAX_PICTURE_BYTES,
    PICTURE_HEADER,
    REFUSED_ENDED,
    read_message,
)

from . import messages, rooms
from .live import LiveRoom, Participant
from .rooms import INSTRUCTOR, NAVIGATOR

_SCHEMAS = {NAVIGATOR: FROM_RECORDER, INSTRUCTOR: FROM_INSTRUCTOR}
NOT_JSON = "room: a message is not JSON"
NO_PICTURES = "room: pictures are not accepted in this room"
NO_POINTING = "room: only an instructor who sees the screen can point"
BAD_PICTURE = "room: a picture is not valid"
WRONG_DATA, POLICY, TRY_AGAIN = 1007, 1008, 1013  # RFC 6455, section 7.4.1, and IANA's registry


@dataclass(frozen=True)
class Conversation:
    """The connection of one participant."""

    db: Database
    room: LiveRoom
    participant: Participant

    def serve(self, connection: ServerConnection) -> None:
        """Receive until the connection ends. What is not valid ends it with the reason."""
        sender = threading.Thread(target=self._send, args=(connection,), name="room", daemon=True)
        sender.start()
        try:
            if self.participant.role != NAVIGATOR:
                with self.room.lock:
                    for message in messages.all_of(self.db, self.room.id):
                        self.participant.outbox.put(message)
            for content in connection:
                self._receive(content)
        except (Conflict, InputError) as error:
            connection.close(POLICY if isinstance(error, Conflict) else WRONG_DATA, str(error)[:100])
        except ServiceUnavailable as error:
            connection.close(TRY_AGAIN, str(error.message)[:100])
        except ConnectionClosed:
            pass
        finally:
            self.participant.outbox.close()

    def _send(self, connection: ServerConnection) -> None:
        with suppress(ConnectionClosed):
            while (content := self.participant.outbox.take_next()) is not None:
                connection.send(content)
        connection.close()

    def _receive(self, content: str | bytes) -> None:
        """Take in one message. Raises InputError, Conflict, DatabaseUnavailable."""
        role = self.participant.role
        if isinstance(content, bytes):
            self._take_picture(content)
            return
        try:
            decoded = json.loads(content)
        except (ValueError, RecursionError):
            raise InputError(NOT_JSON) from None
        message = read_message(decoded, _SCHEMAS.get(role, FROM_OBSERVER))
        match message["type"]:
            case "painted":
                self.participant.outbox.painted()
            case "clock" if role == NAVIGATOR:
                self.room.send_to(message["to"], message)
            case "clock":
                self.room.send_to_recorder({**message, "to": self.participant.number})
            case "chat":
                self._take_chat(message)
            case "receipt":
                self._take_receipt(message)
            case "state":
                self._take_state(message)

    def _take_chat(self, message: dict[str, Any]) -> None:
        """Store a message and hand it out. The sender is answered by the stored message: nothing else says that it is
        stored."""
        is_recorder = self.participant.role == NAVIGATOR
        if message["region"] and (is_recorder or not self.room.pictures):
            raise InputError(NO_POINTING)
        with self.room.lock:
            stored = messages.store(self.db, self.room.id, message["speaker"] if is_recorder else INSTRUCTOR,
                                    self.participant.name, message)
            self.room.send_to_viewers(stored)
            if is_recorder:
                self.participant.outbox.put({"type": "stored", "id": stored["id"]})
            elif stored["time"] is None and stored["refused"] is None:
                self.room.send_to_recorder(stored)

    def _take_receipt(self, receipt: dict[str, Any]) -> None:
        with self.room.lock:
            if settled := messages.settle(self.db, self.room.id, receipt):
                self.room.send_to_viewers(settled)

    def _take_state(self, message: dict[str, Any]) -> None:
        """What the recorder does; the first time also which recording it makes. Then it gets the messages that it has
        not written. After its end nothing more is written."""
        with self.room.lock:
            rooms.note_recording(self.db, self.room.id, message["recording"])
            if self.room.begin(self.participant):
                for undelivered in messages.undelivered(self.db, self.room.id):
                    self.participant.outbox.put(undelivered)
            if message["state"] == ENDED:
                rooms.end(self.db, self.room.id, self.participant.name or "")
                for undelivered in messages.undelivered(self.db, self.room.id):
                    self._take_receipt({"id": undelivered["id"], "time": None, "refused": REFUSED_ENDED})
                self.participant.outbox.put({"type": "ended"})
            self.room.change_state(message["state"])

    def _take_picture(self, content: bytes) -> None:
        if self.participant.role != NAVIGATOR or not self.room.pictures:
            raise InputError(NO_PICTURES)
        jpeg = content[PICTURE_HEADER.size:PICTURE_HEADER.size + len(JPEG)]
        if len(content) > MAX_PICTURE_BYTES or jpeg != JPEG:
            raise InputError(BAD_PICTURE)
        self.room.show(self.participant, content)
