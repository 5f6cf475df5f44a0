"""Decides between two offsets that fit the screenshots equally well: an action comes before its effect on the page.

Where every second screenshot was taken late and the person acts at a steady pace, the late ones agree with each other
on an offset of their own. But the times of the actions are true, and a page changes right after them: under a wrong
offset changes come before their causes, or long after.
"""

from bisect import bisect_right
from collections.abc import Sequence

import cv2
import numpy as np

from pipeline.align.layout.layout import Layout
from pipeline.align.pictures.video import Video

_CHANGED = 18  # grey levels by which a pixel of two frames differs where the page does
_MIN_CHANGED_PIXELS = 6  # such pixels that make a change
_LARGE = 120  # such pixels that no pointer makes, where it was and where it is
MIN_CHANGES = 5  # changes that tell something
_WIDTH = 320  # pixels: the size at which frames are compared
_LAG = 0.12  # seconds within which most pages show what an action does
_SLACK = 0.015  # seconds by which times of frames and events may be wrong
_REST = 0.1  # seconds without a change, after which one begins anew


def onsets(video: Video, layout: Layout, viewport: tuple[int, int], hidden: np.ndarray,
           spans: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """When the page began to change: each between two frames, (time of the one before, time of the one after). What is
    as small as a pointer counts only where there is little else.

    `spans`: stretches of video time to look at. `hidden`: pixels that something covers, rows x columns.
    """
    mask = np.zeros(len(video.times), bool)
    for start, end in spans:
        first, last = np.searchsorted(video.times, [start, end])
        mask[max(0, first - 1):last + 1] = True
    shape = max(8, min(round(_WIDTH * viewport[1] / viewport[0]), _WIDTH * _WIDTH)), _WIDTH
    visible = np.zeros(shape, bool)
    visible[layout.visible_part(viewport, video.size, shape)] = True
    visible &= ~cv2.resize(hidden.astype(np.uint8), shape[::-1], interpolation=cv2.INTER_NEAREST).astype(bool)
    use = visible.astype(np.uint8) * 255
    changes: list[tuple[float, float, int]] = []
    before = None
    for shot in video.shots(video.times[mask]):
        rectangle, number = layout.rectangle_at(shot.time), video.number_at(shot.time)
        if rectangle is None:
            continue
        page = rectangle.cut(shot, viewport, shape)
        if before is not None and before[0] == number - 1 and layout.rectangle_at(before[1]) is rectangle:
            difference = cv2.bitwise_and(cv2.absdiff(page, before[2]), use)
            changed = cv2.compare(difference, _CHANGED, cv2.CMP_GT)  # type: ignore[call-overload]  # its types know no scalars
            changes.append((before[1], shot.time, cv2.countNonZero(changed)))
        before = number, shot.time, page
    large = _beginnings(changes, _LARGE)
    return large if len(large) >= MIN_CHANGES else _beginnings(changes, _MIN_CHANGED_PIXELS)


def _beginnings(changes: Sequence[tuple[float, float, int]], minimum: int) -> list[tuple[float, float]]:
    """Of the changes of so many pixels those that come after a rest."""
    beginnings, last = [], -np.inf
    for after, until, count in changes:
        if count >= minimum:
            if until - last > _REST:
                beginnings.append((after, until))
            last = until
    return beginnings


def is_caused_by_action(changes: Sequence[tuple[float, float]], actions: Sequence[float]) -> float:
    """Which share of the changes follows an action at once.

    `actions`: when a person did something, if an offset is right: seconds of the video, growing.
    """
    good = 0
    for after, until in changes:
        latest = bisect_right(actions, until + _SLACK) - 1
        good += latest >= 0 and actions[latest] >= after - _LAG - _SLACK
    return good / len(changes) if changes else 0.0
