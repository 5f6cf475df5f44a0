"""The messages of a live room: between recorder and server, and between a browser and the server. JSON, one a WebSocket
message; pictures are binary messages (`PICTURE_HEADER`, then a JPEG)."""

import struct
from collections.abc import Mapping
from typing import Any

from marshmallow import ValidationError, validate, validates_schema

from schemas import InputError, limits

from .parts import DONE, SIGNALS, Strict, flag, integer, nested, number, recording_time, string
from .recording import SPEAKERS

MODEL_NAME_LENGTH = 90
ROOM_FIELDS = ("pointing", "model")  # of a chat turn, which only live rooms have
SAY, EDIT, DELETE = ("say", "edit", "delete")
MESSAGE_KINDS = (SAY, EDIT, DELETE, *SIGNALS)
RECORDING, PAUSED, ENDED = RECORDER_STATES = ("recording", "paused", "ended")
TEXT_LENGTH = 4000  # characters of a message
MESSAGE_ID = validate.Regexp(r"^[A-Za-z0-9_-]{1,64}$(?!\n)")
MAX_UNCERTAINTY_S = 5.0  # by which a sender's measurement of the recorder's clock may be off to be used
# A picture's number, the time of what it shows in seconds of the recording, the viewport's width and height in pixels.
PICTURE_HEADER = struct.Struct(">IdHH")
JPEG = b"\xff\xd8\xff"
MAX_PICTURE_BYTES = 1 << 20
REFUSED_PAUSED, REFUSED_EMPTY, REFUSED_UNKNOWN, REFUSED_ENDED, REFUSED_PICTURE = REFUSALS = (
    "paused", "empty", "unknown", "ended", "picture")


class RegionSchema(Strict):
    """Where the instructor points: a box in a picture, a point if it has no extent. The unit is the picture's width or
    height, so that it does not matter how large the picture is shown."""

    picture = integer("number of the picture", validate=validate.Range(min=1, max=0xFFFFFFFF))
    x = number("left edge", minimum=0, maximum=1)
    y = number("upper edge", minimum=0, maximum=1)
    width = number("0 for a point", minimum=0, maximum=1)
    height = number("0 for a point", minimum=0, maximum=1)


class ChatMessageSchema(Strict):
    """Somebody says something, or edits or deletes what they said."""

    type = string("always `chat`", validate=validate.Equal("chat"))
    kind = string("say, edit, delete, or one of SIGNALS", validate=validate.OneOf(MESSAGE_KINDS))
    id = string("the sender's own id of the message: sent again, it is the same message", validate=MESSAGE_ID)
    text = string("what is said; with a signal the reason, which may be empty; empty when something is deleted",
                  validate=validate.Length(max=TEXT_LENGTH))
    changes = string("id of the message that is edited or deleted; null when something is said", allow_none=True,
                     validate=MESSAGE_ID)
    began = recording_time("when its writing began, by the recorder's clock; null when not known", allow_none=True)
    sent = recording_time("when it was sent, by the recorder's clock; null when not known", allow_none=True)
    uncertainty = number("by how many seconds these times may be off; null when not known", minimum=0, allow_none=True,
                         maximum=limits.SECONDS)
    region = nested(RegionSchema, "where the instructor points; null for a message without", allow_none=True,
                    required=False, load_default=None)
    success = flag("done: whether the task was achieved; null for other messages", allow_none=True, required=False,
                   load_default=None)

    model = string("name of the model that wrote it; null for a person", allow_none=True, required=False,
                   load_default=None, validate=validate.Length(1, MODEL_NAME_LENGTH))

    @validates_schema
    def _success_fits_kind(self, data: dict[str, Any], **_: Any) -> None:
        if (data["success"] is None) == (data["kind"] == DONE):
            raise ValidationError({"success": "Must be there with done only."})


class SpokenMessageSchema(ChatMessageSchema):
    """A message of the recorder: it is in the recording already."""

    speaker = string("who said it", validate=validate.OneOf(SPEAKERS))
    time = recording_time("when, in seconds of the recording")


class ReceiptSchema(Strict):
    """The recorder has written a message of somebody else, or does not accept it."""

    type = string("always `receipt`", validate=validate.Equal("receipt"))
    id = string("of the message", validate=MESSAGE_ID)
    time = recording_time("its time in the recording; null when it was refused", allow_none=True)
    refused = string("why it is not in the recording; null when it is", allow_none=True,
                     validate=validate.OneOf(REFUSALS))


class RecorderStateSchema(Strict):
    """What the recorder does."""

    type = string("always `state`", validate=validate.Equal("state"))
    recording = string("id of the recording", validate=validate.Length(1, 100))
    state = string("recording, paused or ended", validate=validate.OneOf(RECORDER_STATES))


class ClockQuestionSchema(Strict):
    """A browser asks for the recorder's clock."""

    type = string("always `clock`", validate=validate.Equal("clock"))
    sent = number("when it was sent, by the browser's clock, in seconds")


class ClockAnswerSchema(ClockQuestionSchema):
    """The recorder answers such a question: four times of one exchange, as in NTP."""

    to = integer("number of the participant who asked")
    received = recording_time("when the question arrived, in seconds of the recording")
    answered = recording_time("when the answer was sent, in seconds of the recording")


class PaintedSchema(Strict):
    """A browser has shown a picture, and is ready for the next one."""

    type = string("always `painted`", validate=validate.Equal("painted"))


FROM_RECORDER: dict[str, Strict] = {"chat": SpokenMessageSchema(), "receipt": ReceiptSchema(),
                                    "state": RecorderStateSchema(), "clock": ClockAnswerSchema()}
FROM_INSTRUCTOR: dict[str, Strict] = {"chat": ChatMessageSchema(), "clock": ClockQuestionSchema(),
                                      "painted": PaintedSchema()}
FROM_OBSERVER: dict[str, Strict] = {"painted": PaintedSchema()}


def read_message(content: Any, schemas: Mapping[str, Strict]) -> dict[str, Any]:
    """A message as one of these schemas has it; raises InputError."""
    kind = content.get("type") if isinstance(content, dict) else None
    if not isinstance(kind, str) or kind not in schemas:
        raise InputError(f"room: a message has no known type; one of {', '.join(schemas)} is expected")
    try:
        return dict(schemas[kind].load(content))
    except ValidationError as error:
        field = next(iter(error.messages_dict))
        raise InputError(f"room: message {kind}, field {str(field)[:40]}: not valid") from None

