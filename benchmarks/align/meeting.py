"""Renders a recorded session as the video that a meeting tool would have made of it, and knows the truth of every time.

What was on the screen comes from the recording's own video. Around it: window chrome, a desktop, a pointer, thumbnails
of people who move; the page scaled and perhaps cropped; frames at uneven times; a clock that runs wrong; pauses.
"""

import random
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path

import av
import cv2
import numpy as np

_TIME_BASE = Fraction(1, 90000)
_OPTIONS = {"libx264": {"preset": "veryfast"}, "libx265": {"preset": "ultrafast", "x265-params": "log-level=none"},
            "libvpx": {"deadline": "realtime", "cpu-used": "8", "b": "2M"},
            "libvpx-vp9": {"deadline": "realtime", "cpu-used": "8", "b": "0"}, "libsvtav1": {"preset": "12"}}
_SEEN = 0.85  # of each side of the page, at least, when it is cropped


@dataclass(frozen=True)
class Move:
    """From a time on the window is elsewhere, or of another size; it is dragged there for some seconds."""

    time: float
    scale: float
    left: int
    top: int
    takes: float = 0.0


@dataclass(frozen=True)
class Spell:
    """From a time on, for some seconds: dimmed by a share (overlay), or not shown at all (1)."""

    time: float
    length: float
    dimmed: float


@dataclass
class Meeting:
    """How a session is shown and filmed. Times are seconds of the recording unless said otherwise."""

    canvas: tuple[int, int]
    scale: float
    left: int
    top: int
    offset: float  # video time at the recording's time 0: positive when the video was started first
    drift: float  # parts per one that the video's clock runs fast
    pauses: list[tuple[float, float]] = field(default_factory=list)  # (start, length), not filmed
    fps: tuple[float, float] = (10, 30)
    crf: int = 28
    low_latency: bool = False
    chrome: bool = True
    thumbnails: int = 1
    pointer: bool = True
    bar: bool = False
    flash: bool = False
    seed: int = 0
    moves: list[Move] = field(default_factory=list)
    spells: list[Spell] = field(default_factory=list)
    codec: str = "libx264"

    def place_at(self, time: float) -> tuple[float, int, int]:
        """Scale, left and top of the page at a time."""
        here: tuple[float, int, int] = self.scale, self.left, self.top
        for move in self.moves:
            if time < move.time:
                break
            share = min(1.0, (time - move.time) / move.takes) if move.takes else 1.0
            left, top = (round(a + (b - a) * share) for a, b in ((here[1], move.left), (here[2], move.top)))
            here = (move.scale if share == 1 else here[0]), left, top
        return here

    def dimmed_at(self, time: float) -> float:
        """By which share the page is dimmed at a time; 1: it is not shown."""
        return max((spell.dimmed for spell in self.spells if spell.time <= time < spell.time + spell.length),
                   default=0.0)

    def video_time(self, time: float) -> float | None:
        """Where a moment of the recording is in the video; None when it was not filmed."""
        if any(start <= time < start + length for start, length in self.pauses) or self.dimmed_at(time) == 1:
            return None
        left_out = sum(length for start, length in self.pauses if start + length <= time)
        video = self.offset + (time - left_out) * (1 + self.drift)
        return video if video >= 0 else None

    def moment(self, video: float) -> float:
        """The moment of the recording that is filmed at a video time."""
        time = (video - self.offset) / (1 + self.drift)
        for start, length in self.pauses:
            if time >= start:
                time += length
        return time


def plan(chance: random.Random, viewport: tuple[int, int], length: float, quiet: list[float]) -> Meeting:
    """A random meeting for a session of that viewport and length; `quiet`: moments at which a pause may begin."""
    canvas, scale = (1920, 1080), round(chance.uniform(0.5, 1.5), 3)
    for _ in range(8):
        canvas = chance.choice(((1280, 720), (1280, 720), (1920, 1080), (1600, 900)))
        if all(viewport[axis] * scale * _SEEN <= canvas[axis] for axis in (0, 1)):
            break
    else:
        scale = round(min(1.5, *(canvas[axis] / viewport[axis] / _SEEN for axis in (0, 1))), 3)
    left, top = (_place(chance, canvas[axis], viewport[axis] * scale) for axis in (0, 1))
    pauses, at = [], 0.0
    for start in sorted(chance.sample(quiet, min(len(quiet), chance.choice((0, 1, 1, 2, 2))))):
        if start > at + 15 and start < length - 15:
            pauses.append((start, chance.uniform(2, 12)))
            at = start + pauses[-1][1]
    return Meeting(canvas, scale, left, top, chance.uniform(-min(60, length * 0.4), 60), chance.uniform(-2e-4, 2e-4),
                   pauses, fps=chance.choice(((10, 12), (10, 30), (15, 25), (25, 30))), crf=chance.choice((24, 28, 32)),
                   low_latency=chance.random() < 0.4, chrome=chance.random() < 0.7,
                   thumbnails=chance.choice((0, 1, 1, 3)), pointer=chance.random() < 0.8, bar=chance.random() < 0.4,
                   flash=chance.random() < 0.2, seed=chance.randrange(1 << 30))


