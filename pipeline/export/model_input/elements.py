"""Queries on a page's elements, and their description for rankers."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from schemas.types.recordings import Box, Size

_MAX_VALUE = 100  # characters of an attribute
_MAX_TEXT = 200


@dataclass(frozen=True)
class Query:
    """What the elements are compared with: what the instructor said, what was done last (as `history.action` writes
    it), both in order, and the viewport in CSS pixels."""

    utterances: Sequence[str]
    actions: Sequence[str]
    viewport: Size

    @property
    def text(self) -> str:
        """All of it, as WebLINX's candidates have it."""
        return (f"Viewport(height={self.viewport['height']}, width={self.viewport['width']}) ---- Instructor "
                f"Utterances: {' ; '.join(self.utterances)} ---- Previous Turns: {' ; '.join(self.actions)}")


@dataclass(frozen=True)
class Element:
    """One element of a page; `box` in CSS pixels, None where it is not known; `order`: its number in the document."""

    uid: str
    node: Any  # lxml's
    box: Box | None
    order: int

    @property
    def tag(self) -> str:
        """Its name, such as `button`."""
        return self.node.tag

    @cached_property
    def text(self) -> str:
        """What stands in it, without line breaks and not too long."""
        parts, length = [], 0
        for part in self.node.itertext():
            parts.append(part)
            length += len(part)
            if length > 10 * _MAX_TEXT:
                break
        return " ".join("".join(parts).split())[:_MAX_TEXT]

    @cached_property
    def attributes(self) -> str:
        """Those that say something of it: `name='value' …`."""
        return " ".join(f"{name}={value[:_MAX_VALUE]!r}" for name, value in self.node.attrib.items()
                        if not name.startswith(("data-", "style", "on")))

    @property
    def document(self) -> str:
        """All its words."""
        return f"{self.tag} {self.text} {self.attributes}"
