"""Aligns an external video with a recording's clock, and finds each turn in it.

Two walks through the video, each decoding only what it needs: a first one over samples and the surroundings of some
marks, which gives the clock; a second one over the frames around every action.
"""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np

from pipeline.context import VideoSpan
from recorder import Recording
from schemas.types.recordings import Alignment, BrowserTurn, Turn, VideoPlacement

from .clock.anchors import find_anchors, timeline
from .clock.clock_setting import USER_ACTIONS, set_clock
from .clock.coarse_offset import fit_offset, length
from .clock.scene import Scene
from .clock.video_clock import ClockSegment, VideoClock
from .frame_selection import Verdict, View, Window, judge, view_of
from .layout.layout import Layout
from .layout.moves import explained, lay_out
from .layout.rectangle import Rectangle, find, polish
from .layout.sampling import LONG_VIDEO_S, Sampled
from .pictures.occlusion import covered_mask, small, small_shape, tighten_mask
from .pictures.screenshots import Picture, full_size, work_shape
from .pictures.video import Shot, Video
from .replacing import MIN_EXPLAINING_GAIN, UNLIKE, Encode, cut_pages, refuse_worse
from .report import alignment_report, manual_clock, manual_layout, manual_rectangle
from .turn_window import TurnWindow

LOW = 0.5  # a confidence below is low
_REFUSED = 0.4  # the most where neither the screenshot nor the frame is to be relied on
_PAGES, _MORE_PAGES = 10, 60  # frames, at first and then, and screenshots in which the page's rectangle is looked for
_PAIRS = 32  # actions, the first ones, whose frames tell it better
_OFTEN = 0.08  # share of late screenshots from which on their own times are not trusted
_BEYOND = 0.5  # seconds after the last frame that it still counts as shown
_NEIGHBOURS = 5  # screenshots before and after an action among which a better one is looked for


@dataclass(frozen=True)
class TurnMatch:
    """What the video says of one turn. `time`: of the chosen frame, seconds of the video; None when it was not filmed.

    `similarity`: SSIM of the captured screenshot and that frame. `late`: it was taken after the action. `better`: blob
    of another captured screenshot that fits; `page`: the page cut out of the frame, as a file, when no captured one
    does and the frame shows it better; `painted`: when that was on the screen, seconds of the recording.
    `clearly_better`: the recorded elements clearly speak for either, however unsure the place in the video is.
    """

    time: float | None
    similarity: float | None
    confidence: float
    late: bool = False
    better: str | None = None
    page: bytes | None = None
    painted: float | None = None
    clearly_better: bool = False


Found = TurnMatch  # its name in earlier versions


def align(recording: Recording, turns: Sequence[Turn], video: Video, pictures: Mapping[str, Picture], encode: Encode,
          manual_placement: VideoPlacement | None = None) -> tuple[dict[str, TurnMatch], Alignment, list[VideoSpan]]:
    """What the video says of each browser turn that has a state, by the turn's id; how the video was placed; and where
    it is on the recording's clock.

    `pictures`: the screenshots of the turns by blob, perhaps others of the recording besides. `encode` makes a file of
    a page cut out of a frame. `manual_placement`: a person's word, which is not doubted. Raises InputError when the
    video cannot be decoded or a screenshot is missing. When nothing in the video is like the recording and nobody said
    where it belongs, every turn is found with confidence 0, and there is no span.
    """
    word = manual_placement or {}
    by_hand = manual_clock(word, video)
    states = [(event["time"], event["state"]) for event in recording.events if event["state"]]
    shown, names = timeline(states, pictures)
    acting = [turn for turn in turns if turn["type"] == "browser" and turn["state"]]
    shots = [pictures[name] for name in names]
    drawn = manual_rectangle(word) if names else None
    rectangle = drawn or _find_rectangle(recording, video, shots)
    if rectangle is None:
        return _without_layout(acting, video, by_hand), alignment_report(video, by_hand, None,
                                                                         word), _trusted_spans(video,
                                                                                                             by_hand)
    layout, sampled, covers = manual_layout(video, shots, rectangle) if drawn else lay_out(
        video, shots, lambda picture: full_size(recording, picture), rectangle, length(shown))
    stretches = [] if by_hand else fit_offset(sampled.times, sampled.differences, shown, video.duration)
    if not stretches and not by_hand:
        return _without_layout(acting, video, None), alignment_report(video, None, layout, word), []
    scene = Scene(recording, video, layout, pictures, shown, names, covers, explained(sampled))
    if not drawn:
        scene = _polish_layout(scene, sampled)
    if by_hand:
        matches, _ = _match_turns(scene, by_hand, acting, encode)
        return (_without_layout(acting, video, by_hand) | _with_full_confidence(matches),
                alignment_report(video, by_hand, scene.layout, word),
                _trusted_spans(video, by_hand))
    anchors = find_anchors(shown, shots, scene.layout, video.size, scene.hidden)
    clock = set_clock(scene, stretches, anchors)
    matches, spans = _match_turns(scene, clock, acting, encode)
    return matches, alignment_report(video, clock, scene.layout, word), spans


