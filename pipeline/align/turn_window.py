"""One turn with the data that alignment needs."""

from dataclasses import dataclass, field

from schemas.types.recordings import BrowserTurn

from .clock.video_clock import ClockSegment
from .frame_selection import Verdict, View
from .pictures.screenshots import Picture


@dataclass
class TurnWindow:
    """One turn on one piece of the clock: the frames it waits for, and what came of it.

    `nearby`, `later`, `last`: times of frames, seconds of the video. `spot`: the layout's piece. `strict`: the verdict
    if the screenshot's own time is not to be trusted. `neighbours`: captured screenshots around it; `before`: the last
    one that was shown before it. `gain`: by how much what is to take the screenshot's place explains the recorded
    elements better; None when that cannot be told.
    """

    turn: BrowserTurn
    piece: ClockSegment
    picture: Picture | None
    viewport: tuple[int, int]
    shape: tuple[int, int]
    view: View
    nearby: set[float]
    later: set[float]
    last: float
    spot: int
    verdict: Verdict | None = None
    strict: Verdict | None = None
    neighbours: list[Picture] = field(default_factory=list)
    before: Picture | None = None
    gain: float | None = None

    @property
    def key(self) -> str:
        """Tells it apart from the others."""
        return f"{self.turn['id']} {self.piece.begin}"
