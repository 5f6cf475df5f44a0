"""Pages in Mind2Web's form: HTML whose elements are numbered, with boxes; and the lists of candidates.

Boxes are CSS pixels; `origin` is where the upper left corner of the viewport stands in the coordinates wanted.
"""

import copy
import json
import re
from dataclasses import dataclass
from typing import Any

from lxml import etree

from pipeline.pages.dom import Page
from schemas.types.recordings import Box, Point, TableRow

NODE_ID = "backend_node_id"
BOX = "bounding_box_rect"
CLICKABLE = "is_clickable"  # only there where it is true
TARGET = "data_pw_testid_buckeye"
CANDIDATE = "data_pw_testid_buckeye_candidate"
NO_BOX = "-1,-1,-1,-1"

# What says something of an element to a reader (the authors' list), under the names that it has in their files
SALIENT = {name.replace("_", "-"): name for name in (
    "alt", "aria_describedby", "aria_description", "aria_label", "aria_role", "label", "name", "placeholder", "role",
    "title", "type", "value", "id")} | {"checked": "input_checked", "selected": "option_selected"}
LONGEST = 200  # characters of such an attribute
_LONGEST_CLASS = 1000
_OURS = (NODE_ID, BOX, CLICKABLE, TARGET, CANDIDATE)
_STRIDE = 3  # numbers of an element: its own, that of the text in it, that of the text behind it
# What browsers make react to a click, and the roles that say so: for elements out of sight, of which no table tells
_REACTING_TAGS = frozenset({"button", "input", "label", "option", "select", "summary", "textarea"})
_REACTING_ROLES = frozenset({
    "button", "link", "checkbox", "radio", "switch", "tab", "menuitem", "menuitemcheckbox", "menuitemradio", "option",
    "combobox", "listbox", "slider", "spinbutton", "textbox", "searchbox", "treeitem"})
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True)
class NumberedPage:
    """A page whose elements are numbered in document order; `nodes` by uid, `by_number` by `backend_node_id`."""

    root: etree._Element
    nodes: dict[str, etree._Element]
    by_number: dict[str, etree._Element]

    def raw(self, target: str, action: str) -> str:
        """The whole page as HTML, the target marked with the action's uid."""
        node = self.nodes[target]
        node.set(TARGET, action)
        try:
            return "<!DOCTYPE html>\n" + etree.tostring(self.root, method="html", encoding="unicode", with_tail=False)
        finally:
            del node.attrib[TARGET]

    def candidate(self, number: str) -> dict[str, Any]:
        """An element as the lists of candidates hold it."""
        node = self.by_number[number]
        attributes = {NODE_ID: number, BOX: node.get(BOX, NO_BOX),
                      "class": xml_text(node.get("class", ""))[:_LONGEST_CLASS]}
        if CLICKABLE in node.attrib:
            attributes[CLICKABLE] = "true"
        attributes |= salient(node) | {CANDIDATE: "1"}
        return {"tag": node.tag, "attributes": json.dumps(attributes), NODE_ID: number}


def number(page: Page, rows: dict[str, TableRow], boxes: dict[str, Box], origin: Point) -> NumberedPage:
    """Number a flattened page.

    `rows`: the element table; `boxes`: by uid, those of the table and those that only a turn knew, relative to the
    viewport.
    """
    nodes: dict[str, etree._Element] = {}
    by_number: dict[str, etree._Element] = {}
    first = next(iter(page.elements.values()), None)
    root = etree.Element("html") if first is None else copy.deepcopy(first.getroottree().getroot())
    for index, node in enumerate(root.iter(etree.Element)):
        uid = node.attrib.pop(page.uid_attribute, None)
        for name in _OURS:
            node.attrib.pop(name, None)
        name = str(1 + _STRIDE * index)
        node.set(NODE_ID, name)
        by_number[name] = node
        if uid is None or uid in nodes:
            uid = None
        else:
            nodes[uid] = node
        row = None if uid is None else rows.get(uid)
        if row["clickable"] if row else _reacts(node):
            node.set(CLICKABLE, "true")
        if uid is not None and uid in boxes:
            node.set(BOX, _rectangle(boxes[uid], origin))
            node.set(CANDIDATE, "1")
    return NumberedPage(root, nodes, by_number)


def text_number(node: etree._Element, *, behind: bool) -> str:
    """The number of the text in an element, or of that `behind` it."""
    return str(int(node.get(NODE_ID, "0")) + (2 if behind else 1))


def salient(node: etree._Element) -> dict[str, str]:
    """The attributes that say something, under the authors' names."""
    attributes = {written: xml_text(value)[:LONGEST] for name, written in SALIENT.items() if (value := node.get(name))}
    for name in ("checked", "selected"):  # attributes that say it by being there
        if name in node.attrib:
            attributes[SALIENT[name]] = "true"
    return attributes


def xml_text(text: str) -> str:
    """The text without the characters that XML cannot have."""
    return _NOT_XML.sub("", text)


def _reacts(node: etree._Element) -> bool:
    """Whether a person would expect it to react to a click, as far as the markup tells."""
    if node.tag == "input" and node.get("type", "").strip().lower() == "hidden":
        return False
    return (node.tag in _REACTING_TAGS or (node.tag == "a" and "href" in node.attrib) or "onclick" in node.attrib
            or node.get("role", "").strip().lower() in _REACTING_ROLES
            or node.get("contenteditable", "false").strip().lower() in ("", "true", "plaintext-only"))


def _rectangle(box: Box, origin: Point) -> str:
    return ",".join(f"{round(value, 4):.10g}" for value in (
        box["x"] + origin["x"], box["y"] + origin["y"], box["width"], box["height"]))
