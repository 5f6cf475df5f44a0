"""Score of how well a picture matches the recorded elements: named elements lie where something is drawn."""

from collections.abc import Sequence

import cv2
import numpy as np

from schemas.types.recordings import TableRow

_LARGEST = 0.05  # of the viewport, that a box may fill: larger ones hold others
_SMALLEST = 8  # CSS pixels of a box's shorter side
_MIN_BOXES = 3  # boxes that are needed to tell
_FLAT = 3.0  # standard deviation of grey levels under which a box shows nothing
_AROUND = 2  # CSS pixels around a box that belong to it


def explained(rows: Sequence[TableRow], page: np.ndarray) -> float | None:
    """From 0 to 2: the share of boxes that show something, and the share of all edges that lie in boxes.

    `rows`: the element table. `page`: grey, at CSS size. Only to compare pictures by one table; None when there are too
    few boxes.
    """
    height, width = page.shape
    edges = cv2.min(cv2.absdiff(cv2.Sobel(page, cv2.CV_32F, 1, 0), 0)  # type: ignore[call-overload]  # knows no scalars
                    + cv2.absdiff(cv2.Sobel(page, cv2.CV_32F, 0, 1), 0), 255)  # type: ignore[call-overload]
    inside = np.zeros(page.shape, bool)
    drawn = boxes = 0
    for row in rows:
        box = row["bbox"]
        left, top = int(box["x"]), int(box["y"])
        right, bottom = int(np.ceil(box["x"] + box["width"])), int(np.ceil(box["y"] + box["height"]))
        if (not row.get("visible") or not row.get("name") or min(box["width"], box["height"]) < _SMALLEST
                or left < 0 or top < 0 or right > width or bottom > height
                or box["width"] * box["height"] > _LARGEST * width * height):
            continue
        boxes += 1
        drawn += float(page[top:bottom, left:right].std()) >= _FLAT
        inside[max(0, top - _AROUND):bottom + _AROUND, max(0, left - _AROUND):right + _AROUND] = True
    if boxes < _MIN_BOXES:
        return None
    return drawn / boxes + float(edges[inside].sum() / max(float(edges.sum()), 1.0))
