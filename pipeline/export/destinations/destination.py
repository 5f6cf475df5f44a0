"""Interface of the destination of an export. A format creates files one after the other; `publish` names them all in
the manifest, last."""

import hashlib
import json
import os
import tempfile
from abc import ABC, abstractmethod
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any

from pipeline.export.manifest import Manifest, ManifestFile, ManifestSource, Member, SourceSchema, write_manifest
from pipeline.export.source import LeftOut, Source, Summary, Tally
from schemas import InputError
from schemas.files import dump_line

_PIECE = 1 << 20  # bytes that are hashed and written at once
_PIECES = 4  # that may wait
_FIELDS = tuple(SourceSchema().fields)  # in the order in which a manifest has them


class Destination(ABC):
    """Collects the files of one export, hashed as they are written. Used as a context.

    Behind it: `begin` gives the file to write into, `end` takes it when it is complete, `finish` takes the manifest
    and shows the export. `temporary`: as of Options.
    """

    temporary: Path | None = None

    def __init__(self, name: str, format: str):
        self.summary = Summary(format, name)
        self.opened = ExitStack()
        self._names: set[str] = set()
        self._beside = ThreadPoolExecutor(1, thread_name_prefix="hash")
        self.opened.callback(self._beside.shutdown)
        # One line a file and one a demonstration, kept on disk: a data set may have millions of files.
        self._entries: dict[str, IO[bytes]] = {
            kind: self.opened.enter_context(tempfile.TemporaryFile())  # noqa: SIM115
            for kind in ("files", "demonstrations")}

    @abstractmethod
    def __enter__(self) -> "Destination": ...

    @abstractmethod
    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None: ...

    @abstractmethod
    def begin(self, name: str, *, provisional: bool = False) -> IO[bytes]:
        """A new file to write into. `provisional`: its name may change until `end`."""

    @abstractmethod
    def end(self, raw: IO[bytes], file: "HashingFile") -> None:
        """Take a file that is complete; its name is `file.name`."""

    @abstractmethod
    def finish(self, manifest: IO[bytes]) -> None:
        """Write the manifest, given from its beginning, when all files are there, and show the export."""

    @abstractmethod
    def earlier(self) -> Manifest | None:
        """The manifest of the whole export that is there already, with those files that are as it says."""

    @abstractmethod
    def earlier_file(self, file: ManifestFile) -> Path:
        """A file of that export, to be read until this one ends; raises InputError when it is another by now."""

    @abstractmethod
    def retain_file(self, file: ManifestFile) -> None:
        """Take over a file of that export as it is."""

    def retain(self, file: ManifestFile) -> None:
        """A file of the earlier export stays in this one."""
        self.retain_file(file)
        self._note(file)

    def _note(self, entry: ManifestFile) -> None:
        self._entries["files"].write(dump_line(dict(entry)))
        self.summary.files += 1
        self.summary.size += entry["size"]
        self.summary.samples += entry["samples"]

    @contextmanager
    def create(self, name: str, *, provisional: bool = False) -> Iterator["HashingFile"]:
        """A new file to write into; its size, SHA-256 and sample count stand in the manifest.

        The `name` of a `provisional` one may be changed until the context is left.
        """
        raw = self.begin(name, provisional=provisional)
        try:
            file = HashingFile(raw, name, self._beside)
            try:
                yield file
            finally:
                file.wait_until_written()
        except BaseException:
            raw.close()
            raise
        self.end(raw, file)
        entry: ManifestFile = {"path": file.name, "size": file.size, "sha256": file.digest.hexdigest(),
                               "samples": file.samples}
        if file.members:
            entry["demonstrations"] = [*file.members]
        self._note(entry)

    def write(self, name: str, content: bytes, samples: int = 0) -> None:
        """A whole file at once."""
        with self.create(name) as file:
            file.write(content)
            file.samples = samples

    def write_json(self, name: str, value: object, samples: int = 0) -> None:
        """A JSON file in ASCII: readers open it with their locale's encoding."""
        self.write(name, json_bytes(value), samples)

    def written_files(self) -> Iterator[ManifestFile]:
        """The files that are complete by now, as the manifest will tell them, in the order in which they became so."""
        entries = self._entries["files"]
        entries.seek(0)
        try:
            for line in entries:
                entry: ManifestFile = json.loads(line)
                yield entry
        finally:
            entries.seek(0, os.SEEK_END)

    def claim(self, source: Source) -> None:
        """Reserve a demonstration's name; raises InputError when another has it."""
        if source.name in self._names:
            raise InputError(f"demonstration {source.id!r} occurs twice; pass each one once")
        self._names.add(source.name)

    def add_demonstration(self, source: Source, tally: Tally,
                          format_facts: Mapping[str, Any] = MappingProxyType({})) -> None:
        """Note that a demonstration was exported, and what became of it. `format_facts`: what its format tells of
        it."""
        counts = {name: dict(sorted(counter.items())) for name, counter in (
            ("left_out", tally.left_out), ("notes", tally.notes), ("redacted", tally.redacted)) if counter}
        entry: Any = {"id": source.id, "name": source.name, "recording": source.recording.id, "split": source.split,
                      "near_duplicate_of": source.near_duplicate_of or None,
                      "proof": source.review.proof or None,
                      "labels": source.demonstration.get("labels") or None, "turns": tally.turns,
                      "sha256": source.sha256, **format_facts}
        if format_facts:
            entry |= {"counts": counts, "pictures_left_out": tally.pictures_left_out}
        self._add(entry, tally)

    def retain_demonstration(self, entry: ManifestSource) -> None:
        """Note that what an earlier export has of a demonstration is in this one."""
        counts = {name: Counter(counter) for name, counter in entry.get("counts", {}).items()}
        self._add(entry, Tally(entry["turns"], entry.get("pictures_left_out", 0), **counts))

    def _add(self, entry: ManifestSource, tally: Tally) -> None:
        ordered = {name: value for name in _FIELDS if (value := entry.get(name)) is not None}
        self._entries["demonstrations"].write(dump_line(ordered))
        self.summary.demonstrations += 1
        self.summary.splits[entry.get("split", "train")] += 1
        self.summary.near_duplicates += "near_duplicate_of" in ordered
        self.summary.add(tally)

    def leave_out(self, source: Source, error: Exception) -> None:
        """Note that a demonstration could not be read. Only the kind is told of errors that are not ours."""
        folder = f"{source.recording.layout.root}{os.sep}"
        reason = (str(error).replace(folder, "").rstrip(".") if isinstance(error, InputError) else
                  f"its data cannot be read ({type(error).__name__})")
        self.summary.damaged.append(LeftOut(source.id, reason))

    def publish(self) -> Summary:
        """Write the manifest, last; raises InputError when nothing was exported."""
        if self.summary.damaged and not self.summary.demonstrations:
            first = self.summary.damaged[0]
            raise InputError(f"{self.summary.destination}: none of {len(self.summary.damaged)} demonstrations can be "
                             f"exported; nothing was written; {first.id}: {first.reason}")
        if not self.summary.demonstrations:
            why = "; ".join(f"{count} × {reason}" for reason, count in self.summary.not_selected.most_common(3))
            raise InputError(f"{self.summary.destination}: no demonstrations to export; nothing was written"
                             f"{f'; not selected: {why}' if why else ''}")
        with tempfile.TemporaryFile() as manifest:
            write_manifest(manifest, self.summary, self._entries["files"], self._entries["demonstrations"])
            manifest.seek(0)
            self.finish(manifest)
        return self.summary


