"""Where things are: the one module that knows the folder layout of a recording."""

import os
import stat
from pathlib import Path

from .errors import InputError


class RecordingLayout:
    """Paths inside a recording's folder. Writes nothing, and looks only at what is there."""

    def __init__(self, root: Path | str):
        self.root = Path(root)
        self.manifest = self.root / "recording.json"
        self.events = self.root / "events.jsonl"
        self.chat = self.root / "chat.jsonl"
        self.resources = self.root / "resources.jsonl"
        self.blobs = self.root / "blobs"
        self.derived = self.root / "derived"
        self.video = self.root / "video.webm"
        self.external_video = self.root / "external-video"  # in the review app's copy only
        self.har = self.root / "network.har"
        self.network = self.root / "network.jsonl"
        self.messages = self.root / "messages.jsonl"
        self.console = self.root / "console.jsonl"
        self.demonstration = self.root / "demonstration.json"
        self.processed = self.root / "processed.json"
        self.proof = self.root / "proof.json"
        self.outcome = self.root / "outcome.json"
        self.given = self.root / "given"
        self.speech = self.root / "speech"

    def expect_files(self) -> None:
        """Raises InputError when something that is read or written by name is a link, which may lead out of the
        folder, or neither a file nor a folder, such as a FIFO, which may never end."""
        folders = self.given, self.speech, self.blobs, self.derived
        files = (self.manifest, self.events, self.chat, self.resources, self.video, self.external_video, self.har,
                 self.network, self.messages, self.console, self.demonstration, self.processed, self.proof,
                 self.outcome)
        for paths, kind, is_kind in ((files, "file", stat.S_ISREG), (folders, "folder", stat.S_ISDIR)):
            for path in paths:
                try:
                    mode = os.lstat(path).st_mode
                except (FileNotFoundError, NotADirectoryError, ValueError):  # it is not there, or cannot be
                    continue
                if stat.S_ISLNK(mode):
                    raise InputError(f"{path}: is a link; put what it leads to there")
                if not is_kind(mode):
                    raise InputError(f"{path}: is no regular {kind}")

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
