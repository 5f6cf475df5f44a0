"""A generated proof of a generated demonstration."""

import json
from datetime import UTC, datetime
from pathlib import Path

from pipeline import proofs
from pipeline.cache import derived
from schemas import RecordingLayout
from schemas.formats.proof import FORMAT
from tests.support.curator.curator_fixtures import screenshot

REASON = "the text <b>Seattle is missing"


def proof_of(demonstration: dict, verdict: str = "same", keep=None, **changes) -> dict:
    """All its turns came to a verdict."""
    turns = [turn for turn in demonstration["turns"] if turn["type"] == "browser" and not turn["dropped"]]
    shown = keep(screenshot(50)) if keep else None
    return {"format": FORMAT, "version": 1, "demonstration": proofs.digest(demonstration["turns"]),
            "recording": demonstration["recording"], "made_at": datetime.now(UTC), "demotape": "1.0",
            "browser": "Chromium 1", "live": False, "verdict": verdict, "last": verdict, "seconds": 1.0,
            "recorded_seconds": 4.0, "missing": [{"method": "GET", "url": "https://air.example/<b>x", "count": 2}],
            "turns": [{"turn": turn["id"], "intent": turn["intent"], "verdict": verdict,
                       "reason": "" if verdict == "same" else REASON, "seconds": 0.2, "by": ["id"], "score": 0.9,
                       "elements": 1.0, "texts": 1.0, "picture": None, "shown": shown} for turn in turns]} | changes


def write_proof(path: Path) -> None:
    """Have one lie beside a recording: every verdict is in it."""
    demonstration = json.loads((path / "demonstration.json").read_text())
    proof = proof_of(demonstration, "failed", lambda content: derived.store_derived(RecordingLayout(path), content))
    for turn, verdict in zip(proof["turns"], ("same", "equivalent", "differs", "failed"), strict=True):
        turn["verdict"] = verdict
        turn["shown"] = turn["shown"] if verdict != "failed" else None
    proofs.write(path, proof)
