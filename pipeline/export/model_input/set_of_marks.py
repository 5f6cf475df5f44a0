"""Set of marks: numbered black boxes on a screenshot, and the table of the numbers (WebVoyager, 3.3)."""

from dataclasses import dataclass
from typing import Any

import cv2
import numpy

from schemas.types.recordings import Box, Size, TableRow

_LINE = 2  # pixels
_PADDING = 3
_MIN_SIDE = 4  # CSS pixels: what is smaller cannot be seen or hit


@dataclass(frozen=True)
class Mark:
    """One numbered element: what it is, and its box in top-level CSS pixels."""

    number: int
    uid: str
    tag: str
    role: str
    name: str
    bbox: Box


def number_marks(table: dict[str, TableRow], viewport: Size) -> list[Mark]:
    """Marks for the elements of a table that can be acted on and are in sight, from 1 in the order of the table."""
    markable = [row for row in table.values() if row["clickable"] and row["visible"]
                and _is_in_viewport(row["bbox"], viewport)]
    return [Mark(number, row["uid"], row["tag"], row["role"], row["name"], row["bbox"])
            for number, row in enumerate(markable, 1)]


def legend(marks: list[Mark]) -> dict[str, dict[str, Any]]:
    """What each number stands for: uid, tag, role, name and box."""
    return {str(mark.number): {"uid": mark.uid, "tag": mark.tag, "role": mark.role, "name": mark.name,
                               "bbox": mark.bbox} for mark in marks}


def draw(pixels: numpy.ndarray, marks: list[Mark], scale: float) -> numpy.ndarray:
    """A copy of the picture with the marks on it. `scale`: pixels in a CSS pixel."""
    pixels = pixels.copy()
    height, width = pixels.shape[:2]
    for mark in marks:
        left, top, right, bottom = corners(mark.bbox, scale, width, height)
        cv2.rectangle(pixels, (left, top), (right, bottom), (0, 0, 0), _LINE)
        label = str(mark.number)
        (across, down), _ = cv2.getTextSize(label, cv2.FONT_HERSHEY_SIMPLEX, 0.45 * max(scale, 1), 1)
        end = left + across + 2 * _PADDING, top + down + 2 * _PADDING
        cv2.rectangle(pixels, (left, top), end, (0, 0, 0), cv2.FILLED)
        cv2.putText(pixels, label, (left + _PADDING, top + down + _PADDING), cv2.FONT_HERSHEY_SIMPLEX,
                    0.45 * max(scale, 1), (255, 255, 255), 1, cv2.LINE_AA)
    return pixels


def corners(box: Box, scale: float, width: int, height: int) -> tuple[int, int, int, int]:
    """Left, top, right and bottom of a box in pixels, within a picture of that width and height."""
    def within(value: float, limit: int) -> int:
        return round(min(max(value * scale, 0.0), float(limit)))

    return (within(box["x"], width), within(box["y"], height),
            within(box["x"] + box["width"], width), within(box["y"] + box["height"], height))


def _is_in_viewport(box: Box, viewport: Size) -> bool:
    return (min(box["width"], box["height"]) >= _MIN_SIDE and box["x"] < viewport["width"]
            and box["y"] < viewport["height"] and box["x"] + box["width"] > 0 and box["y"] + box["height"] > 0)
