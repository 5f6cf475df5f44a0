"""Formats with one file for each demonstration: the files are written, the turns counted for the card."""

from pipeline.export.destinations.destination import Destination
from pipeline.export.running import Files
from pipeline.export.source import File, Options, Source

from .card import Counted, Counts


class CountedFiles(Files):
    """Writes files and counts turns; a format describes them in `finish`."""

    def __init__(self, destination: Destination, options: Options):
        super().__init__(destination, options)
        self._counts = Counts()

    def write(self, source: Source, sample: File | Counted) -> None:
        if isinstance(sample, Counted):
            self._counts.turn(source, sample)
        else:
            super().write(source, sample)

    def add(self, source: Source) -> None:
        self._counts.demonstration(source)
