"""Where the instructor points: from a region of a picture to the element there, and what the navigator sees of it.

The navigator sees it in the control page. An overlay of the browser's developer tools would be painted into the frames
that are recorded, and one in the page could be noticed by it.
"""

import base64
from typing import Any

from recorder.browser.pointing import document_of, element_at
from recorder.building.chat import MessageRefused
from schemas.formats.room import REFUSED_PICTURE
from schemas.types.recordings import Box, Pointing

from .pictures import PictureStream

_PRECISION = 2  # decimals of a CSS pixel


async def resolve(region: dict[str, Any], pictures: PictureStream) -> Pointing:
    """What a region (`RegionSchema`) of a picture shows. Raises MessageRefused for a picture that was not sent, or too
    long ago."""
    picture = pictures.sent(region["picture"])
    if picture is None:
        raise MessageRefused(REFUSED_PICTURE)
    box = box_of(region, picture.size)
    element = None
    if picture.document and picture.document == document_of(picture.tab):
        element = await element_at(picture.tab, box["x"] + box["width"] / 2, box["y"] + box["height"] / 2,
                                   {"x": picture.scroll[0], "y": picture.scroll[1]})
    return {"tab": picture.tab.number, "picture_time": picture.time, "box": box, "element": element}


def box_of(region: dict[str, Any], size: tuple[float, float]) -> Box:
    """The box of a region in CSS pixels; `size`: the viewport's width and height. What reaches beyond it is cut off."""
    width, height = size
    return {"x": round(region["x"] * width, _PRECISION), "y": round(region["y"] * height, _PRECISION),
            "width": round(min(region["width"], 1 - region["x"]) * width, _PRECISION),
            "height": round(min(region["height"], 1 - region["y"]) * height, _PRECISION)}


def announcement(message_id: str, region: dict[str, Any], pictures: PictureStream) -> dict[str, Any]:
    """What the control page shows of a message with a region: the picture as a data: address, None without one."""
    jpeg = pictures.file(region["picture"])
    picture = f"data:image/jpeg;base64,{base64.b64encode(jpeg).decode('ascii')}" if jpeg else None
    return {"type": "pointing", "id": message_id, "picture": picture,
            "region": {name: region[name] for name in ("x", "y", "width", "height")}}
