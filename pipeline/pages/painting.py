"""Content painted by scripts in a page (canvas, video), and pictures that were not kept, cut out of its screenshot."""

import base64
import json
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from math import isfinite
from typing import Any, TypeAlias

import cv2
import numpy as np

from recorder import Recording
from recorder.pictures import decode_picture

PAINTED = frozenset({"canvas", "video", "embed", "object"})
STANDING_IN = frozenset({"img", "input", "svg"})  # elements whose picture is cut out where it was not kept
TRANSPARENT = "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"  # one pixel
Painter: TypeAlias = Callable[[str], str | None]


def painter(recording: Recording, state: Mapping[str, Any]) -> Painter:
    """Gives a CSS background for an element by its uid: what the state's screenshot shows in its box; None for none.

    Needs the state's `screenshot`, `elements` and `viewport`. Raises InputError when the screenshot is missing.
    """
    @lru_cache(maxsize=1)
    def picture() -> np.ndarray | None:
        name = state.get("screenshot")
        if not (name and state["viewport"]["width"] > 0):
            return None
        return decode_picture(recording.blob(name))

    @lru_cache(maxsize=1)
    def boxes() -> dict[str, dict[str, float]]:
        try:
            name = state.get("elements")
            rows = json.loads(recording.blob(name)) if name else []
            return {row["uid"]: row["bbox"] | {"fixed": row["tag"] in STANDING_IN} for row in rows
                    if row["tag"] in PAINTED | STANDING_IN
                    and all(isfinite(row["bbox"][name]) for name in ("x", "y", "width", "height"))}
        except (ValueError, TypeError, KeyError):
            return {}  # no element table; `demotape check` reports it

    @cache
    def paint(uid: str) -> str | None:
        box, image = boxes().get(uid), picture()
        if not box or image is None:
            return None
        scale = image.shape[1] / state["viewport"]["width"]
        across = _visible_range(box["x"] * scale, box["width"] * scale, image.shape[1])
        down = _visible_range(box["y"] * scale, box["height"] * scale, image.shape[0])
        if not (across and down):
            return None
        visible = image[down.start:down.stop, across.start:across.stop]
        position = " ".join(f"{_percent(first - box[name] * scale, box[size] * scale - len(part))}%"
                         for part, first, name, size in ((across, across.start, "x", "width"),
                                                         (down, down.start, "y", "height")))
        size = f"{_percent(len(across), box['width'] * scale)}% {_percent(len(down), box['height'] * scale)}%"
        content = base64.b64encode(cv2.imencode(".png", visible)[1].tobytes()).decode()
        background = f'url("data:image/png;base64,{content}") {position}/{size} no-repeat border-box border-box'
        return background + _fixed_size(box) if box["fixed"] else background

    return paint


def _fixed_size(box: Mapping[str, float]) -> str:
    """Declarations that give an element the size that its picture gave it."""
    return (f";box-sizing:border-box!important;width:{box['width']:.3f}px!important;"
            f"height:{box['height']:.3f}px!important")


def _visible_range(start: float, length: float, limit: int) -> range:
    """Pixels of a box that are in the picture."""
    return range(min(max(round(start), 0), limit), max(min(round(start + length), limit), 0))


def _percent(part: float, total: float) -> float:
    return round(100 * part / total, 4) if abs(total) >= 1 else 0
