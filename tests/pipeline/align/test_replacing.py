"""What may take the place of a late screenshot: a page that is known to be cut out rightly, whole, and painted."""

import json
from types import SimpleNamespace

import cv2
import numpy as np
import zstandard

from pipeline.align.choose import Verdict, View
from pipeline.align.layout import Layout
from pipeline.align.look import Look
from pipeline.align.rectangle import Rectangle
from pipeline.align.replacing import cut_pages
from pipeline.align.scene import Scene
from pipeline.align.screenshots import Picture
from pipeline.align.video_clock import Piece

SIZE, SHAPE = (320, 200), (200, 320)
ROWS = (30, 70, 110, 150)  # where the recording has words
ELEMENTS = [{"visible": True, "name": "Words", "bbox": {"x": 8, "y": row - 16, "width": 120, "height": 24}}
            for row in ROWS]


def page(*rows: int, more: str = "") -> np.ndarray:
    """A page with words in rows, and more beside them."""
    picture = np.full((*SHAPE, 3), 240, np.uint8)
    for row in rows:
        cv2.putText(picture, "Some words", (10, row), cv2.FONT_HERSHEY_SIMPLEX, 0.6, (20, 20, 20), 2)
    for row in range(20, 200, 20) if more else ():
        cv2.putText(picture, more, (180, row), cv2.FONT_HERSHEY_SIMPLEX, 0.6, (20, 20, 20), 2)
    return picture


BEFORE, RIGHT, LATE = page(), page(*ROWS), page(*ROWS, more="Came later")


class Recording:
    """Blobs: the late screenshot, and the element table."""

    def blob(self, name: str) -> bytes:
        return json.dumps(ELEMENTS).encode() if name == "elements" else cv2.imencode(".png", LATE)[1].tobytes()


class Frames:
    """A video of pages, so many a second."""

    size = SIZE

    def __init__(self, pages: list[np.ndarray], rate: float):
        self.pages, self.times = pages, np.arange(len(pages)) / rate

    def shots(self, times: np.ndarray):
        for time in times:
            pixels = self.pages[int(np.abs(self.times - time).argmin())]
            yield SimpleNamespace(time=float(time), colour=lambda pixels=pixels: pixels)


def taken_from(pages, rate=12.5, number=1, left=0.0, known=(0.0, 0.6)) -> np.ndarray | None:
    """What is cut out for an action at a frame; None when the late screenshot stays."""
    scene = Scene(Recording(), Frames(pages, rate), Layout.always(Rectangle(left, 0, 1, 1)), {}, [], [],
                  explained=np.array(known))
    grey = cv2.cvtColor(LATE, cv2.COLOR_BGR2GRAY)
    picture = Picture("taken", SIZE, SHAPE, False, zstandard.compress(grey.tobytes()))
    turn = {"id": "turn-1", "state": {"elements": "elements"}}
    look = Look(turn, Piece(0, 0, 0, 1, 9, 0, 0, 0, 1), picture, SIZE, SHAPE, View(number), set(), set(), 0.0, 0,
                Verdict(number, 0.5, True, None))
    found = cut_pages(scene, [look], 0.98, lambda page: cv2.imencode(".png", page)[1].tobytes())
    return cv2.imdecode(np.frombuffer(found[look.key], np.uint8), cv2.IMREAD_COLOR) if found else None


def test_a_late_screenshot_gives_way_to_the_page_before():
    assert (taken_from([RIGHT] * 4 + [LATE] * 4) == RIGHT).all()


def test_a_page_is_taken_only_where_it_is_known_to_be():
    """That it fits the elements better does not tell: so does one that is dimmed otherwise than the video is."""
    for known in ((), (0.0,), (0.6,)):
        assert taken_from([RIGHT] * 4 + [LATE] * 4, known=known) is None


def test_a_page_is_taken_whole():
    assert taken_from([RIGHT] * 4 + [LATE] * 4, left=-120.0) is None
    assert taken_from([RIGHT] * 4 + [LATE] * 4, left=-10.0) is not None


def test_a_page_that_lacks_what_the_recording_has_is_not_taken():
    """A frame shortly after may have it, and what the action did as well."""
    assert taken_from([BEFORE] * 2 + [RIGHT] * 2 + [LATE] * 4) is None
