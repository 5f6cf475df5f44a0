"""Fits the recording's clock to the video's: reads a sufficient number of anchors."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from pipeline.align.pictures.video import Video

from . import effects, flash
from .anchors import Anchor, Bracket, Watch
from .coarse_offset import OffsetInterval
from .scene import Scene
from .video_clock import VideoClock, fit

_FIRST_MARKS = 36, 120  # marks looked at for the clock, cheapest first, before all are
_SUFFICIENT_VOTES = 8
_AROUND, _FURTHER = 0.8, 3.0  # seconds around a mark that are looked at besides the rough placing's slack
USER_ACTIONS = {"pointerdown", "pointerup", "click", "keydown", "beforeinput", "wheel", "drop"}  # that pages react to
_SUFFICIENT_ACTIONS = 200
_LOOKED_AT = 0.8  # seconds around a deed in which changes are looked for
_CLEAR = 0.15  # share of changes by which one offset must explain more than the other
_LATEST = 0.8  # seconds by which a screenshot may be late; what looks the same after longer is a timer on the page
_ABOUT = 1.25  # times the votes of another offset that are about as many


def set_clock(scene: Scene, stretches: Sequence[OffsetInterval], anchors: Sequence[Anchor]) -> VideoClock:
    """Watch the cheapest marks near where they should be; all of them, and further around, when that does not settle
    it."""
    close = _due(stretches, anchors, _AROUND)
    cheap = [_cheapest(scene.video, close, count) for count in _FIRST_MARKS if count < len(close)]
    for due in [*cheap, close, _due(stretches, anchors, _FURTHER)]:
        clock = _fit(scene, stretches, due)
        if all(piece.votes >= _SUFFICIENT_VOTES and piece.others * 2 < piece.votes for piece in clock.pieces):
            break
    red = flash.find(scene.video, scene.layout, scene.pictures[scene.names[0]].viewport,
                     [clock.video_time(0.0, piece) for piece in clock.pieces[:1] if piece.votes < _SUFFICIENT_VOTES])
    if red:
        clock = _fit(scene, stretches, due, red)
    settled, unclear = _settle(scene, clock)
    if not settled:
        return clock
    fitted = _fit(scene, stretches, due, red, clock, settled)
    # Where nothing speaks for the one offset but that it is the likelier one, it is no surer than before.
    return replace(fitted, pieces=tuple(
        replace(piece, others=min(piece.votes, clock.pieces[number].others)) if number in unclear else piece
        for number, piece in enumerate(fitted.pieces)))


def _fit(scene: Scene, stretches: Sequence[OffsetInterval], due: Sequence[tuple[int, Anchor, float, float]],
         red: Bracket | None = None, known: VideoClock | None = None,
         settled: Mapping[int, float] | None = None) -> VideoClock:
    watched = [[anchor.time for number, anchor, _, _ in due if number == stretch and anchor.weight == 1]
               for stretch in range(len(stretches))]
    return fit(stretches, _watch(scene, due, len(stretches), red), watched, known, settled)


def _settle(scene: Scene, clock: VideoClock) -> tuple[dict[int, float], set[int]]:
    """Offsets by the number of the piece, where two fit almost equally well: what the person did says which. And the
    numbers of those pieces where that says little."""
    acted = [event["time"] for event in scene.recording.events if event["type"] in USER_ACTIONS]
    viewport = scene.pictures[scene.names[0]].viewport
    brackets, unclear = {}, set()
    for number, piece in enumerate(clock.pieces):
        if piece.others * 2 < piece.votes or not piece.votes:
            continue
        moments = [clock.video_time(time, piece) for time in acted]
        around = [(time - _LOOKED_AT, time + _LOOKED_AT) for time in moments if piece.begin <= time <= piece.end]
        changes = effects.onsets(scene.video, scene.layout, viewport, scene.hidden(viewport),
                                 around[:_SUFFICIENT_ACTIONS])
        if len(changes) < effects.MIN_CHANGES:
            continue
        lower, higher = sorted((piece.offset, piece.other))
        share = {offset: effects.is_caused_by_action(changes, [time + offset - piece.offset for time in moments])
                 for offset in (lower, higher)}
        # With about as many votes, the lower: screenshots are late, never early.
        equal = higher - lower <= _LATEST and piece.others * _ABOUT >= piece.votes
        likely = lower if equal else piece.offset
        other = higher if likely == lower else lower
        brackets[number] = other if share[other] - share[likely] > _CLEAR else likely
        if abs(share[other] - share[likely]) <= _CLEAR:
            unclear.add(number)
    return brackets, unclear


def _due(stretches: Sequence[OffsetInterval], anchors: Sequence[Anchor],
         around: float) -> list[tuple[int, Anchor, float, float]]:
    """For each stretch and each mark on it: the stretch's number, the mark, its expected video time, and the seconds
    before and after that it is looked for."""
    return [(number, anchor, anchor.time + stretch.offset, stretch.slack + around)
            for number, stretch in enumerate(stretches) for anchor in anchors
            if stretch.start - 3 < anchor.time + stretch.offset < stretch.end + 3]


def _cheapest(video: Video, due: list[tuple[int, Anchor, float, float]], count: int
              ) -> list[tuple[int, Anchor, float, float]]:
    """So many of more, spread over the video; those for which the fewest frames are decoded."""
    def cost(entry: tuple[int, Anchor, float, float]) -> int:
        key = video.keys[max(0, int(np.searchsorted(video.keys, entry[2] - entry[3])) - 1)]
        return video.number_at(entry[2] + entry[3]) - video.number_at(key)

    buckets = np.array_split(np.arange(len(due)), count // 2)
    chosen = [number for bucket in buckets for number in sorted(bucket, key=lambda number: cost(due[number]))[:2]]
    return [due[number] for number in sorted(chosen)]


def _watch(scene: Scene, due: Sequence[tuple[int, Anchor, float, float]], count: int, red: Bracket | None = None
           ) -> list[list[Bracket]]:
    """Brackets of marks, by stretch; `due`: (stretch, mark, expected video time, seconds to look around it)."""
    times = scene.video.times
    mask = np.zeros(len(times), bool)
    watches = []
    for stretch, anchor, middle, around in due:
        first, last = np.searchsorted(times, [middle - around, middle + around])
        first = max(0, first - 1)
        mask[first:last + 1] = True
        watches.append((stretch, Watch(anchor), first, min(last, len(times) - 1)))
    numbers = {time: number for number, time in enumerate(times.tolist())}
    waiting = sorted(watches, key=lambda entry: entry[2])
    active: list[tuple] = []
    for shot in scene.video.shots(times[mask]):
        number = numbers.get(shot.time, scene.video.number_at(shot.time))
        while waiting and waiting[0][2] <= number:
            active.append(waiting.pop(0))
        active = [entry for entry in active if entry[3] >= number]
        for _, watch, _, _ in active:
            watch.check_frame(shot, scene.layout)
    brackets: list[list[Bracket]] = [[] for _ in range(count)]
    for stretch, watch, _, _ in watches:
        brackets[stretch] += watch.brackets
    if red:
        brackets[0] += [red] * 3
    return brackets
