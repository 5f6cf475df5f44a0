"""The formats of demotape: what every file and message looks like, and where each lies."""

from .demonstration import DemonstrationSchema, EditSchema, ProcessedSchema
from .errors import DemotapeError, DiskFull, InputError
from .intents import BROWSER_INTENTS, INTENTS
from .layout import RecordingLayout
from .recording import ChatLineSchema, EventSchema, RecordingSchema, ResourceSchema
from .shared import REDACTED, UID_ATTRIBUTE
from .upgrade import VERSIONS

__all__ = [
    "BROWSER_INTENTS", "INTENTS", "REDACTED", "UID_ATTRIBUTE", "VERSIONS", "ChatLineSchema", "DemonstrationSchema",
    "DemotapeError", "DiskFull", "EditSchema", "EventSchema", "InputError", "ProcessedSchema", "RecordingLayout",
    "RecordingSchema", "ResourceSchema",
]
