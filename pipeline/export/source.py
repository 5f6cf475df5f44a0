"""What goes into an export and what comes out of it: sources, options, the summary."""

import hashlib
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from recorder import Recording

MAX_NAME = 60  # with a turn number and a suffix it stays within the 100 characters of a tar member's name


@dataclass(frozen=True)
class Source:
    """One demonstration to export: its turns with all edits folded, and the recording that holds its blobs."""

    demonstration: dict
    recording: Recording

    @property
    def id(self) -> str:
        return self.demonstration["id"]

    @property
    def name(self) -> str:
        """The id as a file name without dots; ids that are none already get a digest, so that no two fall together."""
        slug = re.sub(r"[^A-Za-z0-9_-]+", "-", self.id)[:MAX_NAME]
        if slug == self.id and slug.strip("-"):
            return slug
        return f"{slug[:MAX_NAME - 9].strip('-') or 'demonstration'}-{hashlib.sha256(self.id.encode()).hexdigest()[:8]}"

    @property
    def turns(self) -> list[dict]:
        """The turns in order, without those that a reviewer dropped."""
        return [turn for turn in self.demonstration["turns"] if not turn.get("dropped")]


@dataclass(frozen=True)
class Options:
    """What a format needs to know besides its sources."""

    shard_size: int = 256 << 20
    progress: Callable[[str], None] = lambda name: None


@dataclass
class Summary:
    """What was written. `samples` are turns, `size` is in bytes.

    `left_out` counts turns that the format cannot hold, by reason; `notes` counts what else there is to know.
    """

    format: str
    destination: Path
    demonstrations: int = 0
    samples: int = 0
    files: int = 0
    size: int = 0
    left_out: Counter = field(default_factory=Counter)
    notes: Counter = field(default_factory=Counter)
