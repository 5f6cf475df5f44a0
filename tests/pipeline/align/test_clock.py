"""The parts of alignment that are pure: SSIM, the rough placing, the clock."""

import random

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from skimage.metrics import structural_similarity

from pipeline.align import is_blank
from pipeline.align.clock.anchors import Bracket
from pipeline.align.clock.coarse_offset import OffsetInterval, ShownInterval, fit_offset
from pipeline.align.clock.scene import Scene
from pipeline.align.clock.video_clock import fit
from pipeline.align.external import spans_of
from pipeline.align.layout.layout import Layout, LayoutSegment
from pipeline.align.layout.rectangle import Rectangle
from pipeline.align.pictures.ssim import ssim
from pipeline.chat.speech import Clock


@pytest.mark.parametrize("shape", [(360, 640), (121, 97), (7, 7)])
@pytest.mark.parametrize("noise", [0, 3, 40, 255])
def test_ssim_is_scikit_images(shape, noise):
    chance = np.random.default_rng(noise)
    one = cv2.GaussianBlur(chance.integers(0, 256, shape, np.uint8), (5, 5), 0)
    cv2.putText(one, "Search", (2, shape[0] // 2), cv2.FONT_HERSHEY_SIMPLEX, 0.6, 0, 1)
    other = np.clip(one.astype(int) + chance.integers(-noise, noise + 1, shape), 0, 255).astype(np.uint8)
    assert ssim(one, other) == pytest.approx(structural_similarity(one, other), abs=0.001)


def test_a_picture_of_one_colour_is_blank():
    assert is_blank(np.full((9, 9), 255, np.uint8)) and is_blank(None)
    assert not is_blank(np.arange(81, dtype=np.uint8).reshape(9, 9))


@settings(max_examples=40, deadline=None)
@given(offset=st.floats(-60, 60), drift=st.floats(-2e-4, 2e-4), seed=st.integers(0, 1 << 16),
       wrong=st.floats(0, 0.5), fps=st.sampled_from([10, 25, 30]))
def test_the_clock_is_right_when_every_second_bracket_is_wrong(offset, drift, seed, wrong, fps):
    chance = random.Random(seed)
    brackets = []
    for _ in range(80):
        time = chance.uniform(0, 1200)
        true = offset + time * (1 + drift)
        if chance.random() < wrong:
            true += chance.uniform(-2, 2)
        after = true - chance.uniform(0, 1 / fps)
        brackets.append(Bracket(time, after, after + 1 / fps))
    clock = fit([OffsetInterval(offset, offset + 1200, offset + chance.uniform(-0.3, 0.3), 0.5)], [brackets])
    piece = clock.pieces[0]
    assert piece.others < piece.votes / 2
    for time in (0, 600, 1200):
        assert clock.video_time(time, piece) == pytest.approx(offset + time * (1 + drift), abs=1 / fps)
        assert clock.recording_time(clock.video_time(time, piece), piece) == pytest.approx(time, abs=1e-6)
    [span] = spans_of(clock, 7.5, 0.9)
    for time in (-30, 0, 600, 1260):  # where the file begins 7.5 seconds before its first frame
        assert Clock([span]).position(7.5 + clock.video_time(time, piece))[0] == pytest.approx(time, abs=1e-6)


def test_brackets_that_agree_on_nothing_say_so():
    chance = random.Random(5)
    brackets = [Bracket(time, time + wrong, time + wrong + 0.05)
                for time, wrong in ((chance.uniform(0, 60), chance.uniform(-3, 3)) for _ in range(20))]
    piece = fit([OffsetInterval(0, 60, 0.0, 3.0)], [brackets]).pieces[0]
    assert piece.others > piece.votes / 2


def test_frames_that_show_pictures_at_their_times_speak_for_the_clock():
    """Marks before the first bracket that were missed make what lies there doubtful, until frames show pictures."""
    brackets = [Bracket(time, time + 4.99, time + 5.01) for time in (20, 24, 28)]
    piece = fit([OffsetInterval(5, 35, 5.0, 0.5)], [brackets], [[3.0, 8.0, 20.0, 24.0, 28.0]]).pieces[0]
    assert piece.is_bare(2.0) and piece.is_bare(6.0) and not piece.is_bare(18.0)
    stronger = piece.with_confirmations([5.0, 12.0])
    assert not stronger.is_bare(6.0) and stronger.is_bare(2.0)
    assert (stronger.votes, stronger.offset) == (piece.votes, piece.offset)
    assert piece.with_confirmations([]) == piece


def test_where_the_page_is_known_to_be():
    """Between frames that show screenshots; near a piece's edges the page may still be on its way."""
    here = Rectangle(0, 0, 1, 1)
    layout = Layout((LayoutSegment(-np.inf, 10.0, here), LayoutSegment(11.0, np.inf, here)))
    scene = Scene(None, None, layout, {}, [], [], explained=np.array([4.0, 9.9, 11.1, 12.5, 17.0]))
    times = {1.0: False, 5.0: True, 6.9: True, 7.1: False, 9.8: False, 10.5: False, 11.1: False, 13.9: False,
             14.1: True, 15.0: True, 17.5: False}
    assert {time: scene.is_certain_at(time) for time in times} == times


def test_pauses_and_the_time_before_are_found_in_the_rough():
    """Twelve pictures, each seen for five seconds; the video starts 20 s before and lacks the seconds 22 to 34."""
    shown = [ShownInterval(number * 5.0, number * 5.0 + 4.5, number) for number in range(12)]
    times = np.arange(0, 68.0)
    differences = np.full((len(times), 12), 9.0)
    for k, time in enumerate(times):
        recorded = time - 20 if time < 42 else time - 8
        if 0 <= recorded < 60:
            differences[k, int(recorded // 5)] = 0.5
    first, second = fit_offset(times, differences, shown, 68.0)
    assert first.offset == pytest.approx(20, abs=1) and second.offset == pytest.approx(8, abs=1)
    assert first.end == pytest.approx(41, abs=1)


def test_a_video_of_something_else_gives_no_sure_place():
    differences = np.random.default_rng(1).uniform(8, 9, (40, 6))
    shown = [ShownInterval(number * 5.0, number * 5.0 + 4.5, number) for number in range(6)]
    for stretch in fit_offset(np.arange(0, 40.0), differences, shown, 40.0):
        assert fit([stretch], [[]]).pieces[0].votes == 0
