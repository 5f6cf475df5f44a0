"""Copies of a recording with a fault or with idle time put in, made for alignment. The original stays as it is.

A copy has no video of its own: what is on the screen must be found in the external one alone.
"""

import hashlib
import json
import os
from bisect import bisect_right
from collections.abc import Callable, Iterator
from pathlib import Path

import av
import cv2
import zstandard

from pipeline.actions import fold
from recorder import Recording
from schemas import RecordingLayout
from schemas.files import dump_json, dump_line

LATE = 0.5  # seconds: WebLINX's fault


def copy(source: Path, target: Path, *, time: Callable[[float], float] = lambda moment: moment,
         late: bool = False) -> dict[str, tuple[str, str]]:
    """Copy a recording with times changed by `time`; with `late`, every second action's screenshot is replaced by one
    taken 500 ms after the action, and no other screenshots are left.

    Returns (right blob, late blob) by turn for the screenshots that were replaced.
    """
    old, new = RecordingLayout(source), RecordingLayout(target)
    new.root.mkdir(parents=True)
    for folder in old.blobs.iterdir():
        (new.blobs / folder.name).mkdir(parents=True)
        for blob in folder.iterdir():
            os.link(blob, new.blobs / folder.name / blob.name)
    for path in (new.chat, new.resources):
        path.write_bytes((old.root / path.name).read_bytes())
    new.manifest.write_bytes(old.manifest.read_bytes())
    replaced = _late_pictures(Recording(source), new) if late else {}
    kept = {turn["events"][0] for turn in fold(Recording(source).events)} if late else None
    with new.events.open("wb") as file:
        for event in Recording(source).raw_events():
            file.write(dump_line(_changed(event, time, {seq: pair[1] for seq, pair in replaced.items()}, kept)))
    manifest = json.loads(new.manifest.read_bytes())
    new.manifest.write_bytes(dump_json(manifest))
    return {f"turn-{seq}": pair for seq, pair in replaced.items()}


def _changed(event: dict, time: Callable[[float], float], late: dict[int, str], kept: set[int] | None) -> dict:
    """An event with its times moved and its screenshot exchanged, or taken away when it is no action's first."""
    event = json.loads(json.dumps(event))
    event["time"] = round(time(event["time"]), 4)
    data, state = event["data"], event["state"]
    seq = data.get("event", event["seq"]) if event["type"] == "screenshot" else event["seq"]
    for place in (data, state):
        if place and place.get("screenshot"):
            place["screenshot_time"] = round(time(place["screenshot_time"]), 4)
            place["screenshot"] = late.get(seq, place["screenshot"])
    if kept is not None and state and event["seq"] not in kept:
        state["screenshot"] = state["screenshot_time"] = None
    return event


def _late_pictures(recording: Recording, target: RecordingLayout) -> dict[int, tuple[str, str]]:
    """By number of the event: the right blob, and one of the recording's own video 500 ms after the action."""
    turns = [turn for turn in fold(recording.events) if turn["state"] and turn["state"]["screenshot"]][1::2]
    wanted = sorted((turn["timestamp"] + LATE, turn["id"]) for turn in turns)
    frames = _shown(recording.layout.video, [time for time, _ in wanted])
    late = {name: picture for (_, name), picture in zip(wanted, frames, strict=True)}
    found = {}
    for turn in turns:
        content = cv2.imencode(".bmp", late[turn["id"]])[1].tobytes()
        name = hashlib.sha256(content).hexdigest()
        path = target.blob(name)
        path.parent.mkdir(exist_ok=True)
        if not path.exists():
            path.write_bytes(zstandard.ZstdCompressor(level=1).compress(content))
        found[turn["events"][0]] = (turn["state"]["screenshot"], name)
    return found


def _shown(video: Path, times: list[float]) -> Iterator:
    """What a video shows at growing times, as pictures (BGR)."""
    with av.open(str(video)) as container:
        frames = ((float(frame.pts * frame.time_base), frame) for frame in container.decode(video=0))
        now, after = None, next(frames, None)
        for time in times:
            while after and (after[0] <= time or now is None):
                now, after = after, next(frames, None)
            yield now[1].to_ndarray(format="bgr24")


def idle(times: list[float], length: float, total: float) -> tuple[Callable, Callable]:
    """Functions that put idle time before each of these moments, so that `length` seconds become `total`, and back."""
    extra = (total - length) / len(times)
    starts = [moment + number * extra for number, moment in enumerate(times)]  # where idle time begins, afterwards

    def forward(moment: float) -> float:
        return moment + bisect_right(times, moment) * extra

    def back(moment: float) -> float:
        number = bisect_right(starts, moment)
        if number and moment < starts[number - 1] + extra:
            return times[number - 1] - 1e-6
        return moment - number * extra

    return forward, back
