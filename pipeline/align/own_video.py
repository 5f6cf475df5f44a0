"""The recording's video: it shares the recording's clock, so every turn's time in it is known."""

from collections.abc import Callable

import numpy as np

from recorder import Recording
from schemas.addresses import is_empty_page
from schemas.types.recordings import BrowserTurn, Turn, TurnState

from .pictures.screenshots import is_blank
from .pictures.video import Video

_LATE = 0.001  # seconds after the action from which on a screenshot was painted too late


def align_to_own_video(recording: Recording, turns: list[Turn], encode: Callable[[np.ndarray], bytes],
          store_blob: Callable[[bytes], str]) -> list[Turn]:
    """Turns with `video_time`; a screenshot that is missing, blank or painted after its action gives way to the frame.

    Raises InputError when the video is needed and cannot be read.
    """
    due = [turn for turn in turns if turn["type"] == "browser" and _is_wrong(turn)]
    frames = _frames(recording, due)
    aligned: list[Turn] = []
    for turn in turns:
        if turn["type"] == "browser" and (state := turn["state"]):
            time = state["screenshot_time"] if turn not in due and state["screenshot_time"] is not None else None
            shown: TurnState = {**state, "video_time": turn["timestamp"] if time is None else time}
            if turn["id"] in frames:
                frame_time, page = frames[turn["id"]]
                shown |= {"screenshot": store_blob(encode(page)), "screenshot_time": frame_time,
                          "video_time": frame_time,
                          "screenshot_status": "good", "screenshot_source": "video",
                          "screenshot_taken": state["screenshot"]}
            turn = {**turn, "state": shown}
        aligned.append(turn)
    return aligned


def _is_wrong(turn: BrowserTurn) -> bool:
    state = turn["state"]
    if not state or is_empty_page(state["url"]):
        return False
    painted = state["screenshot_time"]
    if state.get("stale") and painted is not None:
        return False  # the video has the same frames
    until = max(turn["timestamp"], state.get("unchanged_until", 0.0))
    return state["screenshot_status"] == "broken" or (painted is not None and painted > until + _LATE)


def _frames(recording: Recording, turns: list[BrowserTurn]) -> dict[str, tuple[float, np.ndarray]]:
    """For turns: when the last frame not later than each was painted, and the frame; blank ones are left out."""
    if not turns:
        return {}
    video = Video(recording.layout.video)
    first = video.first  # the own video's stamps are the recording's times
    times = {turn["id"]: turn["timestamp"] - first for turn in turns}
    shown = {name: video.number_at(time) for name, time in times.items()}
    wanted = sorted({number for number in shown.values() if number >= 0})
    pages = {video.number_at(shot.time): shot.colour() for shot in video.shots(video.times[wanted])}
    return {name: (round(float(video.times[number]) + first, 4), pages[number]) for name, number in shown.items()
            if number in pages and not is_blank(pages[number][..., 1])}
