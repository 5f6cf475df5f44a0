"""What the stages of the pipeline are given besides the demonstration."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from recorder.reader import Recording

from .cache import derived


@dataclass(frozen=True)
class Context:
    """What every stage may use besides the demonstration."""

    recording: Recording
    chat: Path | None = None
    speakers: Mapping[str, str] = field(default_factory=dict)
    video: Path | None = None

    def keep(self, content: bytes) -> str:
        """Keep a picture that no recorder took among the derived blobs; returns its name."""
        return derived.keep(self.recording.layout, content)
