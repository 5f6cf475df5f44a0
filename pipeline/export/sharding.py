"""The writer of formats whose demonstrations share shards; partition.py assigns them.

What a demonstration gives waits, on the disk, until it is known with which others it shares a shard. What an earlier
export to the same place has is neither made nor written again: a shard with the same demonstrations stays, and in
another one their parts are copied.
"""

import hashlib
import json
import tempfile
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from pipeline.export.destinations.destination import Destination, HashingFile

from .formats.card import Counted, Counts
from .incremental import Part, PreviousExport, fingerprint, options_digest
from .manifest import ManifestFile, Member
from .partition import Partition, Shard, order_key
from .running import Files
from .source import Options, Source

_DIGITS = 16  # of a sample's digest


@dataclass
class _SpooledSamples:
    """What one demonstration gives, encoded by the format, in a file; `lengths`: of each sample. `about`: the size, as
    shards count it."""

    id: str
    path: Path
    about: int = 0
    lengths: list[int] = field(default_factory=list)

    def samples(self) -> Iterator[bytes]:
        """Each sample as it was encoded."""
        with self.path.open("rb") as file:
            for length in self.lengths:
                yield file.read(length)
        with suppress(OSError):
            self.path.unlink()


class ShardedFiles(Files, ABC):
    """A format says what becomes of a sample (`encode`, `about`, `counted`), of a shard (`name_of`, `put`), and where
    in it a demonstration is (`extent`, `read`)."""

    split_names: ClassVar[Mapping[str, str]] = {}  # where the format has names of its own

    def __init__(self, destination: Destination, options: Options):
        super().__init__(destination, options)
        self.counts = Counts(self.split_names)
        self._options_digest = options_digest(options)
        self._earlier = PreviousExport(destination.earlier() if self._options_digest else None,
                                       destination.summary.format)
        self._folder = Path(self._open.enter_context(tempfile.TemporaryDirectory(
            prefix="demotape-shards-", dir=options.temporary)))
        self._partitions: dict[str, Partition[_SpooledSamples | Part]] = {}
        self._made: _SpooledSamples | None = None
        self._file: Any = None
        self._kinds: Counter[Counted] = Counter()
        self._digests: dict[str, str] = {}  # of the samples of a demonstration
        self._number = 0

    @property
    def splits(self) -> list[str]:
        """Those that have demonstrations so far."""
        return list(self._partitions)

    @abstractmethod
    def encode(self, sample: Any) -> bytes:
        """A sample as it waits."""

    @abstractmethod
    def about(self, sample: Any) -> int:
        """About the bytes that a sample takes in a shard; the same for the same sample."""

    @abstractmethod
    def counted(self, sample: Any) -> Counted:
        """What the card tells of a sample."""

    @abstractmethod
    def turn_of(self, sample: Any) -> str:
        """What a sample is of, among those of its demonstration."""

    @abstractmethod
    def name_of(self, split: str, shard: str, number: int) -> str:
        """The name of a shard's file, the first of which has the number 0."""

    @abstractmethod
    def put(self, split: str, shard: str, samples: Iterator[bytes], limit: int | None) -> Iterator[HashingFile]:
        """Write a shard's files, each given while it is open; a new one when one has `limit` bytes, unless None."""

    @abstractmethod
    def extent(self, lengths: list[int]) -> int:
        """How much of a file encoded samples of these lengths take, in what `read` counts."""

    @abstractmethod
    def read(self, file: Path, start: int) -> Iterator[bytes]:
        """The samples of a file, encoded, from a place on."""

    def earlier(self, source: Source) -> Part | None:
        """What an earlier export has of a demonstration, if it is the same; what there is to count is counted then."""
        part = self._earlier.part(source, fingerprint(source, self._options_digest)) if self._options_digest else None
        if part:
            intents = part.entry.get("intents", {})
            self._count(source, Counter({Counted(intent, status): count for intent, statuses in intents.items()
                                         for status, count in statuses.items()}))
        return part

    def retain(self, part: Part) -> None:
        """Take in what an earlier export has of a demonstration."""
        self._add_to_shard(part.entry.get("split", "train"), part.entry["id"], part.about, part)

    def write(self, source: Source, sample: Any) -> None:
        if self._made is None:
            self._made = _SpooledSamples(source.id, self._folder / str(self._number))
            self._file = self._made.path.open("wb")
            self._number += 1
        self._kinds[self.counted(sample)] += 1
        self._digests[self.turn_of(sample)] = _digest(sample)
        content = self.encode(sample)
        self._made.lengths.append(len(content))
        self._made.about += self.about(sample)
        self._file.write(content)

    def manifest_fields(self, source: Source) -> dict[str, Any]:
        intents: dict[str, dict[str, int]] = {}
        for kind, count in sorted(self._kinds.items(), key=lambda item: (item[0].kind, item[0].screenshot_status)):
            intents.setdefault(kind.kind, {})[kind.screenshot_status] = count
        known = {"fingerprint": fingerprint(source, self._options_digest)} if self._options_digest else {}
        return known | {"intents": intents, "turn_digests": self._digests}

    def add(self, source: Source) -> None:
        self._count(source, self._kinds)
        made, self._made, self._kinds, self._digests = self._made, None, Counter(), {}
        if made:
            self._file.close()
            self._add_to_shard(source.split, source.id, made.about, made)

    def finish(self) -> None:
        for split, partition in self._partitions.items():
            for shard in partition.end():
                self._write(split, shard)

    def _count(self, source: Source, kinds: Counter[Counted]) -> None:
        for kind, count in kinds.items():
            self.counts.turn(source, kind, count)
        self.counts.demonstration(source)

    def _add_to_shard(self, split: str, name: str, size: int, item: _SpooledSamples | Part) -> None:
        partition = self._partitions.setdefault(split, Partition(self.options.shard_size))
        for shard in partition.add(order_key(name), size, item):
            self._write(split, shard)

    def _write(self, split: str, shard: Shard[_SpooledSamples | Part]) -> None:
        if unchanged := self._unchanged_files(split, shard):
            for unchanged_file in unchanged:
                self.destination.retain(unchanged_file)
            return
        start, holds = 0, []
        for item in shard.items:
            length = self.extent(item.lengths) if isinstance(item, _SpooledSamples) else item.length
            holds.append(Member(id=_id(item), start=start, length=length, about=item.about))
            start += length
        samples = (sample for item in shard.items
                   for sample in (item.samples() if isinstance(item, _SpooledSamples) else self._copy_samples(item)))
        alone = len(shard.items) == 1
        for number, file in enumerate(self.put(split, shard.name, samples, self.options.shard_size if alone else None)):
            file.members = [Member(id=holds[0]["id"], start=0, length=0, about=0)] if number else holds

    def _copy_samples(self, part: Part) -> Iterator[bytes]:
        """The samples of a demonstration in an earlier export."""
        left, start = part.length, part.start
        for file in part.files:
            for sample in self.read(self.destination.earlier_file(file), start):
                yield sample
                left -= self.extent([len(sample)])
                if left <= 0:
                    return
            start = 0

    def _unchanged_files(self, split: str, shard: Shard[_SpooledSamples | Part]) -> list[ManifestFile]:
        """The files that an earlier export has of a shard, if it is the same."""
        parts = [item for item in shard.items if isinstance(item, Part)]
        if len(parts) < len(shard.items):
            return []
        files = parts[0].files
        is_unchanged = all(part.files == files for part in parts) and files[0]["path"] == self.name_of(split,
                                                                                                       shard.name, 0)
        return [*files] if is_unchanged and self._earlier.members[files[0]["path"]] == [_id(part)
                                                                                        for part in parts] else []


def _digest(sample: Mapping[str, Any]) -> str:
    digest = hashlib.sha256()
    for name, value in sorted(sample.items()):
        if not name.startswith("__"):
            content = value["bytes"] if isinstance(value, dict) else value
            digest.update(f"\0{name}\0".encode())
            digest.update(content if isinstance(content, bytes) else json.dumps(content).encode())
    return digest.hexdigest()[:_DIGITS]


def _id(item: _SpooledSamples | Part) -> str:
    return item.id if isinstance(item, _SpooledSamples) else item.entry["id"]
