"""What may take the place of a late screenshot: a page that is known to be cut out rightly, whole, and painted."""

import json
from types import SimpleNamespace

import cv2
import numpy as np
import pytest
import zstandard

from pipeline.align.align_stage import apply_match
from pipeline.align.clock.scene import Scene
from pipeline.align.clock.video_clock import ClockSegment
from pipeline.align.external import TurnMatch
from pipeline.align.frame_selection import Verdict, View
from pipeline.align.layout.layout import Layout
from pipeline.align.layout.rectangle import Rectangle
from pipeline.align.pictures.position_check import is_in_position
from pipeline.align.pictures.screenshots import Picture
from pipeline.align.replacing import cut_pages
from pipeline.align.turn_window import TurnWindow

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


def picture_of(page: np.ndarray, name: str = "taken") -> Picture:
    return Picture(name, SIZE, SHAPE, False, zstandard.compress(cv2.cvtColor(page, cv2.COLOR_BGR2GRAY).tobytes()))


def taken_from(pages, rate=12.5, number=1, left=0.0, known=(0.0, 0.6), hidden=(0, 0), before=None, part=None,
               hasty=False) -> np.ndarray | None:
    """What is cut out for an action at a frame; None when the late screenshot stays. `hidden`: columns that something
    covers, from and to; `before`: the page that the screenshot before shows; `part`: tiles to be taken;
    `hasty`: something was done right before."""
    covered = np.zeros(SHAPE, bool)
    covered[:, slice(*hidden)] = True
    scene = Scene(Recording(), Frames(pages, rate), Layout.always(Rectangle(left, 0, 1, 1)), {}, [], [],
                  {(0, SIZE): covered}, np.array(known))
    turn = {"id": "turn-1", "state": {"elements": "elements"}}
    look = TurnWindow(turn, ClockSegment(0, 0, 0, 1, 9, 0, 0, 0, 1), picture_of(LATE), SIZE, SHAPE,
                      View(number, hasty=hasty),
                      set(),
                set(), 0.0, 0, Verdict(number, 0.5, True, None, part=part))
    look.before = None if before is None else picture_of(before, "before")
    look.neighbours = [look.before] if look.before else []
    found = cut_pages(scene, [look], lambda page: cv2.imencode(".png", page)[1].tobytes())
    return cv2.imdecode(np.frombuffer(found[look.key], np.uint8), cv2.IMREAD_COLOR) if found else None


def test_a_late_screenshot_gives_way_to_the_page_before():
    assert (taken_from([RIGHT] * 4 + [LATE] * 4) == RIGHT).all()


def test_a_page_is_taken_where_parts_of_it_tell_that_it_is_in_its_place():
    """Also shortly after the window was moved, or where no frame nearby shows a screenshot."""
    for known in ((), (0.0,), (0.6,)):
        assert (taken_from([RIGHT] * 4 + [LATE] * 4, known=known) == RIGHT).all()


def test_a_page_of_which_no_part_tells_is_taken_only_where_the_page_is_known_to_be():
    """That it fits the elements better does not tell: so does one that is dimmed otherwise than the video is."""
    dimmed = (RIGHT * 0.9).astype(np.uint8)
    assert taken_from([dimmed] * 4 + [LATE] * 4) is not None
    for known in ((), (0.0,), (0.6,)):
        assert taken_from([dimmed] * 4 + [LATE] * 4, known=known) is None


def test_a_page_is_taken_whole():
    assert taken_from([RIGHT] * 4 + [LATE] * 4, left=-120.0) is None
    assert taken_from([RIGHT] * 4 + [LATE] * 4, left=-10.0) is not None


MORE = np.zeros((13, 20), bool)  # tiles in which a late screenshot has more
MORE[:, 11:] = True


def test_what_a_frame_does_not_show_is_not_of_another_moment():
    """A box that is half covered would be half checked."""
    frames = [RIGHT] * 4 + [LATE] * 4
    assert taken_from(frames, hidden=(250, 270), before=RIGHT) is None
    assert taken_from(frames, hidden=(250, 270), before=LATE) is not None
    assert taken_from(frames, before=RIGHT) is not None, "all of it is seen"
    assert taken_from(frames, hidden=(250, 270), before=RIGHT, part=MORE) is None
    assert taken_from(frames, hidden=(20, 50), before=RIGHT, part=MORE) is not None


