"""Bitmaps as planes: the form in which a screenshot compresses best.

A bitmap of 24 bits (BMP, bottom up, without a palette) holds three bytes a pixel: blue, green, red. Its planes are its
header, then green of all pixels, then of each pixel blue less green and red less green, modulo 256. Most of a page is
grey, so the second plane is almost all zero, and a glyph that comes again is one run of bytes.
"""

import struct

import numpy as np

from .pictures import decode_picture

_HEADER = struct.Struct("<2sIIIIiiHHIIiiII")  # BITMAPFILEHEADER and BITMAPINFOHEADER


def bitmap(image: bytes) -> bytes:
    """A picture file as an uncompressed bitmap (BMP): the same pixels are the same bytes, whoever encodes them."""
    import cv2  # here, so that the reader stays cheap to import

    pixels = decode_picture(image)
    return image if pixels is None else cv2.imencode(".bmp", pixels)[1].tobytes()


def to_planes(content: bytes) -> bytes | None:
    """The planes of a bitmap; None for what is no bitmap of 24 bits, or could not be made of its planes again."""
    import cv2

    shape = _shape(content)
    if shape is None or len(content) != _size(*shape):
        return None
    height, width = shape
    blue, green, red = cv2.split(_pixels(content, height, width))
    colours = cv2.merge([blue - green, red - green])
    planes = b"".join((content[:_HEADER.size], green.data, colours.data))
    padded = _stride(width) != 3 * width  # what fills the lines up is mostly zero, but need not be
    return planes if not padded or from_planes(planes) == content else None


def from_planes(planes: bytes) -> bytes:
    """The bitmap that has these planes. Raises ValueError when they are not those of a bitmap."""
    import cv2

    shape = _shape(planes)
    if shape is None or len(planes) != _HEADER.size + 3 * shape[0] * shape[1]:
        raise ValueError("these are not the planes of a bitmap")
    height, width = shape
    pixels = height * width
    green = np.frombuffer(planes, np.uint8, pixels, _HEADER.size).reshape(height, width)
    colours = np.frombuffer(planes, np.uint8, offset=_HEADER.size + pixels).reshape(height, width, 2)
    blue, red = cv2.split(colours)
    content = np.zeros(_size(height, width), np.uint8)
    content[:_HEADER.size] = np.frombuffer(planes, np.uint8, _HEADER.size)
    cv2.merge([blue + green, green, red + green], _pixels(content.data, height, width))
    return content.tobytes()


def _shape(content: bytes) -> tuple[int, int] | None:
    """Height and width in pixels that a bitmap's header tells; None when it tells of another kind of picture."""
    if len(content) < _HEADER.size:
        return None
    kind, _, _, offset, info, width, height, layers, bits, packing, *_ = _HEADER.unpack_from(content)
    plain = (kind, offset, info, layers, bits, packing) == (b"BM", _HEADER.size, 40, 1, 24, 0)
    return (height, width) if plain and width > 0 and height > 0 else None


def _stride(width: int) -> int:
    return (3 * width + 3) // 4 * 4  # bytes: a line is filled up to a multiple of four


def _size(height: int, width: int) -> int:
    return _HEADER.size + height * _stride(width)


def _pixels(content: bytes | memoryview, height: int, width: int) -> np.ndarray:
    """The bytes of the pixels where they lie: height × width × 3."""
    return np.ndarray((height, width, 3), np.uint8, content, _HEADER.size, (_stride(width), 3, 1))
