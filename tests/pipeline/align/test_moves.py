"""Whether a frame shows the page where it was, told before its features are asked."""

import cv2
import numpy as np
import pytest
import zstandard

from pipeline.align.layout.moves import _is_at_rectangle
from pipeline.align.layout.rectangle import Rectangle
from pipeline.align.pictures.screenshots import Picture, work_shape
from pipeline.align.pictures.video import Shot
from tests.pipeline.align.test_rectangle import FRAME, LEFT, SCALE, TOP, VIEWPORT, page


def is_in_place(scale: float = SCALE, left: float = LEFT, top: float = TOP, light: float = 1.0) -> bool:
    """What is said of a frame that shows the page there, in a state that the screenshot does not show."""
    shape = work_shape(VIEWPORT)
    grey = cv2.resize(page(0), shape[::-1], interpolation=cv2.INTER_AREA)
    known = Picture("a", VIEWPORT, shape, False, zstandard.ZstdCompressor().compress(grey.tobytes()))
    shown = (page(3) * light).astype(np.uint8)
    frame = cv2.warpAffine(shown, np.array([[scale, 0, left], [0, scale, top]]), FRAME, borderValue=60)
    return _is_at_rectangle(Shot(0.0, frame, False, None), Rectangle(LEFT, TOP, SCALE, SCALE), known)


def test_another_state_of_the_page_is_in_place():
    assert is_in_place()


@pytest.mark.parametrize("pixels", [2, 3, 6, 20])
def test_a_window_that_was_moved_a_little_is_not(pixels):
    assert not any(is_in_place(left=LEFT + away) or is_in_place(top=TOP + away) for away in (pixels, -pixels))


@pytest.mark.parametrize("scale", [0.5, 0.9, 0.98, 0.99, 1.01, 1.02, 1.1])
def test_nor_is_one_that_was_resized_whatever_corner_stays(scale):
    corners = [(0, 0), (VIEWPORT[0], 0), (0, VIEWPORT[1]), VIEWPORT, (VIEWPORT[0] / 2, VIEWPORT[1] / 2)]
    assert not any(is_in_place(SCALE * scale, LEFT + x * SCALE * (1 - scale), TOP + y * SCALE * (1 - scale))
                   for x, y in corners)


@pytest.mark.parametrize("light", [0.3, 0.55, 0.9])
def test_nor_is_one_that_is_dimmed(light):
    assert not is_in_place(light=light)
