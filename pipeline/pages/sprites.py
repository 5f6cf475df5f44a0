"""Parts of other SVG files that a page shows by `use`, read from the recorded files and inserted into the page.

A rendered page loads nothing, and browsers accept no `data:` address for a `use`. Therefore its target is inserted into
it, with a new id: nothing inside a `use` is drawn except by reference. Elements to which the target refers (such as
gradients) are inserted before the `use`.
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from turbohtml import TokenType, tokenize

MAX_LENGTH = 1 << 20  # characters of a file that are read
_MAX_PARTS = 20  # other elements of a file to which the target refers
_LEFT_OUT = frozenset({"script", "style", "foreignobject", "iframe", "animate", "set", "use"})
_REFERENCE = re.compile(r"#([\w.:-]{1,100})")


class Piece(NamedTuple):
    """A tag or a text of an SVG file. `name`: of a tag; `end`: it is an end tag."""

    name: str = ""
    attrs: tuple[tuple[str, str], ...] = ()
    self_closing: bool = False
    end: bool = False
    text: str = ""


class Sprite(NamedTuple):
    """What a `use` shows of another file, and what that refers to."""

    id: str
    target: list[Piece]
    others: list[Piece]


def sprite(file: str, fragment: str, new_id: str) -> Sprite | None:
    """The element with the id `fragment`, which becomes `new_id`, and those to which it refers; None for no element."""
    if len(file) > MAX_LENGTH:
        return None
    pieces = list(_pieces(file))
    element = _element(pieces, fragment)
    if not element:
        return None
    named = dict.fromkeys(name for piece in element for _, value in piece.attrs for name in _REFERENCE.findall(value))
    first = element[0]
    renamed = tuple((name, new_id if name == "id" else value) for name, value in first.attrs)
    others = [piece for name in list(named)[:_MAX_PARTS] if name != fragment for piece in _element(pieces, name)]
    defined = [Piece("defs"), *others, Piece("defs", end=True)] if others else []
    return Sprite(new_id, [first._replace(attrs=renamed), *element[1:]], defined)


def _pieces(file: str) -> Iterator[Piece]:
    """Tags and texts of a file, without elements that are none of a picture's."""
    left_out, depth = "", 0
    for token in tokenize(file):
        tag = (token.tag or "").lower()
        start, end = token.type == TokenType.START_TAG, token.type == TokenType.END_TAG
        if left_out:
            depth += (start and tag == left_out and not token.self_closing) - (end and tag == left_out)
            left_out = left_out if depth else ""
        elif start and tag in _LEFT_OUT:
            if not token.self_closing:
                left_out, depth = tag, 1
        elif start:
            attributes = tuple((name, value or "") for name, value in token.attrs or ())
            yield Piece(tag, attributes, token.self_closing)
        elif end:
            yield Piece(tag, end=True)
        elif token.type == TokenType.TEXT:
            yield Piece(text=token.data or "")


def _element(pieces: Iterable[Piece], name: str) -> list[Piece]:
    """The pieces of the element with an id, from its start tag to its end tag."""
    element: list[Piece] = []
    depth = 0
    for piece in pieces:
        if not element and not any(key == "id" and value == name for key, value in piece.attrs):
            continue
        element.append(piece)
        depth += (bool(piece.name) and not piece.end and not piece.self_closing) - piece.end
        if depth <= 0:
            return element
    return []
