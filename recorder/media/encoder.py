"""Encodes a recording's video in a separate process, so that the recorder never waits for it.

`python -m recorder.media.encoder PATH` reads frames from its standard input, each a header (seconds of the recording,
bytes) and a picture, and ends with the input: also when the recorder was killed, so that the file is whole then, too.
"""

import io
import struct
import sys
from collections.abc import Iterator
from fractions import Fraction
from typing import BinaryIO

import av
from av.video.frame import PictureType

HEADER = struct.Struct("<dI")
SHORT_CLUSTERS = {"cluster_time_limit": "1000", "live": "1"}  # a cut-off file plays to its last cluster
_MILLISECOND = Fraction(1, 1000)
_FAST = {"deadline": "realtime", "cpu-used": "16", "static-thresh": "100", "lag-in-frames": "0", "crf": "12",
         "b": "4M", "threads": "1"}  # a second thread costs more than it does: nobody waits
_PNG = b"\x89PNG"


def frames(source: BinaryIO) -> Iterator[tuple[float, av.VideoFrame]]:
    """Time and picture of each frame, until the source ends, be it amidst a frame. Raises av.FFmpegError."""
    before = None
    while len(header := source.read(HEADER.size)) == HEADER.size:
        time, length = HEADER.unpack(header)
        if len(content := source.read(length)) < length:
            return
        if content != before:
            before, picture = content, _picture(content)
        yield time, picture


def _picture(content: bytes) -> av.VideoFrame:
    """A picture file as a frame."""
    if content.startswith(_PNG):  # in half the time: as a file it would be decoded once more, to see what it is
        decoder = av.CodecContext.create("png", "r")  # a new one each time: it goes on from the picture before
        decoder.thread_count = 1
        return decoder.decode(av.Packet(content))[0]
    with av.open(io.BytesIO(content), "r") as file:
        return next(file.decode(video=0))


def encode(path: str, source: BinaryIO) -> None:
    """Write the frames as a WebM. The first one fixes the size; others are fitted into it."""
    with av.open(path, "w", format="webm", options=SHORT_CLUSTERS) as container:
        stream, fit, last = None, None, -1
        for time, picture in frames(source):
            if time * 1000 < last:
                continue  # it came after a newer one
            if stream is None:
                stream = container.add_stream("libvpx", rate=30, options=_FAST)
                stream.width, stream.height = picture.width - picture.width % 2, picture.height - picture.height % 2
                stream.pix_fmt = "yuv420p"
                stream.time_base = stream.codec_context.time_base = _MILLISECOND
            if fit is None or not fit.fits(picture):
                fit = _Scaler(picture, stream.width, stream.height)
            last = max(last + 1, round(time * 1000))
            fitted = fit(picture)
            fitted.pts, fitted.time_base, fitted.pict_type = last, _MILLISECOND, PictureType.NONE
            container.mux(stream.encode(fitted))
        if stream is not None:
            container.mux(stream.encode())


class _Scaler:
    """Makes pictures of one size and kind into those of another size: as they are when they fit by cutting one pixel,
    else scaled and padded."""

    def __init__(self, picture: av.VideoFrame, width: int, height: int):
        self._kind = picture.width, picture.height, picture.format.name
        steps = [("crop", f"{width}:{height}:0:0")]
        if (picture.width - picture.width % 2, picture.height - picture.height % 2) != (width, height):
            steps = [("scale", f"{width}:{height}:flags=area:force_original_aspect_ratio=decrease"),
                     ("pad", f"{width}:{height}")]
        self._graph = av.filter.Graph()
        self._graph.threads = 1
        nodes = [self._graph.add_buffer(width=picture.width, height=picture.height, format=picture.format,
                                        time_base=_MILLISECOND),
                 *(self._graph.add(name, arguments) for name, arguments in steps),
                 self._graph.add("scale", "out_range=tv"),  # a JPEG's brightness has another range
                 self._graph.add("format", "yuv420p"), self._graph.add("buffersink")]
        for first, next_ in zip(nodes, nodes[1:], strict=False):
            first.link_to(next_)
        self._graph.configure()

    def fits(self, picture: av.VideoFrame) -> bool:
        return self._kind == (picture.width, picture.height, picture.format.name)

    def __call__(self, picture: av.VideoFrame) -> av.VideoFrame:
        picture.pts, picture.time_base = None, _MILLISECOND
        self._graph.vpush(picture)
        return self._graph.vpull()


def main() -> None:
    encode(sys.argv[1], sys.stdin.buffer)


if __name__ == "__main__":
    main()
