"""Elements as sources describe them that have no page."""

from collections.abc import Mapping
from typing import Any, cast

from schemas.types.recordings import Box, Element

from .pages import MAX_TEXT_CHARS, clean


def make_element(uid: str = "", tag: str = "", role: str = "", name: str = "", *, box: Box | None = None,
                      attributes: Mapping[str, str] | None = None, xpath: str = "", css: str = "") -> Element:
    """An element of a turn; what the source does not say of it is empty."""
    element: Any = {"uid": uid, "tag": tag.lower(), "role": role, "name": clean(name, MAX_TEXT_CHARS), "text": "",
                    "attributes": dict(attributes or {}), "xpath": xpath, "css": css, "frame": [], "bbox": box}
    return cast(Element, element)
