"""Frames with a pointer over the page and things that cover it: what is the page, and what is not."""

from dataclasses import replace

import cv2
import numpy as np
import pytest
import zstandard

from pipeline.align.frame_selection import View, Window, judge
from pipeline.align.pictures.occlusion import covered_mask, small, tighten_mask
from pipeline.align.pictures.screenshots import Picture

VIEWPORT, SHAPE = (1280, 720), (360, 640)
SEEN = (slice(0, SHAPE[0]), slice(0, SHAPE[1]))
SMALL = (slice(0, SHAPE[0] // 5), slice(0, SHAPE[1] // 5))
ARROW = np.array([(0, 0), (0, 16), (4, 12), (7, 18), (10, 17), (7, 11), (12, 11)])


def page(counter: str = "59", text: str = "") -> np.ndarray:
    picture = np.full(SHAPE, 250, np.uint8)
    picture[:, 400:] = 80
    for row in range(40, 340, 20):
        cv2.putText(picture, "What the page says all the time", (20, row), cv2.FONT_HERSHEY_SIMPLEX, 0.4, 30)
    cv2.putText(picture, counter, (420, 40), cv2.FONT_HERSHEY_SIMPLEX, 0.5, 255)
    cv2.putText(picture, text, (20, 200), cv2.FONT_HERSHEY_SIMPLEX, 0.5, 0, 2)
    return picture


def filmed(picture: np.ndarray, pointer: tuple[int, int] | None = None) -> np.ndarray:
    """As a frame shows it: blurred a little, perhaps with a pointer."""
    frame = cv2.GaussianBlur(picture, (3, 3), 0.6)
    if pointer:
        cv2.fillPoly(frame, [ARROW + pointer], 255)
        cv2.polylines(frame, [ARROW + pointer], True, 0)
    return frame


def taken(pixels: np.ndarray) -> Picture:
    return Picture("taken", VIEWPORT, SHAPE, False, zstandard.compress(pixels.tobytes()))


def is_late(screenshot: np.ndarray, before: np.ndarray, *later: np.ndarray) -> bool:
    window = Window(SEEN, np.zeros(SHAPE, bool))
    return judge(View(7, nearby={7: before}, later=list(later)), taken(screenshot), [], window)[0].late


def test_a_frame_tells_a_picture_from_those_around_it():
    window = Window(SEEN, np.zeros(SHAPE, bool))

    def told(*others: np.ndarray) -> bool:
        around = [replace(taken(other), name=str(number)) for number, other in enumerate(others)]
        return judge(View(7, nearby={7: filmed(page("58"))}), taken(page("58")), around, window)[0].telling

    assert told(page("59"), page("57")) and told(page("59", "Sold"), page("57"), page("58"))
    assert not told(page("59")) and not told(page("58"), page("57")) and not told(page("59"), page("58"))


@pytest.mark.parametrize("to", [(300, 250), (500, 200), (30, 150), (270, 110)])
def test_a_pointer_that_moves_makes_no_screenshot_late(to):
    assert not is_late(page(), filmed(page(), (260, 100)), filmed(page(), (260, 100)), filmed(page(), to),
                       filmed(page(), to))


@pytest.mark.parametrize("here", [(260, 100), (500, 300)])
@pytest.mark.parametrize("to", [(300, 250), (520, 200)])
def test_a_small_change_counts_beside_a_pointer_that_moves(here, to):
    before, later = filmed(page("59"), here), [filmed(page("58"), place) for place in (here, to, to)]
    assert is_late(page("58"), before, *later)
    assert not is_late(page("59"), before, *later)


def test_what_appears_in_an_empty_place_is_no_pointer():
    before, later = filmed(page(text="")), [filmed(page(text=text)) for text in ("a", "ab", "ab")]
    assert is_late(page(text="ab"), before, *later)
    assert not is_late(page(text=""), before, *later)


def test_what_covers_the_page_is_known_to_its_edges():
    """A thumbnail, and under it a counter that no frame shows as the screenshot beside it does, at first."""
    thumbnail = np.s_[0:31, 215:293]
    pairs = []
    for number in range(12):
        screenshot = page(str(number))
        frame = filmed(screenshot)
        frame[thumbnail] = 128
        pairs.append((screenshot, frame))
    rough = covered_mask([cv2.absdiff(*(small(picture, VIEWPORT)[SMALL] for picture in pair)) for pair in pairs],
                         VIEWPORT,
                    SMALL)
    rows, columns = np.nonzero(rough)
    assert (rows.max(), columns.min(), columns.max()) != (30, 215, 292)
    rows, columns = np.nonzero(tighten_mask(rough, pairs))
    assert rows.min() == 0 and 30 <= rows.max() <= 34
    assert 211 <= columns.min() <= 215 and 292 <= columns.max() <= 296


def test_too_few_pairs_tell_nothing():
    assert covered_mask([np.zeros((72, 128), np.uint8)] * 4, VIEWPORT, SMALL) is None


def test_a_pointer_that_goes_away_is_no_sure_sign():
    """The frame with it and the later ones differ as if the screenshot, which shows none, were late."""
    verdict, _ = judge(View(7, nearby={7: filmed(page(), (260, 100))}, later=[filmed(page())] * 3), taken(page()), [],
                       Window(SEEN, np.zeros(SHAPE, bool)))
    assert not (verdict.late and verdict.certain)
    changed, _ = judge(View(7, nearby={7: filmed(page(text="before"))}, later=[filmed(page(text="after that"))] * 3),
                       taken(page(text="after that")), [], Window(SEEN, np.zeros(SHAPE, bool)))
    assert changed.late and changed.certain


@pytest.mark.parametrize(("hasty", "late"), [(False, True), (True, False)])
def test_what_came_of_something_done_right_before_makes_no_screenshot_late(hasty, late):
    """The frame is from before it, the next one shows it, as the screenshot does."""
    before, after = filmed(page(text="start")), filmed(page(text="a form to fill in"))
    view = View(7, hasty=hasty, nearby={7: before, 8: after}, later=[after] * 3)
    verdict, _ = judge(view, taken(page(text="a form to fill in")), [], Window(SEEN, np.zeros(SHAPE, bool)))
    assert verdict.late == late


def test_what_came_later_still_makes_it_late():
    """Right before the action the whole page changed; the screenshot shows what the action did to the new page."""
    blank, form, filled = np.full(SHAPE, 90, np.uint8), page(text="a form"), page(text="a form with words")
    view = View(7, newer=True, hasty=True, change_follows=True, nearby={7: filmed(blank), 8: filmed(form)},
                later=[filmed(filled)] * 3)
    for verdict in judge(view, taken(filled), [], Window(SEEN, np.zeros(SHAPE, bool))):
        assert verdict.late
    for verdict in judge(view, taken(form), [], Window(SEEN, np.zeros(SHAPE, bool))):
        assert not verdict.late


def test_a_thin_line_that_the_video_has_blurred_is_the_same_line():
    """A frame around a field that has the focus: one row of pixels in the screenshot, three pale ones in the video."""
    before, after = page(), page()
    cv2.rectangle(after, (100, 60), (260, 76), 20, 1)
    blurred = cv2.blur(after, (3, 3))
    assert is_late(after, filmed(cv2.blur(before, (3, 3))), *[filmed(blurred)] * 3)
    assert not is_late(before, filmed(cv2.blur(before, (3, 3))), *[filmed(blurred)] * 3)
