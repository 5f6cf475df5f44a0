"""What a page says of its elements: targets of actions, rows of the element table. Parses, fetches nothing."""

from collections.abc import Mapping
from typing import Any

from lxml import etree

from pipeline.pages.allowed import FRAMES
from pipeline.pages.dom import TAG_ATTRIBUTE, parse
from pipeline.pages.dom import Element as Node
from schemas import REDACTED, UID_ATTRIBUTE
from schemas.types.recordings import Box, Element, TableRow

from .secret_fields import is_secret_field

MAX_TEXT_CHARS, MAX_NAME_CHARS = 200, 100  # as docs/format.md has them
_MAX_FRAMES_DEEP = 8
_CLICKABLE = {"a", "button", "input", "label", "option", "select", "summary", "textarea"}
_ROLES = {"a": "link", "button": "button", "select": "combobox", "textarea": "textbox", "option": "option",
          "img": "img", "nav": "navigation", "li": "listitem", "summary": "button"}
_INPUT_ROLES = {"button": "button", "submit": "button", "reset": "button", "image": "button", "checkbox": "checkbox",
                "radio": "radio", "range": "slider", "number": "spinbutton", "search": "searchbox", "email": "textbox",
                "tel": "textbox", "text": "textbox", "url": "textbox", "": "textbox"}
_NAMING = ("aria-label", "alt", "title", "placeholder")


class Document:
    """A page whose elements have uids."""

    def __init__(self, page: bytes):
        self.root = parse(page)
        self.nodes: dict[str, Node] = {}
        self._frames: dict[str, list[str]] = {}  # of elements in frames
        self._add(self.root, [])

    def _add(self, root: Node, frames: list[str]) -> None:
        """Add the elements of a document, and of those in its frames."""
        for node in root.iter(etree.Element):
            uid = node.get(UID_ATTRIBUTE)
            if uid and self.nodes.setdefault(uid, node) is node and frames:
                self._frames[uid] = frames
            if uid and node.tag in FRAMES and (inner := node.get("srcdoc")) and len(frames) < _MAX_FRAMES_DEEP:
                self._add(parse(inner.encode("utf-8", "replace")), [*frames, uid])

    @property
    def title(self) -> str:
        """The text of the first `title`."""
        node = next(self.root.iter("title"), None)
        return "" if node is None else clean("".join(node.itertext()), MAX_TEXT_CHARS)

    def element(self, uid: str, box: Box | None) -> Element | None:
        """An element as turns have it; None where the page has none of that uid."""
        node = self.nodes.get(uid)
        if node is None:
            return None
        attributes = {str(name): str(value) for name, value in node.attrib.items()
                      if name not in (UID_ATTRIBUTE, "srcdoc")}
        return {"uid": uid, "tag": node.get(TAG_ATTRIBUTE) or str(node.tag), "role": role(node),
                "name": accessible_name(node)[:MAX_TEXT_CHARS],
                "text": clean(_text(node), MAX_TEXT_CHARS), "attributes": attributes,
                "xpath": node.getroottree().getpath(node), "css": "", "frame": self._frames.get(uid, []),
                "bbox": box}

    def hide_secrets(self) -> bytes | None:
        """Replace the values of secret fields; the page then, None if it has none."""
        fields = [node for node in self.nodes.values() if node.get("value") not in (None, "", REDACTED)
                  and is_secret_field(node.attrib)]
        for node in fields:
            node.set("value", REDACTED)
        return serialize(self.root) if fields else None

    def option(self, uid: str, text: str) -> tuple[str, str] | None:
        """Value and label of the option of a list that has this label, or otherwise this value."""
        if uid not in self.nodes:
            return None
        options = [(node.get("value", label), label) for node in self.nodes[uid].iter("option")
                   for label in [node.get("label") or clean("".join(node.itertext()), MAX_TEXT_CHARS)]]
        wanted = clean(text, MAX_TEXT_CHARS)
        return next((option for kind in (1, 0) for option in options if option[kind].strip() == wanted), None)

    def table(self, boxes: Mapping[str, Box]) -> list[TableRow]:
        """The element table: the elements that have a box, in document order."""
        return [{"uid": uid, "tag": str(node.tag), "role": role(node), "name": accessible_name(node)[:MAX_NAME_CHARS],
                 "frame": self._frames.get(uid, []), "bbox": boxes[uid], "visible": True,
                 "clickable": node.tag in _CLICKABLE or node.get("onclick") is not None or bool(node.get("role"))}
                for uid, node in self.nodes.items() if uid in boxes]


def role(node: Node) -> str:
    """The ARIA role, explicit or of the tag; empty if none."""
    if said := node.get("role", "").strip():
        return said.split()[0][:MAX_NAME_CHARS]
    if node.tag == "input":
        return _INPUT_ROLES.get(node.get("type", "").strip().lower(), "")
    return "" if node.tag == "a" and node.get("href") is None else _ROLES.get(str(node.tag), "")


def accessible_name(node: Node) -> str:
    """The name that its attributes or, where its content names it, its text say."""
    for name in _NAMING[:2]:
        if said := node.get(name, "").strip():
            return clean(said, MAX_TEXT_CHARS)
    if node.tag == "input" and node.get("type", "").lower() in ("button", "submit", "reset"):
        return clean(node.get("value", ""), MAX_TEXT_CHARS)
    if node.tag not in ("select", "textarea", "input") and (said := clean(_text(node), MAX_TEXT_CHARS)):
        return said
    if label := _label(node):
        return label
    return next((clean(said, MAX_TEXT_CHARS) for name in _NAMING[2:] if (said := node.get(name, "").strip())), "")


def _label(node: Node) -> str:
    """The text of the label that a control is in, or that names its id."""
    labels = [parent for parent in node.iterancestors("label")][:1]
    if not labels and (name := node.get("id")):
        labels = [label for label in node.getroottree().getroot().iter("label") if label.get("for") == name][:1]
    return clean(" ".join(_text(label) for label in labels), MAX_TEXT_CHARS)


def _text(node: Node) -> str:
    """The first texts in an element: enough for what is shortened anyway."""
    parts: list[str] = []
    length = 0
    for text in node.itertext():
        parts.append(text)
        length += len(text.strip())
        if length > 4 * MAX_TEXT_CHARS:
            break
    return "".join(parts)


def clean(text: Any, limit: int) -> str:
    """A text on one line, shortened."""
    return " ".join(str(text).split())[:limit]


def number_elements(page: bytes, uid_attribute: str = UID_ATTRIBUTE) -> bytes:
    """A page with uids in document order, for one that has none; those that are there stay."""
    root = parse(page)
    for number, node in enumerate(root.iter(etree.Element), 1):
        if node.get(uid_attribute) is None:
            node.set(uid_attribute, f"n{number}")
    return serialize(root)


def serialize(root: Node) -> bytes:
    """A page as UTF-8."""
    html: bytes = etree.tostring(root, method="html", encoding="utf-8", with_tail=False)
    return b"<!DOCTYPE html>\n" + html
