"""The point of a press: in or outside the box of an element, as it was recorded. Pure functions."""

from schemas.types.recordings import Box, Element

_EDGE = 0.02  # share of a box, at each edge, that is not pressed
Rectangle = tuple[float, float, float, float]  # left, top, width, height
XY = tuple[float, float]


def inside(point: XY | None, before: Box | None, now: Rectangle) -> XY:
    """A point as far into a box as the recorded one; the middle where that is unknown."""
    left, top, width, height = now
    across, down = 0.5, 0.5
    if point and before and before["width"] and before["height"]:
        across = min(max((point[0] - before["x"]) / before["width"], _EDGE), 1 - _EDGE)
        down = min(max((point[1] - before["y"]) / before["height"], _EDGE), 1 - _EDGE)
    return left + width * across, top + height * down


def outside(reason: str, point: XY, before: Box, now: Rectangle) -> XY:
    """A point outside a box, as far from it as the recorded one was. A backdrop fills the viewport; on it, the point is
    the recorded one, unless the box contains that now."""
    (x, y), (left, top, width, height) = point, now
    if reason == "backdrop":
        covered = left <= x <= left + width and top <= y <= top + height
        return (max(left / 2, 0), max(top / 2, 0)) if covered else point
    return (_shifted(x, before["x"], before["width"], left, width),
            _shifted(y, before["y"], before["height"], top, height))


def matches_recorded_box(element: Element, now: Rectangle) -> bool:
    """Whether a box is that of an element as it was recorded."""
    box = element["bbox"]
    recorded = (box["x"], box["y"], box["width"], box["height"]) if box else ()
    return bool(recorded) and all(abs(actual - expected) < 1 for actual, expected in zip(now, recorded, strict=True))


def _shifted(point: float, before: float, size_before: float, now: float, size: float) -> float:
    """A coordinate, as far from the nearer edge of a box as it was before."""
    end = before + size_before
    return point - before + now if point <= end else point - end + now + size
