"""Where in the frame the page is, when the page itself is shown at two sizes."""

import cv2
import numpy as np
import pytest

from pipeline.align.layout.rectangle import exact, features, find, vote
from pipeline.align.pictures.tone import Tone
from pipeline.align.pictures.video import Shot

VIEWPORT, FRAME = (1000, 600), (1280, 720)
SCALE, LEFT, TOP, ZOOM = 1.15, 40.0, 15.0, 2.0


def page(number: int, zoom: float = 1.0) -> np.ndarray:
    """A page with some words of its own, as it is or enlarged."""
    chance = np.random.default_rng(5)
    picture = np.full(VIEWPORT[::-1], 245, np.uint8)
    picture[:, int(700 / zoom):] = 200
    for row in range(30, 590, 22):
        words = " ".join(str(word) for word in chance.integers(1000, 99999, 12))
        cv2.putText(picture, words, (14, row), cv2.FONT_HERSHEY_SIMPLEX, 0.45, 20, 1, cv2.LINE_AA)
    cv2.putText(picture, f"state {number}", (30, 250), cv2.FONT_HERSHEY_SIMPLEX, 1.5, 0, 3, cv2.LINE_AA)
    matrix = np.array([[zoom, 0, 0], [0, zoom, 0]])
    return cv2.warpAffine(picture, matrix, VIEWPORT, flags=cv2.INTER_CUBIC, borderValue=200)


def filmed(picture: np.ndarray) -> Shot:
    matrix = np.array([[SCALE, 0, LEFT], [0, SCALE, TOP]])
    frame = cv2.warpAffine(picture, matrix, FRAME, borderValue=60)
    return Shot(0.0, frame, False, None)


@pytest.mark.parametrize(("small", "large"), [(3, 7), (7, 3), (5, 5)])
def test_a_page_that_is_enlarged_at_times_is_found_at_its_size(small, large):
    """Its features at one size and at the other agree on a rectangle, too, but it explains only some frames."""
    states = [page(number) for number in range(small)] + [page(number, ZOOM) for number in range(large)]
    shots = [filmed(page(number)) for number in range(6)] + [filmed(page(number, ZOOM)) for number in range(4)]
    found = find(shots, states)
    assert found.width == pytest.approx(SCALE, rel=0.01) and found.height == pytest.approx(SCALE, rel=0.01)
    assert found.left == pytest.approx(LEFT, abs=2) and found.top == pytest.approx(TOP, abs=2)


def test_states_that_share_their_words_but_not_their_colours_tell_the_tone():
    """What two of them agree on is where the page is, not how bright it is shown."""
    def state(number: int) -> np.ndarray:
        picture, chance = page(0), np.random.default_rng(number)
        for top in range(0, 600, 22):
            words = picture[top:top + 22] < 170
            picture[top:top + 22][~words] = chance.integers(180, 256)
        return cv2.GaussianBlur(picture, (3, 3), 0)

    states = [state(number) for number in range(6)]
    shots = [filmed(np.round(one * 0.45).astype(np.uint8)) for one in states]
    chance = np.random.default_rng(1)
    votes = [vote(features(states[number - 1]), features(shot.luma), chance, (number, (number - 1) % 6))
             for number, shot in enumerate(shots)]
    assert exact(votes, shots, states).tone.is_similar(Tone(0, 115))