class HashingFile:
    """A file that counts and hashes what passes through; `samples` is set by who writes it.

    What is large is hashed and written in a thread beside, while the next is made; `wait_until_written` waits for it.
    """

    closed = False
    members: Sequence[Member] = ()  # demonstrations in it, of a file that several share

    def __init__(self, raw: IO[bytes], name: str, beside: Executor):
        self._raw, self._beside = raw, beside
        self._waiting: deque[Future[None]] = deque()
        self._small: list[bytes] = []
        self._buffered = 0
        self.name = name
        self.digest = hashlib.sha256()
        self.size = 0
        self.samples = 0

    def write(self, content: bytes) -> int:
        """Append; raises what an earlier piece met."""
        self._small.append(bytes(content))
        self.size += len(content)
        self._buffered += len(content)
        if self._buffered >= _PIECE:
            self._waiting.append(self._beside.submit(self._append, self._small))
            self._small, self._buffered = [], 0
            while len(self._waiting) > _PIECES:
                self._waiting.popleft().result()
        return len(content)

    def wait_until_written(self) -> None:
        """Wait until all is written."""
        while self._waiting:
            self._waiting.popleft().result()
        self._append(self._small)
        self._small, self._buffered = [], 0

    def flush(self) -> None:
        """Nothing: what is written is complete when it is settled."""

    def tell(self) -> int:
        return self.size

    def _append(self, pieces: list[bytes]) -> None:
        content = b"".join(pieces)
        self.digest.update(content)
        self._raw.write(content)


def json_bytes(value: object) -> bytes:
    """JSON in ASCII, indented, as all files of an export have it."""
    return (json.dumps(value, indent=1, allow_nan=False) + "\n").encode("ascii")