def change(chance: random.Random, meeting: Meeting, viewport: tuple[int, int], length: float) -> Meeting:
    """The same meeting, perhaps with the window moved or resized, the screen dimmed, sharing stopped, another codec."""
    moves, spells = [], []
    for _ in range(chance.choice((0, 0, 1, 1, 2))):
        scale = round(meeting.scale * chance.choice((1, 1, 0.8)), 3)
        left, top = (_place(chance, meeting.canvas[axis], viewport[axis] * scale) for axis in (0, 1))
        moves.append(Move(chance.uniform(0.2, 0.8) * length, scale, left, top, chance.choice((0.0, 0.4, 1.0))))
    for dimmed in chance.choice(((), (), (0.55,), (0.3,), (1.0,))):
        spells.append(Spell(chance.uniform(0, 0.6) * length, chance.choice((0.15, 0.4, 2.0)) * length, dimmed)
                      if dimmed < 1 else Spell(chance.uniform(0.2, 0.7) * length, 0.1 * length, dimmed))
    return replace(meeting, moves=sorted(moves, key=lambda move: move.time), spells=spells,
                   codec=chance.choice(("libx264", "libx264", *_OPTIONS)))


def _place(chance: random.Random, room: int, size: float) -> int:
    """Where the page begins on one axis: anywhere when it fits, else cut off at one end or both, its middle seen."""
    spare = room - size
    return round(chance.uniform(0, spare) if spare > 0 else chance.uniform(spare, 0))


def film(own_video: Path, meeting: Meeting, length: float, out: Path,
         moment: Callable[[float], float] = lambda time: time) -> list[float]:
    """Write the video of a session of that length; returns the times of its frames, seconds of the video.

    `moment`: from the recording's time to that of its own video, where idle time was put in between.
    """
    chance = random.Random(meeting.seed)
    end = meeting.offset + (length - sum(pause[1] for pause in meeting.pauses)) * (1 + meeting.drift) + 2
    times = list(_frame_times(chance, meeting, end))
    stage = _Stage(meeting, random.Random(meeting.seed))
    with av.open(str(out), "w") as container:
        options = _OPTIONS.get(meeting.codec, {}) | {"crf": str(meeting.crf)}
        if meeting.low_latency and meeting.codec == "libx264":
            options |= {"tune": "zerolatency", "profile": "baseline"}
        stream = container.add_stream(meeting.codec, rate=30, options=options)
        assert isinstance(stream, av.VideoStream)
        stream.width, stream.height, stream.pix_fmt = *meeting.canvas, "yuv420p"
        stream.time_base = stream.codec_context.time_base = _TIME_BASE
        screen = _Screen(own_video)
        stage.page_size = screen.size
        for time in times:
            picture = stage.frame(screen.at(moment(meeting.moment(time))), time, meeting.moment(time))
            frame = av.VideoFrame.from_ndarray(picture, format="bgr24")
            frame.pts, frame.time_base = round(time / _TIME_BASE), _TIME_BASE
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    return [round(time / _TIME_BASE) * float(_TIME_BASE) for time in times]


def open_to_view(meeting: Meeting, size: tuple[int, int], time: float) -> np.ndarray:
    """Pixels (rows x columns) of a page of that size in CSS pixels that the video shows at a time of the recording:
    true or false."""
    stage = _Stage(meeting, random.Random(meeting.seed))
    canvas = np.zeros(meeting.canvas[::-1], np.uint8)
    canvas[:] = 1
    for x, y, width, height in stage.thumbnails:
        canvas[y:y + height, x:x + width] = 0
    if meeting.bar:
        x, y, width, height = stage.bar
        canvas[y:y + height, x:x + width] = 0
    scale, left, top = meeting.place_at(time)
    matrix = np.array([[scale, 0, left], [0, scale, top]])
    if meeting.dimmed_at(time) == 1:
        canvas[:] = 0
    return cv2.warpAffine(canvas, matrix, size, flags=cv2.INTER_NEAREST | cv2.WARP_INVERSE_MAP) > 0


