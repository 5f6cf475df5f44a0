"""What the formats' values are once they were read and checked: one TypedDict a schema, for annotations only.

Fields that a schema does not require are NotRequired, those that may be null are `| None`. A test compares the two.
Those of a package stand in package_types.py.
"""

from datetime import datetime
from typing import Any, Literal, NotRequired, TypedDict

from .network_types import BrowserAtStart
from .outcome_types import Outcome

JsonObject = dict[str, Any]  # an object of JSON that no schema describes, or not yet


# schemas/parts.py

class Box(TypedDict):
    """BoxSchema."""

    x: float
    y: float
    width: float
    height: float


class Point(TypedDict):
    """PointSchema."""

    x: float
    y: float


class Size(TypedDict):
    """SizeSchema."""

    width: int
    height: int


class Element(TypedDict):
    """ElementSchema."""

    uid: str
    tag: str
    role: str
    name: str
    text: str
    attributes: dict[str, str]
    xpath: str
    css: str
    frame: list[str]
    bbox: Box | None


class State(TypedDict):
    """StateSchema."""

    tab: int
    url: str
    title: str
    viewport: Size
    zoom: float
    device_pixel_ratio: float
    scroll: Point
    animations: NotRequired[int]
    dom: str | None
    elements: str | None
    screenshot: str | None
    screenshot_time: float | None
    stale: NotRequired[bool]
    stale_because: NotRequired[str]
    unchanged_until: NotRequired[float]
    screenshot_agrees: NotRequired[bool]


class TableRow(TypedDict):
    """TableRowSchema."""

    uid: str
    tag: str
    role: str
    name: str
    frame: list[str]
    bbox: Box
    visible: bool
    clickable: bool


# schemas/recording.py

class SecretDigest(TypedDict):
    """SecretDigestSchema."""

    length: int
    sum: int
    digest: str


class Provenance(TypedDict):
    """ProvenanceSchema."""

    actor: NotRequired[str]
    agent: NotRequired[str]
    consent: NotRequired[bool]
    license: NotRequired[str]
    task_id: NotRequired[str]


class RecordingManifest(TypedDict):
    """RecordingSchema."""

    format: str
    version: int
    id: str
    task: str
    started_at: datetime
    ended_at: datetime | None
    status: str
    user_agent: str
    browser: str
    viewport: Size | None
    options: dict[str, Any]
    provenance: NotRequired[Provenance]
    browser_at_start: NotRequired[BrowserAtStart]
    last_state: NotRequired[State]
    armed_late: NotRequired[bool]
    lost_values: NotRequired[int]
    console_left_out: NotRequired[int]
    secret_digests: NotRequired[list[SecretDigest]]


class EventData(TypedDict):
    """EventDataSchema."""

    x: NotRequired[float]
    y: NotRequired[float]
    button: NotRequired[int]
    modifiers: NotRequired[list[str]]
    detail: NotRequired[int]
    pointer_type: NotRequired[str]
    changed: NotRequired[bool]
    key: NotRequired[str]
    code: NotRequired[str]
    repeat: NotRequired[bool]
    input_type: NotRequired[str]
    value: NotRequired[str]
    label: NotRequired[str]
    checked: NotRequired[bool]
    secret: NotRequired[bool]
    text: NotRequired[str]
    files: NotRequired[list[str]]
    scroll: NotRequired[Point]
    url: NotRequired[str]
    transition: NotRequired[str]
    kind: NotRequired[str]
    message: NotRequired[str]
    accepted: NotRequired[bool]
    tab: NotRequired[int]
    origin: NotRequired[int | None]
    event: NotRequired[int]
    seconds: NotRequired[float]
    blob: NotRequired[str]
    screenshot: NotRequired[str]
    screenshot_time: NotRequired[float]
    stale_because: NotRequired[str]
    unchanged_until: NotRequired[float]
    screenshot_agrees: NotRequired[bool]


class Event(TypedDict):
    """EventSchema."""

    seq: int
    time: float
    type: str
    tab: int
    gesture: int | None
    target: Element | None
    data: EventData
    state: State | None


class ChatLine(TypedDict):
    """ChatLineSchema."""

    time: float
    speaker: str
    utterance: str


class Resource(TypedDict):
    """ResourceSchema."""

    url: str
    content_type: str
    time: float
    blob: str


