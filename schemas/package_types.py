"""What the values of a package are once they were read and checked, as in types.py."""

from typing import Any, NotRequired, TypedDict

from .types import Box, Element, EventData, Point, Provenance, SecretDigest, Size


class PackageFile(TypedDict):
    """PackageFileSchema."""

    name: str
    size: int
    sha256: str


class PackageManifest(TypedDict):
    """PackageSchema."""

    format: str
    version: int
    id: str
    task: str
    started_at: float
    ended: bool
    lines: int
    files: list[PackageFile]
    provenance: NotRequired[Provenance]
    secret_digests: NotRequired[list[SecretDigest]]


class FrameEntry(TypedDict):
    """FrameEntrySchema."""

    uid: str
    index: int
    path: list[str]
    x: float
    y: float
    width: float
    height: float
    scaleX: float
    scaleY: float


class Snapshot(TypedDict):
    """SnapshotSchema. A row is its number, or [number, TableRow]; a chunk is [number, text]."""

    frame_group: str
    root: int
    chunks: list[Any]
    rows: list[Any]
    frames: list[FrameEntry]
    secrets: list[Box]
    url: str
    title: str
    viewport: Size
    device_pixel_ratio: float
    animations: int
    scroll: Point


class Shown(TypedDict):
    """ShownSchema."""

    since: float
    painted: float | None
    all_since: NotRequired[float]
    all_painted: NotRequired[float | None]


class Unchanged(TypedDict):
    """UnchangedSchema."""

    event: str
    until: float
    painted: float | None
    all_painted: NotRequired[float | None]


class Message(TypedDict):
    """MessageSchema."""

    id: str
    type: str
    time: float
    gesture: str | None
    path: list[int]
    target: Element | None
    data: EventData
    snapshot: Snapshot | None
    shown: NotRequired[Shown]


class PackageLine(TypedDict):
    """LineSchema, and PlainLineSchema: no more than that."""

    n: int
    at: float
    kind: str


class BeginLine(PackageLine):
    """BeginLineSchema."""

    id: str
    task: str
    started_at: float
    user_agent: str
    browser: str
    version: str


class TabLine(PackageLine):
    """TabLineSchema."""

    tab: int
    opener: int | None
    url: str


class OfTabLine(PackageLine):
    """OfTabLineSchema."""

    tab: int


class PageLine(PackageLine):
    """PageLineSchema."""

    tab: int
    frame: int
    document: str
    sent: float
    message: Message


class NavigateLine(PackageLine):
    """NavigateLineSchema."""

    tab: int
    url: str
    transition: str
    started: float
    committed: float
    document: str
    same_document: bool


class PictureLine(PackageLine):
    """PictureLineSchema."""

    tab: int
    event: int
    time: float
    still: bool
    blob: str
    stale_because: NotRequired[str]
    unchanged_until: NotRequired[float]
    screenshot_agrees: NotRequired[bool]


class VideoLine(PackageLine):
    """VideoLineSchema."""

    packets: list[tuple[float, int, bool]]
    width: int
    height: int
    blob: str


class ResourceLine(PackageLine):
    """ResourceLineSchema."""

    url: str
    content_type: str
    blob: str


class ChatLineOfPackage(PackageLine):
    """ChatLineOfPackageSchema."""

    speaker: str
    utterance: str


class UndoLine(PackageLine):
    """UndoLineSchema."""

    event: int


class ZoomLine(PackageLine):
    """ZoomLineSchema."""

    tab: int
    zoom: float


class ProblemLine(PackageLine):
    """ProblemLineSchema."""

    message: str
