"""The alignment stage: the picture of each turn's state, and the turn's time in the video.

With an external video (a meeting tool's recording of the screen): `video` decodes it, `pictures` are the recording's
screenshots, `rectangle` finds the page in the frame, `coarse` places the video roughly, `marks` are changes that both
show, `clock` is fitted to them, `choose` judges each action's frame and screenshot, `external` is the whole way.
Without one, the recording's own video has the recording's clock.
"""

import logging
from collections.abc import Callable, Mapping

import cv2
import numpy as np

from pipeline.context import Context
from recorder import Recording
from schemas.addresses import is_empty_page
from schemas.types.recordings import Demonstration, State, Turn, TurnState

from . import own_video
from .external import LOW, TurnMatch, align
from .pictures.screenshots import Picture, load
from .pictures.video import Video

_log = logging.getLogger("demotape.align")
_JPEG_QUALITY = 95
_MANY = 100  # actions: their screenshots are enough to place a video by
_WORTH_IT = 0.1  # confidence from which on the video's word is told, and its picture better than one that shows nothing


def stage(demonstration: Demonstration, context: Context) -> Demonstration:
    """Pipeline stage: mark what is broken, find every turn in the video, replace pictures that are late or broken."""
    video = None if context.video is None else Video(context.video)
    pictures = load(context.recording, _states(demonstration["turns"], context.recording, video))
    turns = [_mark_broken(turn, pictures) for turn in demonstration["turns"]]
    result: Demonstration = {**demonstration}
    if video:
        matches, result["alignment"], spans = align(context.recording, turns, video, pictures, encode,
                                                    context.placement)
        context.video_spans.extend(spans)
        turns = [apply_match(turn, matches.get(turn["id"]), context.store_blob) for turn in turns]
        if video.lost or video.cut_off:
            _log.warning("%s: %s; what is whole was used", context.video, _describe_damage(video))
    elif context.recording.layout.video.exists():
        turns = own_video.align_to_own_video(context.recording, turns, encode, context.store_blob)
    else:
        turns = [{**turn, "state": {**turn["state"], "video_time": None}}
                 if turn["type"] == "browser" and turn["state"] else turn for turn in turns]
    return {**result, "turns": turns}


def _describe_damage(video: Video) -> str:
    """What is wrong with a video, for people."""
    parts = [f"{video.lost} of its frames cannot be decoded"] * bool(video.lost)
    return " and ".join(parts + ["it breaks off"] * video.cut_off)


def encode(page: np.ndarray) -> bytes:
    """A picture (BGR) as a file: JPEG, as a video's frame has lost more already."""
    return cv2.imencode(".jpg", page, [cv2.IMWRITE_JPEG_QUALITY, _JPEG_QUALITY])[1].tobytes()


def _states(turns: list[Turn], recording: Recording, video: Video | None) -> list[State]:
    """The states whose screenshots are looked at: those of the turns; with an external video and few turns, all."""
    acting: list[State] = [turn["state"] for turn in turns if turn["type"] == "browser" and turn["state"]]
    if video is None or len(acting) >= _MANY:
        return acting
    return acting + [event["state"] for event in recording.events if event["state"]]


def _mark_broken(turn: Turn, pictures: Mapping[str, Picture]) -> Turn:
    """The turn with its screenshot called broken when it is blank, no picture, or not of that moment."""
    state = turn["state"] if turn["type"] == "browser" else None
    if turn["type"] == "chat" or not state or not state["screenshot"] or is_empty_page(state["url"]):
        return turn
    status = "broken" if pictures[state["screenshot"]].blank or state.get("stale") else "good"
    return {**turn, "state": {**state, "screenshot_status": status}}


def apply_match(turn: Turn, match: TurnMatch | None, store_blob: Callable[[bytes], str]) -> Turn:
    """The turn with what the external video says of it."""
    if match is None or turn["type"] == "chat" or not turn["state"]:
        return turn
    state: TurnState = {**turn["state"], "video_time": match.time and round(match.time, 4),
                        "similarity": match.similarity and round(match.similarity, 4),
                        "confidence": match.confidence}
    broken = state["screenshot_status"] == "broken" or not state["screenshot"]
    minimum = _WORTH_IT if broken or match.clearly_better else LOW
    if not is_empty_page(state["url"]) and match.confidence >= minimum and (match.better or match.page):
        state |= {"screenshot": match.better or store_blob(match.page or b""), "screenshot_time": match.painted,
                  "screenshot_status": "good", "screenshot_source": "captured" if match.better else "video",
                  "screenshot_taken": turn["state"]["screenshot"]}
    elif match.late and match.confidence >= _WORTH_IT:
        state["screenshot_late"] = True
    return {**turn, "state": state}
