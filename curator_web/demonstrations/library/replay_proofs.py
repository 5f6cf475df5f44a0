"""Proofs of demonstrations: kept, and true only of the turns that were run.

What lists show of a proof is its verdict; `changed` once its demonstration does something else than what was run, until
that is taken back or it is run again.
"""

from typing import cast

from sqlalchemy.orm import Session

from curator_web.db.database import Database
from curator_web.db.models.core import Demonstration
from curator_web.db.models.proof_models import StoredProof
from pipeline.proofs import digest
from schemas import types
from schemas.formats.proof import VERDICTS
from schemas.types.proof import Proof, TurnProof

CHANGED = "changed"
STATES = (*VERDICTS, CHANGED)


def stored_proof(db: Database, demonstration_id: str) -> StoredProof | None:
    """The last proof of a demonstration; None where nobody has run it."""
    with db.reading() as session:
        return session.get(StoredProof, demonstration_id)


def failing_turns(db: Database, row: Demonstration) -> dict[str, TurnProof]:
    """What went otherwise when a demonstration was run as it is now: turns that differ, and the one that failed, by
    their ids. Those after that one were not tried."""
    stored = stored_proof(db, row.id) if row.proof in ("differs", "failed") else None
    troubled: dict[str, TurnProof] = {}
    for turn in stored.content["turns"] if stored else ():
        if turn["verdict"] in ("differs", "failed"):
            troubled[turn["turn"]] = turn
        if turn["verdict"] == "failed":
            break
    return troubled


def store_proof(session: Session, row: Demonstration, turns: list[types.Turn], proof: Proof, user_name: str
                | None) -> None:
    """Keep what a run proved, inside a transaction; one that is older than what is kept is not taken. `turns`: as they
    are now; `user_name` had it run, None where it came with its recording."""
    stored = session.get(StoredProof, row.id)
    if stored and stored.made_at > proof["made_at"]:
        return
    content = cast(Proof, proof | {"made_at": proof["made_at"].isoformat()})
    if stored:
        stored.content, stored.who, stored.made_at = content, user_name, proof["made_at"]
    else:
        session.add(StoredProof(demonstration_id=row.id, content=content, who=user_name, made_at=proof["made_at"]))
    row.proof = _state(content, turns)


def update_proof_state(session: Session, row: Demonstration, turns: list[types.Turn]) -> None:
    """Make lists show whether the proof is true of the turns as they are now."""
    if row.proof is not None and (stored := session.get(StoredProof, row.id)):
        row.proof = _state(stored.content, turns)


def _state(proof: Proof, turns: list[types.Turn]) -> str:
    return proof["verdict"] if proof["demonstration"] == digest(turns) else CHANGED
