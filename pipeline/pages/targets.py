"""Selecting another target: the elements in the viewport at a state, and the recorded data of one of them."""

import json
from collections.abc import Mapping
from itertools import islice
from typing import Any

from lxml import etree

from recorder import Recording
from schemas import UID_ATTRIBUTE, InputError
from schemas.files import validated
from schemas.formats.parts import TableRowSchema
from schemas.types.recordings import TableRow

from .dom import Element, parse

_TEXT_LIMIT = 200
_OPTIONS = 1000
_NOT_READ = {"script", "style", "noscript", "textarea", "option"}
_DRAWINGS = {"svg", "math"}
_HTML_INSIDE = {"foreignobject", "desc", "annotation-xml"}  # parts of a drawing whose content is HTML again
# Names of SVG elements that HTML parsers make lower-case (WHATWG HTML, 13.2.6.5).
_CASED = {name.lower(): name for name in (
    "altGlyph", "altGlyphDef", "altGlyphItem", "animateColor", "animateMotion", "animateTransform", "clipPath",
    "feBlend", "feColorMatrix", "feComponentTransfer", "feComposite", "feConvolveMatrix", "feDiffuseLighting",
    "feDisplacementMap", "feDistantLight", "feDropShadow", "feFlood", "feFuncA", "feFuncB", "feFuncG",
    "feFuncR", "feGaussianBlur", "feImage", "feMerge", "feMergeNode", "feMorphology", "feOffset",
    "fePointLight", "feSpecularLighting", "feSpotLight", "feTile", "feTurbulence", "foreignObject", "glyphRef",
    "linearGradient", "radialGradient", "textPath")}


def candidates(recording: Recording, state: Mapping[str, Any]) -> list[TableRow]:
    """Rows of the state's element table that can be seen, as the recorder ordered them; none when there is no table."""
    name = state.get("elements")
    if not name:
        return []
    try:
        rows = json.loads(recording.blob(name))
    except (ValueError, RecursionError):
        raise InputError(f"element table {name}: not JSON") from None
    schema = TableRowSchema()
    rows = [validated(row, schema, f"element table {name}") for row in rows]
    return [row for row in rows if row["visible"] and row["bbox"]["width"] and row["bbox"]["height"]]


def element_of(recording: Recording, state: Mapping[str, Any], uid: str) -> Element:
    """All that is kept of an element as a turn's target, from its row in the element table and from the DOM snapshot.

    Raises InputError when it is not in both.
    """
    row = next((row for row in candidates(recording, state) if row["uid"] == uid), None)
    dom = state.get("dom")
    node = _find(recording.blob(dom), row["frame"], uid) if row and dom else None
    if row is None or node is None:
        raise InputError(f"field uid: no visible element {uid[:80]!r} at this turn")
    attributes = {name: value for name, value in node.attrib.items() if not name.startswith("data-demotape-")}
    return {"uid": uid, "tag": row["tag"], "role": row["role"], "name": row["name"], "text": _text(node),
            "attributes": attributes, "xpath": _xpath(node), "css": _css(node), "frame": row["frame"],
            "bbox": row["bbox"]}


def options_of(recording: Recording, state: Mapping[str, Any], element: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Value and label of what can be chosen in a list of a state's page (`<select>`), at most so many as a person goes
    through; none for any other element."""
    if element["tag"] != "select" or not state.get("dom"):
        return []
    node = _find(recording.blob(state["dom"]), element["frame"], element["uid"])
    options = () if node is None else islice(node.iter("option"), _OPTIONS)
    labels = [(option, " ".join("".join(option.itertext()).split())) for option in options]
    return [(option.get("value", label), option.get("label") or label) for option, label in labels]


def _find(snapshot: bytes, frame: list[str], uid: str) -> Element | None:
    """An element in the document that a path of frames leads to."""
    document = parse(snapshot)
    for owner in frame:
        holder = _by_uid(document, owner)
        if holder is None or "srcdoc" not in holder.attrib:
            return None
        document = parse(holder.get("srcdoc").encode("utf-8", "replace"))
    return _by_uid(document, uid)


def _by_uid(document: Element, uid: str) -> Element | None:
    return next((element for element in document.iter(etree.Element) if element.get(UID_ATTRIBUTE) == uid), None)


def _text(element: Element) -> str:
    """What a person reads in it: the rule of `text` in extension/capture/elements.js."""
    pieces = [element.text or ""]
    walk = etree.iterwalk(element, events=("start", "end", "comment"))
    for event, inner in walk:
        if event == "start" and inner.tag == "template":
            walk.skip_subtree()  # a shadow root's texts are not its host's
        elif event == "start" and inner is not element and inner.tag not in _NOT_READ:
            pieces.append(inner.text or "")
        elif event != "start" and inner is not element:
            pieces.append(inner.tail or "")
    return " ".join(" ".join(pieces).split())[:_TEXT_LIMIT]


def _line(element: Element) -> list[Element]:
    """The element and those around it, up to its document or shadow root, from the top down."""
    line = [element]
    while (parent := line[0].getparent()) is not None and parent.get("shadowrootmode") is None:
        line.insert(0, parent)
    return line


def _sibling_index(element: Element) -> tuple[int, bool]:
    """Its place among the siblings of its tag, from 1, and whether there are others."""
    parent = element.getparent()
    siblings = [element] if parent is None else [sibling for sibling in parent if sibling.tag == element.tag]
    return siblings.index(element) + 1, len(siblings) > 1


def _xpath(element: Element) -> str:
    steps: list[str] = []
    drawn = False
    for ancestor in _line(element):
        index, more = _sibling_index(ancestor)
        drawn = drawn or ancestor.tag in _DRAWINGS
        test = f'*[name()="{_cased(ancestor, drawn)}"]' if drawn else ancestor.tag
        steps.append(f"{test}[{index}]" if more else test)
        drawn = drawn and ancestor.tag not in _HTML_INSIDE
    return "/" + "/".join(steps)


def _css(element: Element) -> str:
    line = _line(element)
    steps: list[str] = []
    drawn = [any(above.tag in _DRAWINGS for above in line[:number + 1]) for number in range(len(line))]
    for ancestor, in_drawing in reversed(list(zip(line, drawn, strict=True))):
        name = ancestor.get("id", "")
        if name and sum(other.get("id") == name for other in line[0].iter(etree.Element)) == 1:
            steps.insert(0, f"#{_escaped(name)}")
            break
        steps.insert(0, f"{_escaped(_cased(ancestor, in_drawing))}:nth-of-type({_sibling_index(ancestor)[0]})")
    return " > ".join(steps)


def _cased(element: Element, drawn: bool) -> str:
    """An element's name as the browser has it."""
    return _CASED.get(element.tag, element.tag) if drawn else element.tag


def _escaped(name: str) -> str:
    """A name as an identifier of CSS (CSSOM, "serialize an identifier")."""
    escaped = ""
    for number, letter in enumerate(name):
        first = number == 0 or (number == 1 and name[0] == "-")
        if letter == "\0":
            escaped += "\ufffd"
        elif letter < " " or letter == "\x7f" or (letter in "0123456789" and first):
            escaped += f"\\{ord(letter):x} "
        elif letter >= "\x80" or letter in "-_" or (letter.isascii() and letter.isalnum()):
            escaped += letter
        else:
            escaped += f"\\{letter}"
    return "\\-" if name == "-" else escaped