def _trusted_spans(video: Video, clock: VideoClock | None) -> list[VideoSpan]:
    """Where the video is on the recording's clock by a person's word; none without one."""
    return spans_of(clock, video.lead, usual=1.0) if clock else []


def _without_layout(turns: Sequence[BrowserTurn], video: Video, clock: VideoClock | None) -> dict[str, TurnMatch]:
    """What is said of turns at which nobody looks: nothing, or where a person's clock has them."""
    matches = {}
    for turn in turns:
        time = clock.video_time(turn["timestamp"], clock.pieces[0]) if clock else -1.0
        number = video.number_at(time) if time <= video.duration + _BEYOND else -1
        matches[turn["id"]] = TurnMatch(None, None, 0.0) if number < 0 else TurnMatch(float(video.times[number]), None,
                                                                                      1.0)
    return matches


def _with_full_confidence(matches: Mapping[str, TurnMatch]) -> dict[str, TurnMatch]:
    """Those that were looked at, at the place that a person gave them."""
    return {name: replace(match, confidence=1.0) for name, match in matches.items() if match.time is not None}


def _find_rectangle(recording: Recording, video: Video, pictures: Sequence[Picture]) -> Rectangle | None:
    if not pictures:
        return None
    sizes = [picture.viewport for picture in pictures]
    usual = max(sorted(set(sizes)), key=sizes.count)
    pages = [full_size(recording, picture)
             for picture in _spread([picture for picture in pictures if picture.viewport == usual], _PAGES)]
    for count in (_PAGES, _MORE_PAGES):  # the session may be a small part of the video
        wanted = np.array(_spread(list(video.keys), count))  # decoded without any other
        if len(video.keys) < count and video.duration <= LONG_VIDEO_S:
            wanted = video.around(np.linspace(0.04, 0.96, count) * video.duration)
        if rectangle := find([shot.copy() for shot in video.shots(wanted)], pages):
            return rectangle
    return None


def _polish_layout(scene: Scene, sampled: Sampled) -> Scene:
    """The scene with its rectangles made exact by pairs that are now known to belong together."""
    pieces = []
    for piece in scene.layout.pieces:
        inside = (sampled.times >= piece.start) & (sampled.times <= piece.end)
        order = [k for k in np.argsort(sampled.smallest) if inside[k]]
        pairs: dict[int, float] = {}
        for k in order:
            pairs.setdefault(int(sampled.differences[k].argmin()), float(sampled.times[k]))
            if len(pairs) == 3:
                break
        shots = {shot.time: shot.copy() for shot in scene.video.shots(np.array(sorted(set(pairs.values()))))}
        matched = [(shots[time], scene.pictures[scene.names[number]])
                   for number, time in pairs.items() if time in shots]  # the frames may be damaged
        pages = [(shot, picture, full_size(scene.recording, picture)) for shot, picture in matched]
        same_viewport = [(shot, page) for shot, picture, page in pages if picture.viewport == pages[0][1].viewport]
        pieces.append(replace(piece,
                              rectangle=polish(piece.rectangle, same_viewport) if same_viewport else piece.rectangle))
    return replace(scene, layout=Layout(tuple(pieces)))


