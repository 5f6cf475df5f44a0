"""One turn with the data that alignment needs."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field

from schemas.types.recordings import BrowserTurn, TurnState

from .clock.clock_setting import USER_ACTIONS
from .clock.scene import Scene
from .clock.video_clock import ClockSegment, VideoClock
from .frame_selection import Verdict, View, view_of
from .pictures.screenshots import Picture, work_shape

BEYOND_END_S = 0.5  # seconds after the last frame that it still counts as shown


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


def turn_windows(scene: Scene, clock: VideoClock, turns: Sequence[BrowserTurn]) -> list[TurnWindow]:
    """The windows of all turns: of each turn one for every piece of the clock on which it may lie, if the page is shown
    there."""
    actions = sorted(event["time"] for event in scene.recording.events if event["type"] in USER_ACTIONS)
    return [window for turn in turns for piece in clock.candidates(turn["timestamp"])
            if (window := _turn_window(scene, clock, turn, piece, _last_before(actions, turn["timestamp"])))]


def _last_before(actions: Sequence[float], time: float) -> float | None:
    """The last of some times, which are in order, that is before another; None when there is none."""
    number = bisect_left(actions, time)
    return actions[number - 1] if number else None


def _turn_window(scene: Scene, clock: VideoClock, turn: BrowserTurn, piece: ClockSegment, action: float | None
                 ) -> TurnWindow | None:
    """The window of a turn on one piece of the clock; None where the page is not shown. `action`: when the person did
    something else last, seconds of the recording."""
    state, video = turn["state"], scene.video
    time = clock.video_time(turn["timestamp"], piece)
    if not state or not 0 <= time <= video.duration + BEYOND_END_S:
        return None
    painted = None if state["screenshot_time"] is None else clock.video_time(state["screenshot_time"], piece)
    view, near, after = view_of(video, time, painted, None if action is None else clock.video_time(action, piece))
    spot = scene.layout.number_at(float(video.times[view.number])) if view.number >= 0 else -1
    if spot < 0:
        return None
    nearby, later = ({shown for shown in times.tolist() if scene.layout.number_at(shown) == spot}
                     for times in (near, after))
    picture = scene.pictures.get(state["screenshot"] or "")
    viewport = _viewport(scene, state, picture)
    return TurnWindow(turn, piece, picture, viewport, work_shape(viewport), view, nearby, later, max(nearby | later),
                      spot)


def _viewport(scene: Scene, state: TurnState, picture: Picture | None) -> tuple[int, int]:
    """Width and height of a state's viewport; those of a screenshot for a tab that had not been laid out yet."""
    viewport = (state["viewport"]["width"], state["viewport"]["height"])
    return viewport if all(viewport) else (picture or scene.pictures[scene.names[0]]).viewport
