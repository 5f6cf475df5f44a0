"""The relevant part of a page as Mind2Web's `cleaned_html`: strict XML that HTML parsers read to the same elements.

Text stands in `<text>` nodes of its own, and every node has its number.
"""

import re

from lxml import etree

from .mind2web_pages import CLICKABLE, NODE_ID, NumberedPage, salient, text_number, xml_text

_UNSEEN = frozenset({"head", "script", "style", "noscript", "template", "link", "meta", "base"})
_HIDDEN = re.compile(r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.I)
_NAME = re.compile(r"[^A-Za-z0-9_.-]")
_TAGS_ALLOWED_EMPTY = ("input", "textarea", "select", "option", "img", "iframe", "canvas")
# HTML parsers drop a row or cell outside of a table.
_TABLE_PARTS = frozenset({"caption", "col", "colgroup", "thead", "tbody", "tfoot", "tr", "td", "th"})
_VOID = frozenset({"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source",
                   "track", "wbr"})
_NO_CANDIDATE = ("html", "head", "body", "text")


def clean_page(page: NumberedPage, target: str) -> etree._Element:
    """The tree of the relevant part of a page, with an `html` element as its root. The element with the uid `target` is
    always in it."""
    target_node = page.nodes[target]
    way = {node.get(NODE_ID, "") for node in (target_node, *target_node.iterancestors())}
    cleaned_root = _clean(page.root, way, target_node.get(NODE_ID, ""))
    if len(cleaned_root) == 1 and cleaned_root[0].tag == "html":
        return cleaned_root[0]
    root = etree.Element("html", {NODE_ID: page.root.get(NODE_ID, "")})
    root.extend(cleaned_root)
    return root


def serialize(tree: etree._Element) -> str:
    """A cleaned tree as text: only elements that are always empty in HTML are written as `<br/>`."""
    for node in tree.iter(etree.Element):
        if len(node) == 0 and not node.text and node.tag not in _VOID:
            node.text = ""
    return etree.tostring(tree, encoding="unicode")


def candidates(tree: etree._Element) -> list[str]:
    """Numbers of the elements of a cleaned tree that can be chosen, in document order."""
    return [node.get(NODE_ID, "") for node in tree.iter(etree.Element) if node.tag not in _NO_CANDIDATE]


def _clean(node: etree._Element, way: set[str], target: str) -> list[etree._Element]:
    """What remains of a node: nothing, a copy, or what is in it. `way`: the target and what it stands in."""
    identity = node.get(NODE_ID, "")
    hidden = "hidden" in node.attrib or _HIDDEN.search(node.get("style", ""))
    if identity not in way and (node.tag in _UNSEEN or hidden):
        return []
    children = _text(node.text, text_number(node, behind=False))
    for child in node:
        if isinstance(child.tag, str):
            children += _clean(child, way, target)
            children += _text(child.tail, text_number(child, behind=True))
    said = salient(node)
    if identity != target and CLICKABLE not in node.attrib and node.tag not in ("html", "body"):
        table = node.tag == "table" and any(child.tag in _TABLE_PARTS for child in children)
        if not said and len(children) <= 1 and not table:
            return children
        if not children and node.tag not in _TAGS_ALLOWED_EMPTY and not said.keys() - {"id"}:
            return []
    copy = etree.Element(_xml_name(node.tag), {NODE_ID: identity} | said)
    copy.extend(children)
    return [copy]


def _text(text: str | None, number: str) -> list[etree._Element]:
    words = " ".join(xml_text(text or "").split())
    if not words:
        return []
    node = etree.Element("text", {NODE_ID: number})
    node.text = words
    return [node]


def _xml_name(name: str) -> str:
    name = _NAME.sub("_", name)
    return name if name and (name[0].isalpha() or name[0] == "_") else f"_{name}"
