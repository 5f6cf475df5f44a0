"""The form of the time line: which fields it has, and which edit a sent one means."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from flask_babel import gettext as _
from flask_babel import lazy_gettext as _l

from schemas import limits, types
from schemas.formats.alignment import MAX_DRIFT, MAX_SCALE, MIN_SCALE

from .timeline_view import Timeline

CLOCK, RECTANGLE = ("offset", "drift"), ("left", "top", "width", "height")


@dataclass(frozen=True)
class PlacementField:
    """One number of the form. `value`: what stands in it; `step`: what an arrow key adds; `error`: what is wrong."""

    name: str
    label: str
    unit: str
    value: str
    step: str
    hint: str
    error: str = ""


_FIELDS = (
    ("offset", _l("Offset"), _l("seconds"), "0.05", _l("Start of the recording in the video")),
    ("drift", _l("Drift"), "ppm", "10", _l("Drift of the video's clock")),
    ("left", _l("Left"), "px", "1", _l("Pixels of the frame")),
    ("top", _l("Top"), "px", "1", _l("Pixels of the frame")),
    ("width", _l("Width"), "px", "1", _l("Of the page in the frame")),
    ("height", _l("Height"), "px", "1", _l("Of the page in the frame")),
)


class PlacementForm:
    """The numbers that place a video, as they are or as they were sent."""

    def __init__(self, line: Timeline, sent: Mapping[str, str] | None = None):
        self._line, self._known = line, known(line)
        self._texts = {name: (sent or {}).get(name, value).strip() for name, value in self._known.items()}
        self._numbers = {name: _number(text) for name, text in self._texts.items()}
        self.errors = {name: error for name in self._texts if (error := self._error(name))}

    @property
    def fields(self) -> list[PlacementField]:
        return [PlacementField(name, label, unit, self._texts[name], step, hint, self.errors.get(name, ""))
                for name, label, unit, step, hint in _FIELDS]

    def placement(self) -> types.VideoPlacement | None:
        """What was changed, None for nothing; to be asked only when there are no errors."""
        placement: types.VideoPlacement = {}
        if any(self._texts[name] != self._known[name] for name in CLOCK):
            placement |= {"offset": self._numbers["offset"], "drift": self._numbers["drift"]}
            if self._line.alignment:
                placement["duration"] = self._line.alignment["duration"]
        if any(self._texts[name] != self._known[name] for name in RECTANGLE):
            wide, high = self._line.viewport
            placement["rectangle"] = {"left": self._numbers["left"], "top": self._numbers["top"],
                                      "width": self._numbers["width"] / wide, "height": self._numbers["height"] / high}
        return placement or None

    def _error(self, name: str) -> str:
        minimum, maximum = _bounds(name, self._line.viewport)
        value = self._numbers[name]
        if math.isnan(value):
            return _("Give a number.") if self._texts[name] else _("Required.")
        if not minimum <= value <= maximum:
            return _("Must be from %(least)s to %(most)s.", least=minimum, most=maximum)
        return ""


def known(line: Timeline) -> dict[str, str]:
    """The numbers as they stand, as text; those of an unknown place begin at nothing and the whole frame."""
    alignment = line.alignment
    stretches = alignment["stretches"] if alignment else []
    clock = stretches[0] if stretches else {"offset": 0.0, "drift": 0.0}
    values = {"offset": f"{clock['offset']:.3f}", "drift": f"{clock['drift']:.1f}"}
    wide, high = line.viewport
    drawn = line.usual
    if drawn:
        sides = (drawn["left"], drawn["top"], drawn["width"] * wide, drawn["height"] * high)
    else:
        sides = (0.0, 0.0, float(alignment["width"] if alignment else wide),
                 float(alignment["height"] if alignment else high))
    return values | {name: f"{value:.1f}" for name, value in zip(RECTANGLE, sides, strict=True)}


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        return math.nan
    return value if math.isfinite(value) else math.nan


def _bounds(name: str, viewport: tuple[int, int]) -> tuple[float, float]:
    if name == "offset":
        return -limits.SECONDS, limits.SECONDS
    if name == "drift":
        return -MAX_DRIFT, MAX_DRIFT
    if name in ("width", "height"):
        length = viewport[name == "height"]
        return math.ceil(MIN_SCALE * length), math.floor(MAX_SCALE * length)
    return -limits.SIDE, limits.SIDE
