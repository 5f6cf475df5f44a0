"""Format of the alignment of an external video, in a demonstration."""

from typing import Any

from marshmallow import ValidationError, fields, validate, validates_schema

from schemas import limits

from .parts import Strict, integer, length, listing, nested, number, recording_time

MAX_DRIFT = 10_000  # parts per million: no clock is as wrong
MIN_SCALE, MAX_SCALE = 0.01, 100.0  # pixels of a frame to a CSS pixel


class PageRectangleSchema(Strict):
    """Where a video's frame shows the page: a point (x, y) of it is at (left + x * width, top + y * height)."""

    left = length("place of the page's left edge, pixels of the frame")
    top = length("place of the page's top edge, pixels of the frame")
    width = number("pixels of the frame to a CSS pixel, across", minimum=MIN_SCALE, maximum=MAX_SCALE)
    height = number("pixels of the frame to a CSS pixel, downwards", minimum=MIN_SCALE, maximum=MAX_SCALE)


class VideoStretchSchema(Strict):
    """A part of a video between two pauses: a time t of the recording is in it at offset + t * (1 + drift / 10^6)."""

    begin = recording_time("of its first frame, seconds of the video")
    end = recording_time("of its last frame, seconds of the video")
    offset = recording_time("where the recording's time 0 is, or would be, seconds of the video")
    drift = number("by how much the video's clock is fast, parts per million", minimum=-MAX_DRIFT, maximum=MAX_DRIFT)


class VideoSegmentSchema(Strict):
    """A part of a video in which the page stays where it is."""

    begin = recording_time("of its first frame, seconds of the video")
    end = recording_time("of its last frame, seconds of the video")
    rectangle = nested(PageRectangleSchema, "where the frames show the page")


class VideoPlacementSchema(Strict):
    """A person's word on the external video: its clock, where it shows the page, or both."""

    offset = recording_time("where the recording's time 0 is, seconds of the video; goes with drift", required=False)
    drift = number("by how much the video's clock is fast, parts per million; goes with offset", required=False,
                   minimum=-MAX_DRIFT, maximum=MAX_DRIFT)
    rectangle = nested(PageRectangleSchema, "where all frames show the page", required=False)
    duration = recording_time(
        "of the video, seconds, where it is known: what comes after its end is not in it", required=False)

    @validates_schema
    def _says_something(self, data: dict[str, Any], **_: Any) -> None:
        if ("offset" in data) != ("drift" in data):
            raise ValidationError({"drift" if "offset" in data else "offset": "offset and drift require each other."})
        if not data.keys() - {"duration"}:
            raise ValidationError("Must have offset and drift, a rectangle, or all.")


class AlignmentSchema(Strict):
    """How an external video lies on the recording's clock, and where it shows the page."""

    width = integer("of a frame, pixels", validate=validate.Range(1, limits.SIDE))
    height = integer("of a frame, pixels", validate=validate.Range(1, limits.SIDE))
    duration = recording_time("from the first frame to the last, seconds")
    stretches = listing(fields.Nested(VideoStretchSchema),
                        "parts between pauses, in order; empty when nothing was found")
    segments = listing(fields.Nested(VideoSegmentSchema), "where the page was shown, in order; between them it was not")
    by_hand = nested(VideoPlacementSchema, "what a person said, which the rest follows", required=False)
