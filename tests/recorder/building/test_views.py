"""Which frame shows the state before an event: scrolled and sized as it, the target painted where it stands."""

import pytest

from recorder.building.views import View
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
    (View(5.0), [], None),
    (View(5.0), [frame(5.1)], None),
    (View(5.0), [frame(1.0), frame(4.0), frame(5.1)], (4.0, None, None)),
    (View(5.0, (0.0, 300.0), SIZE), [frame(4.0)], (4.0, "scrolled", None)),
    (View(5.0, (0.4, 1.2), SIZE), [frame(4.0)], (4.0, None, None)),  # offsets are rounded
    (View(5.0, TOP, (800.0, 900.0)), [frame(4.0)], (4.0, "resized", None)),
    (View(5.0, (0.0, 300.0), SIZE, until=5.2), [frame(4.0), frame(5.1, (0.0, 300.0))], (5.1, None, 5.2)),
    (View(5.0, (0.0, 300.0), SIZE, until=5.2), [frame(4.0), frame(5.3, (0.0, 300.0))], (4.0, "scrolled", None)),
    (View(5.0, (0.0, 300.0), SIZE, until=5.2), [frame(4.0), frame(5.1), frame(5.15, (0.0, 300.0))], (5.15, None, 5.2)),
    (View(5.0, TOP, SIZE, True, None), [frame(4.0)], (4.0, "moved", None)),
    (View(5.0, TOP, SIZE, True, 4.5), [frame(4.0)], (4.0, None, None)),  # it stood on the screen when that was painted
    (View(5.0, TOP, SIZE, True, 4.99), [frame(4.0)], (4.0, "moved", None)),  # it may come to the screen only later
    (View(5.0, TOP, SIZE, True, 4.5), [frame(4.0, followed=False)], (4.0, "moved", None)),  # a later one may be lost
    (View(5.0, TOP, SIZE, True, 4.5), [frame(4.0, followed=False, image=b"a"), frame(4.6, followed=False, image=b"a")],
     (4.0, None, None)),  # painted again, it is the same
    (View(5.0, TOP, SIZE, True, 5.1, 5.3), [frame(4.0), frame(5.12), frame(5.2)], (5.12, None, 5.3)),
    (View(5.0, TOP, SIZE, True, 5.1, 5.3), [frame(4.0), frame(5.05)], (5.05, None, 5.3)),  # it stood until then
    (View(5.0, TOP, SIZE, True, 5.1, 5.11), [frame(4.0), frame(5.05)], (4.0, "moved", None)),
])
def test_the_frame_that_shows_the_state(view, frames, expected):
    assert chosen(view, *frames) == expected


def test_what_stays_is_told_later():
    view = View(5.0, TOP, SIZE, True, None)
    assert view.stayed(5.2, 5.1) == View(5.0, TOP, SIZE, True, 5.1, 5.2)
    assert view.stayed(5.2, None).painted is None
    assert View(5.0, painted=4.0).stayed(5.2, None).painted == 4.0
