"""Checks of screenshots: their quality, agreement with the DOM, and the result of the video's alignment."""

from collections.abc import Iterator, Sequence

import numpy as np

from pipeline.align import LOW
from schemas.addresses import is_empty_page
from schemas.types.recordings import Box, Edit, Size, Turn, TurnState

from .material import Finding, Material

_FLAT = 3.0  # standard deviation of grey levels under which a box shows nothing
_LARGEST = 0.05  # of the viewport, that a box may fill: larger ones hold others
_SMALLEST = 8  # CSS pixels of a box's shorter side
_MIN_BOXES = 6  # boxes that are needed for a verdict
_UNLIKE, _HALF = 0.9, 0.35  # shares of boxes that show nothing
_LOADING = 5.0  # seconds after a navigation in which a page may be half loaded; later something covers it
_SIMILAR = 0.9  # SSIM of a rendered page and its screenshot, under which a reviewer should look
_SHIFT = 0.001  # seconds that count as the same time
_STALE = {
    "still": "The screenshot was taken up to 0.6 s before: the browser gave no stream of this tab.",
    "late": "No frame came since the page was shown or last acted in.",
    "scrolled": "The screenshot shows the page scrolled otherwise: nothing was painted between scrolling and acting.",
    "resized": "The screenshot shows the page in another size.",
    "moved": "The target may be at another position in the screenshot: it was not painted there before the action.",
    "hidden": "The target is black: a secret field may have passed there while the page was scrolled or changed.",
}


def broken_screenshot(material: Material) -> Iterator[Finding]:
    """Screenshots that are missing, blank, or were painted after the action."""
    for turn in material.actions:
        state = turn["state"]
        if not state or is_empty_page(state["url"]) or (not state["screenshot"] and material.lacks("screenshots")):
            continue
        until = max(turn["timestamp"], state.get("unchanged_until", 0.0))
        if state["screenshot_status"] == "broken":
            yield Finding(turn["id"], "broken-screenshot", _why_broken(state))
        elif (state["screenshot_time"] is not None and state["screenshot_time"] > until + _SHIFT
              and not state.get("screenshot_source")):
            yield Finding(turn["id"], "late-screenshot", "The screenshot was painted after the action.",
                          {"op": "set_screenshot_status", "turn": turn["id"], "status": "broken"})


def _why_broken(state: TurnState) -> str:
    if not state["screenshot"] or not state.get("stale"):
        return "The screenshot is missing or blank."
    return _STALE.get(state.get("stale_because", ""), "The page may have changed since the screenshot was painted.")


def unlike_page(material: Material) -> Iterator[Finding]:
    """Screenshots that show nothing where the page has named elements in sight."""
    known: dict[tuple, tuple[int, int]] = {}
    loads = [(event["time"], event["tab"]) for event in material.events.values() if event["type"] == "navigate"]
    for turn in material.actions:
        state = turn["state"]
        if not state or not state["screenshot"] or not state["elements"] or state["screenshot_status"] == "broken":
            continue
        key = state["elements"], state["screenshot"]
        if key not in known:
            known[key] = _count_flat(material, state)
        flat, boxes = known[key]
        if boxes < _MIN_BOXES or flat < _HALF * boxes:
            continue
        fix: Edit = {"op": "set_screenshot_status", "turn": turn["id"], "status": "broken"}
        shown = f"{flat} of {boxes} named visible elements are blank in the screenshot"
        if flat >= _UNLIKE * boxes:
            yield Finding(turn["id"], "unlike-page", f"{shown}: it is not of this page.", fix)
        elif any(tab == state["tab"] and 0 <= turn["timestamp"] - time < _LOADING for time, tab in loads):
            yield Finding(turn["id"], "half-loaded", f"{shown}: the page was still loading.", fix)


def in_video(material: Material) -> Iterator[Finding]:
    """What the external video left unsure, and what was replaced by it."""
    for turn in material.actions:
        state = turn["state"]
        if not state or "confidence" not in state:
            continue
        if state["video_time"] is None:
            yield Finding(turn["id"], "not-in-video", "The video does not show this action.")
        elif state["confidence"] < LOW:
            yield Finding(turn["id"], "unsure-in-video", "It is not sure that the video shows this action at "
                          f"{state['video_time']:.1f} s (confidence {state['confidence']:.2f}).")
        if state.get("screenshot_late"):
            yield Finding(turn["id"], "late-screenshot", "The video speaks for the screenshot being taken after "
                          "the action, but does not surely show what it should be.",
                          {"op": "set_screenshot_status", "turn": turn["id"], "status": "broken"})
        if state.get("screenshot_source"):
            other = "another screenshot of the recording" if state["screenshot_source"] == "captured" else "the video"
            yield Finding(turn["id"], "replaced-screenshot", f"The screenshot that was taken was late or broken; this "
                          f"one is from {other}.")


def rendered_differently(material: Material) -> Iterator[Finding]:
    """States whose rendered page does not look as the screenshot, where that was measured."""
    yield from find_rendered_differently(material.turns)


def find_rendered_differently(turns: Sequence[Turn]) -> Iterator[Finding]:
    """As `rendered_differently`, of turns alone."""
    for turn in turns:
        state = turn["state"] if turn["type"] == "browser" else None
        if not state or (value := state.get("render_similarity")) is None or value >= _SIMILAR:
            continue
        reason = f"The rendered page looks different from the screenshot (SSIM {value:.2f})."
        if state["animations"]:
            reason += " An animation was running."
        elif state.get("rendered") == "partial":
            reason += " The page contains state that is not kept."
        yield Finding(turn["id"], "rendered-differently", reason)


def _count_flat(material: Material, state: TurnState) -> tuple[int, int]:
    """How many boxes of named elements show nothing in the picture, and how many there are."""
    viewport = state["viewport"]
    picture = material.picture(state["screenshot"], viewport["width"])
    if picture is None:
        return 0, 0
    flat = boxes = 0
    for row in material.table(state["elements"]):
        box = row["bbox"]
        if not row.get("visible") or not row.get("name") or not _is_fit(box, viewport):
            continue
        piece = picture[max(0, int(box["y"])):int(np.ceil(box["y"] + box["height"])),
                        max(0, int(box["x"])):int(np.ceil(box["x"] + box["width"]))]
        if min(piece.shape) >= _SMALLEST:
            boxes += 1
            flat += float(piece.std()) < _FLAT
    return flat, boxes


def _is_fit(box: Box, viewport: Size) -> bool:
    """Whether a box is small and wholly in sight."""
    return (min(box["width"], box["height"]) >= _SMALLEST and box["x"] >= 0 and box["y"] >= 0
            and box["x"] + box["width"] <= viewport["width"] and box["y"] + box["height"] <= viewport["height"]
            and box["width"] * box["height"] <= _LARGEST * viewport["width"] * viewport["height"])