def _match_turns(scene: Scene, clock: VideoClock, turns: Sequence[BrowserTurn], encode: Encode
                 ) -> tuple[dict[str, TurnMatch], list[VideoSpan]]:
    actions = sorted(event["time"] for event in scene.recording.events if event["type"] in USER_ACTIONS)
    windows = [window for turn in turns for window in _turn_windows(scene, clock, turn, actions)]
    scene = _judge_all(scene, windows)
    _distrust(windows)
    scores = [window.verdict.similarity for window in windows
              if window.verdict and window.verdict.similarity is not None and not window.verdict.late]
    usual = float(np.median(scores)) if scores else None
    clock = _confirm_pieces(clock, windows, usual or 0.0)
    scene = replace(scene, explained=np.append(scene.explained, [
        scene.video.times[window.verdict.number] for window in windows
        if window.verdict and _is_shown(window.verdict, usual or 0.0)]))
    refuse_worse(scene, windows, usual)
    matches = _conclude(scene, clock, turns, windows, cut_pages(scene, windows, encode), usual or 0.0)
    return matches, spans_of(clock, scene.video.lead, usual or 0.0)


def _judge_all(scene: Scene, turn_windows: Sequence[TurnWindow]) -> Scene:
    """Walk through the video and judge each look when its frames have come; the scene with what the first ones show of
    what covers the page."""
    wanted = np.array(sorted({time for window in turn_windows for time in window.nearby | window.later}))
    by_end = sorted(scene.shown, key=lambda entry: entry.end)
    order, ends = [scene.names[entry.picture] for entry in by_end], np.array([entry.end for entry in by_end])
    windows: dict[tuple[int, tuple[int, int]], Window] = {}
    complete: list[TurnWindow] = []

    def judge_complete() -> None:
        nonlocal scene
        if not windows:
            scene = replace(scene, covered={**scene.covered, **_covered_in(scene, complete)})
            windows.update(((window.spot, window.viewport), _window(scene, window)) for window in turn_windows)
        while complete:
            turn_window = complete.pop(0)
            _finish(scene, turn_window, windows[turn_window.spot, turn_window.viewport], order, ends)

    active, waiting = [], sorted(turn_windows, key=lambda turn_window: min(turn_window.nearby))
    for shot in scene.video.shots(wanted):
        while waiting and min(waiting[0].nearby) <= shot.time:
            active.append(waiting.pop(0))
        cuts: dict[tuple, np.ndarray] = {}
        for turn_window in list(active):
            _add_frame(scene, turn_window, shot, cuts)
            if shot.time >= turn_window.last:
                complete.append(turn_window)
                active.remove(turn_window)
        if windows or len(complete) >= _PAIRS:
            judge_complete()
    complete += [turn_window for turn_window in [*active, *waiting] if turn_window.view.nearby]
    judge_complete()
    return scene


def _window(scene: Scene, window: TurnWindow) -> Window:
    rectangle = scene.layout.pieces[window.spot].rectangle
    return Window(rectangle.visible_part(window.viewport, scene.video.size, window.shape),
                  scene.hidden(window.viewport, window.spot))


def _covered_in(scene: Scene, windows: Sequence[TurnWindow]) -> dict[tuple[int, tuple[int, int]], np.ndarray]:
    """What still differs, of what seemed covered, now that it is known which frames show which screenshots."""
    masks: dict[tuple[int, tuple[int, int]], np.ndarray] = {}
    for number, viewport in {(window.spot, window.viewport) for window in windows} & scene.covered.keys():
        rectangle = scene.layout.pieces[number].rectangle
        visible = rectangle.visible_part(viewport, scene.video.size, small_shape(viewport))
        pairs = [(window.picture.grey, window.view.nearby[window.view.number]) for window in windows
                 if (window.spot, window.viewport) == (number, viewport) and window.view.number in window.view.nearby
                 and window.picture and window.picture.viewport == viewport and not window.picture.blank]
        differences = [cv2.absdiff(*(small(page, viewport)[visible] for page in pair)) for pair in pairs]
        if (mask := covered_mask(differences, viewport, visible)) is not None:
            masks[number, viewport] = tighten_mask(scene.covered[number, viewport] & mask, pairs)
    return masks


