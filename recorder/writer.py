"""Writing a recording: an append-only journal, content-addressed blobs, a manifest with its final status."""

import errno
import os
import re
import secrets
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, NotRequired, TypedDict

from filelock import lock_descriptor

from schemas import InputError, RecordingLayout, RecordingSchema
from schemas.files import dump_json, dump_line, open_private, reason, write_atomically
from schemas.types.agent_steps import AgentStep
from schemas.types.recordings import ChatLine, ConsoleLine, Element, EventData, Resource, State

from .blob_store import Blobs, BlobStore, clear_errors


class NewEvent(TypedDict):
    """An event that has no number yet; see EventSchema."""

    time: float
    type: str
    tab: int
    gesture: int | None
    target: Element | None
    data: EventData
    trusted: NotRequired[bool]
    state: NotRequired[State | None]


class RecordingWriter:
    """Writes one recording. Not thread-safe: one thread owns it.

    Everything is in a file when a method returns: a blob before the event that names it, an event before the next.
    A kill of the recorder loses none of it; whether the last blobs survive a crash of the machine depends on `blobs`.
    Holds a lock on the journal, so that a reader can tell a live recording from one that was killed.
    """

    def __init__(self, directory: Path | str, manifest: Mapping[str, Any],
                 blobs: Callable[[RecordingLayout], Blobs] = BlobStore):
        """Create the folder and its manifest; raises InputError when there is anything already.

        `blobs`: what keeps the blobs.
        """
        self.layout = RecordingLayout(directory)
        self.manifest = dict(manifest, status="recording", ended_at=None)
        if self.layout.manifest.exists():
            raise InputError(f"{directory}: already contains a recording; choose another folder")
        if self.layout.root.exists() and not (self.layout.root.is_dir() and not any(self.layout.root.iterdir())):
            raise InputError(f"{directory}: is not empty; choose a new or empty folder")
        try:
            self.layout.root.mkdir(parents=True, exist_ok=True, mode=0o700)
            self.layout.blobs.mkdir(parents=True, exist_ok=True)
            self._journals = {path: open_private(path, "ab") for path in
                              (self.layout.events, self.layout.chat, self.layout.resources)}
        except OSError as error:
            raise InputError(f"{directory}: cannot be written ({reason(error)})") from None
        lock_descriptor(self._journals[self.layout.events].fileno())
        self._seq = 0
        self._blobs = blobs(self.layout)
        self._write_manifest()

    def blob(self, content: bytes, kind: str | None = None, *, picture: bool = False) -> str:
        """Keep bytes once per content; returns their SHA-256, which is the blob's name. See BlobStore."""
        return self._blobs.store(content, kind, picture=picture)

    def event(self, event: NewEvent) -> int:
        """Append one event; numbers it from 1 and returns the number."""
        self._append(self.layout.events, {"seq": self._seq + 1, **event})
        self._seq += 1
        return self._seq

    def chat(self, line: ChatLine) -> None:
        """Append one utterance."""
        self._append(self.layout.chat, line)

    def agent_step(self, line: AgentStep) -> None:
        """Append a step that an agent reported; the first one creates the file."""
        path = self.layout.agent_steps
        if path not in self._journals:
            with clear_errors(self.layout.root):
                self._journals[path] = open_private(path, "ab")
        self._append(path, line)

    def resource(self, line: Resource) -> None:
        """Append one resource."""
        self._append(self.layout.resources, line)

    def open_network(self) -> None:
        """The network is kept, too: create its files."""
        with clear_errors(self.layout.root):
            for path in (self.layout.network, self.layout.messages):
                self._journals[path] = open_private(path, "ab")

    def network(self, line: Mapping[str, Any]) -> None:
        """Append one exchange; `open_network` comes first."""
        self._append(self.layout.network, line)

    def message(self, line: Mapping[str, Any]) -> None:
        """Append what a channel carried; `open_network` comes first."""
        self._append(self.layout.messages, line)

    def open_console(self) -> None:
        """What pages write to the console is kept, too: create its file."""
        with clear_errors(self.layout.root):
            self._journals[self.layout.console] = open_private(self.layout.console, "ab")

    def console(self, line: ConsoleLine) -> None:
        """Append what a page wrote; `open_console` comes first."""
        self._append(self.layout.console, line)

    def update(self, **fields: Any) -> None:
        """Change fields of the manifest that were not known at the start."""
        self.manifest |= fields
        self._write_manifest()

    def close(self, ended_at: datetime) -> None:
        """End the recording: it is complete."""
        self._blobs.close()
        self.update(status="complete", ended_at=ended_at)
        for journal in self._journals.values():
            os.fsync(journal.fileno())
            journal.close()

    def abandon(self) -> None:
        """Let go of the files without calling the recording complete; what was written stays."""
        self._blobs.close()
        for journal in self._journals.values():
            journal.close()

    def _append(self, path: Path, line: Mapping[str, Any]) -> None:
        journal = self._journals[path]
        data = dump_line(line)
        with clear_errors(self.layout.root):
            end = journal.seek(0, os.SEEK_END)
            try:
                if journal.write(data) != len(data):
                    raise OSError(errno.ENOSPC, "No space left on device")
            except OSError:
                journal.truncate(end)
                raise

    def _write_manifest(self) -> None:
        with clear_errors(self.layout.root):
            write_atomically(self.layout.manifest, dump_json(RecordingSchema().dump(self.manifest)))


def new_id(directory: Path) -> str:
    """An id that no other recording has: the folder's name, with what an id may not hold replaced, and a random end."""
    name = re.sub(r"[^A-Za-z0-9_-]+", "-", directory.resolve().name).strip("-_")[:80] or "recording"
    return f"{name}-{secrets.token_hex(4)}"
