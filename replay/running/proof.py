"""The proof of a run."""

from collections.abc import Callable
from datetime import datetime
from importlib.metadata import version

from pipeline.proofs import digest
from schemas import VERSIONS
from schemas.formats.proof import FORMAT
from schemas.types.proof import Proof
from schemas.types.recordings import Demonstration

from .run_report import Result


def proof_of(demonstration: Demonstration, result: Result, *, live: bool, save_blob: Callable[[bytes], str]) -> Proof:
    """What a run proves of a demonstration. `save_blob` stores a screenshot and returns its name."""
    return {
        "format": FORMAT, "version": VERSIONS[FORMAT], "demonstration": digest(demonstration["turns"]),
        "recording": demonstration["recording"], "made_at": datetime.now().astimezone(),
        "demotape": version("demotape"), "browser": result.browser, "live": live,
        "verdict": result.verdict, "last": result.last, "seconds": result.seconds,
        "recorded_seconds": result.recorded_seconds,
        "turns": [{"turn": outcome.turn, "intent": outcome.intent, "verdict": outcome.verdict, "reason": outcome.reason,
                   "seconds": outcome.seconds, "by": list(outcome.by), "score": outcome.score,
                   "elements": outcome.elements,
                   "texts": outcome.texts, "picture": outcome.picture,
                   "shown": save_blob(outcome.shown) if outcome.shown else None} for outcome in result.outcomes],
        "missing": [{"method": method, "url": url, "count": count}
                    for (method, url), count in sorted(result.missing.items())],
    }