def _distrust(windows: Sequence[TurnWindow]) -> None:
    """Where screenshots are often late, what one that is late says of its own time counts for nothing; where they are
    not, what may as well have been a pointer does not make one late."""
    plain = [window.verdict for window in windows if window.verdict and not window.view.newer]
    often = sum(verdict.late and verdict.certain for verdict in plain) > _OFTEN * len(plain)
    for window in windows:
        if often and window.verdict and window.verdict.late:  # what its own time explains may be right
            window.verdict = window.strict
        elif not often and window.verdict and not window.verdict.certain:
            window.verdict = replace(window.verdict, late=False)


def _is_shown(verdict: Verdict, usual: float) -> bool:
    """Whether a frame is known to show the screenshot, and not those around it."""
    return verdict.telling and (verdict.similarity or 0.0) >= usual - UNLIKE


def _confirm_pieces(clock: VideoClock, windows: Sequence[TurnWindow], usual: float) -> VideoClock:
    """The clock as sure as it is now that frames have shown pictures at their times; the looks' pieces with it."""
    pieces = []
    for piece in clock.pieces:
        own = [window for window in windows if window.piece is piece]
        stronger = piece.with_confirmations([window.turn["timestamp"] for window in own
                                    if window.verdict and _is_shown(window.verdict, usual)])
        for window in own:
            window.piece = stronger
        pieces.append(stronger)
    return replace(clock, pieces=tuple(pieces))


def _turn_windows(scene: Scene, clock: VideoClock, turn: BrowserTurn, actions: Sequence[float]) -> list[TurnWindow]:
    state, video = turn["state"], scene.video
    windows: list[TurnWindow] = []
    if not state:
        return windows
    picture = scene.pictures.get(state["screenshot"] or "")
    viewport = (state["viewport"]["width"], state["viewport"]["height"])
    if not all(viewport):  # a tab that had not been laid out yet
        viewport = (picture or scene.pictures[scene.names[0]]).viewport
    number = bisect_left(actions, turn["timestamp"])
    action = actions[number - 1] if number else None
    for piece in clock.candidates(turn["timestamp"]):
        time = clock.video_time(turn["timestamp"], piece)
        if not 0 <= time <= video.duration + _BEYOND:
            continue
        painted = None if state["screenshot_time"] is None else clock.video_time(state["screenshot_time"], piece)
        view, nearby, later = view_of(video, time, painted, None if action is None else clock.video_time(action, piece))
        spot = scene.layout.number_at(float(video.times[view.number])) if view.number >= 0 else -1
        if spot >= 0:
            nearest, rest = ({time_shown for time_shown in times.tolist() if scene.layout.number_at(time_shown) == spot}
                             for times in (nearby, later))
            windows.append(TurnWindow(turn, piece, picture, viewport, work_shape(viewport), view, nearest, rest,
                               max(nearest | rest), spot))
    return windows


def _add_frame(scene: Scene, window: TurnWindow, shot: Shot, cuts: dict[tuple, np.ndarray]) -> None:
    """Keep the page that a frame shows, when the look needs it; pages of one frame are cut out once."""
    is_nearby, is_later = shot.time in window.nearby, shot.time in window.later
    if not is_nearby and not is_later:
        return
    key = window.viewport
    if key not in cuts:
        cuts[key] = scene.layout.pieces[window.spot].rectangle.cut(shot, window.viewport, window.shape)
    if is_nearby:
        window.view.nearby[scene.video.number_at(shot.time)] = cuts[key]
    if is_later:
        window.view.later.append(cuts[key])


