"""Schemas that several formats share: boxes, elements, states."""

from collections.abc import Callable
from datetime import datetime
from typing import Any, ClassVar

from marshmallow import RAISE, Schema, ValidationError, fields, validate, validates_schema

from schemas import limits
from schemas.upgrade import VERSIONS

SHA256 = validate.Regexp(r"^[0-9a-f]{64}$(?!\n)", error="Not a SHA-256 in lower-case hexadecimal.")
SCREENSHOT_STATUSES = ("good", "broken")
STALE_REASONS = ("still", "late", "scrolled", "resized", "moved", "hidden")
SCREENSHOT_SOURCES = ("captured", "video")


class Strict(Schema):
    """Base of all formats: a field that the format does not know is an error, not a guess.

    `piece`: what `schemas.upgrade` calls that which is read by this schema; empty for what is only part of one.
    `type_name`: the name of the TypedDict that `schemas.write_types` makes of it, where it is not the schema's without
    "Schema".
    """

    piece: ClassVar[str] = ""
    type_name: ClassVar[str]

    class Meta:
        unknown = RAISE


def string(description: str, **options: Any) -> fields.String:
    """A required string unless told otherwise."""
    options.setdefault("required", True)
    return fields.String(metadata={"description": description}, **options)


def number(description: str, *, minimum: float = -limits.NUMBER, maximum: float = limits.NUMBER,
           **options: Any) -> fields.Float:
    """A required finite number unless told otherwise."""
    options.setdefault("required", True)
    options.setdefault("validate", validate.Range(min=minimum, max=maximum))
    return fields.Float(allow_nan=False, metadata={"description": description}, **options)


def integer(description: str, **options: Any) -> fields.Integer:
    """A required whole number unless told otherwise."""
    options.setdefault("required", True)
    options.setdefault("validate", validate.Range(min=-limits.MAX_INTEGER, max=limits.MAX_INTEGER))
    return fields.Integer(strict=True, metadata={"description": description}, **options)


def newest_version(format: str) -> fields.Integer:
    """The version of a format, the newest; read through `schemas.files`, an older one has become it."""
    return integer("version of the format", validate=lambda value: _require_newest(value, format))


def _require_newest(value: int, format: str) -> None:
    if value != VERSIONS[format]:
        raise ValidationError(f"Must be equal to {VERSIONS[format]}.")


def flag(description: str, **options: Any) -> fields.Boolean:
    """A required true or false unless told otherwise."""
    options.setdefault("required", True)
    return fields.Boolean(truthy={True}, falsy={False}, metadata={"description": description}, **options)


def digest(description: str, **options: Any) -> fields.String:
    """The name of a blob; may be null where the state could not be had."""
    options.setdefault("required", True)
    return fields.String(validate=SHA256, metadata={"description": description}, **options)


def nested(schema: "type[Strict] | Callable[[], Strict]", description: str, **options: Any) -> fields.Nested:
    """A required nested object unless told otherwise."""
    options.setdefault("required", True)
    return fields.Nested(schema, metadata={"description": description}, **options)


def listing(item: fields.Field[Any], description: str, **options: Any) -> fields.List[Any]:
    """A required list unless told otherwise."""
    options.setdefault("required", True)
    return fields.List(item, metadata={"description": description}, **options)


def length(description: str, *, minimum: float = -limits.LENGTH, **options: Any) -> fields.Float:
    """A length or place in CSS pixels."""
    return number(description, minimum=minimum, maximum=limits.LENGTH, **options)


def recording_time(description: str, **options: Any) -> fields.Float:
    """A time since the recording started, in seconds; what was said before it is below zero."""
    return number(description, minimum=-limits.SECONDS, maximum=limits.SECONDS, **options)


def wall_clock(description: str, **options: Any) -> fields.AwareDateTime:
    """A moment by the wall clock, with its zone: in years that every zone can tell."""
    options.setdefault("required", True)
    return fields.AwareDateTime(format="iso", validate=_require_year, metadata={"description": description}, **options)


def _require_year(value: datetime) -> None:
    if not limits.FIRST_YEAR <= value.year <= limits.LAST_YEAR:
        raise ValidationError(f"Must be a moment of the years {limits.FIRST_YEAR} to {limits.LAST_YEAR}.")


class BoxSchema(Strict):
    """A bounding box in CSS pixels, relative to the top-level viewport."""

    x = length("left edge")
    y = length("top edge")
    width = length("width", minimum=0)
    height = length("height", minimum=0)


class PointSchema(Strict):
    """A point in CSS pixels, relative to the top-level viewport."""

    x = length("from the left")
    y = length("from the top")


class SizeSchema(Strict):
    """A size in CSS pixels."""

    width = integer("width", validate=validate.Range(min=0, max=limits.SIDE))
    height = integer("height", validate=validate.Range(min=0, max=limits.SIDE))

    @validates_schema
    def _require_area(self, size: dict[str, int], **_: Any) -> None:
        if size["width"] * size["height"] > limits.AREA:  # pictures are brought to this size
            raise ValidationError(f"Must be of at most {limits.AREA} pixels.")


POINTS_OUTSIDE = ("backdrop", "pseudo-element", "moved", "page", "other")


