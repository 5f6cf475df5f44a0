"""Aligns an external video with a recording's clock, and finds each turn in it.

Two walks through the video, each decoding only what it needs: a first one over samples and the surroundings of some
marks, which gives the clock; a second one over the frames around every action.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pipeline.context import VideoSpan
from recorder import Recording
from schemas.types.alignment import Alignment, VideoPlacement
from schemas.types.recordings import BrowserTurn, Turn

from .clock.anchors import find_anchors, timeline
from .clock.clock_setting import set_clock
from .clock.coarse_offset import fit_offset, length
from .clock.scene import Scene
from .clock.video_clock import ClockSegment, VideoClock
from .confidence import spans_of, window_confidence
from .frame_selection import Verdict
from .layout.layout import Layout, LayoutSegment
from .layout.moves import explained, lay_out
from .layout.rectangle import Rectangle, find, polish
from .layout.sampling import LONG_VIDEO_S, Sampled
from .pictures.screenshots import Picture, full_size
from .pictures.video import Video
from .replacing import MIN_EXPLAINING_GAIN, UNLIKE, Encode, cut_pages, refuse_worse
from .report import alignment_report, manual_clock, manual_layout, manual_rectangle
from .turn_window import BEYOND_END_S, TurnWindow, turn_windows
from .window_judging import judge_windows

LOW = 0.5  # a confidence below is low
_MAX_REFUSED_CONFIDENCE = 0.4  # where neither the screenshot nor the frame is to be relied on
_PAGES, _MORE_PAGES = 10, 60  # frames, at first and then, and screenshots in which the page's rectangle is looked for
_POLISHING_PAIRS = 3  # screenshots, each with a frame that shows it, to which a rectangle is fitted
_OFTEN = 0.08  # share of late screenshots from which on their own times are not trusted


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
_UNMATCHED = TurnMatch(None, None, 0.0)


def align(recording: Recording, turns: Sequence[Turn], video: Video, pictures: Mapping[str, Picture], encode: Encode,
          manual_placement: VideoPlacement | None = None) -> tuple[dict[str, TurnMatch], Alignment, list[VideoSpan]]:
    """What the video says of each browser turn that has a state, by the turn's id; how the video was placed; and where
    it is on the recording's clock.

    `pictures`: the screenshots of the turns by blob, perhaps others of the recording besides. `encode` makes a file of
    a page cut out of a frame. `manual_placement`: a person's word, which is not doubted. Raises InputError when the
    video cannot be decoded or a screenshot is missing. When nothing in the video is like the recording and nobody said
    where it belongs, every turn is found with confidence 0, and there is no span.
    """
    placement = manual_placement or {}
    by_hand = manual_clock(placement, video)
    acting = [turn for turn in turns if turn["type"] == "browser" and turn["state"]]
    located = _locate_page(recording, video, pictures, placement)
    if located is None:
        return (_matches_by_clock(acting, video, by_hand), alignment_report(video, by_hand, None, placement),
                _spans_by_hand(video, by_hand))
    scene, samples = located
    stretches = [] if by_hand else fit_offset(samples.times, samples.differences, scene.shown, video.duration)
    if not stretches and not by_hand:
        return _matches_by_clock(acting, video, None), alignment_report(video, None, scene.layout, placement), []
    if "rectangle" not in placement:
        scene = _polish_layout(scene, samples)
    if by_hand:
        matches, _ = _match_turns(scene, by_hand, acting, encode)
        return (_matches_by_clock(acting, video, by_hand) | _with_full_confidence(matches),
                alignment_report(video, by_hand, scene.layout, placement), _spans_by_hand(video, by_hand))
    anchors = find_anchors(scene.shown, _screenshots(scene.names, pictures), scene.layout, video.size, scene.hidden)
    clock = set_clock(scene, stretches, anchors)
    matches, spans = _match_turns(scene, clock, acting, encode)
    return matches, alignment_report(video, clock, scene.layout, placement), spans


# Where the page is in the frames.

def _locate_page(recording: Recording, video: Video, pictures: Mapping[str, Picture],
                 placement: VideoPlacement) -> tuple[Scene, Sampled] | None:
    """The scene with the layout of the page in the video, a person's if there is one, and the samples of the video that
    it was made from; None when no frame shows the page."""
    states = [(event["time"], event["state"]) for event in recording.events if event["state"]]
    shown, names = timeline(states, pictures)
    if not names:
        return None
    screenshots = _screenshots(names, pictures)
    if by_hand := manual_rectangle(placement):
        layout, samples, covered = manual_layout(video, screenshots, by_hand)
    elif rectangle := _find_rectangle(recording, video, screenshots):
        layout, samples, covered = lay_out(video, screenshots, lambda picture: full_size(recording, picture),
                                           rectangle, length(shown))
    else:
        return None
    return Scene(recording, video, layout, pictures, shown, names, covered, explained(samples)), samples


def _screenshots(names: Sequence[str], pictures: Mapping[str, Picture]) -> list[Picture]:
    return [pictures[name] for name in names]


def _find_rectangle(recording: Recording, video: Video, pictures: Sequence[Picture]) -> Rectangle | None:
    """The page's rectangle in the frames, by screenshots of the most frequent viewport; None when they show none."""
    sizes = [picture.viewport for picture in pictures]
    usual = max(sorted(set(sizes)), key=sizes.count)
    pages = [full_size(recording, picture)
             for picture in _spread([picture for picture in pictures if picture.viewport == usual], _PAGES)]
    for count in (_PAGES, _MORE_PAGES):  # the session may be a small part of the video
        if rectangle := find([shot.copy() for shot in video.shots(_search_times(video, count))], pages):
            return rectangle
    return None


