"""Pages as Mind2Web has them: a strict XML tree whose nodes are numbered, with boxes; and that tree cleaned.

Text stands in `<text>` nodes of its own. Boxes are CSS pixels from the upper left corner of the screenshot.
"""

import json
import re
from dataclasses import dataclass
from typing import Any

from lxml import etree

from pipeline.pages.dom import SHADOW_ATTRIBUTE, TAG_ATTRIBUTE, Page
from schemas.types import Box, TableRow

NODE_ID = "backend_node_id"
BOX = "bounding_box_rect"
TARGET = "data_pw_testid_buckeye"
CANDIDATE = "data_pw_testid_buckeye_candidate"
NO_BOX = "-1,-1,-1,-1"

# What says something of an element to a reader (the authors' list), under the names that it has in their files
SALIENT = {name.replace("_", "-"): name for name in (
    "alt", "aria_describedby", "aria_label", "label", "name", "placeholder", "role", "title", "type", "value",
    "id")} | {"checked": "input_checked", "selected": "option_selected", "href": "href"}
_UNSEEN = frozenset({"head", "script", "style", "noscript", "template", "link", "meta", "base"})
_HIDDEN = re.compile(r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.I)
_NAME = re.compile(r"[^A-Za-z0-9_.-]")
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_MAX_SALIENT = 200  # characters of an attribute in the cleaned page


@dataclass(frozen=True)
class NumberedPage:
    """A page whose nodes are numbered. `nodes` and `rows` by uid: the node, and the row of the element table."""

    root: etree._Element
    nodes: dict[str, etree._Element]
    rows: dict[str, TableRow]

    def raw(self, target: str, action: str) -> str:
        """The whole page as XML, the target marked with the action's name."""
        node = self.nodes[target]
        node.set(TARGET, action)
        try:
            return etree.tostring(self.root, encoding="unicode")
        finally:
            del node.attrib[TARGET]

    def cleaned(self, target: str) -> etree._Element:
        """What of the page a reader needs; the target is always in it."""
        wanted = self.nodes[target]
        way = {node.get(NODE_ID) for node in (wanted, *wanted.iterancestors())}
        clickable = {self.nodes[uid].get(NODE_ID) for uid, row in self.rows.items() if row["clickable"]}
        kept = _clean(self.root, way, clickable | {wanted.get(NODE_ID)})
        if len(kept) == 1 and kept[0].tag == "html":
            return kept[0]
        root = etree.Element("html", {NODE_ID: self.root.get(NODE_ID)})
        root.extend(kept)
        return root

    def candidate(self, uid: str) -> dict[str, Any]:
        """An element as the lists of candidates hold it."""
        node = self.nodes[uid]
        attributes = {NODE_ID: node.get(NODE_ID), BOX: node.get(BOX, NO_BOX), "class": node.get("class", ""),
                      "is_clickable": node.get("is_clickable", "false"), CANDIDATE: "1"}
        attributes |= {name: value for name, value in node.attrib.items() if name not in attributes}
        return {"tag": node.tag, "attributes": json.dumps(attributes), NODE_ID: node.get(NODE_ID)}


def number(page: Page, rows: dict[str, TableRow], boxes: dict[str, Box]) -> NumberedPage:
    """Number a flattened page. `boxes`: by uid, those of the table and those that only a turn knew."""
    nodes: dict[str, etree._Element] = {}
    counter = iter(range(1, 1 << 31))
    tree = next(iter(page.elements.values())).getroottree().getroot() if page.elements else None
    root = etree.Element("html")
    if tree is None:
        root.set(NODE_ID, "1")
        return NumberedPage(root, nodes, rows)
    # Not recursive: a page may be as deep as the parser allows.
    waiting = [(tree, None)]
    while waiting:
        element, parent = waiting.pop()
        if isinstance(element, str):
            _text(element, parent, next(counter))
            continue
        node = _node(element, parent, next(counter), page.uid_attribute)
        if parent is None:
            root = node
        if (uid := element.get(page.uid_attribute)) is not None and uid not in nodes:
            nodes[uid] = node
            _candidate(node, rows.get(uid), boxes.get(uid))
        inside: list = [(element.text, node)]
        for child in element:
            if isinstance(child.tag, str):
                inside.append((child, node))
            inside.append((child.tail, node))
        waiting += [each for each in reversed(inside) if each[0] is not None]
    return NumberedPage(root, nodes, rows)


def _node(element, parent, number: int, uid_attribute: str) -> etree._Element:
    """The element with the name that it had, and attributes that XML allows."""
    tag = _xml_name(element.get(TAG_ATTRIBUTE) or element.tag)
    node = etree.Element(tag) if parent is None else etree.SubElement(parent, tag)
    node.set(NODE_ID, str(number))
    for name, value in element.attrib.items():
        if name in (uid_attribute, TAG_ATTRIBUTE):
            continue
        name = "shadow_root" if name == SHADOW_ATTRIBUTE else _xml_name(name)
        if name not in node.attrib and name not in (BOX, TARGET, CANDIDATE, "is_clickable"):
            node.set(name, _NOT_XML.sub("", value))
    return node


def _text(text: str, parent, number: int) -> None:
    text = " ".join(_NOT_XML.sub("", text).split())
    if text:
        node = etree.SubElement(parent, "text")
        node.set(NODE_ID, str(number))
        node.text = text


def _candidate(node: etree._Element, row: TableRow | None, box: Box | None) -> None:
    if row is not None:
        node.set("is_clickable", "true" if row["clickable"] else "false")
    if box is not None:
        node.set(BOX, ",".join(f"{box[side]:g}" for side in ("x", "y", "width", "height")))
        node.set(CANDIDATE, "1")


def _clean(node, way: set[str], whole: set[str]) -> list[etree._Element]:
    """What remains of a node: nothing, a copy, or what is in it.

    `way`: ids of the target and of what it stands in; `whole`: ids of the target and of what can be acted on, which
    stay as they are.
    """
    identity = node.get(NODE_ID)
    if node.tag == "text" and node.text:
        return [_copy(node, {})]
    hidden = "hidden" in node.attrib or _HIDDEN.search(node.get("style", ""))
    if identity not in way and (node.tag in _UNSEEN or hidden):
        return []
    children = [kept for child in node for kept in _clean(child, way, whole)]
    salient = {written: _salient(node, name) for name, written in SALIENT.items() if node.get(name)}
    for name in ("checked", "selected"):  # attributes that say it by being there
        if name in node.attrib:
            salient[SALIENT[name]] = "true"
    if identity not in whole and node.tag != "html":
        if not salient and len(children) <= 1:
            return children
        if not children and node.tag not in ("input", "textarea", "select", "option", "img", "iframe", "canvas"):
            salient.pop("id", None)
            if not salient:
                return []
    copy = _copy(node, salient)
    copy.extend(children)
    return [copy]


def _salient(node, name: str) -> str:
    return node.get(name)[:_MAX_SALIENT]


def _copy(node, attributes: dict[str, str]) -> etree._Element:
    copy = etree.Element(node.tag, {NODE_ID: node.get(NODE_ID)} | attributes)
    copy.text = node.text
    return copy


def _xml_name(name: str) -> str:
    name = _NAME.sub("_", name)
    return name if name and (name[0].isalpha() or name[0] == "_") else f"_{name}"
