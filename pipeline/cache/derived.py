"""Blobs that the pipeline made, stored beside the immutable blobs of the recording."""

import hashlib
from pathlib import Path

import zstandard

from pipeline import proofs
from schemas import InputError, RecordingLayout
from schemas.files import write_atomically
from schemas.types.recordings import Demonstration


def store_derived(layout: RecordingLayout, content: bytes) -> str:
    """Keep bytes once per content; returns their SHA-256, which is the blob's name."""
    name = hashlib.sha256(content).hexdigest()
    if not layout.blob(name).exists():
        write(layout, name, zstandard.ZstdCompressor().compress(content))
    return name


def write(layout: RecordingLayout, name: str, content: bytes, *, sync: bool = True) -> None:
    """Write a derived blob's file; raises InputError where a link would lead out of the recording."""
    path = layout.derived_blob(name)
    for folder in (layout.derived, path.parent):
        if folder.is_symlink():
            raise InputError(f"{folder}: is a link; remove it")
    write_atomically(path, content, sync=sync)


def clear(layout: RecordingLayout, demonstration: Demonstration) -> None:
    """Remove derived blobs that neither the demonstration nor its proof names: an earlier one did."""
    states = [turn["state"] for turn in demonstration["turns"] if turn["type"] == "browser" and turn["state"]]
    named = {*(state["screenshot"] for state in states), *(state.get("axtree") for state in states),
             *proofs.pictures(layout.root, demonstration)}
    for path in blobs(layout):
        if path.name not in named:
            path.unlink()


def blobs(layout: RecordingLayout) -> list[Path]:
    """The derived blobs' files; nothing that a link leads to."""
    folders = [layout.derived, *layout.derived.glob("[0-9a-f][0-9a-f]")]
    if any(folder.is_symlink() for folder in folders):
        raise InputError(f"{layout.derived}: contains links; remove them")
    return sorted(path for folder in folders[1:] if folder.is_dir() for path in folder.iterdir() if not path.is_dir())
