"""Recorded exchanges as they are served: read from a recording, a HAR or a WACZ."""

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version

_NORMALIZED_METHODS = ("DELETE", "GET", "HEAD", "OPTIONS", "POST", "PUT")
Headers = tuple[tuple[str, str], ...]
_TEXT = ("json", "javascript", "xml", "x-www-form-urlencoded")


@dataclass(frozen=True)
class Recorded:
    """A request and what came back.

    `number`: its place in the order of requests; `time`: seconds since the recording started. `answer` reads the
    content of the answer, unpacked (None when it is not there). `status` is 0 and `failure` says why when there was no
    answer; with a status, why it ended early. `seed`: of what was random in a document; None when it is not known.
    `decoded`: text is UTF-8 here, whatever its headers say, as the browser told it decoded; else `charset` is that in
    which the browser read it, where that is known. `duration`: seconds until all of the answer was there.
    `is_content_required`: an answer whose content is None is missing, since the archive left it out; else it is empty.
    """

    number: int
    time: float
    method: str
    url: str
    status: int
    answer: Callable[[], bytes | None]
    answer_headers: Headers = ()
    headers: Headers = ()
    body: bytes | None = None
    kind: str = "other"
    top: bool = False
    status_text: str = ""
    failure: str = ""
    tab: int = 1
    seed: int | None = None
    decoded: bool = True
    charset: str = ""
    duration: float = 0.0
    is_content_required: bool = False

    @property
    def ended(self) -> float:
        """When all of the answer was there, in seconds since the recording started."""
        return self.time + self.duration


@dataclass(frozen=True)
class Request:
    """What a browser asks for. `url` is whole, without the part after #."""

    method: str
    url: str
    headers: Headers = ()
    body: bytes | None = None


@dataclass(frozen=True)
class Message:
    """What a channel carried: `direction` is sent, received or close; `time`: seconds since the recording started.

    `code`, `reason`: of a close, as the page had them; None where that is not known. `by_page`: the page closed it.
    """

    time: float
    direction: str
    data: str | bytes = ""
    event: str = ""
    id: str = ""
    code: int | None = None
    reason: str = ""
    by_page: bool = False


@dataclass(frozen=True)
class Channel:
    """A WebSocket (`kind` websocket) or an EventSource (eventsource) with all that it carried, in order.

    `protocol`: the subprotocol that the server chose, None where that is not known. `is_refused`: the server did not
    accept the connection.
    """

    number: int
    time: float
    kind: str
    url: str
    messages: tuple[Message, ...] = ()
    protocol: str | None = None
    is_refused: bool = False


@dataclass(frozen=True)
class Archive:
    """All that was kept of a session's network. `started`: wall clock at time 0, seconds since 1970."""

    exchanges: tuple[Recorded, ...]
    channels: tuple[Channel, ...] = ()
    started: float = 0.0
    notes: tuple[str, ...] = field(default=())  # what could not be read, a sentence each


def header(headers: Headers, name: str) -> str:
    """The first header of a name, whatever its case; empty when there is none."""
    return next((value for key, value in headers if key.lower() == name), "")


def normalized_method(method: str) -> str:
    """A method as browsers send it: those of the Fetch standard (2.2.1) in capitals, any other as it is."""
    return method.upper() if method.upper() in _NORMALIZED_METHODS else method


def is_text(kind: str) -> bool:
    """Whether content of a media type is text."""
    kind = kind.partition(";")[0].strip().lower()
    return kind.startswith("text/") or kind.endswith(_TEXT)


def software() -> str:
    """The name and version of this program, for files that say what wrote them."""
    try:
        return f"demotape {version('demotape')}"
    except PackageNotFoundError:
        return "demotape"
