"""The input of a judge from a recording: the task, the navigator's answer, and the last screenshots."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import cv2

from recorder import Recording
from recorder.pictures import decode_picture
from schemas import DemonstrationSchema, InputError
from schemas.files import read_json
from schemas.text import well_formed
from schemas.types.recordings import Demonstration, State, Turn

WIDTH = 1280  # pixels of a picture that is sent, at most
QUALITY = 85  # of JPEG


@dataclass(frozen=True)
class Trajectory:
    """`answer`: empty where nobody answered. `pictures`: JPEG files, the oldest first."""

    id: str
    task: str
    answer: str
    pictures: tuple[bytes, ...]


def open_processed(path: Path) -> tuple[Recording, Demonstration]:
    """A recording with its demonstration; raises InputError where it was not processed, or cannot be read."""
    recording = Recording(path)
    if not recording.layout.demonstration.is_file():
        raise InputError(f"{path}: not processed yet; run demotape process {path}")
    demonstration: Demonstration = well_formed(read_json(recording.layout.demonstration, DemonstrationSchema()))
    return recording, demonstration


def read_trajectory(path: Path, last: int, answer: str | None = None) -> Trajectory:
    """What is to be judged of the recording at `path`: its `last` screenshots, and `answer` instead of the navigator's.

    Raises InputError where it has no task or no screenshot, or cannot be read.
    """
    recording, demonstration = open_processed(path)
    if not demonstration["task"].strip():
        raise InputError(f"{path}: has no task, so it cannot be judged")
    names = select_turns(demonstration["turns"], recording.manifest.get("last_state"))[-last:]
    if not names:
        raise InputError(f"{path}: has no screenshot, so it cannot be judged")
    pictures = tuple(_as_sent(recording.blob(name), f"{path}: screenshot {name}") for name in names)
    said = last_answer(demonstration["turns"]) if answer is None else answer
    return Trajectory(recording.id, demonstration["task"], said, pictures)


def last_answer(turns: Sequence[Turn]) -> str:
    """The last that the navigator said; empty where that is nothing."""
    said = [turn["utterance"] for turn in turns
            if turn["type"] == "chat" and turn["speaker"] == "navigator" and not turn.get("dropped")]
    return said[-1] if said else ""


def select_turns(turns: Sequence[Turn], last_state: State | None) -> list[str]:
    """Names of the screenshots before each action, and of the one after the last, without repetitions.

    What came after the last action is what the next one, which was dropped, began with; else what was shown when the
    recording ended.
    """
    acted = [turn for turn in turns if turn["type"] == "browser"]
    numbers = [number for number, turn in enumerate(acted) if not turn["dropped"]]
    if not numbers:
        return []
    after = acted[numbers[-1] + 1]["state"] if numbers[-1] + 1 < len(acted) else last_state
    states = [*(acted[number]["state"] for number in numbers), after]
    names = [state["screenshot"] for state in states if state]
    return [name for name, before in zip(names, [None, *names], strict=False) if name and name != before]


def _as_sent(content: bytes, where: str) -> bytes:
    """The picture as JPEG, at most so wide; raises InputError for one that cannot be read."""
    pixels = decode_picture(content)
    if pixels is None:
        raise InputError(f"{where}: cannot be read, or is too large")
    height, width = pixels.shape[:2]
    if width > WIDTH:
        pixels = cv2.resize(pixels, (WIDTH, max(1, round(height * WIDTH / width))), interpolation=cv2.INTER_AREA)
    return cv2.imencode(".jpg", pixels, [cv2.IMWRITE_JPEG_QUALITY, QUALITY])[1].tobytes()
