"""Types of the values of an extension's package, after reading and validation.

Written by `python -m schemas.write_types` from the schemas; change those.
"""

from typing import Any, NotRequired, TypedDict

from .origin import Provenance
from .recordings import Box, Element, EventData, Point, SecretDigests, Size


class PackageFile(TypedDict):
    """PackageFileSchema: One file of a package."""

    name: str
    size: int
    sha256: str


class PackageManifest(TypedDict):
    """PackageSchema: manifest.json of a package: what is in it."""

    format: str
    version: int
    id: str
    task: str
    started_at: float
    ended: bool
    lines: int
    files: list[PackageFile]
    provenance: NotRequired[Provenance]
    secret_digests: NotRequired[SecretDigests]


class FrameEntry(TypedDict):
    """FrameEntrySchema: A frame of another frame group, as the frame group around it sees it."""

    uid: str
    index: int
    path: list[str]
    indices: NotRequired[list[int]]
    x: float
    y: float
    width: float
    height: float
    scaleX: float
    scaleY: float


class Snapshot(TypedDict):
    """SnapshotSchema: What a frame group shows. A row is its number, or [number, TableRow]; a chunk is [number,
    text]. Rows and chunks that were sent before come by number only.
    """

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
    rendered: NotRequired[str]


class Shown(TypedDict):
    """ShownSchema: Whether an event's target was on the screen where it stood."""

    since: float
    painted: float | None
    all_since: NotRequired[float]
    all_painted: NotRequired[float | None]


class Unchanged(TypedDict):
    """UnchangedSchema: What a capture script tells after an event; wall clock of the page, milliseconds since 1970."""

    event: str
    until: float
    painted: float | None
    all_painted: NotRequired[float | None]


class Message(TypedDict):
    """MessageSchema: What a capture script tells."""

    id: str
    type: str
    time: float
    gesture: str | None
    path: list[int]
    target: Element | None
    data: EventData
    trusted: NotRequired[bool]
    snapshot: Snapshot | None
    shown: NotRequired[Shown]


class PackageLine(TypedDict):
    """LineSchema: What every line of the journal has."""

    n: int
    at: float
    kind: str


class BeginLine(PackageLine):
    """BeginLineSchema: `begin`: the first line."""

    id: str
    task: str
    started_at: float
    user_agent: str
    browser: str
    version: str


class TabLine(PackageLine):
    """TabLineSchema: `tab`: a tab appears; tabs are numbered in order."""

    tab: int
    opener: int | None
    url: str


class OfTabLine(PackageLine):
    """OfTabLineSchema: `show` (the person sees the tab now) and `gone` (it was closed)."""

    tab: int


class PageLine(PackageLine):
    """PageLineSchema: `page`: a capture script tells something."""

    tab: int
    frame: int
    document: str
    sent: float
    message: Message


class NavigateLine(PackageLine):
    """NavigateLineSchema: `navigate`: a tab shows another page."""

    tab: int
    url: str
    transition: str
    started: float
    committed: float
    document: str
    same_document: bool


class PictureLine(PackageLine):
    """PictureLineSchema: `picture`: the picture of an earlier line; secrets are blackened in it."""

    tab: int
    event: int
    time: float
    still: bool
    blob: str
    stale_because: NotRequired[str]
    unchanged_until: NotRequired[float]
    screenshot_agrees: NotRequired[bool]


class VideoLine(PackageLine):
    """VideoLineSchema: `video`: some seconds of the video; secrets are blackened in it."""

    packets: list[tuple[float, int, bool]]
    width: int
    height: int
    blob: str


class ResourceLine(PackageLine):
    """ResourceLineSchema: `resource`: a style sheet, image or font that a page has loaded."""

    url: str
    content_type: str
    blob: str


class ChatLineOfPackage(PackageLine):
    """ChatLineOfPackageSchema: `chat`: somebody says something."""

    speaker: str
    utterance: str


class UndoLine(PackageLine):
    """UndoLineSchema: `undo`: the person marks an action as a mistake."""

    event: int


class ZoomLine(PackageLine):
    """ZoomLineSchema: `zoom`: the browser's zoom of a tab."""

    tab: int
    zoom: float


class ProblemLine(PackageLine):
    """ProblemLineSchema: `problem`: something went wrong that did not end the recording."""

    message: str
