"""Inputs of the pipeline's stages in addition to the demonstration."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from recorder.reader import Recording
from schemas.types.alignment import VideoPlacement

from .cache import derived


@dataclass(frozen=True)
class VideoSpan:
    """A span of an external video, from `begin` to `end` (seconds of the file), that is known on the recording's clock.

    A time t of the file is at `start + (t - begin) * rate` of the recording. `confidence`: 0 to 1, as a turn's
    `confidence`.
    """

    begin: float
    end: float
    start: float
    rate: float
    confidence: float


@dataclass(frozen=True)
class Context:
    """What every stage may use besides the demonstration."""

    recording: Recording
    chat: Path | None = None
    speakers: Mapping[str, str] = field(default_factory=dict)
    video: Path | None = None
    speech: Path | None = None
    again: bool = False  # the speakers are those of the last time: some may not speak any more
    video_spans: list[VideoSpan] = field(default_factory=list)  # told by align for the stages behind it
    placement: VideoPlacement | None = None  # a person's word on where the video belongs

    def store_blob(self, content: bytes) -> str:
        """Keep a picture that no recorder took among the derived blobs; returns its name."""
        return derived.store_derived(self.recording.layout, content)
