"""The rooms that are connected to this process: who is in them, what the recorder does, the newest picture."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from curator_web.errors import Busy, ErrorText
from schemas.formats.room import ENDED

from .outbox import Outbox
from .rooms import NAVIGATOR

WAITING = "waiting"  # state of a room: no recorder is connected
FULL = ErrorText("this server cannot take more connections to rooms; try again later")


@dataclass(frozen=True)
class Participant:
    """One connection to a room. `name`: the member's; None for who followed a link."""

    number: int
    role: str
    name: str | None
    outbox: Outbox = field(default_factory=Outbox, compare=False)


class LiveRoom:
    """One room. `lock` orders what happens in it: a message is stored and handed out under it, so that everybody gets
    everything in one order."""

    def __init__(self, room_id: str, pictures: bool):
        self.id, self.pictures = room_id, pictures
        self.lock = threading.RLock()
        self.state = WAITING
        self._participants: list[Participant] = []
        self._recorder: Participant | None = None  # when it has said which recording it makes
        self._picture: bytes | None = None

    @property
    def is_empty(self) -> bool:
        """Whether nobody is connected."""
        return not self._participants

    def join(self, participant: Participant) -> None:
        """A connection has begun. Another recorder takes the place of the one before it."""
        with self.lock:
            if participant.role == NAVIGATOR:
                for earlier in [other for other in self._participants if other.role == NAVIGATOR]:
                    self.leave(earlier)
            self._participants.append(participant)
            participant.outbox.put({"type": "welcome", "role": participant.role, "pictures": self.pictures})
            self._announce()
            if participant.role != NAVIGATOR:
                participant.outbox.put(self._state_message())
                if self._picture is not None:
                    participant.outbox.put_picture(self._picture)

    def leave(self, participant: Participant) -> None:
        """A connection has ended, or is to end."""
        with self.lock:
            participant.outbox.close()
            if participant not in self._participants:
                return
            self._participants.remove(participant)
            if participant is self._recorder:
                self._recorder, self._picture = None, None
                if self.state != ENDED:
                    self.change_state(WAITING)
            self._announce()

    def begin(self, recorder: Participant) -> bool:
        """A recorder has said which recording it makes: it gets messages from now on. Returns whether that is new."""
        with self.lock:
            if self._recorder is recorder:
                return False
            self._recorder = recorder
            self._request_pictures()
            return True

    def change_state(self, state: str) -> None:
        """The recorder does something else: recording, paused, ended, or is away (WAITING)."""
        with self.lock:
            self.state = state
            self.send_to_viewers(self._state_message())

    def send_to_recorder(self, message: dict[str, Any]) -> None:
        """Send to the recorder, if it is connected; who stored the message sends it again otherwise."""
        with self.lock:
            if self._recorder:
                self._recorder.outbox.put(message)

    def send_to_viewers(self, message: dict[str, Any]) -> None:
        """Send to instructor and observers."""
        with self.lock:
            for viewer in self._viewers():
                viewer.outbox.put(message)

    def send_to(self, number: int, message: dict[str, Any]) -> None:
        """Send to one viewer; nothing when that one is gone."""
        with self.lock:
            for viewer in self._viewers():
                if viewer.number == number:
                    viewer.outbox.put(message)

    def show(self, recorder: Participant, picture: bytes) -> None:
        """A picture of the recorder has arrived: it is the newest one for every viewer."""
        with self.lock:
            if recorder is self._recorder:
                self._picture = picture
                recorder.outbox.put({"type": "painted"})
                for viewer in self._viewers():
                    viewer.outbox.put_picture(picture)

    def close(self) -> None:
        """The room was ended: all connections end."""
        with self.lock:
            self.change_state(ENDED)
            for participant in list(self._participants):
                self.leave(participant)

    def _viewers(self) -> list[Participant]:
        return [participant for participant in self._participants if participant.role != NAVIGATOR]

    def _announce(self) -> None:
        """Tell everybody who is there, and the recorder whether somebody sees its pictures."""
        people = [{"role": participant.role, "name": participant.name} for participant in self._participants]
        for participant in self._participants:
            participant.outbox.put({"type": "people", "people": people})
        self._request_pictures()

    def _request_pictures(self) -> None:
        if self._recorder:
            self._recorder.outbox.put({"type": "pictures", "wanted": self.pictures and bool(self._viewers())})

    def _state_message(self) -> dict[str, Any]:
        return {"type": "state", "state": self.state}


class LiveRooms:
    """All rooms of this process. `capacity`: connections at a time, each of which keeps a thread of the server busy; 0
    where rooms are switched off."""

    def __init__(self, capacity: int):
        self.capacity = capacity
        self._lock = threading.Lock()
        self._rooms: dict[str, LiveRoom] = {}
        self._connections = 0
        self._numbers = count(1)

    @contextmanager
    def connection(self, room_id: str, pictures: bool, role: str, name: str | None
                   ) -> Iterator[tuple[LiveRoom, Participant]]:
        """A participant in a room while the connection lasts; raises Busy when there are too many."""
        with self._lock:
            if self._connections >= self.capacity:
                raise Busy(FULL)
            self._connections += 1
            room = self._rooms.setdefault(room_id, LiveRoom(room_id, pictures))
            participant = Participant(next(self._numbers), role, name)
            room.join(participant)
        try:
            yield room, participant
        finally:
            with self._lock:
                self._connections -= 1
                room.leave(participant)
                if room.is_empty and self._rooms.get(room_id) is room:
                    del self._rooms[room_id]

    def close_room(self, room_id: str) -> None:
        """End the connections of a room that was ended."""
        with self._lock:
            room = self._rooms.get(room_id)
        if room:
            room.close()

