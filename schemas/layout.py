"""Where things are: the one module that knows the folder layout of a recording."""

from pathlib import Path

from .errors import InputError


class RecordingLayout:
    """Paths inside a recording's folder. Writes nothing, and looks only whether a blob is derived."""

    def __init__(self, root: Path | str):
        self.root = Path(root)
        self.manifest = self.root / "recording.json"
        self.events = self.root / "events.jsonl"
        self.chat = self.root / "chat.jsonl"
        self.resources = self.root / "resources.jsonl"
        self.blobs = self.root / "blobs"
        self.derived = self.root / "derived"
        self.video = self.root / "video.webm"
        self.har = self.root / "network.har"
        self.demonstration = self.root / "demonstration.json"
        self.processed = self.root / "processed.json"
        self.given = self.root / "given"

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