def _search_times(video: Video, count: int) -> np.ndarray:
    """Times of at most `count` frames, evenly from first to last: of those that are decoded without any other, unless
    a short video has too few of them."""
    if len(video.keys) < count and video.duration <= LONG_VIDEO_S:
        return video.around(np.linspace(0.04, 0.96, count) * video.duration)
    return np.array(_spread(list(video.keys), count))


def _spread(items: Sequence, count: int) -> list:
    """At most `count` of the items, evenly from first to last."""
    return [items[number] for number in np.unique(np.linspace(0, len(items) - 1, count).astype(int))] if items else []


def _polish_layout(scene: Scene, samples: Sampled) -> Scene:
    """The scene with its rectangles made exact by pairs that are now known to belong together."""
    return replace(scene, layout=Layout(tuple(
        replace(piece, rectangle=_polished_rectangle(scene, piece, _clearest_frames(samples, piece)))
        for piece in scene.layout.pieces)))


def _clearest_frames(samples: Sampled, piece: LayoutSegment) -> dict[int, float]:
    """For a few screenshots, by number, the time of the sampled frame in a piece that shows it most clearly."""
    inside = (samples.times >= piece.start) & (samples.times <= piece.end)
    frame_times: dict[int, float] = {}
    for index in np.argsort(samples.smallest):
        if inside[index]:
            frame_times.setdefault(int(samples.differences[index].argmin()), float(samples.times[index]))
        if len(frame_times) == _POLISHING_PAIRS:
            break
    return frame_times


def _polished_rectangle(scene: Scene, piece: LayoutSegment, frame_times: Mapping[int, float]) -> Rectangle:
    """The rectangle of a piece fitted to frames of screenshots by number; as it was when none can be decoded."""
    shots = {shot.time: shot.copy() for shot in scene.video.shots(np.array(sorted(set(frame_times.values()))))}
    matched = [(shots[time], scene.pictures[scene.names[number]])
               for number, time in frame_times.items() if time in shots]  # the frames may be damaged
    same_viewport = [(shot, full_size(scene.recording, picture)) for shot, picture in matched
                     if picture.viewport == matched[0][1].viewport]
    return polish(piece.rectangle, same_viewport) if same_viewport else piece.rectangle


# What the frames around each action say.

def _match_turns(scene: Scene, clock: VideoClock, turns: Sequence[BrowserTurn], encode: Encode
                 ) -> tuple[dict[str, TurnMatch], list[VideoSpan]]:
    """What the frames say of each turn, by its id, and the spans of the clock, as sure as these frames make them."""
    windows = turn_windows(scene, clock, turns)
    scene = judge_windows(scene, windows)
    often_late = _are_often_late(windows)
    for window in windows:
        window.verdict = _revised_verdict(window, often_late)
    similarity = _usual_similarity(windows)
    usual = similarity or 0.0
    confirmed = {piece: _confirmed_piece(piece, windows, usual) for piece in clock.pieces}
    clock = replace(clock, pieces=tuple(confirmed.values()))
    for window in windows:
        window.piece = confirmed[window.piece]
    scene = replace(scene, explained=np.append(scene.explained, _explained_times(scene, windows, usual)))
    refuse_worse(scene, windows, similarity)
    pages = cut_pages(scene, windows, encode)
    matches = {turn["id"]: _match_of(turn, scene, clock, windows, pages, usual) for turn in turns}
    return matches, spans_of(clock, scene.video.lead, usual)


