"""Elements as sources describe them that have no page."""

import re
from collections.abc import Mapping
from typing import Any, cast

from schemas.types.recordings import Box, Element

from .pages import MAX_TEXT_CHARS, clean

_NODE = re.compile(r"(?:\[\d+\] )?([A-Za-z]+) (['\"])(.*?)\2(?: [a-zA-Z]+: |$)", re.DOTALL)


def element_of_node(uid: str, line: str, box: Box | None = None) -> Element | None:
    """The element of a line of WebArena's accessibility trees, such as `[12] link 'Account' focused: True`; None for
    another line."""
    match = _NODE.match(line)
    return make_element(uid, role=match[1].lower(), name=match[3], box=box) if match else None


def make_element(uid: str = "", tag: str = "", role: str = "", name: str = "", *, box: Box | None = None,
                      attributes: Mapping[str, str] | None = None, xpath: str = "", css: str = "") -> Element:
    """An element of a turn; what the source does not say of it is empty."""
    element: Any = {"uid": uid, "tag": tag.lower(), "role": role, "name": clean(name, MAX_TEXT_CHARS), "text": "",
                    "attributes": dict(attributes or {}), "xpath": xpath, "css": css, "frame": [], "bbox": box}
    return cast(Element, element)
