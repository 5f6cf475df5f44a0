"""Blobs that the pipeline made: they lie beside the recording's own, which nothing is ever added to afterwards."""

import hashlib

import zstandard

from schemas import RecordingLayout
from schemas.files import write_atomically


def keep(layout: RecordingLayout, content: bytes) -> str:
    """Keep bytes once per content; returns their SHA-256, which is the blob's name."""
    name = hashlib.sha256(content).hexdigest()
    if not layout.blob(name).exists():
        write_atomically(layout.derived_blob(name), zstandard.ZstdCompressor().compress(content))
    return name


def clear(layout: RecordingLayout, demonstration: dict) -> None:
    """Remove derived blobs that the demonstration does not name: an earlier one did."""
    states = [turn.get("state") or {} for turn in demonstration["turns"]]
    named = {state.get(kind) for state in states for kind in ("screenshot", "axtree")}
    for folder in layout.derived.glob("[0-9a-f][0-9a-f]"):
        for path in folder.iterdir():
            if path.name not in named:
                path.unlink()
