"""Which frame shows the state before an event: scrolled and sized as it, the target painted where it stands."""

import pytest

from recorder.building.state_match import Criteria
from recorder.media.painted_frames import FrameRing, PaintedFrame

TOP, SIZE = (0.0, 0.0), (800.0, 600.0)


def frame(time, scroll=TOP, size=SIZE, followed=True, image=None):
    return PaintedFrame(image or str(time).encode(), time, None, scroll, size, followed)


def chosen(view, *frames):
    ring = FrameRing()
    for each in frames:
        ring.add(each)
    found = view.choose(ring)
    return found and (found.time, found.stale, found.unchanged_until)


@pytest.mark.parametrize(("view", "frames", "expected"), [
    (Criteria(5.0), [], None),
    (Criteria(5.0), [frame(5.1)], None),
    (Criteria(5.0), [frame(1.0), frame(4.0), frame(5.1)], (4.0, None, None)),
    (Criteria(5.0, (0.0, 300.0), SIZE), [frame(4.0)], (4.0, "scrolled", None)),
    (Criteria(5.0, (0.4, 1.2), SIZE), [frame(4.0)], (4.0, None, None)),  # offsets are rounded
    (Criteria(5.0, TOP, (800.0, 900.0)), [frame(4.0)], (4.0, "resized", None)),
    (Criteria(5.0, (0.0, 300.0), SIZE, until=5.2), [frame(4.0), frame(5.1, (0.0, 300.0))], (5.1, None, 5.2)),
    (Criteria(5.0, (0.0, 300.0), SIZE, until=5.2), [frame(4.0), frame(5.3, (0.0, 300.0))], (4.0, "scrolled", None)),
    (Criteria(5.0, (0.0, 300.0), SIZE, until=5.2), [frame(4.0), frame(5.1), frame(5.15, (0.0, 300.0))],
     (5.15, None, 5.2)),
    (Criteria(5.0, TOP, SIZE, True, None), [frame(4.0)], (4.0, "moved", None)),
    (Criteria(5.0, TOP, SIZE, True, 4.5), [frame(4.0)],
     (4.0, None, None)),  # it was on the screen when that was painted
    (Criteria(5.0, TOP, SIZE, True, 4.99), [frame(4.0)], (4.0, "moved", None)),  # it may come to the screen only later
    (Criteria(5.0, TOP, SIZE, True, 4.5), [frame(4.0, followed=False)], (4.0, "moved", None)),  # a later one may miss
    (Criteria(5.0, TOP, SIZE, True, 4.5),
     [frame(4.0, followed=False, image=b"a"), frame(4.6, followed=False, image=b"a")],
     (4.0, None, None)),  # painted again, it is the same
    (Criteria(5.0, TOP, SIZE, True, 5.1, None, 5.3), [frame(4.0), frame(5.12), frame(5.2)], (5.12, None, 5.3)),
    (Criteria(5.0, TOP, SIZE, True, 5.1, None, 5.3), [frame(4.0), frame(5.05)], (5.05, None, 5.3)),  # it was until then
    (Criteria(5.0, TOP, SIZE, True, 5.1, None, 5.11), [frame(4.0), frame(5.05)], (4.0, "moved", None)),
])
def test_the_frame_that_shows_the_state(view, frames, expected):
    assert chosen(view, *frames) == expected


def test_what_stays_is_told_later():
    view = Criteria(5.0, TOP, SIZE, True, None)
    assert view.with_unchanged(5.2, 5.1, 5.15) == Criteria(5.0, TOP, SIZE, True, 5.1, 5.15, 5.2)
    assert view.with_unchanged(5.2, None, None).painted is None
    known = Criteria(5.0, painted=4.0, all_painted=4.5).with_unchanged(5.2, None, None)
    assert (known.painted, known.all_painted) == (4.0, 4.5)


@pytest.mark.parametrize(("view", "frames", "agrees"), [
    (Criteria(5.0), [frame(4.0)], False),  # nothing is known of the page
    (Criteria(5.0, TOP, SIZE, True, 4.5), [frame(4.0)], False),  # the target stands there; others may not
    (Criteria(5.0, TOP, SIZE, True, 4.5, 4.6), [frame(4.0)], True),
    (Criteria(5.0, TOP, SIZE, True, 4.5, 4.99), [frame(4.0)], False),  # what moved last may come later
    (Criteria(5.0, TOP, SIZE, True, 4.5, 4.6), [frame(4.0, scroll=None)], False),  # it does not tell how it is scrolled
    (Criteria(5.0, TOP, SIZE, True, 4.5, 4.6), [frame(4.0, size=None)], False),
    (Criteria(5.0, (0.0, 300.0), SIZE, True, 4.5, 4.6), [frame(4.0)], False),  # stale
    (Criteria(5.0, TOP, SIZE, True, 5.1, 5.1, 5.3), [frame(4.0), frame(5.12)], True),
    (Criteria(5.0, TOP, SIZE, True, 5.1, None, 5.3), [frame(4.0), frame(5.12)], False),
])
def test_whether_all_of_a_picture_agrees_with_the_state_is_known(view, frames, agrees):
    ring = FrameRing()
    for each in frames:
        ring.add(each)
    found = view.choose(ring)
    assert (found and found.agrees) == agrees
