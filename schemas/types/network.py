"""Types of the values of a recorded network, after reading and validation.

Written by `python -m schemas.write_types` from the schemas; change those.
"""

from typing import NotRequired, TypedDict


class Header(TypedDict):
    """HeaderSchema: A header of a request or an answer, in the order in which they came; a name may come again."""

    name: str
    value: str


class Exchange(TypedDict):
    """ExchangeSchema: One line of network.jsonl: a request and what came back, written when it ended."""

    seq: int
    time: float
    duration: float
    tab: int
    kind: str
    top: bool
    method: str
    url: str
    headers: list[Header]
    body: str | None
    status: int
    status_text: str
    answer_headers: list[Header]
    answer_body: str | None
    failure: str
    charset: NotRequired[str]
    seed: NotRequired[int]


class ChannelMessage(TypedDict):
    """ChannelMessageSchema: One line of messages.jsonl: what went over a WebSocket or came from an EventSource."""

    time: float
    tab: int
    channel: int
    kind: str
    direction: str
    url: NotRequired[str]
    text: NotRequired[str]
    blob: NotRequired[str]
    event: NotRequired[str]
    id: NotRequired[str]
    protocol: NotRequired[str]
    code: NotRequired[int]
    reason: NotRequired[str]
    by_page: NotRequired[bool]


class StorageItem(TypedDict):
    """StorageItemSchema: A value in localStorage or sessionStorage."""

    name: str
    value: str


class StoredCookie(TypedDict):
    """StoredCookieSchema: A cookie that the browser held when the recording started."""

    name: str
    value: str
    domain: str
    path: str
    expires: float
    http_only: bool
    secure: bool
    same_site: str


class StoredOrigin(TypedDict):
    """StoredOriginSchema: What an origin had stored in the browser when the recording started."""

    origin: str
    local_storage: list[StorageItem]
    session_storage: list[StorageItem]
    databases: list[str]


class BrowserAtStart(TypedDict):
    """BrowserAtStartSchema: What the browser was when the recording started, as far as pages can tell."""

    time_zone: str
    languages: list[str]
    cookies: list[StoredCookie]
    origins: list[StoredOrigin]
