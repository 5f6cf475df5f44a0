"""Format of a package: the output of the extension, before it is converted to a recording.

A zip file with manifest.json, journal.jsonl and blobs/<sha256>. All of it comes from somebody else's machine.
"""

from typing import Any

from marshmallow import ValidationError, fields, validate

from schemas import limits

from .parts import (
    STALE_REASONS,
    BoxSchema,
    ElementSchema,
    PointSchema,
    SizeSchema,
    Strict,
    TableRowSchema,
    digest,
    flag,
    integer,
    listing,
    nested,
    newest_version,
    number,
    string,
)
from .recording import PAGE_EVENTS, SPEAKERS, EventDataSchema, RecordingSchema, provenance, secret_digests

FORMAT = "demotape/package"
TRANSITIONS = ("typed", "link", "form", "script", "redirect", "reload", "back", "forward", "same_document")
MAX_FRAME_DEPTH = 32


def wall(description: str, **options: Any) -> fields.Float:
    """A wall clock: seconds since 1970, of our time."""
    return number(description, validate=validate.Range(min=0, max=limits.WALL), **options)


class PackageFileSchema(Strict):
    """One file of a package."""

    name = string("name in the zip file", validate=validate.Regexp(r"^(journal\.jsonl|blobs/[0-9a-f]{64})$(?!\n)"))
    size = integer("bytes", validate=validate.Range(min=0))
    sha256 = digest("SHA-256 of its content")


class PackageSchema(Strict):
    """manifest.json of a package: what is in it."""

    piece = "package"
    type_name = "PackageManifest"

    format = string("always `demotape/package`", validate=validate.Equal(FORMAT))
    version = newest_version(FORMAT)
    id = string("name of the recording", validate=RecordingSchema().fields["id"].validate)
    task = string("what the navigator was asked to do; may be empty")
    started_at = wall("wall clock at the beginning, seconds since 1970")
    ended = flag("false when the recording was cut off")
    lines = integer("lines of the journal", validate=validate.Range(min=1))
    files = listing(fields.Nested(PackageFileSchema), "every file but the manifest itself")
    provenance = provenance()
    secret_digests = secret_digests()


class FrameEntrySchema(Strict):
    """A frame of another frame group, as the frame group around it sees it."""

    uid = string("of the frame element")
    index = integer("among the frames of its window; -1 when it is not listed")
    path = listing(fields.String(), "uids of the frame elements around it, within the frame group")
    indices = listing(fields.Integer(), "index of the frame of each of those; absent for an empty path", required=False)
    x = number("left edge of its content")
    y = number("top edge of its content")
    width = number("width of its content")
    height = number("height of its content")
    scaleX = number("scale of its coordinates in the frame group's, across")
    scaleY = number("the same, down")


class RowsField(fields.Field[list[Any]]):
    """Rows of an element table: a number, when the row was sent before, or [number, TableRow]."""

    type_hint = "list[Any]"

    def _deserialize(self, value: Any, attr: str | None, data: Any, **options: Any) -> list[Any]:
        if not isinstance(value, list):
            raise ValidationError("Not a list.")
        rows = [row for row in value if not _is_number(row)]
        if not all(isinstance(row, list) and len(row) == 2 and _is_number(row[0]) for row in rows):
            raise ValidationError("Not a row's number, nor a number with its row.")
        loaded = TableRowSchema(many=True).load([row for _, row in rows])
        values = iter(loaded)
        return [row if _is_number(row) else [row[0], next(values)] for row in value]


class ChunksField(fields.Field[list[Any]]):
    """Pieces of a frame group's text: [number, text]."""

    type_hint = "list[Any]"

    def _deserialize(self, value: Any, attr: str | None, data: Any, **options: Any) -> list[Any]:
        if not isinstance(value, list) or not all(
                isinstance(chunk, list) and len(chunk) == 2 and _is_number(chunk[0]) and isinstance(chunk[1], str)
                for chunk in value):
            raise ValidationError("Not a list of numbers with their texts.")
        return value


