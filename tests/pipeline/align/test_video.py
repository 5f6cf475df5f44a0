"""Decoding only what is needed gives the same frames as decoding all."""

from contextlib import suppress
from functools import cache
from pathlib import Path

import av
import numpy as np
import pytest

from pipeline.align import Video

WHOLE = {"closed": ("libx264", "v.mp4", {"x264-params": "keyint=24:min-keyint=24:scenecut=0:bframes=3"}),
         "open": ("libx264", "v.mp4", {"x264-params": "keyint=24:min-keyint=24:scenecut=0:bframes=3:open-gop=1"}),
         "one group": ("libx264", "v.mp4", {"x264-params": "keyint=1000:scenecut=0:bframes=3"}),
         "H.265": ("libx265", "v.mkv", {"x265-params": "keyint=24:bframes=3:log-level=none", "preset": "veryfast"}),
         "VP8": ("libvpx", "v.webm", {"g": "24", "auto-alt-ref": "1", "lag-in-frames": "16", "cpu-used": "5"}),
         "VP9": ("libvpx-vp9", "v.webm", {"g": "24", "auto-alt-ref": "1", "lag-in-frames": "16", "cpu-used": "8"}),
         "AV1": ("libsvtav1", "v.mkv", {"preset": "12"})}


@pytest.fixture(scope="module")
def encoded(tmp_path_factory):
    """The path of a video of each kind; made once."""
    @cache
    def make(groups: str) -> Path:
        codec, name, options = WHOLE[groups]
        path = tmp_path_factory.mktemp("video") / name
        _encode(path, codec, options)
        return path

    return make


@pytest.mark.parametrize("groups", WHOLE)
def test_wanted_frames_are_what_decoding_all_gives(groups, encoded):
    path = encoded(groups)
    with av.open(str(path)) as container:
        all_of_it = [frame.to_ndarray(format="gray") for frame in container.decode(video=0)]
    video = Video(path)
    assert len(all_of_it) == len(video.times) == 288
    keys = np.searchsorted(video.times, video.keys)
    for wanted in ([int(key) - 1 for key in keys[1:]] or [7],  # shown right before a key frame
                   [int(keys[len(keys) // 2]) + 5], range(0, 288, 29), range(3, 288, 17), range(288)):
        shots = list(video.shots(video.times[list(wanted)]))
        assert [video.number_at(shot.time) for shot in shots] == list(wanted)
        for number, shot in zip(wanted, shots, strict=True):
            whole = all_of_it[number].astype(int)
            assert np.abs(_full_range(shot) - whole).max() <= 2


@pytest.mark.parametrize("groups", ["H.265", "VP9", "AV1"])
@pytest.mark.parametrize("harm", ["cut off", "bytes changed"])
def test_a_damaged_video_gives_what_there_is_of_it(groups, harm, tmp_path, encoded):
    path = tmp_path / encoded(groups).name
    content = bytearray(encoded(groups).read_bytes())
    if harm == "cut off":
        content = content[:len(content) * 2 // 3]
    else:
        chance = np.random.default_rng(1)
        for place in chance.integers(len(content) // 3, len(content) - 5000, 6):
            content[place:place + 200] = chance.bytes(200)
    path.write_bytes(content)
    video = Video(path)
    for wanted in (range(len(video.times)), range(0, len(video.times), 29)):
        shots = list(video.shots(video.times[list(wanted)]))
        times = [shot.time for shot in shots]
        assert times == sorted(times) and set(times) <= set(video.times[list(wanted)])
        assert len(shots) > len(wanted) // 3
        assert video.lost >= len(wanted) - len(shots)


def _encode(path: Path, codec: str, options: dict[str, str]) -> None:
    """Twelve seconds of a moving test picture."""
    graph = av.filter.Graph()
    source, observer = graph.add("testsrc", "size=160x120:rate=24:duration=12"), graph.add("buffersink")
    source.link_to(observer)
    graph.configure()
    with av.open(str(path), "w") as container:
        stream = container.add_stream(codec, rate=24, options=options)
        stream.width, stream.height, stream.pix_fmt = 160, 120, "yuv420p"
        with suppress(av.EOFError):
            while True:
                container.mux(stream.encode(graph.pull()))
        container.mux(stream.encode())


def _full_range(shot) -> np.ndarray:
    luma = shot.luma.astype(float)
    return np.clip((luma - 16) * 255 / 219, 0, 255) if shot.limited else luma


@pytest.mark.parametrize("degrees", [90, 180, -90])
def test_a_video_that_is_stored_turned_is_shown_upright(tmp_path, degrees):
    path = tmp_path / "turned.mp4"
    shown = np.zeros((120, 200, 3), np.uint8)
    shown[:40, :60] = 0, 0, 255  # blue, in the upper left corner
    stored = np.ascontiguousarray(np.rot90(shown, -degrees // 90))
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=10)
        stream.width, stream.height, stream.pix_fmt = stored.shape[1], stored.shape[0], "yuv420p"
        stream.set_display_rotation(degrees)
        for _ in range(5):
            container.mux(stream.encode(av.VideoFrame.from_ndarray(stored, "rgb24")))
        container.mux(stream.encode())
    video = Video(path)
    assert video.size == (200, 120)
    [shot, *_] = video.shots(video.times[:2])
    for pixels, blue in ((shot.colour(), 0), (shot.small_colour(100), 2)):
        assert pixels.shape[:2] in ((120, 200), (60, 100))
        half, corner = pixels.shape[1] // 2, pixels[:pixels.shape[0] // 4, :pixels.shape[1] // 4]
        assert corner[..., blue].mean() > 150 and pixels[:, half:, blue].mean() < 60
    assert shot.luma.shape == (120, 200) and shot.luma[:30, :50].mean() > shot.luma[60:, 100:].mean() + 10
