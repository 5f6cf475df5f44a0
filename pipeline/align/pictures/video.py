"""An external video: the times of its frames without decoding, and decoding of the required ones.

What depends on no answer is not decoded: whole groups of pictures without a wanted frame, what stands in a group behind
the last wanted frame, and frames between that no other refers to.
"""

import heapq
import queue
import threading
from collections.abc import Generator, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import av
import numpy as np

from schemas import InputError
from schemas.files import reason

_LUMA_FIRST = {"yuv420p", "yuvj420p", "yuv422p", "yuvj422p", "yuv444p", "yuvj444p", "nv12", "gray"}
_AHEAD = 6  # frames that may wait, at least
_WAITING = 48_000_000  # bytes of such frames, at most
_DECODERS = 2  # each decodes groups of its own with one thread: that costs less than threads that share them
# Codecs whose decoder looks packet by packet whether a frame that no other refers to is wanted; AV1's asks once.
_SKIPPING = ("h264", "hevc", "vp8", "vp9", "mpeg4")
_FULL_RANGE = 2  # AVCOL_RANGE_JPEG


@dataclass(frozen=True)
class Shot:
    """One decoded frame: its time in seconds of the video, its brightness (uint8, rows x columns), and the frame.

    `luma` may be a view that is good only until the next frame is taken. `limited`: black is 16 and white 235.
    """

    time: float
    luma: np.ndarray
    limited: bool
    frame: av.VideoFrame

    def copy(self) -> "Shot":
        """The same with brightness of its own, good also when the next frame was taken."""
        return replace(self, luma=self.luma.copy())

    def colour(self) -> np.ndarray:
        """The frame in colour: BGR, uint8."""
        return upright(self.frame.to_ndarray(format="bgr24"), self.frame)

    def small_colour(self, width: int) -> np.ndarray:
        """The frame in colour at a width in pixels: RGB, uint8."""
        wide, high = turned_size(self.frame.width, self.frame.height, self.frame.rotation)
        size = turned_size(width, max(1, round(width * high / wide)), self.frame.rotation)
        return upright(self.frame.reformat(width=size[0], height=size[1], format="rgb24").to_ndarray(), self.frame)


def upright(pixels: np.ndarray, frame: av.VideoFrame) -> np.ndarray:
    """Pixels of a frame as they are shown: phones and tablets store a video turned, with a matrix that turns it back
    (ISO/IEC 14496-12, tkhd). `frame.rotation` is in degrees counterclockwise."""
    turns = round(frame.rotation / 90) % 4
    return np.ascontiguousarray(np.rot90(pixels, turns)) if turns else pixels


def turned_size(width: int, height: int, rotation: int) -> tuple[int, int]:
    """Width and height after a rotation in degrees."""
    return (height, width) if round(rotation / 90) % 2 else (width, height)