def shown_at(times: list[float], video: float) -> int:
    """Number of the frame that is shown at a video time."""
    return bisect_right(times, video) - 1


def _frame_times(chance: random.Random, meeting: Meeting, end: float) -> Iterator[float]:
    time = 0.0
    rate = chance.uniform(*meeting.fps)
    while time < end:
        yield time
        if chance.random() < 0.02:
            rate = chance.uniform(*meeting.fps)
        time += 1 / rate * chance.uniform(0.9, 1.1)


class _Screen:
    """What a recording's own video shows at growing times."""

    def __init__(self, path: Path):
        self._frames = self._decode(path)
        self._now: tuple[float, np.ndarray] | None = None
        self._next = next(self._frames, None)
        self.size = self._next[1].shape[1::-1] if self._next else None

    @staticmethod
    def _decode(path: Path) -> Iterator[tuple[float, np.ndarray]]:
        with av.open(str(path)) as container:
            for frame in container.decode(video=0):
                yield float(frame.pts * frame.time_base), frame.to_ndarray(format="bgr24")

    def at(self, time: float) -> np.ndarray | None:
        """The picture at a time; None before the first."""
        while self._next and self._next[0] <= time:
            self._now, self._next = self._next, next(self._frames, None)
        return self._now and self._now[1]