class ElementSchema(Strict):
    """The element that an event or a turn is about, as it was before the effect."""

    uid = string("unique in its document, the same in every later snapshot of that document")
    tag = string("tag name in lower case")
    role = string("ARIA role, explicit or implied; empty if none")
    name = string("accessible name, shortened to 200 characters")
    text = string("visible text, shortened to 200 characters; never a secret")
    attributes = fields.Dict(
        keys=fields.String(), values=fields.String(), required=True,
        metadata={"description": "attributes in the DOM; values of secret fields are `[REDACTED]`"})
    xpath = string("XPath within its own document or shadow root")
    css = string("CSS selector within its own document or shadow root")
    frame = listing(fields.String(), "uids of the frame elements from the top document down; empty in the top one")
    bbox = nested(BoxSchema, "box in top-level CSS pixels; null when it has none", allow_none=True)
    point_outside = string("why the box does not contain the point of the action: `backdrop` (beside a modal dialog), "
                           "`pseudo-element`, `moved` (by the press), `page` (an empty part of it) or `other`; absent "
                           "if it contains it", validate=validate.OneOf(POINTS_OUTSIDE), required=False)


YOUR_TURN, HELP, DONE = SIGNALS = ("your_turn", "help", "done")


class SignalSchema(Strict):
    """In a live room: somebody hands over, asks for help, or says that the task is done."""

    time = recording_time("seconds since the recording started")
    speaker = string("instructor or navigator")
    signal = string("your_turn (it is the other's turn), help or done", validate=validate.OneOf(SIGNALS))
    success = flag("done: whether the task was achieved", required=False)


class PointedElementSchema(Strict):
    """The element that the instructor of a live room points at."""

    uid = string("as in ElementSchema")
    tag = string("tag name in lower case")
    role = string("ARIA role, explicit or implied; empty if none")
    name = string("accessible name, shortened to 200 characters")
    frame = listing(fields.String(), "uids of the frame elements from the top document down")
    bbox = nested(BoxSchema, "box in top-level CSS pixels, when the recorder received the message; null when it has "
                  "none", allow_none=True)


class PointingSchema(Strict):
    """Where the instructor of a live room points while writing a message."""

    tab = integer("number of the tab")
    picture_time = recording_time("when what the picture shows was painted")
    box = nested(BoxSchema, "marked area of the picture, in top-level CSS pixels; without extent for a point")
    element = nested(PointedElementSchema, "element in the middle of it; null when there is none, or it was out of the "
                     "window by then, or gone with its document", allow_none=True)


class StateSchema(Strict):
    """One tab at one moment, before the event took effect."""

    tab = integer("number of the tab, from 1 in order of appearance")
    url = string("address of the top document")
    title = string("title of the top document")
    viewport = nested(SizeSchema, "layout viewport")
    zoom = number("browser zoom, 1 is 100 %")
    device_pixel_ratio = number("device pixels per CSS pixel")
    scroll = nested(PointSchema, "scroll offsets of the top document")
    animations = integer("CSS and Web animations that were running: the picture is of one moment of theirs",
                         load_default=0, required=False)
    rendered = string("`partial` where the page looked in a way that its DOM snapshot does not hold (docs/format.md, "
                      "\"Appearance\"), so that its rendered page may look otherwise",
                      validate=validate.OneOf(("partial",)), required=False)
    dom = digest("blob: the DOM snapshot, HTML with `data-demotape-uid` on every element", allow_none=True)
    elements = digest("blob: the element table, a JSON list", allow_none=True)
    screenshot = digest("blob: the screenshot, an image: BMP from the recorder; JPEG, PNG and WebP are read as well",
                        allow_none=True)
    screenshot_time = recording_time("when what the screenshot shows was first painted", allow_none=True)
    stale = flag("true when the page may have changed since the screenshot was painted: the browser gave no stream of "
                 "the tab, only pictures now and then, or no frame since the page was shown, or since the last action "
                 "though it has changed; or it shows another part of the page, another size, or the target elsewhere",
                 load_default=False, required=False)
    stale_because = string("why it is stale: `still` (a picture taken now and then), `late` (none since the page was "
                           "shown or acted in), `scrolled`, `resized` (it shows the page so), `moved` (the target "
                           "may not be painted where it stood) or `hidden` (the target is black, as a secret may have "
                           "passed there)", validate=validate.OneOf(STALE_REASONS), required=False)
    unchanged_until = recording_time(
        "the screenshot was painted after the event, and the page was as before until then", required=False)
    screenshot_agrees = flag("true when all that can be read in the screenshot is known to stand where the element "
                             "table has it: same scroll offsets and size, and all that moved before was painted. "
                             "Absent or false: it is not known", required=False)


class TableRowSchema(Strict):
    """One row of an element table: every element with a box in the viewport."""

    uid = string("as in ElementSchema")
    tag = string("tag name in lower case")
    role = string("ARIA role, explicit or implied")
    name = string("accessible name, shortened to 100 characters")
    frame = listing(fields.String(), "uids of the frame elements from the top document down")
    bbox = nested(BoxSchema, "box in top-level CSS pixels")
    visible = flag("painted and not hidden by style")
    clickable = flag("a person would expect it to react to a click")
