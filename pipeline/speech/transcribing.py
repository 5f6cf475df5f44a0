"""Transcribes a video with a recogniser: done once, stored as subtitles, and read like others."""

import hashlib
import json
from collections.abc import Sequence
from html import escape
from pathlib import Path

from schemas import InputError
from schemas.files import write_atomically

from .audio import Track, samples_of, tracks_of
from .recognisers import find
from .segments import Segment

UNKNOWN = "unknown"  # the name of who speaks where none is told; pipeline/chat has the same


def transcribe(video: Path, digest: str, recogniser: str, model: str | None, folder: Path) -> Path:
    """Subtitles (WebVTT) of what was said in a video, in `folder`; those of the same video, recogniser and model stay.

    `digest`: the video's SHA-256. Where it has several tracks of sound, each is a speaker. Raises InputError when the
    video has no sound, and when the recogniser or its model cannot be had or fails.
    """
    installed = find(recogniser)
    made = hashlib.sha256(json.dumps([installed.stamp, model, digest]).encode()).hexdigest()
    path = folder / f"recognised-{made[:16]}.vtt"
    if path.is_file() and not path.is_symlink():
        return path
    tracks = tracks_of(video)
    if not tracks:
        raise InputError(f"{video}: has no sound, so --recogniser cannot be used")
    loaded = installed.load_model(model)
    segments = [(_speaker(segment, track, len(tracks)), segment) for track in tracks
                for segment in installed.segments(loaded, samples_of(track), track)]
    ordered = sorted(segments, key=lambda numbered_segment: numbered_segment[1].start)
    write_atomically(path, as_webvtt(ordered).encode("utf-8", "replace"))
    return path


def as_webvtt(segments: Sequence[tuple[str, Segment]]) -> str:
    """Segments with the name of who speaks, empty where it is not known, as WebVTT."""
    cues = [f"{_time(segment.start)} --> {_time(segment.end)}\n{_voice(name)}{text}\n" for name, segment in segments
            if (text := escape(" ".join(segment.text.split()), quote=False))]
    return "\n".join(["WEBVTT\n", *cues])


def _speaker(segment: Segment, track: Track, tracks: int) -> str:
    return segment.speaker or ((track.name or f"track {track.number}") if tracks > 1 else "")


def _voice(name: str) -> str:
    """Always one: without any, what stands before a colon would be taken for a name."""
    return f"<v {escape(' '.join(name.split())[:100], quote=False) or UNKNOWN}>"


def _time(seconds: float) -> str:
    milliseconds = round(seconds * 1000)
    minutes, rest = divmod(milliseconds, 60_000)
    return f"{minutes // 60:02d}:{minutes % 60:02d}:{rest // 1000:02d}.{rest % 1000:03d}"
