"""The painted frames as a WebM video, each at its true time, playable also if the recorder is killed."""

import math
import os
import queue
import subprocess
import sys
import threading
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import Protocol

import av
from av.container import OutputContainer

from recorder.priority import set_group_niceness, step_back
from schemas import DemotapeError

from . import encoder
from .painted_frames import PaintedFrame

_FRAME_INTERVAL_S = 0.1  # seconds between two frames
_BACKLOG = 500  # frames that may wait; a page that paints faster than we encode loses frames of the video only


class Video(Protocol):
    """What writes a recording's video; `dropped` and `error` say what is missing."""

    dropped: int
    error: Exception | None

    def add(self, frame: PaintedFrame) -> None: ...
    def close(self) -> None: ...


def problems_of(video: Video) -> list[str]:
    """What went wrong with a video that is closed, a sentence each."""
    problems = [f"the video could not be written: {video.error}"] if video.error else []
    if video.dropped:
        problems.append(f"the video lacks {video.dropped} painted frames; screenshots are not affected")
    return problems


class VideoWriter:
    """Hands frames to a process that encodes them (recorder/media/encoder.py). The first one fixes the size.

    At most ten a second: a frame that stood for less than a tenth of one is left out, but never the last.
    """

    def __init__(self, path: Path):
        self._queue: queue.Queue[PaintedFrame | None] = queue.Queue(_BACKLOG)
        self._process = subprocess.Popen(
            [sys.executable, "-P", encoder.__file__, str(path.absolute())], stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True,  # Ctrl-C does not end it
            env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))})
        step_back(self._process.pid)
        self._thread = threading.Thread(target=self._feed, name="video", daemon=True)
        self._thread.start()
        self._last = -math.inf  # time of the last frame
        self._pending: PaintedFrame | None = None  # came too soon after it; kept if nothing follows
        self.dropped = 0
        self.error: Exception | None = None

    def add(self, frame: PaintedFrame) -> None:
        """Take in a frame; never waits."""
        if self._pending and frame.time - self._pending.time >= _FRAME_INTERVAL_S:
            self._put(self._pending)
        self._pending = None
        if 0 <= frame.time - self._last < _FRAME_INTERVAL_S:
            self._pending = frame
        else:
            self._put(frame)

    def _put(self, frame: PaintedFrame) -> None:
        self._last = frame.time
        try:
            self._queue.put_nowait(frame)
        except queue.Full:
            self.dropped += 1

    def close(self) -> None:
        """Wait until what waits is encoded and the file is closed."""
        if self._pending:
            self._put(self._pending)
        set_group_niceness(self._process.pid, 0)  # the end waits for it
        while self._thread.is_alive():
            try:
                self._queue.put(None, timeout=0.5)
                break
            except queue.Full:
                continue
        self._thread.join()
        messages = self._process.communicate()[1].decode(errors="replace").strip()
        if self._process.returncode:  # a failed video must not end the recording; the recorder reports it
            self.error = DemotapeError(messages.rpartition("\n")[2] or f"encoder ended with {self._process.returncode}")

    def _feed(self) -> None:
        with suppress(BrokenPipeError):  # it has failed, and says why when it is closed
            stdin = self._process.stdin
            while stdin and (frame := self._queue.get()):
                stdin.write(encoder.HEADER.pack(frame.time, len(frame.image)) + frame.image)
                stdin.flush()


class PacketVideo:
    """Writes a video that somebody else has encoded as VP8, each packet at its own time; frames are not needed."""

    def __init__(self, path: Path):
        self._path = path
        self._container: OutputContainer | None = None
        self._last = -1
        self.dropped = 0
        self.error: Exception | None = None

    def add(self, frame: PaintedFrame) -> None:
        """Frames are in the packets already."""

    def packet(self, content: bytes, time: float, key: bool, size: tuple[int, int]) -> None:
        """Append a packet; `time` in seconds of the recording, `size` of the picture as (width, height)."""
        if self.error or (self._container is None and not key):
            self.dropped += 1
            return
        try:
            container = self._open(size) if self._container is None else self._container
            packet = av.Packet(content)
            self._last = max(self._last + 1, round(time * 1000))
            packet.pts = packet.dts = self._last
            packet.time_base, packet.stream, packet.is_keyframe = Fraction(1, 1000), self._stream, key
            container.mux(packet)
        except (av.FFmpegError, ValueError) as error:
            self.error = error

    def close(self) -> None:
        """Close the file."""
        if self._container is not None:
            self._container.close()

    def _open(self, size: tuple[int, int]) -> OutputContainer:
        self._path.touch(mode=0o600)
        self._container = av.open(str(self._path), "w", format="webm", options=encoder.SHORT_CLUSTERS)
        self._stream = self._container.add_mux_stream("vp8", width=size[0], height=size[1], pix_fmt="yuv420p")
        self._stream.time_base = Fraction(1, 1000)
        return self._container
