"""Digests of a demonstration's inputs, so that it is made again exactly when they change."""

import hashlib
import json
from functools import lru_cache
from pathlib import Path
from typing import Any

from pipeline import plugins
from schemas import InputError, ProcessedSchema, RecordingLayout
from schemas.files import dump_json, open_named, read_json, reason, write_atomically
from schemas.formats.demonstration import PROCESSED_FORMAT
from schemas.types.alignment import VideoPlacement
from schemas.upgrade import VERSIONS

from . import derived

_CHUNK = 1 << 20  # bytes
_PACKAGES = ("schemas", "recorder", "pipeline")


def fingerprint(layout: RecordingLayout, chat: Path | None, speakers: dict[str, str], video: Path | None,
                speech: Path | None = None, placement: VideoPlacement | None = None) -> dict[str, str]:
    """SHA-256 by name of everything that a demonstration depends on, the pipeline's own code included.

    Blobs need no hash: the events name them by theirs. Raises InputError when a file cannot be read.
    """
    files = {path.name: path for path in (layout.manifest, layout.events, layout.chat, layout.resources, layout.video,
                                         layout.imported, layout.agent_steps)}
    hashes = {name: hash_file(path) for name, path in files.items() if path.exists()}  # whose links were refused
    if chat is not None:
        parts = sorted(path for path in chat.rglob("*") if path.is_file()) if chat.is_dir() else [chat]
        listed = [(str(path.relative_to(chat)), hash_file(path)) for path in parts]
        hashes["chat log"] = _hash_text(json.dumps(listed))
    if video is not None:
        hashes["external video"] = hash_file(video)
        if placement:
            hashes["video's place"] = _hash_text(json.dumps(placement, sort_keys=True))
    if speech is not None:
        hashes["speech"] = hash_file(speech)
    if installed := plugins.stamp():
        hashes["plug-ins"] = _hash_text(installed)
    return hashes | {"speakers": _hash_text(json.dumps(sorted(speakers.items()))), "pipeline": _hash_code()}


def is_unchanged(layout: RecordingLayout, inputs: dict[str, str]) -> bool:
    """Whether the demonstration is there, whole, and was made from exactly these inputs."""
    try:
        note = read_json(layout.processed, ProcessedSchema())
        return (note["inputs"] == inputs and note["demonstration"] == hash_file(layout.demonstration)
                and all(layout.derived_blob(name).exists() for name in note["derived"]))
    except InputError:
        return False


def note(layout: RecordingLayout, inputs: dict[str, str], previous: dict[str, Any]) -> None:
    """Write down what the demonstration that lies there was made from; `given`: see process_inputs.py."""
    made = sorted(path.name for path in derived.blobs(layout))
    write_atomically(layout.processed, dump_json({
        "format": PROCESSED_FORMAT, "version": VERSIONS[PROCESSED_FORMAT], "inputs": inputs,
        "demonstration": hash_file(layout.demonstration), "derived": made, "given": previous}))


def hash_file(path: Path) -> str:
    """SHA-256 of a file; raises InputError when it cannot be read."""
    digest = hashlib.sha256()
    try:
        with open_named(path) as file:
            while chunk := file.read(_CHUNK):
                digest.update(chunk)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({reason(error)})") from None
    return digest.hexdigest()


def _hash_text(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@lru_cache(maxsize=1)
def _hash_code() -> str:
    """The rules themselves: better ones make a better demonstration of the same recording."""
    root = Path(__file__).parents[2]
    files = sorted(path for package in _PACKAGES for path in (root / package).rglob("*.py"))
    return _hash_text(json.dumps([(str(path.relative_to(root)), hash_file(path)) for path in files]))
