"""webdataset shards: one sample a turn, in tars that are the same byte for byte each time."""

import json
import tarfile
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

from pipeline.export.destinations.destination import Destination, HashingFile
from pipeline.export.running import Files
from pipeline.export.source import Options, Source, Tally
from pipeline.export.splits import SPLITS
from pipeline.export.states import blank

from . import card, turnwise

MEMBER_OVERHEAD = 1024  # a tar member's header, and its content filled up to a block, at most


def samples(source: Source, options: Options, tally: Tally) -> Iterator[dict[str, Any]]:
    """One sample a turn, chat turns too, each with the same members and the same JSON keys."""
    kind = options.screenshots or "jpg"
    nothing = blank(kind)
    for sample in turnwise.samples(source, options, tally, kind):
        members = {"json": json.dumps(sample.record).encode("ascii"), kind: sample.picture or nothing,
                   "html": sample.page}
        if options.set_of_marks:
            members[f"marks.{kind}"] = sample.marked or nothing
        yield {"__key__": sample.key, "__intent__": sample.record["intent"], **members}


class Writer(Files):
    """Writes samples into `<split>-000000.tar`, … of at most `shard_size` bytes, and the data set card."""

    def __init__(self, destination: Destination, options: Options):
        super().__init__(destination, options)
        self._shards: dict[str, _Shards] = {}
        self._counts = card.Counts()

    def write(self, source: Source, sample: dict[str, Any]) -> None:
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
        if error[0] is None and self._file:
            self._file.write(_end(self._file.size))
        self._open.__exit__(*error)

    def write(self, sample: dict[str, Any]) -> None:
        """Append one sample, in a new shard when it would make the open one too large."""
        size = sum(len(content) + MEMBER_OVERHEAD for name, content in sample.items() if name != "__key__")
        file = self._file
        if file is None or (file.samples and file.size + size > self._limit):
            file = self._next()
        for name in sorted(sample.keys() - {"__key__"}):
            content = sample[name]
            file.write(_header(f"{sample['__key__']}.{name}", len(content)))
            file.write(content)
            file.write(bytes(-len(content) % tarfile.BLOCKSIZE))
        file.samples += 1

    def _next(self) -> HashingFile:
        if self._file:
            self._file.write(_end(self._file.size))
        self._open.close()
        file = self._open.enter_context(self._destination.create(f"{self._split}-{self._number:06d}.tar"))
        self._file = file
        self._number += 1
        return file


# What webdataset.TarWriter and tarfile write, without their way through pieces of 10 KB: a test compares the bytes.
def _header(name: str, size: int) -> bytes:
    """A member's header: tarfile's own with the three fields filled in that differ (POSIX ustar)."""
    header = bytearray(_EMPTY_HEADER)
    header[:100] = name.encode("ascii").ljust(100, b"\0")
    header[124:136] = b"%011o\0" % size
    header[148:156] = b"%06o\0 " % (sum(header[:148]) + sum(header[156:]) + 8 * ord(" "))
    return bytes(header)


def _empty_header() -> bytes:
    member = tarfile.TarInfo("x")
    member.mode, member.uname, member.gname = 0o644, "demotape", "demotape"
    return member.tobuf(tarfile.USTAR_FORMAT)


_EMPTY_HEADER = _empty_header()


def _end(size: int) -> bytes:
    """What stands behind the last member of a tar of that many bytes: two empty blocks, and a whole record."""
    return bytes(2 * tarfile.BLOCKSIZE + -(size + 2 * tarfile.BLOCKSIZE) % tarfile.RECORDSIZE)
