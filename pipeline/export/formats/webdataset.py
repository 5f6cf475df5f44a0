"""webdataset shards: one sample for each turn, in deterministic tars."""

import json
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pipeline.export.destinations.destination import HashingFile
from pipeline.export.sharding import ShardedFiles
from pipeline.export.source import Options, Source, Tally
from pipeline.export.splits import SPLITS
from pipeline.export.states import blank

from . import card, documents, layouts, turnwise

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
        counted = card.Counted(sample.record["intent"], sample.record["screenshot_status"])
        yield {"__key__": sample.key, "__turn__": sample.record["turn"], "__counted__": counted, **members}


class Writer(ShardedFiles):
    """Writes samples into `<split>-<name>.tar` of at most `shard_size` bytes, and the data set card. Of a demonstration
    that is larger by itself, the rest is in `<split>-<name>_001.tar`, …"""

    def counted(self, sample: dict[str, Any]) -> card.Counted:
        return sample["__counted__"]

    def turn_of(self, sample: dict[str, Any]) -> str:
        return sample["__turn__"]

    def encode(self, sample: dict[str, Any]) -> bytes:
        return b"".join(part for name in sorted(name for name in sample if not name.startswith("__"))
                        for part in _member(f"{sample['__key__']}.{name}", sample[name]))

    def about(self, sample: dict[str, Any]) -> int:
        return sum(len(content) + MEMBER_OVERHEAD
                   for name, content in sample.items() if not name.startswith("__"))

    def extent(self, lengths: list[int]) -> int:
        return sum(lengths)

    def name_of(self, split: str, shard: str, number: int) -> str:
        return f"{split}-{shard}{f'_{number:03d}' if number else ''}.tar"

    def put(self, split: str, shard: str, samples: Iterator[bytes], limit: int | None) -> Iterator[HashingFile]:
        sample, number = next(samples, None), 0
        while sample is not None:
            with self.destination.create(self.name_of(split, shard, number)) as file:
                yield file
                while sample is not None and not (limit and file.samples and file.size + len(sample) > limit):
                    file.write(sample)
                    file.samples += 1
                    sample = next(samples, None)
                file.write(_end(file.size))
            number += 1

    def read(self, file: Path, start: int) -> Iterator[bytes]:
        with file.open("rb") as raw:
            raw.seek(start)
            parts: list[bytes] = []
            key = b""
            while (header := raw.read(tarfile.BLOCKSIZE)) and header[:1] != b"\0":
                size = int(header[124:135], 8)
                if parts and header[:100].partition(b".")[0] != key:
                    yield b"".join(parts)
                    parts = []
                key = header[:100].partition(b".")[0]
                parts += [header, raw.read(-(-size // tarfile.BLOCKSIZE) * tarfile.BLOCKSIZE)]
            if parts:
                yield b"".join(parts)

    def finish(self) -> None:
        super().finish()
        files = {split: f"{split}-*.tar" for split in SPLITS if split in self.splits}
        documents.write(self.destination, self.options, self.counts, turnwise.WORDS, files,
                        layouts.shards(files, self.options.screenshots or "jpg", self.options.set_of_marks))


def _member(name: str, content: bytes) -> tuple[bytes, ...]:
    return _header(name, len(content)), content, bytes(-len(content) % tarfile.BLOCKSIZE)


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