def _is_number(value: Any) -> bool:
    return type(value) is int and value >= 0


class SnapshotSchema(Strict):
    """What a frame group shows. A row is its number, or [number, TableRow]; a chunk is [number, text]. Rows and chunks
    that were sent before come by number only."""

    frame_group = string("name of the frame group", validate=validate.Length(max=40))
    root = integer("number of the chunk that is its document", validate=validate.Range(min=0))
    chunks = ChunksField(required=True, metadata={"description": "pieces of its text: number, text"})
    rows = RowsField(required=True, metadata={"description": "rows of its element table"})
    frames = listing(fields.Nested(FrameEntrySchema), "frames that are frame groups of their own")
    secrets = listing(fields.Nested(BoxSchema), "boxes of secret fields")
    url = string("address of its document")
    title = string("title of its document")
    viewport = nested(SizeSchema, "layout viewport")
    device_pixel_ratio = number("device pixels per CSS pixel")
    animations = integer("animations that were running")
    scroll = nested(PointSchema, "scroll offsets")
    rendered = string("as in StateSchema, of this frame group", validate=validate.OneOf(("partial",)), required=False)


class ShownSchema(Strict):
    """Whether an event's target was on the screen where it stood."""

    since = number("since when it stands there, wall clock of the page, milliseconds since 1970")
    painted = number("by when that was painted, the same; null when it was not yet", allow_none=True)
    all_since = number("since when all that can be read stands where it does, the same", required=False)
    all_painted = number("by when that was painted, the same; null or absent when it was not, or is not known",
                         allow_none=True, required=False)


class UnchangedSchema(Strict):
    """What a capture script tells after an event; wall clock of the page, milliseconds since 1970."""

    event = string("id of the event's message")
    until = number("how long the page stayed as it was before the event")
    painted = number("by when the event's target was painted where it stood; null when it was not", allow_none=True)
    all_painted = number("by when all that can be read was; null or absent when it was not, or is not known",
                         allow_none=True, required=False)


class MessageSchema(Strict):
    """What a capture script tells."""

    id = string("unique in the package")
    type = string("kind of event", validate=validate.OneOf((*PAGE_EVENTS, "snapshot")))
    time = number("wall clock of the page, milliseconds since 1970",
                  validate=validate.Range(min=0, max=limits.WALL * 1000))
    gesture = string("id of the message that began the gesture", allow_none=True)
    path = listing(fields.Integer(strict=True), "where its frame group hangs in the page: indices of frames",
                   validate=validate.Length(max=MAX_FRAME_DEPTH))
    target = nested(ElementSchema, "the element", allow_none=True)
    data = nested(EventDataSchema, "what this type of event carries")
    trusted = flag("as in EventSchema", required=False)
    snapshot = nested(SnapshotSchema, "what its frame group shows before the event", allow_none=True)
    shown = nested(ShownSchema, "whether its target was on the screen by then; of what begins a gesture",
                   required=False)


class LineSchema(Strict):
    """What every line of the journal has."""

    piece = "package line"
    type_name = "PackageLine"

    n = integer("number of the line, from 1 without gaps", validate=validate.Range(min=1))
    at = wall("wall clock when it was written, seconds since 1970; never runs backwards")
    kind = string("kind of line")


class BeginLineSchema(LineSchema):
    """`begin`: the first line."""

    id = string("name of the recording")
    task = string("what the navigator was asked to do; may be empty")
    started_at = wall("wall clock at time 0, seconds since 1970")
    user_agent = string("the browser's User-Agent header")
    browser = string("name and version of the browser")
    version = string("version of the extension")


class TabLineSchema(LineSchema):
    """`tab`: a tab appears; tabs are numbered in order."""

    tab = integer("number of the tab", validate=validate.Range(min=1))
    opener = integer("number of the tab that opened it", allow_none=True)
    url = string("address; empty in a pause")


