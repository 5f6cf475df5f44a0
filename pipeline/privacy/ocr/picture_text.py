"""The text in the pictures of one recording, read once and kept in its prepared blobs."""

from collections.abc import Iterable

from pipeline import extras
from pipeline.cache.prepared import Prepared
from recorder import Recording
from recorder.pictures import decode_picture

from . import reading
from .misread import Values
from .reading import Line


class PictureText:
    """Reads lines of text, and finds known values in them. Raises InputError without the extra `ocr`."""

    def __init__(self, recording: Recording, prepared: Prepared):
        extras.require("ocr")
        self._recording, self._prepared = recording, prepared
        self._known = Values(())

    def know(self, values: Iterable[str]) -> None:
        """Set the values that `contains_misread` finds."""
        self._known = Values(values)

    def lines(self, name: str) -> list[Line]:
        """The lines of text in a picture."""
        return self._prepared.get(reading.read, lambda: self._read_lines(name), "lines", reading.recogniser(), name)

    def contains_misread(self, text: str) -> bool:
        """Whether a text contains a known value, or one that is similar because letters were misread."""
        return self._known.stand_in(text)

    def _read_lines(self, name: str) -> bytes:
        pixels = decode_picture(self._recording.blob(name))
        return reading.serialize_lines([] if pixels is None else reading.read_lines(pixels))
