"""The proof beside a demonstration: what came of running it again, true of what was run only."""

import hashlib
from pathlib import Path
from typing import Any

from schemas import RecordingLayout
from schemas.files import dump_json, dump_line, read_json, write_atomically
from schemas.proof import ProofSchema
from schemas.proof_types import Proof
from schemas.types import Demonstration


def digest(demonstration: Demonstration) -> str:
    """SHA-256 of what a run does: a proof is of another demonstration when one of these has changed."""
    acted: list[Any] = [[turn["id"], turn["intent"], turn["arguments"], turn["element"]]
                        for turn in demonstration["turns"] if turn["type"] == "browser" and not turn["dropped"]]
    return hashlib.sha256(dump_line({"turns": acted})).hexdigest()


def write(path: Path, proof: Proof) -> None:
    """Keep a proof beside the demonstration of the recording at `path`."""
    write_atomically(RecordingLayout(path).proof, dump_json(ProofSchema().dump(proof)))


def read(path: Path, demonstration: Demonstration) -> Proof | None:
    """The proof beside a demonstration; None where there is none, or it is of another version of it."""
    layout = RecordingLayout(path)
    if not layout.proof.exists():
        return None
    proof: Proof = read_json(layout.proof, ProofSchema())
    return proof if proof["demonstration"] == digest(demonstration) else None
