"""One difference between two annotations of a recording, and the kinds of differences."""

from dataclasses import dataclass
from typing import Any

from schemas import types

TASK, LABEL, DROPPED, ACTION, INTENT, TARGET, ARGUMENTS, UTTERANCE, SPEAKER, PICTURE, TYPING, ADDED, ORDER, VIDEO = (
    "task", "label", "dropped", "action", "intent", "target", "arguments", "utterance", "speaker", "picture", "typing",
    "added", "order", "video")
OUTCOME = "outcome"
Annotated = tuple[types.Demonstration, list[types.Edit]]  # as it is after its edits, and these


@dataclass(frozen=True)
class Difference:
    """`name`: of the label. `first`, `second`: what each has there, None for nothing. `edits`: what makes the second's
    of the first's, after the edits of the differences before this one; None where no edit can, so that it is done by
    hand."""

    what: str
    turn: str | None
    name: str
    first: Any
    second: Any
    edits: tuple[Any, ...] | None = None

    @property
    def key(self) -> str:
        """Tells it from the others of a demonstration."""
        return "/".join((self.what, self.turn or "", self.name))
