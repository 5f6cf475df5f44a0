"""Options of `demotape process` that say where an external video belongs."""

from contextlib import suppress

from schemas import InputError
from schemas.files import validated
from schemas.formats.alignment import VideoPlacementSchema
from schemas.types.alignment import VideoPlacement

_SIDES = ("left", "top", "width", "height")


def parse_location(offset: float | None, drift: float | None, rectangle: str | None) -> VideoPlacement | None:
    """What the options say, None when they say nothing; raises InputError naming the option that is wrong."""
    if drift is not None and offset is None:
        raise InputError("--video-drift requires --video-offset")
    fields: dict[str, object] = {} if offset is None else {"offset": offset, "drift": drift or 0.0}
    if rectangle is not None:
        fields["rectangle"] = dict(zip(_SIDES, _numbers(rectangle), strict=True))
    if not fields:
        return None
    options = "--video-offset, --video-drift, --video-rectangle"
    location: VideoPlacement = validated(fields, VideoPlacementSchema(), options)
    return location


def _numbers(text: str) -> list[float]:
    parts = text.split(",")
    with suppress(ValueError):
        if len(parts) == len(_SIDES):
            return [float(part) for part in parts]
    raise InputError("--video-rectangle: must be four numbers separated by commas: LEFT,TOP,WIDTH,HEIGHT")
