"""What changed between two pictures: drawn here, so that it is known."""

import time

import cv2
import numpy as np
import pytest

from pipeline.pages.changes import MAX_AREAS, changed_areas, changed_areas_of
from recorder.reader import Recording
from tests.support.curator.curator_fixtures import action, make_recording, pointer


def page() -> np.ndarray:
    """A plain page with a head and lines of text."""
    picture = np.full((720, 1280, 3), 245, np.uint8)
    cv2.rectangle(picture, (0, 0), (1280, 60), (90, 60, 30), -1)
    for line in range(12):
        cv2.putText(picture, f"Line {line} of the page", (40, 120 + 45 * line), cv2.FONT_HERSHEY_SIMPLEX, 0.8, 0, 1)
    return picture


def drawn(*boxes: tuple[int, int, int, int]) -> np.ndarray:
    """The page with filled rectangles: x, y, width, height."""
    picture = page()
    for x, y, width, height in boxes:
        picture[y:y + height, x:x + width] = (40, 40, 220)
    return picture


@pytest.mark.parametrize("boxes", [[], [(300, 200, 120, 40)], [(0, 0, 9, 9)], [(1271, 711, 9, 9)],
                                   [(100, 600, 200, 50), (900, 100, 30, 20)]])
def test_each_place_is_found_to_the_pixel_the_largest_first(boxes):
    assert changed_areas(page(), drawn(*boxes)) == boxes


def test_what_is_near_is_one_place_and_what_is_far_is_its_own():
    near, far = [(300, 200, 60, 20), (370, 200, 60, 20)], [(300, 200, 60, 20), (500, 200, 60, 20)]
    assert changed_areas(page(), drawn(*near)) == [(300, 200, 130, 20)]
    assert changed_areas(page(), drawn(*far)) == far
    frame = drawn((200, 150, 700, 500))
    frame[153:647, 203:897] = page()[153:647, 203:897]
    frame[300:340, 400:460] = 0  # inside of the frame that has come around it
    assert changed_areas(page(), frame) == [(200, 150, 700, 500)]


def test_at_most_a_few_are_told_and_all_that_changed_lies_in_them():
    spots = [(60 + 150 * across, 100 + 120 * down, 20, 20) for across in range(8) for down in range(5)]
    areas = changed_areas(page(), drawn(*spots))
    assert len(areas) == MAX_AREAS
    for x, y, width, height in spots:
        assert any(left <= x and top <= y and x + width <= left + across and y + height <= top + down
                   for left, top, across, down in areas)
    assert changed_areas(page(), 255 - page()) == [(0, 0, 1280, 720)]
    assert len(changed_areas(page(), drawn(*spots), maximum=2)) == 2


def test_the_noise_of_a_lossy_picture_is_no_change():
    one, other = (cv2.imdecode(cv2.imencode(".jpg", page(), [cv2.IMWRITE_JPEG_QUALITY, quality])[1], 1)
                  for quality in (92, 80))
    assert (one != other).any() and changed_areas(one, other) == []
    other = cv2.imdecode(cv2.imencode(".jpg", drawn((300, 200, 120, 40)), [cv2.IMWRITE_JPEG_QUALITY, 85])[1], 1)
    [(x, y, width, height)] = changed_areas(one, other)
    assert abs(x - 300) <= 4 and abs(y - 200) <= 4 and abs(width - 120) <= 8 and abs(height - 40) <= 8


def test_pictures_that_differ_everywhere_in_spots_cost_little():
    random = np.random.default_rng(7)
    noise = page()
    noise[random.integers(0, 720, 4000), random.integers(0, 1280, 4000)] = 0
    dots = page()
    dots[4::40, 4::40] = dots[5::40, 4::40] = dots[4::40, 5::40] = 255 - dots[4::40, 4::40]
    for picture in (noise, dots):
        began = time.thread_time()
        assert len(changed_areas(page(), picture)) <= MAX_AREAS
        assert time.thread_time() - began < 1


def test_places_are_told_in_css_pixels_and_nothing_of_other_sizes(tmp_path):
    names = {}

    def turns(writer):
        for name, picture in (("one", page()), ("other", drawn((300, 200, 120, 40))), ("half", page()[:360, :640])):
            names[name] = writer.blob(cv2.imencode(".png", picture)[1].tobytes())
        names["none"] = writer.blob(b"no picture")
        return [action(writer, 1, "click", pointer())]

    recording = Recording(make_recording(tmp_path, make_turns=turns))
    found = changed_areas_of(recording, names["one"], names["other"], 640)
    assert found == {"boxes": [{"x": 150, "y": 100, "width": 60, "height": 20}], "share": 0.0052}
    assert changed_areas_of(recording, names["one"], names["one"], 640) == {"boxes": [], "share": 0.0}
    for name in ("half", "none"):
        assert changed_areas_of(recording, names["one"], names[name], 640) is None
