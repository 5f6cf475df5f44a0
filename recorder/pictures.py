"""Decoding of pictures in recordings within limits: the size in the header is checked before decoding."""

import io
import struct
from typing import TYPE_CHECKING

from schemas import limits

if TYPE_CHECKING:
    import numpy

_HEAD = 1 << 20  # bytes in which a picture says its size, after all that may stand before that


def decode_picture(content: bytes, flags: int | None = None) -> "numpy.ndarray | None":
    """The pixels of a picture file, height × width × 3 (blue, green, red) unless OpenCV's `flags` ask for another form.

    None when it cannot be read or has more than `limits.PIXELS` pixels.
    """
    import cv2  # here, so that the reader stays cheap to import
    import numpy

    if not 0 < pixels_of(content) <= limits.PIXELS:
        return None
    try:
        return cv2.imdecode(numpy.frombuffer(content, numpy.uint8), cv2.IMREAD_COLOR if flags is None else flags)
    except cv2.error:
        return None


def pixels_of(content: bytes) -> int:
    """How many pixels a picture file says that it has; 0 when it is none."""
    width, height = size_of(content) or (0, 0)
    return width * height


def size_of(content: bytes) -> tuple[int, int] | None:
    """Width and height that a picture file says that it has, pixels; None when it is none."""
    import imagesize

    try:
        width, height = imagesize.get(io.BytesIO(content[:_HEAD]), exif_rotation=False)
    except (ValueError, struct.error, IndexError, OSError):
        return None
    return (abs(width), abs(height)) if -1 not in (width, height) else None