class Video:
    """A video file. `times`: of all frames, in order, seconds since the first, whose own stamp is `first`; `keys`: of
    those that stand alone; `size`: width and height of a frame. `lost`: how many wanted frames could not be had so far,
    as the file is damaged or ends too soon; `cut_off`: whether it does. `lead`: seconds from the file's own start, from
    which sound and subtitles count, to the first frame."""

    def __init__(self, path: Path | str):
        """Read the index; raises InputError when the file cannot be read or holds no video."""
        self.path = Path(path)
        self.lost = 0
        self.cut_off = False
        self._stamps, self._keys = self._read_index()
        self._first = int(self._stamps.min())
        self.first = self._first * self._base
        self.lead = self.first - self._start
        self._seconds = (self._stamps - self._first) * self._base
        self.times: np.ndarray = np.sort(self._seconds)
        self.keys: np.ndarray = np.sort(self._seconds[self._keys])

    @property
    def duration(self) -> float:
        """Seconds from the first frame to the last."""
        return float(self.times[-1])

    def number_at(self, time: float) -> int:
        """Number of the frame that is shown at a time; -1 before the first."""
        return int(np.searchsorted(self.times, time + 1e-6, side="right")) - 1

    def around(self, wanted: np.ndarray) -> np.ndarray:
        """For times (any order): the times of the frames that are shown then, sorted and each once."""
        numbers = np.searchsorted(self.times, np.asarray(wanted) + 1e-6, side="right") - 1
        return self.times[np.unique(numbers[numbers >= 0])]

    def shots(self, wanted: np.ndarray) -> Iterator[Shot]:
        """Decode the frames of exactly these times (of `times`), in order, some ahead of whoever takes them.

        Those that are damaged are left out, and counted in `lost`. Raises InputError when nothing can be decoded.
        """
        if not len(wanted):
            return
        needed = np.isin(self._seconds, wanted)
        room = max(_AHEAD, _WAITING // (self.size[0] * self.size[1] * 3 // 2 or 1))
        parts = [ahead(self._decode(needed, feed, count), room) for feed, count in self._shares(needed)]
        try:
            yield from heapq.merge(*parts, key=lambda shot: shot.time)
        finally:
            for part in parts:
                part.close()

    def _shares(self, needed: np.ndarray) -> list[tuple[np.ndarray, int]]:
        """For each decoder, which packets it is to be fed with, and its threads (0: as many as there are cores)."""
        group = np.cumsum(self._keys) - 1
        number, count = np.arange(len(needed)), group[-1] + 1
        last = np.full(count, -1)
        np.maximum.at(last, group[needed], number[needed])
        # What is shown before the frame that its group begins with is made of the group before as well.
        joined = np.zeros(count, bool)
        joined[group[needed & (self._seconds < self._seconds[self._keys][group])]] = True
        joined[0] = False
        ends = np.append(np.flatnonzero(self._keys)[1:], len(needed)) - 1
        last[:-1] = np.where(joined[1:], ends[:-1], last[:-1])
        feed = number <= last[group]
        run = np.cumsum((last >= 0) & ~joined) - 1  # runs of groups that can be decoded without any other
        if run[-1] < 2 * _DECODERS:
            return [(feed, 0)]
        return [(feed & (run[group] % _DECODERS == decoder), 1) for decoder in range(_DECODERS)]

    def _decode(self, needed: np.ndarray, feed: np.ndarray, threads: int) -> Iterator[Shot]:
        due = set(self._stamps[needed & feed].tolist())
        wanted, failed = len(due), ""
        with self._open() as container:
            stream = container.streams.video[0]
            decoder = stream.codec_context
            decoder.thread_type, decoder.thread_count = "AUTO", threads
            skips = decoder.name in _SKIPPING
            packets = _packets(container, stream)
            for number, packet in enumerate(self._frames_of_packets(packets, feed)):
                if packet is None:
                    continue
                try:
                    if number and not feed[number - 1]:  # another group's frames are no reference for what follows
                        yield from self._due(decoder.decode(None), due)
                        decoder.flush_buffers()
                    if skips:
                        decoder.skip_frame = "DEFAULT" if needed[number] else "NONREF"
                    yield from self._due(decoder.decode(packet), due)
                except av.FFmpegError as error:  # the next ones may be whole
                    failed = reason(error)
            try:
                yield from self._due(decoder.decode(None), due)
            except av.FFmpegError as error:
                failed = reason(error)
        self.lost += len(due)
        if failed and len(due) == wanted:
            raise InputError(f"{self.path}: the video cannot be decoded ({failed})")

    def _frames_of_packets(self, packets: Iterator[av.Packet], feed: np.ndarray) -> Iterator[av.Packet | None]:
        """The packets that are to be decoded, None for the others; they end where the file breaks off."""
        with suppress(av.FFmpegError):
            for fed, packet in zip(feed, packets, strict=False):
                yield packet if fed else None

    def _due(self, frames: Sequence[av.VideoFrame], due: set[int]) -> Iterator[Shot]:
        for frame in frames:
            if frame.pts in due:
                due.discard(frame.pts)
                yield self._shot(frame)

    def _shot(self, frame: av.VideoFrame) -> Shot:
        if frame.format.name in _LUMA_FIRST:
            plane: Any = frame.planes[0]  # a buffer, which its types do not say
            luma = np.frombuffer(plane, np.uint8).reshape(-1, plane.line_size)[:frame.height, :frame.width]
            limited = frame.color_range != _FULL_RANGE and not frame.format.name.startswith(("yuvj", "gray"))
        else:
            grey: Any = frame.to_ndarray(format="gray")
            luma, limited = grey, False
        return Shot(((frame.pts or 0) - self._first) * self._base, upright(luma, frame), limited, frame)

    def _open(self):
        try:
            return av.open(str(self.path))
        except av.FFmpegError as error:
            raise InputError(f"{self.path}: not a readable video ({reason(error)})") from None
        except OSError as error:
            raise InputError(f"{self.path}: cannot be read ({reason(error)})") from None

    def _rotation(self) -> int:
        """Degrees by which the first frame that can be decoded is turned; 0 if there is none."""
        with self._open() as container, suppress(av.FFmpegError):
            return next((frame.rotation for frame in container.decode(video=0)), 0)
        return 0

    def _read_index(self) -> tuple[np.ndarray, np.ndarray]:
        """Time stamps and key flags of all packets, in the order of decoding."""
        with self._open() as container:
            if not container.streams.video:
                raise InputError(f"{self.path}: has no video track; use the recording of the meeting's screen")
            stream = container.streams.video[0]
            context = stream.codec_context
            self.size = turned_size(context.width, context.height, self._rotation())
            self._base = float(stream.time_base)
            self._start = (container.start_time or 0) / av.time_base
            stamps = []
            try:
                for packet in _packets(container, stream):
                    stamps.append((packet.pts, packet.is_keyframe))
            except av.FFmpegError as error:
                self.cut_off = True
                if not stamps:
                    raise InputError(f"{self.path}: the video cannot be read ({reason(error)})") from None
        if not stamps:
            raise InputError(f"{self.path}: the video has no frames")
        times, keys = zip(*stamps, strict=True)
        flags = np.array(keys, bool)
        flags[0] = True
        return np.array(times, np.int64), flags


def ahead(items: Iterator, room: int = _AHEAD) -> Generator:
    """The same items, made by a thread that is at most `room` ahead: decoding runs without Python's lock."""
    made: queue.Queue = queue.Queue(room)
    stop = threading.Event()

    def make() -> None:
        try:
            for item in items:
                if not _put(made, (item, None), stop):
                    return
            _put(made, (None, StopIteration()), stop)
        except Exception as error:  # handed over to whoever takes the items
            _put(made, (None, error), stop)

    thread = threading.Thread(target=make, name="decoder", daemon=True)
    thread.start()
    try:
        while True:
            item, error = made.get()
            if isinstance(error, StopIteration):
                return
            if error:
                raise error
            yield item
    finally:
        stop.set()
        thread.join()


def _put(made: queue.Queue, item: tuple, stop: threading.Event) -> bool:
    """Hand over an item; false when nobody takes any more."""
    while not stop.is_set():
        try:
            made.put(item, timeout=0.2)
            return True
        except queue.Full:
            continue
    return False


def _packets(container, stream) -> Iterator[av.Packet]:
    """Packets that hold a frame with a time."""
    return (packet for packet in container.demux(stream) if packet.size and packet.pts is not None)
