"""The second walk through the video: collects the frames of every turn window, and judges the window with them."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain

import cv2
import numpy as np

from .clock.coarse_offset import ShownInterval
from .clock.scene import Scene
from .frame_selection import View, Window, judge
from .pictures.occlusion import covered_mask, small, small_shape, tighten_mask
from .pictures.screenshots import Picture
from .pictures.video import Shot
from .turn_window import TurnWindow

_MASK_WINDOWS = 32  # windows, the first ones, whose frames show better what covers the page
_NEIGHBOURS = 5  # screenshots before and after an action among which a better one is looked for


def judge_windows(scene: Scene, windows: Sequence[TurnWindow]) -> Scene:
    """Set the verdict of every window whose frame can be decoded; returns the scene with what the first windows show of
    what covers the page.

    A window is judged as soon as its last frame has come, and its pages are freed: a few are in memory at a time.
    """
    batches = _complete_windows(scene, windows)
    first: list[TurnWindow] = []
    for batch in batches:
        first += batch
        if len(first) >= _MASK_WINDOWS:
            break
    scene = replace(scene, covered={**scene.covered, **_covered_in(scene, first)})
    visible = {(window.spot, window.viewport): _visible_window(scene, window) for window in windows}
    by_end = sorted(scene.shown, key=lambda interval: interval.end)
    for window in chain(first, chain.from_iterable(batches)):
        _judge(scene, window, visible[window.spot, window.viewport], by_end)
    return scene


def _complete_windows(scene: Scene, windows: Sequence[TurnWindow]) -> Iterator[list[TurnWindow]]:
    """Decode the frames that windows wait for, in order, and add the page of each to its windows. Yields after each
    frame the windows that wait for no other; at the end those whose last frames are damaged, if they have any."""
    wanted = np.array(sorted({time for window in windows for time in window.nearby | window.later}))
    active: list[TurnWindow] = []
    waiting = sorted(windows, key=lambda window: min(window.nearby))
    for shot in scene.video.shots(wanted):
        while waiting and min(waiting[0].nearby) <= shot.time:
            active.append(waiting.pop(0))
        pages: dict[tuple[int, int], np.ndarray] = {}
        for window in active:
            _add_page(scene, window, shot, pages)
        complete = [window for window in active if shot.time >= window.last]
        active = [window for window in active if shot.time < window.last]
        yield complete
    yield [window for window in [*active, *waiting] if window.view.nearby]


def _add_page(scene: Scene, window: TurnWindow, shot: Shot, pages: dict[tuple[int, int], np.ndarray]) -> None:
    """Add the page that a frame shows to a window that needs it. `pages`: those cut out of this frame, by viewport."""
    is_nearby, is_later = shot.time in window.nearby, shot.time in window.later
    if not is_nearby and not is_later:
        return
    if window.viewport not in pages:
        rectangle = scene.layout.pieces[window.spot].rectangle
        pages[window.viewport] = rectangle.cut(shot, window.viewport, window.shape)
    if is_nearby:
        window.view.nearby[scene.video.number_at(shot.time)] = pages[window.viewport]
    if is_later:
        window.view.later.append(pages[window.viewport])


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


def _visible_window(scene: Scene, window: TurnWindow) -> Window:
    """What frames show of pages of a turn window's viewport, where the layout has the page then."""
    rectangle = scene.layout.pieces[window.spot].rectangle
    return Window(rectangle.visible_part(window.viewport, scene.video.size, window.shape),
                  scene.hidden(window.viewport, window.spot))


def _judge(scene: Scene, window: TurnWindow, visible: Window, by_end: Sequence[ShownInterval]) -> None:
    """Set the verdict of a window, and let go of its pages; nothing without the frame at the time of the action.
    `by_end`: what the recording shows over time, in order of the ends."""
    view = window.view
    if view.number not in view.nearby:
        return
    window.before, window.neighbours = _screenshots_around(scene, window.turn["timestamp"], by_end)
    window.verdict, window.strict = judge(view, window.picture, window.neighbours, visible)
    window.view = View(view.number, newer=view.newer, hasty=view.hasty)


def _screenshots_around(scene: Scene, time: float, by_end: Sequence[ShownInterval]
                        ) -> tuple[Picture | None, list[Picture]]:
    """The screenshot that was shown last before a time, if any, and those around the time, the nearest first."""
    here = bisect_left(by_end, time, key=lambda interval: interval.end)
    indices = sorted(range(max(0, here - _NEIGHBOURS), min(len(by_end), here + _NEIGHBOURS)),
                     key=lambda index: abs(index + 0.5 - here))
    names = dict.fromkeys(scene.names[by_end[index].picture] for index in indices)
    before = scene.pictures[scene.names[by_end[here - 1].picture]] if here else None
    return before, [scene.pictures[name] for name in names]
