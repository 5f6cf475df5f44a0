"""A language model over an OpenAI-compatible endpoint (`POST …/chat/completions`): messages in, the text of its
response out, within limits of time and size. Who runs the program names the endpoint, which may be on this machine."""

import json
import re
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pipeline.timed_connection import FAILURES, TimedConnection
from schemas import DemotapeError, InputError, limits
from schemas.addresses import split_address
from schemas.text import read_well_formed

NAMES = ("DEMOTAPE_MODEL_URL", "DEMOTAPE_MODEL", "DEMOTAPE_MODEL_KEY")  # of address, model and key, for people
NAME_LENGTH = 90
SECONDS = 120.0  # for all tries together, with the pauses between them
MAX_ANSWER_BYTES = 1 << 20  # of an answer
PAUSES = (1.0, 5.0)  # seconds before the second and the third try
LONGEST_PAUSE = 30.0  # that an endpoint may ask for
_WAIT = re.compile(r"\d{1,4}")  # Retry-After in seconds; as a date it is not looked at
_REFUSALS = {401: "it rejects the key", 403: "it rejects the key", 404: "unknown address or model",
             413: "the request is too large for it"}


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


@dataclass(frozen=True)
class Completion:
    """What a model answered: its text, and the tokens of the request and of the answer, where the endpoint tells."""

    text: str
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


def model_settings(url: str, name: str, key: str = "", named: tuple[str, str, str] = NAMES) -> ModelSettings:
    """Settings of `url`, where `/chat/completions` follows, such as `http://127.0.0.1:8000/v1`, the model's name there,
    and the key, if one is needed. Raises InputError that says which it is, as `named`, and never tells the key."""
    of_url, of_name, of_key = named
    parts = split_address(url)
    if not (url.isascii() and url.isprintable() and " " not in url and parts.scheme in ("http", "https")
            and parts.hostname):
        raise InputError(f"{of_url}: must be an address with http:// or https:// and a host")
    if parts.username is not None or parts.password is not None:
        raise InputError(f"{of_url}: must not contain a name or password; set the key with {of_key}")
    try:
        _ = parts.port
    except ValueError:
        raise InputError(f"{of_url}: invalid port") from None
    if not 0 < len(name) <= NAME_LENGTH or not name.isprintable():
        raise InputError(f"{of_name}: must be the name of a model at {of_url}, with at most {NAME_LENGTH} characters")
    if not key.isascii() or not (key.isprintable() or not key):
        raise InputError(f"{of_key}: must consist of printable ASCII characters")
    return ModelSettings(url, name, key)


def complete(settings: ModelSettings, messages: Sequence[Mapping[str, Any]],
             pause: Callable[[float], None] = time.sleep) -> str:
    """The text that the model answers to messages (`role`, `content`). Raises as `ask` does."""
    return ask(settings, request_body(settings.name, messages), pause).text


def request_body(model: str, messages: Sequence[Mapping[str, Any]], **options: float) -> bytes:
    """What is sent, the same bytes for the same messages and options (such as `temperature`)."""
    return json.dumps({"model": model, "messages": messages, "stream": False} | options).encode("ascii")


def ask(settings: ModelSettings, body: bytes, pause: Callable[[float], None] = time.sleep) -> Completion:
    """What the model answers to a request. What says that it is busy (429, 5xx) is asked again, three times in all.
    Raises ModelFailed."""
    end = time.monotonic() + settings.seconds
    for wait in (*PAUSES, None):
        try:
            return _answer(_post(settings, body, end - time.monotonic()))
        except _Busy as busy:
            reason = f"it answers {busy.code}"
            seconds = 0.0 if wait is None else max(wait, busy.seconds)
            if wait is None or time.monotonic() + seconds >= end:
                raise ModelFailed(f"{_where(settings)}: {reason}, after retries; try again later") from None
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


def _post(settings: ModelSettings, body: bytes, seconds: float) -> bytes:
    """The body of an answer with code 200. Redirects are not followed: the key is for this endpoint only."""
    parts = split_address(settings.url)
    host, tls = parts.hostname or "", parts.scheme == "https"
    port = parts.port or (443 if tls else 80)
    headers = {"content-type": "application/json", "accept": "application/json", "user-agent": "demotape",
               "connection": "close"} | ({"authorization": f"Bearer {settings.key}"} if settings.key else {})
    target = f"{parts.path.rstrip('/')}/chat/completions" + (f"?{parts.query}" if parts.query else "")
    connection = TimedConnection(host, port, _resolve(host, port), tls=tls, seconds=max(seconds, 0.01))
    with connection.open():
        try:
            connection.request("POST", target, body, headers)
            answer = connection.getresponse()
            content = answer.read(MAX_ANSWER_BYTES + 1)
        except FAILURES as error:
            raise _Unfit(_describe_error(connection, error, settings.seconds)) from None
    if connection.is_cut:
        raise _Unfit(f"no answer within {settings.seconds:g} seconds")
    if answer.status == 429 or answer.status >= 500:
        retry_after = answer.getheader("retry-after") or ""
        raise _Busy(answer.status, min(float(retry_after), LONGEST_PAUSE) if _WAIT.fullmatch(retry_after) else 0.0)
    if answer.status != 200:
        raise _Unfit(_REFUSALS.get(answer.status, f"it answers {answer.status}"))
    if len(content) > MAX_ANSWER_BYTES:
        raise _Unfit(f"its answer is larger than {MAX_ANSWER_BYTES >> 20} MiB")
    return content


def _describe_error(connection: TimedConnection, error: Exception, seconds: float) -> str:
    """A try's own share of the seconds says nothing to people."""
    if connection.is_cut or isinstance(error, TimeoutError):
        return f"no answer within {seconds:g} seconds"
    return connection.describe(error)


def _resolve(host: str, port: int) -> list[str]:
    try:
        addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise _Unfit("its name cannot be resolved") from None
    return list(dict.fromkeys(str(address[0]) for *_, address in addresses))


def _answer(content: bytes) -> Completion:
    """What a chat completion says."""
    try:
        read = read_well_formed(content)
        choice = read["choices"][0]
        text, end, usage = choice["message"]["content"], choice.get("finish_reason"), read.get("usage")
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise _Unfit("its answer is not a chat completion") from None
    if end == "length":
        raise _Unfit("its answer was cut off at its token limit; request less")
    if not isinstance(text, str) or not text.strip():
        raise _Unfit("its answer has no text")
    return Completion(text, _count(usage, "prompt_tokens"), _count(usage, "completion_tokens"))


def _count(usage: Any, name: str) -> int | None:
    """A number of tokens; None where the endpoint tells none, or nonsense."""
    count = usage.get(name) if isinstance(usage, dict) else None
    is_count = isinstance(count, int) and not isinstance(count, bool) and 0 <= count <= limits.MAX_INTEGER
    return count if is_count else None
