"""Which picture shows each turn's state: the last painted frame before it, and whether it is fit to be used."""

import cv2
import numpy as np

_EMPTY_PAGE = "about:blank"  # a new tab is blank and rightly so
_BLANK_SPREAD = 1.0  # standard deviation of grey levels under which a picture shows nothing


def is_blank(image: bytes) -> bool:
    """Whether a picture (JPEG, PNG, WebP) shows one colour only, or cannot be decoded."""
    picture = cv2.imdecode(np.frombuffer(image, np.uint8), cv2.IMREAD_GRAYSCALE)
    return picture is None or float(picture.std()) < _BLANK_SPREAD


def stage(demonstration: dict, context) -> dict:
    """Pipeline stage: mark turns whose screenshot is missing or blank as broken."""
    blank: dict[str, bool] = {}
    turns = []
    for turn in demonstration["turns"]:
        state = turn.get("state")
        if state and state["screenshot"] and state["url"] != _EMPTY_PAGE:
            name = state["screenshot"]
            if name not in blank:
                blank[name] = is_blank(context.recording.blob(name))
            turn = turn | {"state": state | {"screenshot_status": "broken" if blank[name] else "good"}}
        turns.append(turn)
    return demonstration | {"turns": turns}