def test_a_part_of_a_frame_is_taken_only_where_it_is_the_pages():
    """A pointer, a thumbnail or a message of the meeting's is in no screenshot."""
    covered = RIGHT.copy()
    covered[60:120, 200:260] = (90, 30, 10)
    assert (taken_from([RIGHT] * 4 + [LATE] * 4, before=RIGHT, part=MORE) == RIGHT).all()
    assert taken_from([covered] * 4 + [LATE] * 4, before=RIGHT, part=MORE) is None
    assert taken_from([RIGHT] * 4 + [LATE] * 4, before=LATE, part=MORE) is None, "no screenshot shows that"


def test_a_part_of_a_frame_is_not_taken_where_the_rest_is_another_page():
    other = RIGHT.copy()
    other[:, :170] = 40
    assert taken_from([other] * 4 + [LATE] * 4, before=RIGHT, part=MORE) is None
    pointed = RIGHT.copy()
    pointed[130:142, 60:68] = 0
    assert taken_from([pointed] * 4 + [LATE] * 4, before=RIGHT, part=MORE) is not None


def test_right_after_something_was_done_a_frame_may_be_from_before_it():
    """As of a field that has just got the focus, which the screenshot shows and the frame does not yet."""
    frames = [RIGHT] * 4 + [LATE] * 4
    assert taken_from(frames, before=RIGHT, part=MORE, hasty=False) is not None
    assert taken_from([LATE] * 8, before=RIGHT, part=MORE, hasty=True) is None
    assert taken_from(frames, before=RIGHT, part=MORE, hasty=True) is not None, "the elements tell"


def test_a_page_that_lacks_what_the_recording_has_is_not_taken():
    """A frame shortly after may have it, and what the action did as well."""
    assert taken_from([BEFORE] * 2 + [RIGHT] * 2 + [LATE] * 4) is None


@pytest.mark.parametrize("rows, columns", [(2, 0), (0, -2), (-3, 3)])
def test_a_page_that_stands_beside_its_place_is_not_taken(rows, columns):
    """As while its window is dragged slowly: frames before and after show screenshots nearly there."""
    beside = np.roll(RIGHT, (rows, columns), (0, 1))
    assert taken_from([RIGHT, beside, RIGHT, RIGHT] + [LATE] * 4) is None


def test_parts_that_pages_have_in_common_tell_where_they_stand():
    chance = np.random.default_rng(3)
    header, one, other = (cv2.blur(chance.integers(0, 255, (rows, 320), np.uint8), (3, 3)) for rows in (60, 140, 140))
    page, known, seen = np.vstack([header, one]), np.vstack([header, other]), np.ones(SHAPE, bool)
    assert is_in_position(page, [known], seen) is True
    assert is_in_position(np.roll(page, 2, 1), [known], seen) is False and is_in_position(np.roll(page, -4, 0),
                                                                                          [known], seen) is False
    assert is_in_position(page // 2, [known], seen) is None, "it is dimmed"
    assert is_in_position(np.roll(page, 15, 1), [known], seen) is None, "farther away than anybody looks"
    assert is_in_position(one[:120], [other[:120]], seen[:120]) is None, "nothing in common tells nothing"
    seen[:60] = False
    assert is_in_position(page, [known], seen) is None, "nor does what is not seen"


@pytest.mark.parametrize("confidence, told, taken", [(0.8, False, True), (0.3, False, False), (0.3, True, True),
                                                     (0.05, True, False)])
def test_an_unsure_place_is_enough_where_the_elements_speak_for_another_picture(confidence, told, taken):
    state = {"url": "http://shop.test/", "screenshot": "late.png", "screenshot_time": 1.0, "screenshot_status": "good"}
    turn = {"id": "turn-1", "type": "browser", "state": state}
    found = apply_match(turn, TurnMatch(2.0, 0.5, confidence, True, "better.png", painted=0.9, clearly_better=told),
                        str)["state"]
    assert found["screenshot"] == ("better.png" if taken else "late.png")
    assert found.get("screenshot_late") == (None if taken or confidence < 0.1 else True)
    assert found["confidence"] == confidence
