"""Reading DOM snapshots, and flattening one into a single document for any HTML parser.

A snapshot nests: a frame's document stands escaped in its `srcdoc`, a shadow root in a `<template>`. Readers of
data sets look for an element with one query over one parsed page, so an export inlines both. What an HTML parser
would drop or misplace when it reads the result (a second `<body>`, a form in a form, a cell outside a table) is
written as a `div` that names the original in `data-demotape-tag`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from lxml import etree

from schemas import UID_ATTRIBUTE

from .allowed import FRAMES

TAG_ATTRIBUTE = "data-demotape-tag"
SHADOW_ATTRIBUTE = "data-demotape-shadow"
SOURCE_ATTRIBUTE = "data-demotape-src"
HOISTED_ATTRIBUTE = "data-demotape-hoisted"
# Those that tell a reader of the page nothing; `data-demotape-whole` only in older recordings.
PRIVATE_ATTRIBUTES = ("data-demotape-scroll", "data-demotape-focus", "data-demotape-lifted", "data-demotape-base",
                      "data-demotape-mode", "data-demotape-whole", SOURCE_ATTRIBUTE)

# libxml2's default HTML parser silently drops elements nested deeper than 254 and everything behind an attribute or
# a text of ten million characters; readers of an export use it with its defaults.
MAX_DEPTH = 240
MAX_VALUE = 1_000_000
MAX_FRAMES_DEEP = 32

_EMPTY = b"<html><head></head><body></body></html>"
_ONE_PER_DOCUMENT = ("html", "head", "body", "frameset", "base")
_TABLE_PARTS = ("caption", "col", "colgroup", "thead", "tbody", "tfoot", "tr", "td", "th")
_SWALLOWING = ("plaintext", "frame", "frameset")

# lxml's own elements rather than lxml.html's: those are looked up in Python, one by one.
Element: TypeAlias = etree._Element
_PRIVATE = etree.XPath(f"//*[{' or '.join(f'@{name}' for name in PRIVATE_ATTRIBUTES)}]")
_TOO_DEEP = etree.XPath(f"boolean(//*[count(ancestor::*) >= {MAX_DEPTH - 1}])")


def parse(snapshot: bytes) -> Element:
    """The `html` element of a snapshot. Reads any bytes; fetches nothing and expands no entities but HTML's own."""
    parser = etree.HTMLParser(encoding="utf-8", huge_tree=True, no_network=True, remove_comments=True, remove_pis=True)
    for content in (snapshot, _EMPTY):
        try:
            root = etree.fromstring(content, parser)
        except etree.LxmlError:
            continue
        if root is not None:
            return root
    raise AssertionError("the empty document parses")


@dataclass(frozen=True)
class Page:
    """A flattened document.

    `content`: its HTML as UTF-8. `renamed` gives, for (uids of the frames from the top down, uid in that document), the
    uid in this page where that is another one, as two documents of one snapshot chose the same uid. `listed`: every
    uid in this page in UTF-8, each between two NULs, which no attribute can hold. `texts`: what it says to a reader;
    `runs`: lines that it writes in several elements, a NUL (`BREAK`) where one begins or ends (both only from
    `flatten`). Only where something was taken out: `showing`, uids of the elements that show it, and
    `generated`, whether style sheets may show it, too, nobody knows where.
    """

    content: bytes
    uid_attribute: str
    renamed: dict[tuple[tuple[str, ...], str], str]
    listed: bytes
    texts: frozenset[str] = frozenset()
    runs: frozenset[str] = frozenset()
    showing: tuple[str, ...] = ()
    generated: bool = False

    @property
    def html(self) -> str:
        """The document as text."""
        return self.content.decode("utf-8")

    @cached_property
    def names(self) -> frozenset[str]:
        """The uids in this page: those of `elements`, without parsing it again."""
        return frozenset(self.order)

    @property
    def order(self) -> list[str]:
        """The same in document order."""
        return [uid for uid in self.listed.decode("utf-8").split("\0") if uid]

    def has(self, uid: str) -> bool:
        """Whether a uid is one of `names`, without making them."""
        return uid != "" and "\0" not in uid and f"\0{uid}\0".encode("utf-8", "surrogatepass") in self.listed

    @cached_property
    def elements(self) -> dict[str, Element]:
        """Elements by uid, as a reader with lxml's default parser will find them."""
        by_uid: dict[str, Element] = {}
        for element in etree.fromstring(self.html, etree.HTMLParser()).iter(etree.Element):
            if (uid := element.get(self.uid_attribute)) is not None:
                by_uid.setdefault(uid, element)
        return by_uid

    def uid(self, frame: list[str], uid: str) -> str:
        """The uid in this page of an element of the recording; itself when the page does not know it."""
        return self.renamed.get((tuple(frame), uid), uid)

    def xpath(self, uid: str) -> str:
        """XPath of an element in this page; raises KeyError when it is not there."""
        element = self.elements[uid]
        return element.getroottree().getpath(element)


