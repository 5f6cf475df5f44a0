"""Output of recognisers."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Segment:
    """Something that was said, `start` to `end` in seconds of the track; `speaker`: a name or label, None where the
    recogniser tells no voices apart."""

    start: float
    end: float
    text: str
    speaker: str | None = None
