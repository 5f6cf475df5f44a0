"""Copies of a recording with a fault or with idle time put in, made for alignment. The original stays as it is.

A copy has no video of its own: what is on the screen must be found in the external one alone.
"""

import hashlib
import json
import os
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import av
import cv2
import numpy as np
import zstandard

from pipeline.turns.folding import fold
from recorder import Recording
from schemas import RecordingLayout
from schemas.files import dump_line
from schemas.types.recordings import BrowserTurn, Event

LATE = 0.5  # seconds: WebLINX's fault
_CHANGED = 40  # grey levels: more than the coding of the own video adds


@dataclass(frozen=True)
class Fault:
    """A replaced screenshot: the blob that was right, the late one, and where the screen had changed meanwhile."""

    right: str
    late: str
    changed: np.ndarray


def copy(source: Path, target: Path, *, time: Callable[[float], float] = lambda moment: moment,
         late: bool = False) -> dict[str, Fault]:
    """Copy a recording with times changed by `time`; with `late`, every second action's screenshot is replaced by one
    taken 500 ms after the action, and no screenshots are left but one an action. Returns the faults by turn.
    """
    old, new = RecordingLayout(source), RecordingLayout(target)
    new.root.mkdir(parents=True)
    for folder in old.blobs.iterdir():
        (new.blobs / folder.name).mkdir(parents=True)
        for blob in folder.iterdir():
            os.link(blob, new.blobs / folder.name / blob.name)
    for name in (new.manifest.name, new.chat.name, new.resources.name):
        (new.root / name).write_bytes((old.root / name).read_bytes())
    recording = Recording(source)
    turns = fold(recording.events)
    faults = _faults(recording, turns, new) if late else {}
    kept = {int(turn["id"].removeprefix("turn-")) for turn in turns} if late else None
    by_event = {int(name.removeprefix("turn-")): fault.late for name, fault in faults.items()}
    with new.events.open("wb") as file:
        for event in recording.raw_events():
            file.write(dump_line(_changed(event, time, by_event, kept)))
    return faults


def _changed(event: Event, time: Callable[[float], float], late: dict[int, str], kept: set[int] | None) -> Event:
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


def _faults(recording: Recording, turns: list[BrowserTurn], target: RecordingLayout) -> dict[str, Fault]:
    """Every second action with a screenshot: what the recording's own video shows 500 ms after it, kept as a blob."""
    chosen = [turn for turn in turns if turn["state"] and turn["state"]["screenshot"]][1::2]
    times = sorted({moment for turn in chosen for moment in (turn["timestamp"], turn["timestamp"] + LATE)})
    frames = dict(zip(times, _shown(recording.layout.video, times), strict=True))
    found = {}
    for turn in chosen:
        before, after = frames[turn["timestamp"]], frames[turn["timestamp"] + LATE]
        content = cv2.imencode(".bmp", after)[1].tobytes()
        name = hashlib.sha256(content).hexdigest()
        path = target.blob(name)
        path.parent.mkdir(exist_ok=True)
        if not path.exists():
            path.write_bytes(zstandard.ZstdCompressor(level=1).compress(content))
        changed = cv2.absdiff(*(cv2.cvtColor(frame, cv2.COLOR_BGR2GRAY) for frame in (before, after))) > _CHANGED
        found[turn["id"]] = Fault(turn["state"]["screenshot"], name, changed)
    return found


def _shown(video: Path, times: list[float]) -> Iterator[np.ndarray]:
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