def flatten(snapshot: bytes, uid_attribute: str = UID_ATTRIBUTE) -> Page:
    """One document from a snapshot, with frames and shadow roots inlined and every uid in `uid_attribute`."""
    root = parse(snapshot)
    naming = _Naming(uid_attribute)
    _inline(root, (), naming)
    _make_safe(root)
    if len(snapshot) > MAX_VALUE:
        _shorten(root)
    if _TOO_DEEP(root):
        _hoist_deep(root)
    html = "<!DOCTYPE html>\n" + etree.tostring(root, method="html", encoding="unicode", with_tail=False)
    renamed = {key: name for key, name in naming.uids.items() if key[1] != name}
    listed = "\0".join(["", *naming.uids.values(), ""]).encode("utf-8", "replace")
    return Page(html.encode("utf-8", "replace"), uid_attribute, renamed, listed, _texts(root), _runs(root))


BREAK = "\0"  # no text of a document holds one
# Elements that only say how a part of a line looks or what it means (HTML, phrasing content); those that do something,
# such as links and buttons, stand for themselves.
_WITHIN_LINES = frozenset({"abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em",
                           "font", "i", "ins", "kbd", "mark", "nobr", "s", "samp", "small", "span", "strike", "strong",
                           "sub", "sup", "time", "tt", "u", "var", "wbr"})
_SILENT = frozenset({"script", "style", "noscript", "template"})
# Attributes that say something to a reader, or lead to somebody.
_SPEAKING = frozenset({"action", "alt", "cite", "content", "href", "label", "placeholder", "summary", "title", "value"})


def _texts(root: Element) -> frozenset[str]:
    said = (value for element in root.iter(etree.Element) for name, value in element.items() if _speaks(name))
    return frozenset(text.strip() for text in (*root.itertext(), *said) if text and not text.isspace())


def _runs(root: Element) -> frozenset[str]:
    """What stands on one line though several elements write it; white space as browsers show it."""
    runs: set[str] = set()
    parts: list[str] = []
    for event, element in etree.iterwalk(root, events=("start", "end")):
        if element.tag in _WITHIN_LINES:
            parts.append(BREAK)
        else:
            _end_run(parts, runs)
        text = element.text if event == "start" else element.tail
        if text and not (event == "start" and element.tag in _SILENT):
            parts.append(text)
    _end_run(parts, runs)
    return frozenset(runs)


def _end_run(parts: list[str], runs: set[str]) -> None:
    """Keep what was gathered where it has more than one text, and begin anew."""
    if sum(part != BREAK for part in parts) > 1:
        runs.add(" ".join(re.split(r"[ \t\n\r\f]+", "".join(parts))).strip(f" {BREAK}"))
    parts.clear()


def _speaks(attribute: str) -> bool:
    if attribute.startswith("data-demotape-"):
        return False
    return attribute in _SPEAKING or attribute.startswith(("aria-", "data-"))


class _Naming:
    """Gives every element of all documents in a snapshot a uid of its own in the page."""

    def __init__(self, attribute: str):
        self.attribute = attribute
        self.uids: dict[tuple[tuple[str, ...], str], str] = {}
        self._used: set[str] = set()

    def rename(self, element: Element, frame: tuple[str, ...]) -> str:
        """Move the element's uid to the page's attribute; returns the uid in its own document, or nothing."""
        uid = element.get(UID_ATTRIBUTE, "")
        name = uid
        if uid and (frame, uid) not in self.uids:
            if name in self._used:
                name = "-".join((*frame, uid))
                while name in self._used:
                    name += "-x"
            self._used.add(name)
            self.uids[frame, uid] = name
            if self.attribute == UID_ATTRIBUTE and name == uid:
                return uid  # the commonest case, and nothing is to be changed
        else:
            name = ""
        for attribute in (UID_ATTRIBUTE, self.attribute):  # the page's own of that name would pass for a uid
            if attribute in element.attrib:
                del element.attrib[attribute]
        if name:
            element.set(self.attribute, name)
        return uid


