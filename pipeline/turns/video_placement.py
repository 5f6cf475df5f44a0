"""A manual alignment of an external video, and its consequences for turns and alignment.

Video times are seconds since the video's first frame, the others seconds since the recording started.
"""

from collections.abc import Iterable

from schemas.types.alignment import Alignment, VideoPlacement, VideoSegment, VideoStretch
from schemas.types.recordings import BrowserTurn, Edit, Turn, TurnState

SETTLED = "unsure-in-video"  # the check that a person's word settles
NOT_SHOWN = "not-in-video"  # the same, where the video shows the turn after all
_MILLION = 1e6


def video_time(time: float, offset: float, drift: float) -> float:
    """Where a time of the recording is in the video. `drift`: parts per million."""
    return offset + time * (1 + drift / _MILLION)


def recording_time(time: float, offset: float, drift: float) -> float:
    """When a time of the video was in the recording. `drift`: parts per million."""
    return (time - offset) / (1 + drift / _MILLION)


def with_placement(alignment: Alignment, placement: VideoPlacement) -> Alignment:
    """The alignment as a person has it; what they said before and do not say now stays."""
    word: VideoPlacement = {**alignment.get("by_hand", {}), **placement}
    end = alignment["duration"]
    changed: Alignment = {**alignment, "by_hand": word}
    if "offset" in word and "drift" in word:
        stretch: VideoStretch = {"begin": 0.0, "end": end, "offset": word["offset"], "drift": word["drift"]}
        changed["stretches"] = [stretch]
    if "rectangle" in word:
        full_segment: VideoSegment = {"begin": 0.0, "end": end, "rectangle": word["rectangle"]}
        changed["segments"] = [{**segment, "rectangle": word["rectangle"]}  # between them nothing is shown all the same
                               for segment in alignment["segments"]] or [full_segment]
    return changed


def alignment_after(alignment: Alignment | None, edits: Iterable[Edit]) -> Alignment | None:
    """The alignment after the edits that stand; None without an external video."""
    for edit in edits:
        if edit["op"] == "place_video" and alignment is not None:
            alignment = with_placement(alignment, edit["place"])
    return alignment


def apply_placement(turn: Turn, placement: VideoPlacement) -> Turn:
    """A turn at the video time that a person's clock gives it; as it is for a word on the rectangle only.

    Nobody has held the screenshot against the frame there, so `similarity` is unknown; checks that doubted the place
    are settled.
    """
    if "offset" not in placement or "drift" not in placement or turn["type"] == "chat" or not turn["state"]:
        return turn
    time = round(video_time(turn["timestamp"], placement["offset"], placement["drift"]), 4)
    shown = 0 <= time <= placement.get("duration", time)
    state: TurnState = {**turn["state"], "video_time": time if shown else None, "similarity": None,
                        "confidence": 1.0 if shown else 0.0}
    settled = (SETTLED, NOT_SHOWN) if shown else (SETTLED,)
    changed: BrowserTurn = {**turn, "state": state,
                           "checks": [check for check in turn["checks"] if check["kind"] not in settled]}
    return changed


def without_video(turn: Turn) -> Turn:
    """A turn without what says where it is in the video: a video that was placed by hand changes no turn itself."""
    if turn["type"] == "chat" or not turn["state"]:
        return turn
    state: TurnState = {**turn["state"], "video_time": None, "similarity": None, "confidence": 0.0}
    changed: BrowserTurn = {**turn, "state": state, "checks": [check for check in turn["checks"]
                                                            if check["kind"] not in (SETTLED, NOT_SHOWN)]}
    return changed
