"""The part of a page around some elements, and its text (Mind2Web's pruning, with the limits that WebLINX took)."""

import re
from collections.abc import Iterable

from lxml import etree

from pipeline.pages.dom import Page

_MAX_CHILDREN = 5  # of a candidate, its children and their children counted together
_MAX_SIBLINGS = 2  # to each side
_DROPPED = ("data-", "_", "ng", "x-", "xml", "js", "on", "style")
_SPACE = re.compile(r"\s+")


def prune(page: Page, uids: Iterable[str]) -> etree._Element:
    """A new tree of the elements, what they stand in, their nearest siblings and what is in them; uids stay on them."""
    wanted = {uid for uid in uids if uid in page.elements}
    attribute = page.uid_attribute
    retained = set(wanted)
    for uid in wanted:
        element = page.elements[uid]
        retained.update(ancestor.get(attribute) for ancestor in element.iterancestors())
        inside = [descendant for child in element.iterchildren(etree.Element)
                  for descendant in (child, *child.iterchildren(
            etree.Element))]
        retained.update(descendant.get(attribute) for descendant in inside[:_MAX_CHILDREN])
        for preceding in (True, False):
            beside = element.itersiblings(etree.Element, preceding=preceding)
            retained.update(descendant.get(attribute) for _,
                            descendant in zip(range(_MAX_SIBLINGS), beside, strict=False))
    retained.discard(None)
    root = etree.Element("html")
    if wanted:
        top = next(iter(page.elements.values())).getroottree().getroot()
        for part in _prune_children(top, retained, wanted, attribute):
            if part.tag == "html":
                return part
            root.append(part)
    return root


def bracket_notation(root: etree._Element) -> str:
    """The tree as text: `(tag attribute=value … text (child …))`."""
    words = [root.tag, *(f"{name}={value}" for name, value in root.attrib.items()), root.text or ""]
    for child in root:
        words += [bracket_notation(child), child.tail or ""]
    return f"({_SPACE.sub(' ', ' '.join(filter(None, words))).strip()})"


def _prune_children(element, retained: set[str], wanted: set[str], attribute: str) -> list[etree._Element]:
    """What remains of an element: nothing, a copy, or what is in it."""
    uid = element.get(attribute)
    children = element.iterchildren(etree.Element)
    if uid is None:  # a shadow root, or what stands for one: only what is in it counts
        return [descendant for child in children for descendant in _prune_children(child, retained, wanted, attribute)]
    if uid not in retained:
        return []
    copy = etree.Element(element.tag)
    for name, value in element.attrib.items():
        if value and name != attribute and name != "id" and not name.startswith(_DROPPED):
            copy.set(name, value)
    if uid in wanted:
        copy.set("uid", uid)
    copy.text = element.text
    for child in children:
        copy.extend(_prune_children(child, retained, wanted, attribute))
    if not copy.attrib and not (copy.text or "").strip() and len(copy) <= 1 and copy.tag != "html":
        return list(copy)
    return [copy]