def _inline(root: Element, frame: tuple[str, ...], naming: _Naming) -> None:
    """Rename the uids of one document, and inline its shadow roots and its frames' documents."""
    for element in list(_elements(root)):
        uid = naming.rename(element, frame)
        tag = element.tag
        if tag == "template" and "shadowrootmode" in element.attrib:
            element.set(SHADOW_ATTRIBUTE, element.attrib.pop("shadowrootmode"))
            element.tag = "div"
        elif tag in FRAMES:
            if (source := element.get(SOURCE_ATTRIBUTE)) is not None:
                element.set("src", source)
            _inline_frame(element, (*frame, uid), naming)
    for element in _PRIVATE(root):
        for name in PRIVATE_ATTRIBUTES:
            element.attrib.pop(name, None)


def _inline_frame(owner: Element, frame: tuple[str, ...], naming: _Naming) -> None:
    """Put the frame's document where its escaped text was."""
    content = owner.attrib.pop("srcdoc", None)
    if owner.tag == "embed":
        _end_embed(owner)
    elif owner.tag == "object" and content is None:
        return  # no frame: it shows its content
    for child in list(owner):
        owner.remove(child)
    owner.text = None  # what stands between the tags is for browsers without frames
    if content is None or len(frame) > MAX_FRAMES_DEEP:
        return
    document = parse(content.encode("utf-8", "replace"))
    _inline(document, frame, naming)
    for element in list(_elements(document)):
        if element.tag in _ONE_PER_DOCUMENT:
            _disguise(element)
    _disguise(owner)
    owner.append(document)


def _end_embed(owner: Element) -> None:
    """Move behind an `embed` what the parser took for its content: it has none."""
    parent = owner.getparent()
    children = list(owner)
    behind, owner.tail, owner.text = owner.tail, owner.text, None
    for child in reversed(children):
        owner.addnext(child)
    if behind and parent is not None:
        last = children[-1] if children else owner
        last.tail = (last.tail or "") + behind


def _make_safe(root: Element) -> None:
    """Change what parsers would drop, misplace or choke on."""
    for element in list(_elements(root)):
        if element.tag in _SWALLOWING or (element.tag in _TABLE_PARTS and not _inside(element, "table")) or (
                element.tag == "form" and _inside(element, "form")):
            _disguise(element)
        if element.tag == "meta":
            _declare_utf8(element)


def _shorten(root: Element) -> None:
    """Cut what is longer than parsers take."""
    for element in list(_elements(root)):
        for name, value in element.attrib.items():
            if len(value) > MAX_VALUE:
                element.set(name, value[:MAX_VALUE])
        if element.text and len(element.text) > MAX_VALUE:
            element.text = element.text[:MAX_VALUE]
        if element.tail and len(element.tail) > MAX_VALUE:
            element.tail = element.tail[:MAX_VALUE]


def _hoist_deep(root: Element) -> None:
    """Move what is nested too deep to the end of the page; the wrapper names the place it came from."""
    home = root.find("body")
    home = root if home is None else home
    queue = [(root, 1)]
    while queue:
        element, depth = queue.pop()
        if depth < MAX_DEPTH:
            queue.extend((child, depth + 1) for child in element)
            continue
        for number, child in enumerate(list(element)):
            wrapper = etree.SubElement(home, "div", {HOISTED_ATTRIBUTE: str(number)})
            wrapper.append(child)
            queue.append((wrapper, 3))


def _disguise(element: Element) -> None:
    element.set(TAG_ATTRIBUTE, element.tag)
    element.tag = "div"


def _declare_utf8(meta: Element) -> None:
    """Exports are UTF-8, whatever the page was served in."""
    if "charset" in meta.attrib:
        meta.set("charset", "utf-8")
    elif meta.get("http-equiv", "").lower() == "content-type":
        meta.set("content", "text/html; charset=utf-8")


def _inside(element: Element, tag: str) -> bool:
    return next(element.iterancestors(tag), None) is not None


def _elements(root: Element) -> Iterator[Element]:
    """Elements only: no comments, no processing instructions, no entities."""
    return root.iter(etree.Element)
