"""One turn as alignment looks at it."""

from dataclasses import dataclass, field

from schemas.types import BrowserTurn

from .choose import Verdict, View
from .screenshots import Picture
from .video_clock import Piece


@dataclass
class Look:
    """One turn on one piece of the clock: the frames it waits for, and what came of it.

    `near`, `later`, `last`: times of frames, seconds of the video. `spot`: the layout's piece. `strict`: the verdict if
    the screenshot's own time is not to be trusted. `neighbours`: captured screenshots around it.
    """

    turn: BrowserTurn
    piece: Piece
    picture: Picture | None
    viewport: tuple[int, int]
    shape: tuple[int, int]
    view: View
    near: set[float]
    later: set[float]
    last: float
    spot: int
    verdict: Verdict | None = None
    strict: Verdict | None = None
    neighbours: list[Picture] = field(default_factory=list)

    @property
    def key(self) -> str:
        """Tells it apart from the others."""
        return f"{self.turn['id']} {self.piece.begin}"
