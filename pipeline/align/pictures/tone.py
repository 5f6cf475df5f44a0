"""Brightness of the page in a video: an overlay, another range or gamma, a dimmed window.

Compared before that is taken out, a dimmed frame is unlike every screenshot.
"""

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

_FLAT = 6  # grey levels between neighbours, under which a pixel is inside an area: edges are blurred in a video
_AREA = 5  # pixels: width of the neighbourhood that must be flat
_MIN_LEVEL_SHARE = 0.001  # of the page, that must have a level for it to have a say
_LEVELS = 8  # grey levels that count as one
_SPREAD = 60  # grey levels between the darkest and the brightest areas, less tells nothing
_BRIGHT = 128  # grey level from which on an area is bright
_GAMMAS = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.25, 1.45, 1.7, 2.0, 2.4)
_PLAIN = 16.0  # grey levels by which a video may be off at any level and be taken as it is
_FAINTEST = 0.15  # of the page's contrast, that must be left


@dataclass(frozen=True)
class Tone:
    """A page's level p, 0 to 255, is `black` + (p / 255) ** `gamma` * (`white` - `black`) in the video."""

    black: float = 0.0
    white: float = 255.0
    gamma: float = 1.0

    @functools.cached_property
    def table(self) -> np.ndarray:
        """The page's level for each level of the video: uint8, 256.

        What is far brighter than white can be, or darker than black, is turned back: it is not shown in this tone, and
        must not look as if it were.
        """
        share = (np.arange(256) - self.black) / (self.white - self.black)
        beyond = _PLAIN / (self.white - self.black)
        share = np.where(share > 1, 1 - np.maximum(share - 1 - beyond, 0), share)
        share = np.clip(np.where(share < 0, np.maximum(-share - beyond, 0), share), 0, 1)
        return np.round(255 * share ** (1 / self.gamma)).astype(np.uint8)

    def is_similar(self, other: "Tone") -> bool:
        """Whether what differs between the two is no more than coding may change."""
        levels = np.array([0, 0.25, 0.5, 0.75, 1.0])
        first, second = (tone.black + levels ** tone.gamma * (tone.white - tone.black) for tone in (self, other))
        return bool(np.abs(first - second).max() < _PLAIN)


PLAIN = Tone()


def fit(pairs: Sequence[tuple[np.ndarray, np.ndarray]]) -> Tone:
    """The tone of a video by frames and the pages that they show (grey, of one shape, in the same place).

    Levels of flat areas are held against each other, at the median, so a few other words or pictures do not matter.
    What is as good as plain is plain.
    """
    page_levels, frame_levels, weights = _all_levels(pairs)
    if not len(page_levels):
        return PLAIN
    if np.ptp(page_levels) < _SPREAD:
        return _gain(page_levels, frame_levels, weights)
    tones = [_line(page_levels, frame_levels, weights, gamma) for gamma in _GAMMAS]
    loss, tone = min(((loss * (1.0 if tone.gamma == 1.0 else 1.15) + 0.1 * (tone.gamma != 1.0), tone)
                      for loss, tone in tones), key=lambda entry: entry[0])
    plain = float((np.minimum(np.abs(frame_levels - page_levels), 40) * weights).sum())
    if tone.white - tone.black < _FAINTEST * 255 or loss > 0.7 * plain or tone.is_similar(PLAIN):
        return PLAIN
    return tone


def dimming(pairs: Sequence[tuple[np.ndarray, np.ndarray]]) -> Tone:
    """The same for what does nothing but dim: black stays black. It asks little of the pairs."""
    page_levels, frame_levels, weights = _all_levels(pairs)
    return _gain(page_levels, frame_levels, weights) if len(page_levels) else PLAIN


def _all_levels(pairs: Sequence[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    levels_by_pair = [_levels(frame, page) for frame, page in pairs]
    levels, frame_levels, weights = (np.concatenate(parts) for parts in zip(*levels_by_pair, strict=True))
    return levels, frame_levels, weights


def _gain(pages: np.ndarray, frames: np.ndarray, weights: np.ndarray) -> Tone:
    """What a bright page without dark areas tells: by how much it is darkened, black being black."""
    gain = float(np.average(frames / np.maximum(pages, 1), weights=weights))
    tone = Tone(white=255 * gain)
    return tone if pages.min() >= _BRIGHT and _FAINTEST <= gain < 1 and not tone.is_similar(PLAIN) else PLAIN


def _levels(frame: np.ndarray, page: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of the levels of a page's flat areas: the page's, the frame's, and how much of the page has it."""
    kernel = np.ones((_AREA, _AREA), np.uint8)
    flat = cv2.subtract(cv2.dilate(page, kernel), cv2.erode(page, kernel)) < _FLAT
    bins = page[flat] // _LEVELS
    levels, frame_levels = page[flat].astype(np.float64), frame[flat].astype(np.float64)
    rows = [(float(np.median(levels[here])), float(np.median(frame_levels[here])), float(here.mean()))
            for number in np.unique(bins) if (here := bins == number).sum() >= _MIN_LEVEL_SHARE * page.size]
    of_page, of_frame, weight = (np.array(column) for column in zip(*rows, strict=True)) if rows else (np.zeros(0),) * 3
    return of_page, of_frame, np.sqrt(weight)


def _line(pages: np.ndarray, frames: np.ndarray, weights: np.ndarray, gamma: float) -> tuple[float, Tone]:
    """The best tone with a gamma, and its loss: weighted grey levels by which it is off."""
    bent = (pages / 255) ** gamma
    use = weights.copy()
    for _ in range(8):  # least absolute differences, by weights
        slope, start = np.polyfit(bent, frames, 1, w=np.sqrt(use))
        off = np.abs(start + slope * bent - frames)
        use = weights / np.maximum(off, 1.0)
    return float((np.minimum(off, 40) * weights).sum()), Tone(float(start), float(start + slope), gamma)
