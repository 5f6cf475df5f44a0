"""The audio of a video: its tracks, each as samples for recognisers."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import av
import numpy as np
from av.audio.frame import AudioFrame

from schemas import InputError, limits
from schemas.files import reason

RATE = 16_000  # samples a second
_GAP = 0.1  # seconds that may be missing between two frames without being filled up
_LONGEST = 80  # characters of a track's name


@dataclass(frozen=True)
class Track:
    """A track of sound of `path`. `number` counts from 1; `name`: as the file names it, empty where it does not;
    `language`: as the file tells it, such as `eng`, empty where it does not."""

    path: Path
    number: int
    name: str = ""
    language: str = ""


def tracks_of(path: Path) -> list[Track]:
    """The tracks of sound in a video, none where it is silent; raises InputError when it cannot be read."""
    with _open(path) as container:
        return [Track(path, number, *(" ".join(stream.metadata.get(key, "").split())[:_LONGEST]
                                      for key in ("title", "language")))
                for number, stream in enumerate(container.streams.audio, 1)]


def samples_of(track: Track) -> np.ndarray:
    """A track as mono float32 at RATE, from the file's own start: what is missing is silence.

    Raises InputError when nothing of it can be decoded, or it is longer than limits.SOUND_SECONDS.
    """
    sound = bytearray()
    for frame in _frames(track):
        middle = len(sound) // 4
        begins = middle if frame.pts is None else round(frame.pts * float(frame.time_base or 0) * RATE)
        if begins > limits.SOUND_SECONDS * RATE or middle > limits.SOUND_SECONDS * RATE:
            raise InputError(f"{track.path}: its sound is longer than {limits.SOUND_SECONDS // 3600} hours; shorten it")
        if begins - middle > _GAP * RATE:
            sound.extend(bytes(4 * (begins - middle)))
        sound.extend(frame.to_ndarray().tobytes())
    if not sound:
        raise InputError(f"{track.path}: its sound (track {track.number}) cannot be decoded")
    return np.frombuffer(sound, np.float32)


def _frames(track: Track) -> Iterator[AudioFrame]:
    """Frames at RATE, their times counted from the file's start; damaged packets are passed over."""
    with _open(track.path) as container:
        stream = container.streams.audio[track.number - 1]
        start = (container.start_time or 0) / av.time_base
        resampler = av.AudioResampler(format="flt", layout="mono", rate=RATE)
        try:
            for packet in container.demux(stream):
                try:
                    frames = packet.decode()
                except av.FFmpegError:
                    continue
                for frame in frames:
                    if not isinstance(frame, AudioFrame):
                        continue
                    if frame.pts is not None and frame.time_base:
                        frame.pts -= round(start / float(frame.time_base))
                    yield from resampler.resample(frame)
            yield from resampler.resample(None)
        except av.FFmpegError:
            return  # the file breaks off: what is whole was told


def _open(path: Path):
    try:
        return av.open(str(path))
    except av.FFmpegError as error:
        raise InputError(f"{path}: not a readable video ({reason(error)})") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({reason(error)})") from None
