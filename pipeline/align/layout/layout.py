"""Rectangles of the page in the frames over the whole video: windows are moved, resized, dimmed, shown elsewhere."""

from dataclasses import dataclass

import numpy as np

from .rectangle import Rectangle


@dataclass(frozen=True)
class LayoutSegment:
    """A part of the video in which the page stays where it is: times of its first and last frame, seconds."""

    start: float
    end: float
    rectangle: Rectangle


@dataclass(frozen=True)
class Layout:
    """Pieces in order; between them the page is on its way, or not shown."""

    pieces: tuple[LayoutSegment, ...]

    @classmethod
    def always(cls, rectangle: Rectangle) -> "Layout":
        """One rectangle from the first frame to the last."""
        return cls((LayoutSegment(-np.inf, np.inf, rectangle),))

    def number_at(self, time: float) -> int:
        """The number of the piece that a frame of that time belongs to; -1 for none."""
        return next((number for number, piece in enumerate(self.pieces) if piece.start <= time <= piece.end), -1)

    def rectangle_at(self, time: float) -> Rectangle | None:
        """Where the page is in a frame of that time; None where nobody knows."""
        number = self.number_at(time)
        return None if number < 0 else self.pieces[number].rectangle

    def visible_part(self, viewport: tuple[int, int], frame: tuple[int, int], shape: tuple[int, int]) -> tuple[slice,
                                                                                                               slice]:
        """Rows and columns of a page, at working size `shape`, that are inside the frame in every piece."""
        parts = [piece.rectangle.visible_part(viewport, frame, shape) for piece in self.pieces]
        rows, columns = (slice(first := max(part[axis].start for part in parts),
                               max(first, min(part[axis].stop for part in parts))) for axis in (0, 1))
        return rows, columns
