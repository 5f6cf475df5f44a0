"""Videos with audio: speech by espeak-ng if it is installed, otherwise tones; with known times of the speech."""

import io
import shutil
import subprocess
import wave
from fractions import Fraction
from pathlib import Path

import av
import numpy as np

RATE = 16_000


def spoken(text: str) -> np.ndarray:
    """Samples of somebody saying it, mono float32 at RATE: by espeak-ng, else a tone as long as the words take."""
    if not (program := shutil.which("espeak-ng")):
        return 0.3 * np.sin(2 * np.pi * 220 * np.arange(int(0.08 * RATE * len(text))) / RATE).astype(np.float32)
    made = subprocess.run([program, "--stdout", text], check=True, capture_output=True).stdout
    with wave.open(io.BytesIO(made)) as sound:
        found = np.frombuffer(sound.readframes(sound.getnframes()), np.int16).astype(np.float32) / 32768
        rate = sound.getframerate()
    at = np.arange(int(len(found) * RATE / rate)) * rate / RATE
    return np.interp(at, np.arange(len(found)), found).astype(np.float32)


def track(length: float, said: dict[float, np.ndarray]) -> np.ndarray:
    """Samples of a track of so many seconds in which things are said at given seconds."""
    samples = np.zeros(int(length * RATE), np.float32)
    for time, sound in said.items():
        start = int(time * RATE)
        samples[start:start + len(sound)] += sound[:len(samples) - start]
    return samples


def video_with(path: Path, tracks: list[np.ndarray], *, length: float = 4.0, names: tuple[str, ...] = (),
               late: float = 0.0) -> Path:
    """Write a video of grey frames with these tracks of sound; `late`: second at which the pictures begin."""
    with av.open(str(path), "w") as container:
        pictures = container.add_stream("libx264", rate=5)
        pictures.width, pictures.height, pictures.pix_fmt = 320, 200, "yuv420p"
        sounds = [container.add_stream("aac", rate=RATE, layout="mono") for _ in tracks]
        for stream, name in zip(sounds, names, strict=False):
            stream.metadata["title"] = name
        for number in range(int((length - late) * 5)):
            frame = av.VideoFrame.from_ndarray(np.full((200, 320, 3), 90 + number, np.uint8), format="bgr24")
            frame.pts, frame.time_base = number + int(late * 5), Fraction(1, 5)
            container.mux(pictures.encode(frame))
        container.mux(pictures.encode())
        for stream, samples in zip(sounds, tracks, strict=True):
            for at in range(0, len(samples), 1024):
                frame = av.AudioFrame.from_ndarray(samples[None, at:at + 1024], format="fltp", layout="mono")
                frame.sample_rate, frame.pts, frame.time_base = RATE, at, Fraction(1, RATE)
                container.mux(stream.encode(frame))
            container.mux(stream.encode())
    return path
