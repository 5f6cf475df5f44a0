"""Types of the values of recordings and demonstrations, after reading and validation.

Written by `python -m schemas.write_types` from the schemas; change those.
"""

from datetime import datetime
from typing import Any, Literal, NotRequired, TypedDict

from .agent_steps import TurnReport
from .alignment import Alignment, VideoPlacement
from .network import BrowserAtStart
from .origin import Imported, Provenance, RecordedRoom
from .outcome import Outcome
from .scheme import QuestionAnswer

JsonObject = dict[str, Any]  # an object of JSON that no schema describes, or not yet


class Box(TypedDict):
    """BoxSchema: A bounding box in CSS pixels, relative to the top-level viewport."""

    x: float
    y: float
    width: float
    height: float


class Point(TypedDict):
    """PointSchema: A point in CSS pixels, relative to the top-level viewport."""

    x: float
    y: float


class Size(TypedDict):
    """SizeSchema: A size in CSS pixels."""

    width: int
    height: int


class Element(TypedDict):
    """ElementSchema: The element that an event or a turn is about, as it was before the effect."""

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
    point_outside: NotRequired[str]


class Signal(TypedDict):
    """SignalSchema: In a live room: somebody hands over, asks for help, or says that the task is done."""

    time: float
    speaker: str
    signal: str
    success: NotRequired[bool]


class PointedElement(TypedDict):
    """PointedElementSchema: The element that the instructor of a live room points at."""

    uid: str
    tag: str
    role: str
    name: str
    frame: list[str]
    bbox: Box | None


class Pointing(TypedDict):
    """PointingSchema: Where the instructor of a live room points while writing a message."""

    tab: int
    picture_time: float
    box: Box
    element: PointedElement | None


class State(TypedDict):
    """StateSchema: One tab at one moment, before the event took effect."""

    tab: int
    url: str
    title: str
    viewport: Size
    zoom: float
    device_pixel_ratio: float
    scroll: Point
    animations: NotRequired[int]
    rendered: NotRequired[str]
    dom: str | None
    elements: str | None
    screenshot: str | None
    screenshot_time: float | None
    stale: NotRequired[bool]
    stale_because: NotRequired[str]
    unchanged_until: NotRequired[float]
    screenshot_agrees: NotRequired[bool]


class TableRow(TypedDict):
    """TableRowSchema: One row of an element table: every element with a box in the viewport."""

    uid: str
    tag: str
    role: str
    name: str
    frame: list[str]
    bbox: Box
    visible: bool
    clickable: bool


class SecretDigests(TypedDict):
    """SecretDigestsSchema: Slow digests of typed secrets: these can be found, not read (secret_digests.py)."""

    salt: str
    digests: list[str]


class RecordingManifest(TypedDict):
    """RecordingSchema: recording.json: what was recorded, where and how."""

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
    secret_digests: NotRequired[SecretDigests]
    room: NotRequired[RecordedRoom]
    imported: NotRequired[Imported]


class EventData(TypedDict):
    """EventDataSchema: What an event carries besides its target and state; each type uses its own few fields."""

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
    prevented: NotRequired[bool]
    input_type: NotRequired[str]
    value: NotRequired[str]
    value_before: NotRequired[str]
    chosen_values: NotRequired[list[str]]
    label: NotRequired[str]
    checked: NotRequired[bool]
    secret: NotRequired[bool]
    text: NotRequired[str]
    files: NotRequired[list[str]]
    scroll: NotRequired[Point]
    scroll_from: NotRequired[Point]
    snaps: NotRequired[bool]
    delta: NotRequired[Point]
    default_prevented: NotRequired[bool]
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
    """EventSchema: One line of events.jsonl."""

    seq: int
    time: float
    type: str
    tab: int
    gesture: int | None
    target: Element | None
    data: EventData
    trusted: NotRequired[bool]
    state: State | None


