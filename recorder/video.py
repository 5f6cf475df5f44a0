"""The painted frames as a WebM video, each at its true time, playable also when the recorder is killed."""

import queue
import threading
from fractions import Fraction
from pathlib import Path
from typing import Protocol

import av
import cv2
import numpy as np

from .frames import Frame
from .priority import step_back

_BACKLOG = 500  # frames that may wait; a page that paints faster than we encode loses frames of the video only
_SHORT_CLUSTERS = {"cluster_time_limit": "1000", "live": "1"}  # a cut-off file plays to its last cluster


class Video(Protocol):
    """What writes a recording's video; `dropped` and `error` say what is missing."""

    dropped: int
    error: Exception | None

    def add(self, frame: Frame) -> None: ...
    def close(self) -> None: ...


class VideoWriter:
    """Encodes in a thread of its own. The first frame fixes the size; others are fitted into it."""

    def __init__(self, path: Path):
        self._path = path
        self._queue: queue.Queue[Frame | None] = queue.Queue(_BACKLOG)
        self._thread = threading.Thread(target=self._encode, name="video", daemon=True)
        self._thread.start()
        self.dropped = 0
        self.error: Exception | None = None

    def add(self, frame: Frame) -> None:
        """Queue a frame; never waits."""
        try:
            self._queue.put_nowait(frame)
        except queue.Full:
            self.dropped += 1

    def close(self) -> None:
        """Encode what waits and close the file."""
        while self._thread.is_alive():
            try:
                self._queue.put(None, timeout=0.5)
                break
            except queue.Full:
                continue
        self._thread.join()

    def _encode(self) -> None:
        step_back(10)
        try:
            self._encode_all()
        except Exception as error:  # a failed video must not end the recording; the recorder reports it
            self.error = error

    def _encode_all(self) -> None:
        first = self._queue.get()
        if first is None:
            return
        height, width = _decode(first).shape[:2]
        width, height = width - width % 2, height - height % 2
        with av.open(str(self._path), "w", format="webm", options=_SHORT_CLUSTERS) as container:
            stream = container.add_stream("libvpx", rate=30, options={
                "deadline": "realtime", "cpu-used": "8", "lag-in-frames": "0", "crf": "12", "b": "4M"})
            stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
            stream.time_base = stream.codec_context.time_base = Fraction(1, 1000)
            last, frame = -1, first
            while frame is not None:
                pts = max(last + 1, round(frame.time * 1000))
                picture = av.VideoFrame.from_ndarray(_fit(_decode(frame), width, height), format="bgr24")
                picture.pts, picture.time_base, last = pts, Fraction(1, 1000), pts
                container.mux(stream.encode(picture))
                frame = self._queue.get()
            container.mux(stream.encode())


class PacketVideo:
    """Writes a video that somebody else has encoded as VP8, each packet at its own time; frames are not needed."""

    def __init__(self, path: Path):
        self._path = path
        self._container = None
        self._last = -1
        self.dropped = 0
        self.error: Exception | None = None

    def add(self, frame: Frame) -> None:
        """Frames are in the packets already."""

    def packet(self, content: bytes, time: float, key: bool, size: tuple[int, int]) -> None:
        """Append a packet; `time` in seconds of the recording, `size` of the picture as (width, height)."""
        if self.error or (self._container is None and not key):
            self.dropped += 1
            return
        try:
            if self._container is None:
                self._open(size)
            packet = av.Packet(content)
            self._last = max(self._last + 1, round(time * 1000))
            packet.pts = packet.dts = self._last
            packet.time_base, packet.stream, packet.is_keyframe = Fraction(1, 1000), self._stream, key
            self._container.mux(packet)
        except (av.FFmpegError, ValueError) as error:
            self.error = error

    def close(self) -> None:
        """Close the file."""
        if self._container is not None:
            self._container.close()

    def _open(self, size: tuple[int, int]) -> None:
        self._container = av.open(str(self._path), "w", format="webm", options=_SHORT_CLUSTERS)
        self._stream = self._container.add_mux_stream("vp8", width=size[0], height=size[1], pix_fmt="yuv420p")
        self._stream.time_base = Fraction(1, 1000)


def _decode(frame: Frame) -> np.ndarray:
    return cv2.imdecode(np.frombuffer(frame.image, np.uint8), cv2.IMREAD_COLOR)


def _fit(image: np.ndarray, width: int, height: int) -> np.ndarray:
    """The image in a canvas of that size: as it is if it fits by cutting one pixel, else scaled and padded."""
    rows, columns = image.shape[:2]
    if rows - rows % 2 == height and columns - columns % 2 == width:
        return np.ascontiguousarray(image[:height, :width])
    scale = min(width / columns, height / rows)
    small = cv2.resize(image, (max(1, int(columns * scale)), max(1, int(rows * scale))), interpolation=cv2.INTER_AREA)
    canvas = np.zeros((height, width, 3), np.uint8)
    canvas[:small.shape[0], :small.shape[1]] = small
    return canvas
