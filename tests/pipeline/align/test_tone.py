"""How bright a video shows a page, and whether a picture fits the elements of one."""

import cv2
import numpy as np
import pytest

from pipeline.align.pictures.explaining import explained
from pipeline.align.pictures.tone import PLAIN, Tone, fit

WORDS = ("Home", "Prices", "About us", "Sign in", "Search", "Basket", "Help", "News")


def page(shift: int = 0) -> np.ndarray:
    """A page with some words and areas."""
    picture = np.full((400, 600), 240, np.uint8)
    picture[300:] = 60
    picture[300:, 300:] = 150
    for number, word in enumerate(WORDS):
        at = 20 + number % 4 * 140, 60 + number // 4 * 90 + shift
        cv2.putText(picture, word, at, cv2.FONT_HERSHEY_SIMPLEX, 0.7, 10, 2, cv2.LINE_AA)
    return picture


ROWS = [{"name": word, "visible": True, "bbox": {"x": 18 + number % 4 * 140, "y": 42 + number // 4 * 90, "width": 110,
                                                 "height": 26}} for number, word in enumerate(WORDS)]


@pytest.mark.parametrize("tone", [Tone(0, 115), Tone(0, 180), Tone(60, 200), Tone(20, 255, 1.8), Tone(0, 255, 0.6)])
def test_what_dims_a_page_is_found_and_taken_out(tone):
    bright = page()
    dark = np.round(tone.black + (bright / 255.0) ** tone.gamma * (tone.white - tone.black)).astype(np.uint8)
    noise = np.random.default_rng(1).integers(-3, 4, dark.shape)
    seen = cv2.blur(np.clip(dark + noise, 0, 255).astype(np.uint8), (2, 2))
    found = fit([(seen, bright)])
    assert float(cv2.absdiff(cv2.LUT(seen, found.table), cv2.blur(bright, (2, 2))).mean()) < 8


def test_a_bright_page_without_dark_areas_tells_how_much_it_is_dimmed():
    bright = np.full((400, 600), 255, np.uint8)
    bright[:, :250] = 238
    found = fit([(np.round(bright * 0.7).astype(np.uint8), bright)])
    assert found.is_similar(Tone(0, 178))
    assert fit([(np.full_like(bright, 30), np.full_like(bright, 60))]) is PLAIN  # dark pages tell too little


def test_a_page_shown_as_it_is_is_left_alone():
    assert fit([(cv2.blur(page(), (3, 3)), page())]) is PLAIN
    assert fit([(np.zeros((50, 50), np.uint8), np.full((50, 50), 255, np.uint8))]) is PLAIN  # tells nothing


def test_what_shows_another_page_is_no_other_brightness():
    assert fit([(np.flipud(page()).copy(), page())]).is_similar(PLAIN)


def test_a_picture_that_is_scrolled_or_cut_wrongly_fits_the_elements_worse():
    right = explained(ROWS, page())
    assert right > explained(ROWS, page(shift=45)) + 0.1
    mosaic = page()
    mosaic[:200] = np.roll(mosaic[:200], 70, axis=1)
    assert right > explained(ROWS, mosaic) + 0.1
    assert explained(ROWS[:2], page()) is None
