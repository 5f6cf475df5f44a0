"""Blobs that the pipeline made: they lie beside the recording's own, which nothing is ever added to afterwards."""

import hashlib

import zstandard

from schemas import RecordingLayout
from schemas.files import write_atomically
from schemas.types import Demonstration


def keep(layout: RecordingLayout, content: bytes) -> str:
    """Keep bytes once per content; returns their SHA-256, which is the blob's name."""
    name = hashlib.sha256(content).hexdigest()
    if not layout.blob(name).exists():
        write_atomically(layout.derived_blob(name), zstandard.ZstdCompressor().compress(content))
    return name


def clear(layout: RecordingLayout, demonstration: Demonstration) -> None:
    """Remove derived blobs that the demonstration does not name: an earlier one did."""
    states = [turn["state"] for turn in demonstration["turns"] if turn["type"] == "browser" and turn["state"]]
    named = {*(state["screenshot"] for state in states), *(state.get("axtree") for state in states)}
    for folder in layout.derived.glob("[0-9a-f][0-9a-f]"):
        for path in folder.iterdir():
            if path.name not in named:
                path.unlink()
