"""Output of chat readers: messages with the time as written, and the log with times on the recording's clock."""

import datetime
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from schemas.types.recordings import Pointing

SECOND, MINUTE, MILLISECOND = 1.0, 60.0, 0.001
MAX_EMOJI_CHARS = 100  # characters of an emoji, or of the name that a tool has for it


@dataclass(frozen=True)
class Stamp:
    """A time as it stands in the log.

    `kind` says what `seconds` counts from: midnight of a day (`clock`), the epoch (`instant`), the recording's
    start (`offset`), either a midnight or that start (`unknown`: the kind of log does not tell), or that start in
    seconds or milliseconds (`number`). `date` is the day of a clock time, where the log names it. `precision` is the
    step of the written time in seconds; times are truncated, so the truth lies in [seconds, seconds + precision).
    """

    seconds: float
    kind: str
    precision: float = SECOND
    date: datetime.date | None = None


@dataclass(frozen=True)
class Reaction:
    """What people put to a message: the emoji, or the name that the tool has for it, and how many did.

    `speakers`: who, where the log tells it, by their ids where it has these.
    """

    emoji: str
    count: int = 1
    speakers: tuple[str, ...] = ()


@dataclass(frozen=True)
class Message:
    """One message as written; `line` counts from 1 (in JSON files: the number of the message).

    `speaker_id`: who it is, where the log tells it by more than a name. `id`: by what replies name the message;
    `reply_to`: the id of the message that it answers; `quote`: how the text of that begins, where no id is told.
    """

    speaker: str
    text: str
    stamp: Stamp
    line: int
    speaker_id: str = ""
    id: str = ""
    reply_to: str = ""
    quote: str = ""
    reactions: tuple[Reaction, ...] = ()


@dataclass
class Reading:
    """What a reader found, and the lines that it could not read, each with the reason."""

    messages: list[Message] = field(default_factory=list)
    problems: list[tuple[int, str]] = field(default_factory=list)


@dataclass(frozen=True)
class Document:
    """A chat file, decoded; or an export's folder, without text. Lines have no line ends."""

    path: Path
    text: str = ""
    lines: tuple[str, ...] = ()

    @property
    def is_folder(self) -> bool:
        return self.path.is_dir()


@dataclass(frozen=True)
class Reader:
    """One kind of chat log. `recognise` counts the places that look like its own; 0 means it is another kind."""

    kind: str
    recognise: Callable[[Document], int]
    read: Callable[[Document], Reading]


@dataclass(frozen=True)
class ChatLine:
    """One utterance. `time` is in seconds since the recording started, truncated to `precision` seconds.

    `reply_to`: the place in the log's `lines` of the one that it answers. `source`: `speech` where it was spoken.
    `doubt`: why its time is unsure, a sentence for reviewers; empty where it is not. `pointing`: where the instructor
    of a live room points. `model`: the name of the model that wrote it; empty for a person.
    """

    speaker: str
    role: str
    utterance: str
    time: float
    precision: float
    line: int
    reply_to: int | None = None
    reactions: tuple[Reaction, ...] = ()
    source: str = ""
    doubt: str = ""
    pointing: Pointing | None = None
    model: str = ""


@dataclass(frozen=True)
class ChatLog:
    """A chat log on the recording's clock.

    `time_base` is `offset` (from the recording's start), `wall` (time of day where it was recorded), `utc` (time of
    day in UTC) or `instant` (absolute). `shift` is the number of seconds added because the log was written in another
    time zone. `roles` tells who was taken for whom; `problems` what was left out or not understood, by line.
    """

    kind: str
    time_base: str
    lines: tuple[ChatLine, ...]
    problems: tuple[tuple[int, str], ...] = ()
    roles: dict[str, str] = field(default_factory=dict)
    shift: float = 0.0