class ChatLine(TypedDict):
    """ChatLineSchema: One line of chat.jsonl, typed while recording."""

    time: float
    speaker: str
    utterance: str
    id: NotRequired[str]
    changes: NotRequired[str]
    began: NotRequired[float]
    received: NotRequired[float]
    uncertainty: NotRequired[float]
    pointing: NotRequired[Pointing]
    signal: NotRequired[str]
    model: NotRequired[str]
    success: NotRequired[bool]


class Resource(TypedDict):
    """ResourceSchema: One line of resources.jsonl: a style sheet, image or font that the pages used."""

    url: str
    content_type: str
    time: float
    blob: str


class ConsoleLine(TypedDict):
    """ConsoleLineSchema: One line of console.jsonl: what a page wrote to the console, an error that it did not
    catch, or what the browser has to say of the page.
    """

    time: float
    tab: int
    url: str
    kind: str
    level: str
    text: str
    script: NotRequired[str]
    line: NotRequired[int]
    column: NotRequired[int]


class TurnState(State):
    """TurnStateSchema: The state before a turn, and how good its picture is."""

    video_time: float | None
    screenshot_status: str
    screenshot_source: NotRequired[str]
    axtree: NotRequired[str]
    screenshot_taken: NotRequired[str | None]
    screenshot_late: NotRequired[bool]
    similarity: NotRequired[float | None]
    render_similarity: NotRequired[float]
    confidence: NotRequired[float]


class Check(TypedDict):
    """CheckSchema: Something that a reviewer should look at."""

    kind: str
    reason: str
    fix: NotRequired["Edit"]


class Reaction(TypedDict):
    """ReactionSchema: What people put to an utterance: an emoji, the same one of several people told once."""

    emoji: str
    count: int
    speakers: NotRequired[list[str]]


class ChatTurn(TypedDict):
    """ChatTurnSchema: A turn in which somebody said something."""

    id: str
    type: Literal["chat"]
    timestamp: float
    speaker: str
    utterance: str
    source: NotRequired[str]
    reply_to: NotRequired[str]
    reactions: NotRequired[list[Reaction]]
    pointing: NotRequired[Pointing]
    model: NotRequired[str]
    checks: NotRequired[list[Check]]
    dropped: NotRequired[bool]
    labels: NotRequired[dict[str, list[str]]]


class BrowserTurn(TypedDict):
    """BrowserTurnSchema: A turn in which the navigator acted."""

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
    trusted: NotRequired[bool]
    agent: NotRequired[TurnReport]
    labels: NotRequired[dict[str, list[str]]]


Turn = ChatTurn | BrowserTurn


class Demonstration(TypedDict):
    """DemonstrationSchema: demonstration.json: the ordered turns derived from one recording."""

    format: str
    version: int
    id: str
    recording: str
    task: str
    turns: list[Turn]
    unexplained_changes: NotRequired[int]
    signals: NotRequired[list[Signal]]
    unmatched_steps: NotRequired[list[int]]
    labels: NotRequired[dict[str, list[str]]]
    alignment: NotRequired[Alignment]
    outcome: NotRequired[Outcome]
    answers: NotRequired[list[QuestionAnswer]]


class SuppliedInputs(TypedDict):
    """SuppliedInputsSchema: What was given along when a recording was processed, and is used again the next time."""

    chat: NotRequired[str]
    speakers: NotRequired[dict[str, str]]
    video: NotRequired[str]
    place: NotRequired[VideoPlacement]
    speech: NotRequired[str]


class Processed(TypedDict):
    """ProcessedSchema: processed.json: the inputs of the demonstration, which is made again only if they change."""

    format: str
    version: int
    inputs: dict[str, str]
    demonstration: str
    derived: list[str]
    given: NotRequired[SuppliedInputs]


class Edit(TypedDict):
    """EditSchema: One reversible operation on a demonstration; each op uses its own few fields."""

    op: str
    turn: NotRequired[str]
    turns: NotRequired[list[str]]
    after: NotRequired[str | None]
    intent: NotRequired[str]
    arguments: NotRequired[dict[str, Any]]
    element: NotRequired[Element | None]
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
