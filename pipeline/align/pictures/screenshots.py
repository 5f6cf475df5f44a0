"""The recording's screenshots for alignment: grey, small, compressed in memory, each content once."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import cv2
import numpy as np
import zstandard

from recorder import Recording
from recorder.pictures import decode_picture
from schemas import InputError
from schemas.types.recordings import State

WORK_WIDTH = 640  # pixels; what differs at half size differs enough
_BLANK_SPREAD = 1.0  # standard deviation of grey levels under which a picture shows nothing
_THREADS = 2


@dataclass(frozen=True)
class Picture:
    """One screenshot: its blob, the viewport in CSS pixels that it shows, and its pixels at working size."""

    name: str
    viewport: tuple[int, int]
    shape: tuple[int, int]  # rows, columns at working size
    blank: bool
    _packed: bytes

    @property
    def grey(self) -> np.ndarray:
        """Brightness at working size: uint8, rows x columns."""
        pixels = zstandard.ZstdDecompressor().decompress(self._packed, max_output_size=self.shape[0] * self.shape[1])
        return np.frombuffer(pixels, np.uint8).reshape(self.shape)


def decode(image: bytes) -> np.ndarray | None:
    """A picture (BMP, JPEG, PNG, WebP) in grey; None when it is none."""
    return decode_picture(image, cv2.IMREAD_GRAYSCALE)


def is_blank(picture: np.ndarray | None) -> bool:
    """Whether a picture shows one colour only, or could not be decoded."""
    return picture is None or float(cv2.meanStdDev(picture)[1].max()) < _BLANK_SPREAD


def work_shape(viewport: tuple[int, int]) -> tuple[int, int]:
    """Rows and columns at working size of a page whose viewport has this width and height."""
    scale = min(1.0, WORK_WIDTH / max(viewport[0], 1))
    return max(8, round(viewport[1] * scale)), max(8, round(viewport[0] * scale))


def load(recording: Recording, states: list[State]) -> dict[str, Picture]:
    """The screenshots of states by blob; of one that cannot be decoded, a blank one. Raises InputError when a blob is
    missing or damaged."""
    viewports = {state["screenshot"]: (state["viewport"]["width"], state["viewport"]["height"])
                 for state in states if state and state["screenshot"]}
    with ThreadPoolExecutor(_THREADS) as pool:  # hashing, decompressing and scaling run without Python's lock
        pictures = pool.map(lambda item: _load(recording, *item), viewports.items())
        return {picture.name: picture for picture in pictures}


def full_size(recording: Recording, picture: Picture) -> np.ndarray:
    """A screenshot in grey at the size of its viewport in CSS pixels."""
    pixels = decode(recording.blob(picture.name))
    if pixels is None:
        raise InputError(f"{recording.layout.blob(picture.name)}: not a picture")
    return _resized(pixels, (picture.viewport[1], picture.viewport[0]))


def _load(recording: Recording, name: str, viewport: tuple[int, int]) -> Picture:
    pixels = decode(recording.blob(name))
    if not all(viewport) and pixels is not None:  # a tab that had not been laid out yet
        viewport = pixels.shape[1::-1]
    shape = work_shape(viewport)
    blank = is_blank(pixels)
    small = np.zeros(shape, np.uint8) if pixels is None else _resized(pixels, shape)
    return Picture(name, viewport, shape, blank, zstandard.ZstdCompressor(level=1).compress(small.tobytes()))


def _resized(pixels: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """A picture with so many rows and columns: averaged to be smaller, interpolated to be larger."""
    if pixels.shape == shape:
        return pixels
    smaller = pixels.shape[0] > shape[0]
    return cv2.resize(pixels, shape[::-1], interpolation=cv2.INTER_AREA if smaller else cv2.INTER_LINEAR)
