"""The chat of a recording: what is typed where it is recorded, and what arrives from a live room."""

from collections.abc import Callable
from typing import Any, Protocol

from recorder.privacy.secret_values import Secrets
from schemas import ChatLineSchema, DemotapeError, InputError
from schemas.files import validated
from schemas.formats.parts import DONE, SIGNALS
from schemas.formats.room import (
    DELETE,
    REFUSED_EMPTY,
    REFUSED_ENDED,
    REFUSED_PAUSED,
    REFUSED_UNKNOWN,
    SAY,
)
from schemas.types.recordings import ChatLine, Pointing

from .pauses import Pauses


class MessageRefused(DemotapeError):
    """A message of a room is not in the recording; `reason`: one of schemas.formats.room.REFUSALS."""

    def __init__(self, reason: str):
        super().__init__(f"chat: a message is not recorded ({reason})")
        self.reason = reason


class ChatTarget(Protocol):
    """What the chat needs of the recording that it belongs to."""

    failed: Exception | None

    @property
    def elapsed(self) -> float: ...
    @property
    def running(self) -> bool: ...
    def write_chat(self, line: ChatLine, on_written: Callable[[], None]) -> None: ...
    def announce(self, news: dict[str, Any]) -> None: ...


class Chat:
    """Writes utterances on the recording's clock, without secrets, and none of a pause."""

    def __init__(self, target: ChatTarget, secrets: Secrets, pauses: Pauses):
        self._target, self._secrets, self._pauses = target, secrets, pauses
        self._message_ids: set[str] = set()  # of what was said in the room

    def say(self, speaker: str, utterance: str, signal: str | None = None, success: bool | None = None) -> None:
        """Keep an utterance, or a signal with its reason, at this time. `success`: with the signal done only. Raises
        InputError when it is not valid, when paused, or after the end."""
        if not self._target.running:
            raise self._target.failed or InputError("chat: nothing is being recorded")
        if self._pauses.open:
            raise InputError("chat: the recording is paused; resume it first")
        redacted = self._secrets.in_text(utterance.strip())
        if not redacted and signal is None:
            raise InputError("chat: the utterance is empty")
        if (success is not None) != (signal == DONE):
            raise InputError("chat: success goes with the signal done only")
        line: ChatLine = {"time": self._target.elapsed, "speaker": speaker, "utterance": redacted}
        self._write(_with_signal(line, signal, success), lambda: None)

    def add_message(self, speaker: str, message: dict[str, Any], on_written: Callable[[], None],
                    pointing: Pointing | None = None) -> float:
        """Keep a message of a room (schemas.formats.room.ChatMessageSchema): an utterance, an edit or a deletion.

        `pointing`: where its writer points. Returns its time: when it was sent, if the sender has measured the
        recording's clock; otherwise now. `on_written` is called in the writer's thread when it is in the file. Raises
        MessageRefused.
        """
        if not self._target.running:
            raise MessageRefused(REFUSED_ENDED)
        now = self._target.elapsed
        time = now if message["sent"] is None else min(max(message["sent"], 0.0), now)
        if self._pauses.is_paused_at(time):
            raise MessageRefused(REFUSED_PAUSED)
        redacted = "" if message["kind"] == DELETE else self._secrets.in_text(message["text"].strip())
        if not redacted and message["kind"] not in (DELETE, *SIGNALS):
            raise MessageRefused(REFUSED_EMPTY)
        line: ChatLine = {"time": time, "speaker": speaker, "utterance": redacted, "id": message["id"],
                          "received": now}
        if message["kind"] in SIGNALS:
            line = _with_signal(line, message["kind"], message.get("success"))
        elif message["kind"] == SAY:
            self._message_ids.add(message["id"])
        elif message["changes"] in self._message_ids:
            line["changes"] = message["changes"]
        else:
            raise MessageRefused(REFUSED_UNKNOWN)
        if message["sent"] is not None and message["uncertainty"] is not None:
            line["uncertainty"] = message["uncertainty"]
            if message["began"] is not None:
                line["began"] = min(max(message["began"], 0.0), time)
        if message.get("model"):
            line["model"] = message["model"]
        if pointing:
            line["pointing"] = self._without_secrets(pointing)
        self._write(line, on_written)
        return time

    def _without_secrets(self, pointing: Pointing) -> Pointing:
        element = pointing["element"]
        return pointing if element is None else {
            **pointing, "element": {**element, "name": self._secrets.in_text(element["name"])}}

    def _write(self, line: ChatLine, on_written: Callable[[], None]) -> None:
        validated(line, ChatLineSchema(), "chat")
        self._target.write_chat(line, on_written)
        self._target.announce({"type": "chat", **line})


def _with_signal(line: ChatLine, signal: str | None, success: bool | None) -> ChatLine:
    if signal is not None:
        line["signal"] = signal
    if success is not None:
        line["success"] = success
    return line
