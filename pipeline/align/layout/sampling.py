"""Samples of the video, each compared with all screenshots: the input of coarse offset, layout and occlusion."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from pipeline.align.pictures.occlusion import covered_mask, small, small_shape
from pipeline.align.pictures.screenshots import Picture
from pipeline.align.pictures.video import Shot, Video

from .rectangle import Rectangle

_SAMPLES = 240  # frames for the rough placing, at most
_MIN_SAMPLE_STEP_S = 0.5  # seconds between them, at least
_MAX_KEY_FRAME_STEPS = 2.5  # times the distance of samples, less than which key frames must be apart on average
LONG_VIDEO_S = 300.0  # seconds of video from which on only frames that stand alone are sampled
_MIN_SIMILAR_FRAMES = 5  # frames, at least, that tell what covers the page
_CLIP = np.uint8(40)  # grey levels: more difference says nothing more


def sample_times(video: Video) -> np.ndarray:
    """Times of the frames that are sampled, seconds of the video: evenly spaced; of a long video the key frames, which
    are decoded without any other, if these are not much rarer."""
    step = max(_MIN_SAMPLE_STEP_S, video.duration / _SAMPLES)
    key_frames_suffice = len(video.keys) * _MAX_KEY_FRAME_STEPS * step > video.duration
    if video.duration > LONG_VIDEO_S and key_frames_suffice:
        return video.keys
    return video.around(np.arange(0, video.duration, step))


@dataclass(frozen=True)
class Sampled:
    """Frames held against screenshots as one rectangle shows them. `times`: K; `differences`: K x J, in grey levels.

    `share`: of the frames, that can show the recording at most: a video may be longer, and show other things.
    """

    times: np.ndarray
    differences: np.ndarray
    rectangle: Rectangle
    groups: Sequence["_Group"]
    share: float = 1.0

    @property
    def smallest(self) -> np.ndarray:
        """By how much each frame differs from the screenshot that it is most like."""
        return self.differences.min(axis=1)

    @property
    def doubt(self) -> np.ndarray:
        """How much that is of the difference from any screenshot, 0 to 1: little where one stands out."""
        return self.smallest / np.maximum(np.percentile(self.differences, 25, axis=1), 1.0)

    @property
    def usual(self) -> float:
        """Grey levels by which frames differ from the screenshots that they show."""
        return float(np.percentile(self.smallest, 20 * self.share)) if len(self.smallest) else 0.0

    @property
    def pages(self) -> np.ndarray:
        """What the frames show where the page of the first viewport should be, small: K x pixels, in grey levels."""
        pages = self.groups[0].pages
        return np.array(pages, np.float32).reshape(len(self.times), -1) if pages else np.zeros((len(self.times), 1))

    def likeliest(self, shot: Shot) -> list[int]:
        """Numbers of the pictures, those first whose light and dark places are most those of a frame."""
        correlations = sorted((pair for group in self.groups for pair in group.correlations(shot)), reverse=True)
        return [number for _, number in correlations]

    def covered_masks(self, start: float = -np.inf, end: float = np.inf, limit: float = np.inf
                ) -> dict[tuple[int, int], np.ndarray]:
        """What something else covers in most frames of a part of the video, by viewport. `limit`: grey levels; frames
        that differ from every picture by more show none of them."""
        return {group.viewport: mask for group in self.groups
                if (mask := group.covered(start, end, limit)) is not None}


def sample(video: Video, times: np.ndarray, pictures: Sequence[Picture], rectangles: Sequence[Rectangle],
           share: float = 1.0) -> list[Sampled]:
    """Hold frames of a video against all pictures, as each of the rectangles shows them; `share`: see Sampled."""
    viewports = sorted({picture.viewport for picture in pictures})
    groups = [[_Group.from_pictures(pictures, viewport, rectangle, video.size) for viewport in viewports]
              for rectangle in rectangles]
    shown_at: list[float] = []
    rows: list[list[np.ndarray]] = [[] for _ in rectangles]
    for shot in video.shots(times):
        shown_at.append(shot.time)
        for own, row in zip(groups, rows, strict=True):
            differences = np.full(len(pictures), float(_CLIP))
            for group in own:
                group.compare(shot, differences)
            row.append(differences)
    return [Sampled(np.array(shown_at), np.array(row).reshape(len(shown_at), len(pictures)), rectangle, own, share)
            for rectangle, own, row in zip(rectangles, groups, rows, strict=True)]


@dataclass
class _Group:
    """The small pictures of one viewport, and how the most alike of them differed from each sampled frame."""

    viewport: tuple[int, int]
    shape: tuple[int, int]
    rectangle: Rectangle
    visible: tuple[slice, slice]
    numbers: list[int]
    stack: np.ndarray
    rests: list[tuple[float, float, np.ndarray]] = field(default_factory=list)  # time, difference, pixels
    pages: list[np.ndarray] = field(default_factory=list)  # what each frame shows there

    @classmethod
    def from_pictures(cls, pictures: Sequence[Picture], viewport: tuple[int, int], rectangle: Rectangle,
                      frame: tuple[int, int]
           ) -> "_Group":
        shape = small_shape(viewport)
        numbers = [number for number, picture in enumerate(pictures) if picture.viewport == viewport]
        visible = rectangle.visible_part(viewport, frame, shape)
        stack = np.stack([small(pictures[number].grey, viewport)[visible] for number in numbers])
        return cls(viewport, shape, rectangle, visible, numbers, stack)

    def compare(self, shot: Shot, row: np.ndarray) -> None:
        """Fill in by how many grey levels a frame differs from each picture."""
        if not self.stack.size:
            return
        page = self.rectangle.cut(shot, self.viewport, self.shape)[self.visible]
        self.pages.append(page)
        differences = np.minimum(np.maximum(self.stack, page) - np.minimum(self.stack, page), _CLIP)
        sums = differences.reshape(len(self.stack), -1).sum(axis=1, dtype=np.uint32)
        row[self.numbers] = sums / page.size
        best = int(sums.argmin())
        self.rests.append((shot.time, float(row[self.numbers[best]]), differences[best].copy()))

    def correlations(self, shot: Shot) -> list[tuple[float, int]]:
        """How each picture correlates with a frame, and its number."""
        if not self.stack.size:
            return []
        page = self.rectangle.cut(shot, self.viewport, self.shape)[self.visible].astype(np.float32).ravel()
        stack = self.stack.reshape(len(self.stack), -1).astype(np.float32)
        page -= page.mean()
        stack -= stack.mean(axis=1, keepdims=True)
        sizes = np.linalg.norm(stack, axis=1) * np.linalg.norm(page) + 1e-6
        return list(zip((stack @ page / sizes).tolist(), self.numbers, strict=True))

    def covered(self, start: float, end: float, limit: float) -> np.ndarray | None:
        """What differs in most of the frames that are like a picture for the rest: at working size. Frames that show
        something else altogether, as before the session, tell nothing: a part of the video may have few others."""
        own = sorted(((unlike, rest) for time, unlike, rest in self.rests if start <= time <= end),
                     key=lambda entry: entry[0])
        likest = own[:max(_MIN_SIMILAR_FRAMES, len(own) // 2)]
        if likest:
            limit = min(limit, 2 * likest[min(_MIN_SIMILAR_FRAMES, len(likest)) // 2][0] + 1)
        return covered_mask([rest for unlike, rest in likest if unlike <= limit], self.viewport, self.visible)


def merge_samples(samples: Sequence[Sampled], pieces: np.ndarray) -> np.ndarray:
    """Differences, K x J, of each frame as the rectangle of its piece shows it; `pieces`: K numbers of rectangles."""
    return np.array([samples[piece].differences[number] for number, piece in enumerate(pieces)])
