"""Options of `demotape process` that say where an external video belongs."""

from contextlib import suppress

from schemas import InputError
from schemas.demonstration import VideoPlacementSchema
from schemas.files import validated
from schemas.types import VideoPlacement

_SIDES = ("left", "top", "width", "height")


def read_place(offset: float | None, drift: float | None, rectangle: str | None) -> VideoPlacement | None:
    """What the options say, None when they say nothing; raises InputError naming the option that is wrong."""
    if drift is not None and offset is None:
        raise InputError("--video-drift goes with --video-offset")
    place: dict[str, object] = {} if offset is None else {"offset": offset, "drift": drift or 0.0}
    if rectangle is not None:
        place["rectangle"] = dict(zip(_SIDES, _numbers(rectangle), strict=True))
    if not place:
        return None
    found: VideoPlacement = validated(place, VideoPlacementSchema(), "--video-offset, --video-drift, --video-rectangle")
    return found


def _numbers(text: str) -> list[float]:
    parts = text.split(",")
    with suppress(ValueError):
        if len(parts) == len(_SIDES):
            return [float(part) for part in parts]
    raise InputError("--video-rectangle: four numbers with commas between them, LEFT,TOP,WIDTH,HEIGHT")