def _finish(scene: Scene, turn_window: TurnWindow, window: Window, order: list[str], ends: np.ndarray) -> None:
    """Judge, and let the pixels go."""
    if turn_window.view.number not in turn_window.view.nearby:
        return
    here = int(np.searchsorted(ends, turn_window.turn["timestamp"]))
    around = sorted(range(max(0, here - _NEIGHBOURS), min(len(order), here + _NEIGHBOURS)),
                    key=lambda index: abs(index + 0.5 - here))
    turn_window.before = scene.pictures[order[here - 1]] if here else None
    turn_window.neighbours = [scene.pictures[name] for name in dict.fromkeys(order[index] for index in around)]
    turn_window.verdict, turn_window.strict = judge(turn_window.view, turn_window.picture, turn_window.neighbours,
                                                    window)
    turn_window.view = View(turn_window.view.number, newer=turn_window.view.newer, hasty=turn_window.view.hasty)


def _conclude(scene: Scene, clock: VideoClock, turns: Sequence[BrowserTurn], windows: Sequence[TurnWindow],
              pages: Mapping[str, bytes], usual: float) -> dict[str, TurnMatch]:
    matches = {}
    for turn in turns:
        own = [(window, window.verdict) for window in windows if window.turn is turn and window.verdict]
        if not own:
            matches[turn["id"]] = TurnMatch(None, None, 0.0)
            continue
        best, verdict = max(own, key=lambda judged: (judged[1].similarity or 0.0, judged[0].piece.votes))
        confidence = _confidence(clock, best, verdict, usual)
        if verdict.late and not verdict.better and best.key not in pages:
            confidence = min(confidence, _REFUSED)  # the frame may show something else than the page
        time = float(scene.video.times[verdict.number])
        painted = turn["timestamp"] - max(0.0, clock.video_time(turn["timestamp"], best.piece) - time)
        matches[turn["id"]] = TurnMatch(time, verdict.similarity, round(confidence, 3), verdict.late, verdict.better,
                                  pages.get(best.key), round(painted, 4), (best.gain or 0.0) >= MIN_EXPLAINING_GAIN)
    return matches


def _confidence(clock: VideoClock, window: TurnWindow, verdict: Verdict, usual: float) -> float:
    """From 0 to 1: how many brackets agree and how few on something else; how alike the pictures are; and little
    where a pause began or ended at a moment that no bracket tells."""
    piece = window.piece
    confidence = _piece_confidence(piece, usual)
    number = clock.pieces.index(piece)
    time = window.turn["timestamp"]
    if (number and time < piece.low) or (number + 1 < len(clock.pieces) and time > piece.high) or piece.is_bare(time):
        confidence = min(confidence, 0.4)
    if verdict.late or verdict.similarity is None:
        return confidence * 0.8
    return confidence * _ramp(verdict.similarity, usual - 0.4, usual - 0.1)


def _piece_confidence(piece: ClockSegment, usual: float) -> float:
    """How sure a piece of the clock is; `usual`: the similarity of most frames and screenshots."""
    lead = (piece.votes - piece.others) / max(piece.votes, 1)
    return _ramp(piece.votes, 1, 4) * _ramp(lead, 0.25, 0.75) * _ramp(usual, 0.6, 0.8)


def spans_of(clock: VideoClock, lead: float, usual: float) -> list[VideoSpan]:
    """The clock the other way round: where the times of the video's file are in the recording.

    `lead`: seconds from the file's start to its first frame; `usual`: the similarity of most frames and screenshots.
    """
    return [VideoSpan(piece.begin + lead, piece.end + lead, clock.recording_time(piece.begin, piece),
                      1 / (1 + clock.drift), round(_piece_confidence(piece, usual), 3)) for piece in clock.pieces]


def _ramp(value: float, low: float, high: float) -> float:
    """0 up to `low`, 1 from `high` on, straight between."""
    return min(1.0, max(0.0, (value - low) / (high - low)))


def _spread(items: Sequence, count: int) -> list:
    """At most `count` of the items, evenly from first to last."""
    return [items[number] for number in np.unique(np.linspace(0, len(items) - 1, count).astype(int))] if items else []
