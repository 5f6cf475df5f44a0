"""webdataset shards: one sample a turn, in tars that are the same byte for byte each time."""

import json
from collections.abc import Iterator
from contextlib import ExitStack

from . import card, turnwise
from .destination import Destination, HashingFile
from .running import Files
from .source import Options, Source, Tally
from .splits import SPLITS
from .states import blank

MEMBER_OVERHEAD = 1024  # a tar member's header, and its content filled up to a block, at most


def samples(source: Source, options: Options, tally: Tally) -> Iterator[dict]:
    """One sample a turn, chat turns too, each with the same members and the same JSON keys."""
    kind = options.screenshots or "jpg"
    nothing = blank(kind)
    for sample in turnwise.samples(source, options, tally, kind):
        members = {"json": json.dumps(sample.record).encode("ascii"), kind: sample.picture or nothing,
                   "html": sample.page.encode("utf-8", "replace")}
        if options.set_of_marks:
            members[f"marks.{kind}"] = sample.marked or nothing
        yield {"__key__": sample.key, "__intent__": sample.record["intent"], **members}


class Writer(Files):
    """Writes samples into `<split>-000000.tar`, … of at most `shard_size` bytes, and the data set card."""

    def __init__(self, destination: Destination, options: Options):
        super().__init__(destination, options)
        self._shards: dict[str, _Shards] = {}
        self._counts = card.Counts()

    def write(self, source: Source, sample: dict) -> None:
        self._counts.turn(source, sample.pop("__intent__"))
        if source.split not in self._shards:
            self._shards[source.split] = self._open.enter_context(
                _Shards(self.destination, source.split, self.options.shard_size))
        self._shards[source.split].write(sample)

    def add(self, source: Source) -> None:
        self._counts.demonstration(source)

    def finish(self) -> None:
        files = {split: f"{split}-*.tar" for split in SPLITS if split in self._shards}
        text = card.card(self._counts, files, self.options, self.destination.summary)
        self.destination.write("README.md", text.encode())


class _Shards:
    """The tars of one split."""

    def __init__(self, destination: Destination, split: str, limit: int):
        self._destination, self._split, self._limit = destination, split, limit
        self._number = 0
        self._open = ExitStack()
        self._file: HashingFile | None = None

    def __enter__(self) -> "_Shards":
        return self

    def __exit__(self, *error) -> None:
        self._open.__exit__(*error)

    def write(self, sample: dict) -> None:
        """Append one sample, in a new shard when it would make the open one too large."""
        size = sum(len(content) + MEMBER_OVERHEAD for name, content in sample.items() if name != "__key__")
        if self._file is None or (self._file.samples and self._file.size + size > self._limit):
            self._next()
        self._tar.write(sample)
        self._file.samples += 1

    def _next(self) -> None:
        from webdataset import TarWriter  # here, as it is slow to import and few commands need it

        self._open.close()
        self._file = self._open.enter_context(self._destination.create(f"{self._split}-{self._number:06d}.tar"))
        self._tar = self._open.enter_context(
            TarWriter(self._file, encoder=False, mtime=0, user="demotape", group="demotape", mode=0o644))
        self._number += 1
