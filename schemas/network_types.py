"""What the values of a kept network are once they were read and checked, as in types.py."""

from typing import NotRequired, TypedDict


class Header(TypedDict):
    """HeaderSchema."""

    name: str
    value: str


class Exchange(TypedDict):
    """ExchangeSchema."""

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
    seed: NotRequired[int]


class ChannelMessage(TypedDict):
    """ChannelMessageSchema."""

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


class StorageItem(TypedDict):
    """StorageItemSchema."""

    name: str
    value: str


class StoredCookie(TypedDict):
    """StoredCookieSchema."""

    name: str
    value: str
    domain: str
    path: str
    expires: float
    http_only: bool
    secure: bool
    same_site: str


class StoredOrigin(TypedDict):
    """StoredOriginSchema."""

    origin: str
    local_storage: list[StorageItem]
    session_storage: list[StorageItem]
    databases: list[str]


class BrowserAtStart(TypedDict):
    """BrowserAtStartSchema."""

    time_zone: str
    languages: list[str]
    cookies: list[StoredCookie]
    origins: list[StoredOrigin]
