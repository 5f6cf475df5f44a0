"""Shared code of formats of JSON lines: `<split>.jsonl` with files beside it, each content written once."""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

from pipeline.export.destinations.destination import Destination
from pipeline.export.grammars.acts import Session
from pipeline.export.grammars.table import GRAMMARS, USUAL
from pipeline.export.running import Files
from pipeline.export.source import File, Line, Options, Source, Tally
from pipeline.export.splits import SPLITS
from pipeline.export.states import States
from schemas import UID_ATTRIBUTE

from . import documents, layouts
from .card import Counted, Counts, Words
from .croissant import Description
from .features import Features


class LineFiles(Files, ABC):
    """Writes the lines, of which those in a `<split>.jsonl` are samples, and what describes them; a format tells in
    which `words`."""

    def __init__(self, destination: Destination, options: Options):
        super().__init__(destination, options)
        self._counts = Counts()

    @abstractmethod
    def words(self) -> Words:
        """How the card speaks of the samples."""

    @abstractmethod
    def row_types(self) -> Features:
        """Types of the samples."""

    def description(self, files: Mapping[str, str]) -> Description:
        """The files and their records; `files`: path by split."""
        return layouts.lines(files, self.options.screenshots or "jpg")

    def write(self, source: Source, sample: Any) -> None:
        if isinstance(sample, Counted):
            self._counts.turn(source, sample)
            return
        super().write(source, sample)
        if isinstance(sample, Line) and "/" not in sample.path:
            self._shared[sample.path].samples += sample.samples

    def add(self, source: Source) -> None:
        self._counts.demonstration(source)

    @property
    def splits(self) -> list[str]:
        """The splits of which there are lines."""
        return [split for split in SPLITS if f"{split}.jsonl" in self._shared]

    def finish(self) -> None:
        files = {split: f"{split}.jsonl" for split in self.splits}
        self._open.close()  # the files that demonstrations share are complete, and can be told
        documents.write(self.destination, self.options, self._counts, self.words(), files,
                        self.description(files), self.row_types())


class WriteOnce:
    """Files of one demonstration; a content that was there before keeps its first name."""

    def __init__(self) -> None:
        self._written: dict[str, str] = {}
        self._waiting: list[File] = []

    def path(self, path: str, content: bytes) -> str:
        """The path of a content, which is `path` when it is new."""
        digest = hashlib.sha256(content).hexdigest()
        if digest not in self._written:
            self._written[digest] = path
            self._waiting.append(File(path, content))
        return self._written[digest]

    def take_waiting(self) -> list[File]:
        """The files that are new since the last time."""
        files, self._waiting = self._waiting, []
        return files


class Acted:
    """What writing the actions of one demonstration in a grammar needs: its states, its session, its files (`once`)."""

    def __init__(self, source: Source, options: Options, tally: Tally):
        self.options, self.tally = options, tally
        self.states = States(source, UID_ATTRIBUTE, options, "jpg")
        self.source = self.states.source
        tally.redacted += self.states.known.counts
        self.grammar = GRAMMARS[options.grammar or USUAL]
        self.turns = self.source.turns
        self.session = Session(self.turns, source.recording, self.states.known)
        self.once = WriteOnce()