class OfTabLineSchema(LineSchema):
    """`show` (the person sees the tab now) and `gone` (it was closed)."""

    tab = integer("number of the tab")


class PageLineSchema(LineSchema):
    """`page`: a capture script tells something."""

    tab = integer("number of the tab")
    frame = integer("number that the browser gives the frame; 0 is the top one")
    document = string("name that the browser gives the document")
    sent = wall("wall clock of the page when it heard of it, before anything else of the page did, seconds since 1970")
    message = nested(MessageSchema, "what it tells")


class NavigateLineSchema(LineSchema):
    """`navigate`: a tab shows another page."""

    tab = integer("number of the tab")
    url = string("address")
    transition = string("cause", validate=validate.OneOf(TRANSITIONS))
    started = wall("when it began, wall clock, seconds since 1970")
    committed = wall("when the page began to be shown, wall clock, seconds since 1970")
    document = string("name that the browser gives the document")
    same_document = flag("only the address changed")


class PictureLineSchema(LineSchema):
    """`picture`: the picture of an earlier line; secrets are blackened in it."""

    tab = integer("number of the tab")
    event = integer("number of the line that it belongs to", validate=validate.Range(min=1))
    time = wall("when it was on the screen, wall clock, seconds since 1970")
    still = flag("it is no frame of a stream but was taken now and then")
    blob = digest("its content, PNG")
    stale_because = string("as in StateSchema", validate=validate.OneOf(STALE_REASONS), required=False)
    unchanged_until = wall("as in StateSchema, but wall clock", required=False)
    screenshot_agrees = flag("as in StateSchema, as far as one frame group can tell", required=False)


_PACKET = (fields.Float(allow_nan=False, validate=validate.Range(min=0, max=limits.WALL)),
           fields.Integer(strict=True, validate=validate.Range(min=0)), fields.Boolean())


class VideoLineSchema(LineSchema):
    """`video`: some seconds of the video; secrets are blackened in it."""

    packets = listing(fields.Tuple(_PACKET),
                      "VP8 packets: wall clock, bytes, whether it is a key frame")
    width = integer("pixels", validate=validate.Range(min=2, max=16384))
    height = integer("pixels", validate=validate.Range(min=2, max=16384))
    blob = digest("the packets' bytes one after the other")


class ResourceLineSchema(LineSchema):
    """`resource`: a style sheet, image or font that a page has loaded."""

    url = string("address")
    content_type = string("media type")
    blob = digest("its content")


class ChatLineOfPackageSchema(LineSchema):
    """`chat`: somebody says something."""

    speaker = string("who said it", validate=validate.OneOf(SPEAKERS))
    utterance = string("what was said")


class UndoLineSchema(LineSchema):
    """`undo`: the person marks an action as a mistake."""

    event = integer("number of the line with which the action began")


class ZoomLineSchema(LineSchema):
    """`zoom`: the browser's zoom of a tab."""

    tab = integer("number of the tab")
    zoom = number("1 is 100 %", validate=validate.Range(min=0.01, max=100))


class ProblemLineSchema(LineSchema):
    """`problem`: something went wrong that did not end the recording."""

    message = string("what")


class PlainLineSchema(LineSchema):
    """`pause`, `resume` and `end`."""

    type_name = "PackageLine"


LINES: dict[str, type[Strict]] = {
    "begin": BeginLineSchema, "tab": TabLineSchema, "show": OfTabLineSchema, "gone": OfTabLineSchema,
    "page": PageLineSchema, "navigate": NavigateLineSchema, "picture": PictureLineSchema, "video": VideoLineSchema,
    "resource": ResourceLineSchema, "chat": ChatLineOfPackageSchema, "undo": UndoLineSchema, "zoom": ZoomLineSchema,
    "problem": ProblemLineSchema, "pause": PlainLineSchema, "resume": PlainLineSchema, "end": PlainLineSchema,
}
