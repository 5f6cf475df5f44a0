"""Types of the values of the alignment of an external video, after reading and validation.

Written by `python -m schemas.write_types` from the schemas; change those.
"""

from typing import NotRequired, TypedDict


class PageRectangle(TypedDict):
    """PageRectangleSchema: Where a video's frame shows the page: a point (x, y) of it is at (left + x * width, top
    + y * height).
    """

    left: float
    top: float
    width: float
    height: float


class VideoStretch(TypedDict):
    """VideoStretchSchema: A part of a video between two pauses: a time t of the recording is in it at offset + t *
    (1 + drift / 10^6).
    """

    begin: float
    end: float
    offset: float
    drift: float


class VideoSegment(TypedDict):
    """VideoSegmentSchema: A part of a video in which the page stays where it is."""

    begin: float
    end: float
    rectangle: PageRectangle


class VideoPlacement(TypedDict):
    """VideoPlacementSchema: A person's word on the external video: its clock, where it shows the page, or both."""

    offset: NotRequired[float]
    drift: NotRequired[float]
    rectangle: NotRequired[PageRectangle]
    duration: NotRequired[float]


class Alignment(TypedDict):
    """AlignmentSchema: How an external video lies on the recording's clock, and where it shows the page."""

    width: int
    height: int
    duration: float
    stretches: list[VideoStretch]
    segments: list[VideoSegment]
    by_hand: NotRequired[VideoPlacement]
