"""What is still to be sent to one participant of a room: messages in order, and of the pictures the newest only."""

import json
import threading
from collections import deque
from typing import Any

MAX_WAITING_MESSAGES = 10_000  # of a participant who reads nothing; then the connection ends


class Outbox:
    """Filled by any thread, emptied by the one that sends.

    One picture is on the way at a time: until the participant has shown it (`painted`), newer ones replace each other
    here, so that a slow line gets fewer pictures and never older ones.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._messages: deque[str] = deque()
        self._picture: bytes | None = None
        self._is_picture_due = True
        self._closed = False

    def put(self, message: dict[str, Any]) -> None:
        """Add a message; the outbox closes when too many wait."""
        with self._changed:
            self._messages.append(json.dumps(message, ensure_ascii=False, separators=(",", ":")))
            self._closed |= len(self._messages) > MAX_WAITING_MESSAGES
            self._changed.notify()

    def put_picture(self, picture: bytes) -> None:
        """Have this picture be the next one."""
        with self._changed:
            self._picture = picture
            self._changed.notify()

    def painted(self) -> None:
        """The participant is ready for another picture."""
        with self._changed:
            self._is_picture_due = True
            self._changed.notify()

    def close(self) -> None:
        """Nothing more is added; what waits is still sent."""
        with self._changed:
            self._closed = True
            self._changed.notify()

    def take_next(self) -> str | bytes | None:
        """Wait for what is to be sent next: messages first, then a picture; None after the end."""
        with self._changed:
            self._changed.wait_for(lambda: self._messages or self._closed or (self._picture and self._is_picture_due))
            if self._messages:
                return self._messages.popleft()
            if self._closed:
                return None
            picture, self._picture, self._is_picture_due = self._picture, None, False
            return picture
