"""Folder layout of a recording, defined in this module only."""

import os
from pathlib import Path

from .errors import InputError
from .files import reason


class _LayoutPath:
    """A path under a recording's folder. A path costs time to make, and few of a layout's are asked for."""

    def __init__(self, name: str, kind: str = "file"):
        self.name, self.kind = name, kind

    def __get__(self, layout: "RecordingLayout", owner: type) -> Path:
        return layout.path_of(self.name)


class RecordingLayout:
    """Paths inside a recording's folder. Writes nothing, and looks only at what is there."""

    manifest = _LayoutPath("recording.json")
    events = _LayoutPath("events.jsonl")
    chat = _LayoutPath("chat.jsonl")
    resources = _LayoutPath("resources.jsonl")
    blobs = _LayoutPath("blobs", "folder")
    derived = _LayoutPath("derived", "folder")
    video = _LayoutPath("video.webm")
    external_video = _LayoutPath("external-video")  # in the review app's copy only
    har = _LayoutPath("network.har")
    network = _LayoutPath("network.jsonl")
    messages = _LayoutPath("messages.jsonl")
    console = _LayoutPath("console.jsonl")
    agent_steps = _LayoutPath("agent_steps.jsonl")
    imported = _LayoutPath("imported.json")
    demonstration = _LayoutPath("demonstration.json")
    processed = _LayoutPath("processed.json")
    proof = _LayoutPath("proof.json")
    outcome = _LayoutPath("outcome.json")
    given = _LayoutPath("given", "folder")
    speech = _LayoutPath("speech", "folder")

    def __init__(self, root: Path | str):
        self.root = Path(root)

    def path_of(self, name: str) -> Path:
        """Where a file or folder of this name is."""
        return self.root / name

    def require_regular_files(self) -> None:
        """Raises InputError when something that is read or written by name is a link, which may lead out of the
        folder, or neither a file nor a folder, such as a FIFO, which may never end."""
        try:
            with os.scandir(self.root) as entries:
                # Whatever its case: some disks give it by either name.
                there = [(entry, kind) for entry in entries if (kind := _KINDS.get(entry.name.lower()))]
        except (FileNotFoundError, NotADirectoryError, ValueError):  # it is not there, or cannot be
            return
        except OSError as error:
            raise InputError(f"{self.root}: cannot be read ({reason(error)})") from None
        for entry, kind in there:
            if entry.is_symlink():
                raise InputError(f"{entry.path}: is a link; replace it by its target")
            if not (entry.is_file if kind == "file" else entry.is_dir)(follow_symlinks=False):
                raise InputError(f"{entry.path}: not a regular {kind}")

    def blob(self, sha256: str) -> Path:
        """Path of a blob: the recording's own, or one derived from it when only that is there.

        Raises InputError when the name is not a SHA-256, so that no name can leave the folder.
        """
        derived = self.derived_blob(sha256)
        own = self.blobs / sha256[:2] / sha256
        return derived if derived.exists() and not own.exists() else own

    def derived_blob(self, sha256: str) -> Path:
        """Path of a blob that the pipeline made; raises InputError as `blob` does."""
        if len(sha256) != 64 or not set(sha256) <= set("0123456789abcdef"):
            raise InputError(f"{self.root}: {sha256[:80]!r} is not the name of a blob (a SHA-256)")
        return self.derived / sha256[:2] / sha256


_KINDS = {path.name: path.kind for path in vars(RecordingLayout).values() if isinstance(path, _LayoutPath)}