def _are_often_late(windows: Sequence[TurnWindow]) -> bool:
    """Whether so many screenshots are late that what one says of its own time is not to be trusted."""
    plain = [window.verdict for window in windows if window.verdict and not window.view.newer]
    return sum(verdict.late and verdict.certain for verdict in plain) > _OFTEN * len(plain)


def _revised_verdict(window: TurnWindow, often_late: bool) -> Verdict | None:
    """The verdict of a window by what is usual in the recording: where screenshots are often late, what a late one says
    of its own time counts for nothing; where they are not, what may as well have been a pointer does not make one late.
    """
    verdict = window.verdict
    if often_late and verdict and verdict.late:  # what its own time explains may be right
        return window.strict
    if not often_late and verdict and not verdict.certain:
        return replace(verdict, late=False)
    return verdict


def _usual_similarity(windows: Sequence[TurnWindow]) -> float | None:
    """SSIM of most frames and their screenshots, of those that are not late; None when there are none."""
    similarities = [window.verdict.similarity for window in windows
                    if window.verdict and window.verdict.similarity is not None and not window.verdict.late]
    return float(np.median(similarities)) if similarities else None


def _is_shown(verdict: Verdict, usual: float) -> bool:
    """Whether a frame is known to show the screenshot, and not those around it."""
    return verdict.telling and (verdict.similarity or 0.0) >= usual - UNLIKE


def _confirmed_piece(piece: ClockSegment, windows: Sequence[TurnWindow], usual: float) -> ClockSegment:
    """A piece of the clock as sure as it is now that frames have shown pictures at their times."""
    return piece.with_confirmations([window.turn["timestamp"] for window in windows if window.piece is piece
                                     and window.verdict and _is_shown(window.verdict, usual)])


def _explained_times(scene: Scene, windows: Sequence[TurnWindow], usual: float) -> list[float]:
    """Times of the frames that are known to show a screenshot, seconds of the video."""
    return [scene.video.times[window.verdict.number] for window in windows
            if window.verdict and _is_shown(window.verdict, usual)]


def _match_of(turn: BrowserTurn, scene: Scene, clock: VideoClock, windows: Sequence[TurnWindow],
              pages: Mapping[str, bytes], usual: float) -> TurnMatch:
    """What the best window of a turn says of it. `pages`: cut out of frames, by the window's key."""
    judged = [(window, window.verdict) for window in windows if window.turn is turn and window.verdict]
    if not judged:
        return _UNMATCHED
    window, verdict = max(judged, key=lambda pair: (pair[1].similarity or 0.0, pair[0].piece.votes))
    confidence = window_confidence(clock, window, verdict, usual)
    page = pages.get(window.key)
    if verdict.late and not verdict.better and page is None:  # the frame may show something else than the page
        confidence = min(confidence, _MAX_REFUSED_CONFIDENCE)
    time = float(scene.video.times[verdict.number])
    shown_for = max(0.0, clock.video_time(turn["timestamp"], window.piece) - time)
    return TurnMatch(time, verdict.similarity, round(confidence, 3), verdict.late, verdict.better, page,
                     round(turn["timestamp"] - shown_for, 4), (window.gain or 0.0) >= MIN_EXPLAINING_GAIN)


# What a person has said.

def _matches_by_clock(turns: Sequence[BrowserTurn], video: Video, by_hand: VideoClock | None) -> dict[str, TurnMatch]:
    """What is said of turns at which nobody looks: where a person's clock has them, or nothing without one."""
    return {turn["id"]: _match_by_clock(turn, video, by_hand) if by_hand else _UNMATCHED for turn in turns}


def _match_by_clock(turn: BrowserTurn, video: Video, by_hand: VideoClock) -> TurnMatch:
    time = by_hand.video_time(turn["timestamp"], by_hand.pieces[0])
    number = video.number_at(time) if time <= video.duration + BEYOND_END_S else -1
    return _UNMATCHED if number < 0 else TurnMatch(float(video.times[number]), None, 1.0)


def _with_full_confidence(matches: Mapping[str, TurnMatch]) -> dict[str, TurnMatch]:
    """Those that were looked at, at the place that a person gave them."""
    return {name: replace(match, confidence=1.0) for name, match in matches.items() if match.time is not None}


def _spans_by_hand(video: Video, by_hand: VideoClock | None) -> list[VideoSpan]:
    """Where the video is on the recording's clock by a person's word; none without one."""
    return spans_of(by_hand, video.lead, usual=1.0) if by_hand else []