class _Stage:
    """Puts the page among all else that a meeting shows."""

    def __init__(self, meeting: Meeting, chance: random.Random):
        self.meeting, self.chance = meeting, chance
        width, height = meeting.canvas
        colour = chance.choice(((0, 0, 0), (90, 60, 40), (70, 70, 70), (200, 190, 180)))
        self.background = np.full((height, width, 3), colour, np.uint8)
        for number in range(chance.randint(0, 8)):
            corner = (20, 30 + number * 70)
            cv2.rectangle(self.background, corner, (corner[0] + 40, corner[1] + 40), (180, 140, 60), -1)
            cv2.putText(self.background, f"file-{number}", (14, corner[1] + 56), cv2.FONT_HERSHEY_SIMPLEX, 0.4,
                        (255, 255, 255), 1, cv2.LINE_AA)
        self.people = np.random.default_rng(meeting.seed)
        side = chance.choice(("top", "right", "left"))
        small = (max(96, width // 9), max(54, height // 9))
        self.thumbnails = [self._thumbnail(side, number, small) for number in range(meeting.thumbnails)]
        self.page_size: tuple[int, int] | None = None
        self.bar = width // 2 - 150, height - 60, 300, 34
        self.scale, self.left, self.top = meeting.place_at(0.0)
        self._seen: tuple[tuple, np.ndarray] | None = None

    def _thumbnail(self, side: str, number: int, size: tuple[int, int]) -> tuple[int, int, int, int]:
        width, height = self.meeting.canvas
        along = 10 + number * (size[0] + 6 if side == "top" else size[1] + 6)
        x = along + width // 3 if side == "top" else 8 if side == "left" else width - size[0] - 8
        return x, 8 if side == "top" else along, *size

    def frame(self, page: np.ndarray | None, video: float, time: float) -> np.ndarray:
        meeting = self.meeting
        dimmed = meeting.dimmed_at(time)
        self.scale, self.left, self.top = meeting.place_at(time)
        canvas = self._with_page(page if dimmed < 1 else None).copy()
        if 0 < dimmed < 1:
            canvas = cv2.convertScaleAbs(canvas, alpha=1 - dimmed)
        if meeting.flash and 0 <= time < 0.5:
            self._fill_page(canvas, (0, 0, 255))
        if meeting.pointer:
            self._pointer(canvas, time)
        for number, (x, y, width, height) in enumerate(self.thumbnails):
            self._person(canvas[y:y + height, x:x + width], video + number * 7)
        return canvas

    def _with_page(self, page: np.ndarray | None) -> np.ndarray:
        """The desktop with the window; made anew only when the page has changed."""
        seen = id(page), self.scale, self.left, self.top
        if self._seen and self._seen[0] == seen:
            return self._seen[1]
        canvas = self.background.copy()
        if page is not None:
            meeting = self.meeting
            size = [max(1, round(side * self.scale)) for side in page.shape[1::-1]]
            method = cv2.INTER_AREA if self.scale < 1 else cv2.INTER_CUBIC
            _paste(canvas, cv2.resize(page, size, interpolation=method), self.left, self.top)
            if meeting.chrome:
                self._window(canvas, size[0])
            if meeting.bar:
                self._bar(canvas)
        self._seen = seen, canvas
        self._kept = page
        return canvas

    def _fill_page(self, canvas: np.ndarray, colour: tuple[int, int, int]) -> None:
        if self.page_size:
            width, height = (round(side * self.scale) for side in self.page_size)
            _paste(canvas, np.full((height, width, 3), colour, np.uint8), self.left, self.top)

    def _window(self, canvas: np.ndarray, width: int) -> None:
        """Tabs and the address bar above the page."""
        height = round(80 * self.scale)
        bar = np.full((height, width, 3), (225, 222, 220), np.uint8)
        cv2.rectangle(bar, (8, 4), (width // 4, height // 2 - 2), (250, 250, 250), -1)
        cv2.rectangle(bar, (width // 12, height // 2 + 4), (width * 3 // 4, height - 6), (255, 255, 255), -1)
        for text, at in (("Untitled page", (18, height // 2 - 8)), ("https://example.org", (width // 10, height - 12))):
            cv2.putText(bar, text, at, cv2.FONT_HERSHEY_SIMPLEX, 0.5 * self.scale, (60, 60, 60), 1, cv2.LINE_AA)
        _paste(canvas, bar, self.left, self.top - height)

    def _bar(self, canvas: np.ndarray) -> None:
        """The meeting tool's own notice over the page."""
        x, y, width, height = self.bar
        cv2.rectangle(canvas, (x, y), (x + width, y + height), (40, 160, 40), -1)
        cv2.putText(canvas, "You are sharing your screen", (x + 24, y + 22), cv2.FONT_HERSHEY_SIMPLEX, 0.5,
                    (255, 255, 255), 1, cv2.LINE_AA)

    def _pointer(self, canvas: np.ndarray, time: float) -> None:
        width, height = self.meeting.canvas
        step = int(time / 0.8)
        ends = []
        for number in (step, step + 1):
            chance = random.Random(self.meeting.seed + number)
            ends.append((chance.uniform(0.2, 0.8) * width, chance.uniform(0.2, 0.8) * height))
        share = min(1.0, (time / 0.8 - step) * 3)
        x, y = (ends[0][axis] + (ends[1][axis] - ends[0][axis]) * share for axis in (0, 1))
        arrow = np.array([(0, 0), (0, 16), (4, 12), (7, 18), (9, 17), (6, 11), (11, 11)]) + (x, y)
        cv2.fillPoly(canvas, [arrow.astype(np.int32)], (255, 255, 255), cv2.LINE_AA)
        cv2.polylines(canvas, [arrow.astype(np.int32)], True, (0, 0, 0), 1, cv2.LINE_AA)

    def _person(self, place: np.ndarray, time: float) -> None:
        """Somebody who nods, before a wall, with a camera's noise."""
        height, width = place.shape[:2]
        place[:] = (120, 140, 150)
        centre = (int(width / 2 + width * 0.06 * np.sin(time * 1.7)),
                  int(height * 0.45 + height * 0.04 * np.sin(time * 2.9)))
        cv2.ellipse(place, (width // 2, height), (width // 3, height // 3), 0, 0, 360, (90, 50, 40), -1)
        cv2.circle(place, centre, height // 4, (150, 180, 220), -1)
        cv2.add(place, self.people.integers(0, 9, place.shape, np.uint8), place)


def _paste(canvas: np.ndarray, picture: np.ndarray, left: int, top: int) -> None:
    """Put a picture onto a canvas; what reaches beyond is cut off."""
    height, width = canvas.shape[:2]
    x, y = max(left, 0), max(top, 0)
    right, bottom = min(left + picture.shape[1], width), min(top + picture.shape[0], height)
    if right > x and bottom > y:
        canvas[y:bottom, x:right] = picture[y - top:bottom - top, x - left:right - left]
