"""Decoding only what is needed gives the same frames as decoding all."""

from contextlib import suppress
from pathlib import Path

import av
import numpy as np
import pytest

from pipeline.align import Video

WHOLE = {"closed": "keyint=24:min-keyint=24:scenecut=0:bframes=3",
         "open": "keyint=24:min-keyint=24:scenecut=0:bframes=3:open-gop=1",
         "one group": "keyint=1000:scenecut=0:bframes=3"}


@pytest.mark.parametrize("groups", WHOLE)
def test_wanted_frames_are_what_decoding_all_gives(groups, tmp_path):
    path = tmp_path / "v.mp4"
    _encode(path, WHOLE[groups])
    with av.open(str(path)) as container:
        all_of_it = [frame.to_ndarray(format="gray") for frame in container.decode(video=0)]
    video = Video(path)
    assert len(all_of_it) == len(video.times) == 288
    keys = np.searchsorted(video.times, video.keys)
    for wanted in ([int(key) - 1 for key in keys[1:]] or [7],  # shown right before a key frame
                   [int(keys[len(keys) // 2]) + 5], range(0, 288, 29), range(288)):
        shots = list(video.shots(video.times[list(wanted)]))
        assert [video.number_at(shot.time) for shot in shots] == list(wanted)
        for number, shot in zip(wanted, shots, strict=True):
            whole = all_of_it[number].astype(int)
            assert np.abs(_full_range(shot) - whole).max() <= 2


def _encode(path: Path, parameters: str) -> None:
    """Twelve seconds of a moving test picture as H.264."""
    graph = av.filter.Graph()
    source, observer = graph.add("testsrc", "size=320x240:rate=24:duration=12"), graph.add("buffersink")
    source.link_to(observer)
    graph.configure()
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=24, options={"x264-params": parameters})
        stream.width, stream.height, stream.pix_fmt = 320, 240, "yuv420p"
        with suppress(av.EOFError):
            while True:
                container.mux(stream.encode(graph.pull()))
        container.mux(stream.encode())


def _full_range(shot) -> np.ndarray:
    luma = shot.luma.astype(float)
    return np.clip((luma - 16) * 255 / 219, 0, 255) if shot.limited else luma
