"""The picture that lists show of a demonstration: of a late action, cut out around its target."""

from collections.abc import Sequence
from typing import TypedDict

from schemas import types

WIDTH, HEIGHT = 480, 300  # CSS pixels of the page that are shown


class Cover(TypedDict):
    """A part of a screenshot: `left`, `top`, `width` and `height` in CSS pixels of a page of `viewport` (width,
    height). `label`: what the target is called."""

    turn: str
    screenshot: str
    left: int
    top: int
    width: int
    height: int
    viewport: list[int]
    label: str


def cover_of(turns: Sequence[types.Turn]) -> Cover | None:
    """The last action of which there is a good picture; if possible one that has a target in view, as it says most
    about the task. None where no turn has a picture."""
    fallback: Cover | None = None
    for turn in reversed(turns):
        if turn["type"] != "browser" or turn["dropped"] or not (state := turn["state"]) or not state["screenshot"]:
            continue
        width, height = int(state["viewport"]["width"]), int(state["viewport"]["height"])
        if width < 1 or height < 1:
            continue
        box = turn["element"]["bbox"] if turn["element"] else None
        is_telling = box is not None and _is_in_view(box, width, height) and state["screenshot_status"] != "broken"
        if not is_telling and fallback:
            continue
        left, top, cut_width, cut_height = _cut(box if is_telling else None, width, height)
        cover = Cover(turn=turn["id"], screenshot=state["screenshot"], left=left, top=top, width=cut_width,
                      height=cut_height, viewport=[width, height], label=turn["element"]["name"][:80] if turn["element"]
                      else "")
        if is_telling:
            return cover
        fallback = cover
    return fallback


def _is_in_view(box: types.Box, width: int, height: int) -> bool:
    center = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    return 0 <= center[0] <= width and 0 <= center[1] <= height and box["width"] < width


def _cut(box: types.Box | None, width: int, height: int) -> tuple[int, int, int, int]:
    """Left, top, width and height of a part of a page around a box, inside the page; without a box, its top."""
    cut_width, cut_height = min(WIDTH, width), min(HEIGHT, height)
    if box is None:
        return 0, 0, width, min(height, round(width * HEIGHT / WIDTH))
    left = box["x"] + box["width"] / 2 - cut_width / 2
    top = box["y"] + box["height"] / 2 - cut_height / 2
    return (round(min(max(left, 0), width - cut_width)), round(min(max(top, 0), height - cut_height)), cut_width,
            cut_height)
