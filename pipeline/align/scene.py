"""What all steps of placing an external video share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from recorder import Recording

from .coarse import Shown
from .rectangle import Rectangle
from .screenshots import Picture, work_shape
from .video import Video


@dataclass(frozen=True)
class Scene:
    """What all steps share."""

    recording: Recording
    video: Video
    rectangle: Rectangle
    pictures: Mapping[str, Picture]
    shown: Sequence[Shown]
    names: Sequence[str]
    covered: Mapping[tuple[int, int], np.ndarray] = field(default_factory=dict)

    def hidden(self, viewport: tuple[int, int]) -> np.ndarray:
        """Pixels at working size (rows x columns, true or false) that something else covers in most of the video."""
        return self.covered.get(viewport, np.zeros(work_shape(viewport), bool))
