"""The proof beside a demonstration: the result of its replay, valid only for the turns that were run."""

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from schemas import InputError, RecordingLayout
from schemas.files import dump_json, dump_line, read_json, write_atomically
from schemas.formats.proof import ProofSchema
from schemas.types.proof import Proof
from schemas.types.recordings import Demonstration, Turn


def digest(turns: Iterable[Turn]) -> str:
    """SHA-256 of what a run of turns does: a proof is of another demonstration when one of these has changed."""
    acted = [[turn["id"], turn["intent"], turn["arguments"], turn["element"]]
             for turn in turns if turn["type"] == "browser" and not turn["dropped"]]
    return hashlib.sha256(dump_line({"turns": _canonical(acted)})).hexdigest()


def _canonical(value: Any) -> Any:
    """The value with whole numbers as such, and members in order: what is read need not be as it was written."""
    if isinstance(value, dict):
        return {name: _canonical(value[name]) for name in sorted(value)}
    if isinstance(value, list | tuple):
        return [_canonical(member) for member in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def write(path: Path, proof: Proof) -> None:
    """Keep a proof beside the demonstration of the recording at `path`."""
    write_atomically(RecordingLayout(path).proof, dump_json(ProofSchema().dump(proof)))


def pictures(path: Path, demonstration: Demonstration) -> set[str]:
    """Names of the blobs that the proof beside a demonstration shows; none where that is damaged or of another."""
    try:
        proof = read(path, demonstration)
    except InputError:
        return set()
    return {shown for turn in proof["turns"] if (shown := turn.get("shown"))} if proof else set()


def read(path: Path, demonstration: Demonstration) -> Proof | None:
    """The proof beside a demonstration; None where there is none, or it is of another version of it. Raises InputError
    for one that is damaged."""
    layout = RecordingLayout(path)
    if not layout.proof.exists():
        return None
    proof: Proof = read_json(layout.proof, ProofSchema())
    return proof if proof["demonstration"] == digest(demonstration["turns"]) else None