class ConsoleLine(TypedDict):
    """ConsoleLineSchema."""

    time: float
    tab: int
    url: str
    kind: str
    level: str
    text: str
    script: NotRequired[str]
    line: NotRequired[int]
    column: NotRequired[int]


# schemas/demonstration.py

class TurnState(State):
    """TurnStateSchema."""

    video_time: float | None
    screenshot_status: str
    screenshot_source: NotRequired[str]
    axtree: NotRequired[str]
    screenshot_taken: NotRequired[str | None]
    screenshot_late: NotRequired[bool]
    similarity: NotRequired[float | None]
    confidence: NotRequired[float]


class Check(TypedDict):
    """CheckSchema."""

    kind: str
    reason: str
    fix: NotRequired["Edit"]


class Reaction(TypedDict):
    """ReactionSchema."""

    emoji: str
    count: int
    speakers: NotRequired[list[str]]


class ChatTurn(TypedDict):
    """ChatTurnSchema."""

    id: str
    type: Literal["chat"]
    timestamp: float
    speaker: str
    utterance: str
    source: NotRequired[str]
    reply_to: NotRequired[str]
    reactions: NotRequired[list[Reaction]]
    checks: NotRequired[list[Check]]
    dropped: NotRequired[bool]
    labels: NotRequired[dict[str, list[str]]]


class BrowserTurn(TypedDict):
    """BrowserTurnSchema. What `arguments` holds is up to the intent: ARGUMENTS in schemas/demonstration.py."""

    id: str
    type: Literal["browser"]
    timestamp: float
    intent: str
    arguments: dict[str, Any]
    element: Element | None
    state: TurnState | None
    events: list[int]
    checks: list[Check]
    dropped: bool
    labels: NotRequired[dict[str, list[str]]]


Turn = ChatTurn | BrowserTurn


class PageRectangle(TypedDict):
    """PageRectangleSchema."""

    left: float
    top: float
    width: float
    height: float


class VideoStretch(TypedDict):
    """VideoStretchSchema."""

    begin: float
    end: float
    offset: float
    drift: float


class VideoSegment(TypedDict):
    """VideoSegmentSchema."""

    begin: float
    end: float
    rectangle: PageRectangle


class VideoPlacement(TypedDict):
    """VideoPlaceSchema."""

    offset: NotRequired[float]
    drift: NotRequired[float]
    rectangle: NotRequired[PageRectangle]
    duration: NotRequired[float]


class Alignment(TypedDict):
    """AlignmentSchema."""

    width: int
    height: int
    duration: float
    stretches: list[VideoStretch]
    segments: list[VideoSegment]
    by_hand: NotRequired[VideoPlacement]


class Demonstration(TypedDict):
    """DemonstrationSchema."""

    format: str
    version: int
    id: str
    recording: str
    task: str
    turns: list[Turn]
    labels: NotRequired[dict[str, list[str]]]
    alignment: NotRequired[Alignment]
    outcome: NotRequired[Outcome]


class SuppliedInputs(TypedDict):
    """GivenSchema."""

    chat: NotRequired[str]
    speakers: NotRequired[dict[str, str]]
    video: NotRequired[str]
    place: NotRequired[VideoPlacement]
    speech: NotRequired[str]


class Processed(TypedDict):
    """ProcessedSchema."""

    format: str
    version: int
    inputs: dict[str, str]
    demonstration: str
    derived: list[str]
    given: NotRequired[SuppliedInputs]


class Edit(TypedDict):
    """EditSchema."""

    op: str
    turn: NotRequired[str]
    turns: NotRequired[list[str]]
    after: NotRequired[str | None]
    intent: NotRequired[str]
    arguments: NotRequired[dict[str, Any]]
    element: NotRequired[Element]
    screenshot: NotRequired[str]
    screenshot_time: NotRequired[float]
    source: NotRequired[str]
    status: NotRequired[str]
    utterance: NotRequired[str]
    speaker: NotRequired[str]
    other: NotRequired[str]
    edits: NotRequired[int]
    check: NotRequired[str]
    added: NotRequired[Turn]
    place: NotRequired[VideoPlacement]
    label: NotRequired[str]
    said: NotRequired[list[str]]
    task: NotRequired[str]
    outcome: NotRequired[Outcome | None]
