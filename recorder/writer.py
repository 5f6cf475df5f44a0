"""Writing a recording: an append-only journal, content-addressed blobs, a manifest that says how it ended."""

import errno
import hashlib
import os
import re
import secrets
from collections import deque
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, NotRequired, Self, TypedDict

from filelock import lock_descriptor

from schemas import DemotapeError, InputError, RecordingLayout, RecordingSchema
from schemas.files import dump_json, dump_line, write_atomically
from schemas.types import ChatLine, Element, EventData, Resource, State

from . import blobs

_KEYS = 4  # blobs of a kind, standing alone, by which others may be kept
_NEAR = 0.03  # of what another takes alone, that a blob kept by it takes when they are nearly the same
_WORTH = 0.5  # of its size alone that a blob kept by another may have; else it stands alone and serves itself


class NewEvent(TypedDict):
    """An event that has no number yet; see EventSchema."""

    time: float
    type: str
    tab: int
    gesture: int | None
    target: Element | None
    data: EventData
    state: NotRequired[State | None]


class RecordingWriter:
    """Writes one recording. Not thread-safe: one thread owns it.

    Everything is on disk when a method returns: a blob before the event that names it, an event before the next.
    Holds a lock on the journal, so that a reader can tell a live recording from one that was killed.
    """

    def __init__(self, directory: Path | str, manifest: Mapping[str, Any]):
        """Create the folder and its manifest; raises InputError when there is anything already."""
        self.layout = RecordingLayout(directory)
        self.manifest = dict(manifest, status="recording", ended_at=None)
        if self.layout.manifest.exists():
            raise InputError(f"{directory}: there is a recording already; give another folder")
        if self.layout.root.exists() and not (self.layout.root.is_dir() and not any(self.layout.root.iterdir())):
            raise InputError(f"{directory}: there is something else already; give a new or empty folder")
        try:
            self.layout.blobs.mkdir(parents=True, exist_ok=True)
            self._journals = {path: path.open("ab", buffering=0) for path in
                              (self.layout.events, self.layout.chat, self.layout.resources)}
        except OSError as error:
            raise InputError(f"{directory}: cannot be written ({error.strerror})") from None
        lock_descriptor(self._journals[self.layout.events].fileno())
        self._seq = 0
        self._known: set[str] = set()
        self._keys: dict[str, deque[blobs.Base]] = {}
        self._write_manifest()

    def blob(self, content: bytes, like: str | None = None) -> str:
        """Keep bytes once per content; returns their SHA-256, which is the blob's name.

        `like` names a kind of blob that resemble each other, such as DOMs: then one is kept by the nearest of the last
        ones that stand alone, and costs almost nothing when it is nearly the same.
        """
        sha256 = hashlib.sha256(content).hexdigest()
        if sha256 not in self._known:
            with _clear_errors(self.layout.root):
                write_atomically(self.layout.blob(sha256), self._compressed(content, sha256, like))
            self._known.add(sha256)
        return sha256

    def _compressed(self, content: bytes, sha256: str, like: str | None) -> bytes:
        form = blobs.Form.of(content)
        if like is None:
            return blobs.compress(form)
        keys = self._keys.setdefault(like, deque(maxlen=_KEYS))
        best = None
        for base in blobs.worth_trying(keys, form):
            this = base.compress(form)
            if len(this) < base.size * _NEAR:
                return this  # no other could be worth its time
            best = min(best or this, this, key=len)
        alone = blobs.compress(form)
        if best and len(best) < len(alone) * _WORTH:
            return best
        keys.append(blobs.Base(sha256, form, len(alone)))
        return alone

    def event(self, event: NewEvent) -> int:
        """Append one event; numbers it from 1 and returns the number."""
        self._append(self.layout.events, {"seq": self._seq + 1, **event})
        self._seq += 1
        return self._seq

    def chat(self, line: ChatLine) -> None:
        """Append one utterance."""
        self._append(self.layout.chat, line)

    def resource(self, line: Resource) -> None:
        """Append one resource."""
        self._append(self.layout.resources, line)

    def update(self, **fields: Any) -> None:
        """Change fields of the manifest that were not known at the start."""
        self.manifest |= fields
        self._write_manifest()

    def close(self, ended_at: datetime) -> None:
        """End the recording: it is complete."""
        self.update(status="complete", ended_at=ended_at)
        for journal in self._journals.values():
            os.fsync(journal.fileno())
            journal.close()

    def abandon(self) -> None:
        """Let go of the files without calling the recording complete; what was written stays."""
        for journal in self._journals.values():
            journal.close()

    def _append(self, path: Path, line: Mapping[str, Any]) -> None:
        journal = self._journals[path]
        data = dump_line(line)
        with _clear_errors(self.layout.root):
            end = journal.seek(0, os.SEEK_END)
            try:
                if journal.write(data) != len(data):
                    raise OSError(errno.ENOSPC, "No space left on device")
            except OSError:
                journal.truncate(end)
                raise

    def _write_manifest(self) -> None:
        with _clear_errors(self.layout.root):
            write_atomically(self.layout.manifest, dump_json(RecordingSchema().dump(self.manifest)))


def new_id(directory: Path) -> str:
    """An id that no other recording has: the folder's name, with what an id may not hold replaced, and a random end."""
    name = re.sub(r"[^A-Za-z0-9_-]+", "-", directory.resolve().name).strip("-_")[:80] or "recording"
    return f"{name}-{secrets.token_hex(4)}"


class _clear_errors:
    """Turns an operating-system error into one line for the user."""

    def __init__(self, root: Path):
        self.root = root

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if isinstance(error, OSError):
            full = error.errno in (errno.ENOSPC, errno.EDQUOT)
            raise DemotapeError(f"{self.root}: the disk is full; recording stopped, what was recorded is kept" if full
                                else f"{self.root}: cannot be written ({error.strerror})") from None
