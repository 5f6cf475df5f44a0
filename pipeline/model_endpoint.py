"""A language model over an OpenAI-compatible endpoint (`POST …/chat/completions`): messages in, the text of its answer
out, within seconds and bytes. Who runs the program names the endpoint, which may be on this machine.
"""

import json
import re
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from schemas import DemotapeError, InputError
from schemas.addresses import split_address
from schemas.text import read_well_formed

from .timed_connection import FAILURES, TimedConnection

NAME_LENGTH = 90
SECONDS = 120.0  # for all tries together, with the pauses between them
MOST_BYTES = 1 << 20  # of an answer
PAUSES = (1.0, 5.0)  # seconds before the second and the third try
LONGEST_PAUSE = 30.0  # that an endpoint may ask for
_WAIT = re.compile(r"\d{1,4}")  # Retry-After in seconds; as a date it is not looked at
_REFUSALS = {401: "it refuses the key", 403: "it refuses the key", 404: "it has no such address or model",
             413: "what was sent is too large for it"}


class ModelFailed(DemotapeError):
    """No answer, or none that can be read; the message says why, and never what was sent or the key."""


@dataclass(frozen=True)
class ModelSettings:
    """Which model, and where; see `model_settings`."""

    url: str
    name: str
    key: str = field(default="", repr=False)
    seconds: float = SECONDS

    @property
    def host(self) -> str:
        """Where what is sent goes, for people."""
        return split_address(self.url).netloc


def model_settings(url: str, name: str, key: str = "", prefix: str = "DEMOTAPE_MODEL") -> ModelSettings:
    """Settings of `url`, where `/chat/completions` follows, such as `http://127.0.0.1:8000/v1`, the model's name there,
    and the key, if one is needed. Raises InputError that names the setting, and never tells the key."""
    parts = split_address(url)
    if not (url.isascii() and url.isprintable() and " " not in url and parts.scheme in ("http", "https")
            and parts.hostname):
        raise InputError(f"{prefix}_URL: an address that begins with http:// or https:// and has a host")
    if parts.username is not None or parts.password is not None:
        raise InputError(f"{prefix}_URL: no name and no password in it; {prefix}_KEY is the key")
    try:
        _ = parts.port
    except ValueError:
        raise InputError(f"{prefix}_URL: its port is none") from None
    if not 0 < len(name) <= NAME_LENGTH or not name.isprintable():
        raise InputError(f"{prefix}: the model's name at {prefix}_URL, of {NAME_LENGTH} characters at most")
    if not key.isascii() or not (key.isprintable() or not key):
        raise InputError(f"{prefix}_KEY: only printable ASCII characters")
    return ModelSettings(url, name, key)


def complete(settings: ModelSettings, messages: Sequence[Mapping[str, Any]],
             pause: Callable[[float], None] = time.sleep) -> str:
    """The text that the model answers to messages (`role`, `content`). What says that it is busy (429, 5xx) is asked
    again, three times in all. Raises ModelFailed."""
    end = time.monotonic() + settings.seconds
    body = json.dumps({"model": settings.name, "messages": messages, "stream": False}).encode("ascii")
    for wait in (*PAUSES, None):
        try:
            return _answer(_asked(settings, body, end - time.monotonic()))
        except _Busy as busy:
            reason = f"it answers {busy.code}"
            seconds = 0.0 if wait is None else max(wait, busy.seconds)
            if wait is None or time.monotonic() + seconds >= end:
                raise ModelFailed(f"{_where(settings)}: {reason}, also when asked again; try later") from None
            pause(seconds)
        except _Unfit as error:
            raise ModelFailed(f"{_where(settings)}: {error}") from None
    raise AssertionError("the last try returns or raises")


class _Busy(Exception):
    """The endpoint may answer later, in so many seconds."""

    def __init__(self, code: int, seconds: float):
        super().__init__(code)
        self.code, self.seconds = code, seconds


class _Unfit(Exception):
    """Why there is no answer, and asking again would change nothing."""


def _where(settings: ModelSettings) -> str:
    return f"the model {settings.name} at {settings.host}"


def _asked(settings: ModelSettings, body: bytes, seconds: float) -> bytes:
    """The body of an answer with code 200. Redirects are not followed: the key is for this endpoint only."""
    parts = split_address(settings.url)
    host, tls = parts.hostname or "", parts.scheme == "https"
    port = parts.port or (443 if tls else 80)
    headers = {"content-type": "application/json", "accept": "application/json", "user-agent": "demotape",
               "connection": "close"} | ({"authorization": f"Bearer {settings.key}"} if settings.key else {})
    target = f"{parts.path.rstrip('/')}/chat/completions" + (f"?{parts.query}" if parts.query else "")
    connection = TimedConnection(host, port, _resolved(host, port), tls=tls, seconds=max(seconds, 0.01))
    with connection.open():
        try:
            connection.request("POST", target, body, headers)
            answer = connection.getresponse()
            content = answer.read(MOST_BYTES + 1)
        except FAILURES as error:
            raise _Unfit(_told(connection, error, settings.seconds)) from None
    if connection.is_cut:
        raise _Unfit(f"no answer within {settings.seconds:g} seconds")
    if answer.status == 429 or answer.status >= 500:
        asked = answer.getheader("retry-after") or ""
        raise _Busy(answer.status, min(float(asked), LONGEST_PAUSE) if _WAIT.fullmatch(asked) else 0.0)
    if answer.status != 200:
        raise _Unfit(_REFUSALS.get(answer.status, f"it answers {answer.status}"))
    if len(content) > MOST_BYTES:
        raise _Unfit(f"its answer is larger than {MOST_BYTES >> 20} MiB")
    return content


def _told(connection: TimedConnection, error: Exception, seconds: float) -> str:
    """A try's own share of the seconds says nothing to people."""
    if connection.is_cut or isinstance(error, TimeoutError):
        return f"no answer within {seconds:g} seconds"
    return connection.told(error)


def _resolved(host: str, port: int) -> list[str]:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise _Unfit("its name cannot be resolved") from None
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


def _answer(content: bytes) -> str:
    """The text in a chat completion."""
    try:
        choice = read_well_formed(content)["choices"][0]
        text, end = choice["message"]["content"], choice.get("finish_reason")
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise _Unfit("its answer is no chat completion") from None
    if end == "length":
        raise _Unfit("its answer was cut off at its limit of tokens; ask for less")
    if not isinstance(text, str) or not text.strip():
        raise _Unfit("its answer has no text")
    return text
