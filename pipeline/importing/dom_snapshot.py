"""Pages from snapshots of Chrome DevTools (`DOMSnapshot.captureSnapshot`): nodes in lists, texts by number.

https://chromedevtools.github.io/devtools-protocol/tot/DOMSnapshot/
"""

from collections.abc import Mapping, Sequence
from typing import Any

from pipeline.pages.allowed import FRAMES

from .markup import MarkupWriter
from .secret_fields import without_secret

_ELEMENT, _TEXT = 1, 3
_MAX_FRAMES_DEEP = 8


def draw_snapshot(snapshot: Mapping[str, Any], uid_name: str, ignored: Sequence[str], where: str) -> bytes:
    """The page of a snapshot, its frames inside it, as UTF-8.

    `uid_name`: the attribute with an element's uid. `ignored`: beginnings of the names of attributes that are not the
    page's. Raises InputError, naming `where`, for a page that is too large or too deep, and what odd fields raise.
    """
    return _Snapshot(snapshot, uid_name, tuple(ignored), where).document(0, 0).encode("utf-8", "replace")


def scroll_offset(snapshot: Mapping[str, Any]) -> tuple[float, float]:
    """How far the page was scrolled, in CSS pixels."""
    page = snapshot["documents"][0]
    return float(page.get("scrollOffsetX") or 0), float(page.get("scrollOffsetY") or 0)


def document_address(snapshot: Mapping[str, Any]) -> str:
    """The address of the page."""
    return _text_of(snapshot, "documentURL")


def document_title(snapshot: Mapping[str, Any]) -> str:
    """The title of the page; empty if it has none."""
    return _text_of(snapshot, "title")


def _text_of(snapshot: Mapping[str, Any], field: str) -> str:
    number, strings = snapshot["documents"][0].get(field), snapshot["strings"]
    return str(strings[number]) if isinstance(number, int) and 0 <= number < len(strings) else ""


class _Snapshot:
    def __init__(self, snapshot: Mapping[str, Any], uid_name: str, ignored: tuple[str, ...], where: str):
        self._documents, self._strings = snapshot["documents"], snapshot["strings"]
        self._uid_name, self._ignored, self._where = uid_name, ignored, where

    def document(self, number: int, frames: int) -> str:
        """The page of a document. `frames`: in how many others it is."""
        nodes = _Nodes(self._documents[number]["nodes"], self._strings)
        writer = MarkupWriter(self._where)
        writer.doctype()
        for child in nodes.children_of(0)[0]:
            self._write(nodes, child, writer, frames)
        return writer.content()

    def _write(self, nodes: "_Nodes", root: int, writer: MarkupWriter, frames: int) -> None:
        """Write a node and what is in it; `waiting` has nodes to begin, and names of elements to end."""
        waiting: list[int | str] = [root]
        while waiting:
            node = waiting.pop()
            if isinstance(node, str):
                writer.end(node)
                continue
            kind = nodes.kind(node)
            if kind == _TEXT:
                writer.text(nodes.text(node))
            if kind == _ELEMENT and (name := self._begin(nodes, node, writer, frames)) is not None:
                waiting.append(name)
                if name == "textarea" and node in nodes.values:
                    writer.text(nodes.values[node])
                elif name not in FRAMES:
                    outer, shadow = nodes.children_of(node)
                    if shadow:
                        template = writer.start("template", {"shadowrootmode": "open"}, "") or "template"
                        for child in shadow:
                            self._write(nodes, child, writer, frames)
                        writer.end(template)
                    waiting += reversed(outer)

    def _begin(self, nodes: "_Nodes", node: int, writer: MarkupWriter, frames: int) -> str | None:
        tag, attributes = nodes.tag(node), nodes.attributes(node)
        uid = attributes.pop(self._uid_name, "")
        plain = {name: value for name, value in attributes.items() if not name.startswith(self._ignored)}
        if tag == "input" and node in nodes.values:
            plain["value"] = nodes.values[node]
        elif tag == "select":
            plain.pop("value", None)  # no attribute of lists: some tools write it there
        if node in nodes.checked:
            plain["checked"] = ""
        if node in nodes.selected:
            plain["selected"] = ""
        inner = nodes.frames.get(node)
        if tag in FRAMES and inner is not None and 0 < inner < len(self._documents) and frames < _MAX_FRAMES_DEEP:
            plain["srcdoc"] = self.document(inner, frames + 1)
        return writer.start(tag, without_secret(plain), uid)


class _Nodes:
    """The nodes of a document, by number."""

    def __init__(self, table: Mapping[str, Any], strings: Sequence[str]):
        self._table, self._strings = table, strings
        self._children: dict[int, list[int]] = {}
        for node, parent in enumerate(table["parentIndex"]):
            if parent >= 0 and parent < node:  # parents come first, so that there is no circle
                self._children.setdefault(int(parent), []).append(node)
        self.values = self._sparse("inputValue") | self._sparse("textValue")
        self._shadow = self._sparse("shadowRootType")
        self.checked = set((table.get("inputChecked") or {}).get("index") or ())
        self.selected = set((table.get("optionSelected") or {}).get("index") or ())
        frames = table.get("contentDocumentIndex") or {}
        self.frames: dict[int, int] = dict(zip(frames.get("index") or (), frames.get("value") or (), strict=False))

    def children_of(self, node: int) -> tuple[list[int], list[int]]:
        """Its children, and those in its shadow root.

        Chrome has both in one list and states of each node only that it is in a shadow root: of an element that is in
        one itself it is not known, and all are its children.
        """
        children = [child for child in self._children.get(node, [])
                    if self._shadow.get(child) != "user-agent"]  # the browser's own, such as in a field
        if node in self._shadow:
            return children, []
        shadow = [child for child in children if child in self._shadow]
        return [child for child in children if child not in self._shadow], shadow

    def kind(self, node: int) -> int:
        return int(self._table["nodeType"][node])

    def tag(self, node: int) -> str:
        return self._string(self._table["nodeName"][node]).lower()

    def text(self, node: int) -> str:
        return self._string(self._table["nodeValue"][node])

    def attributes(self, node: int) -> dict[str, str]:
        numbers = self._table["attributes"][node]
        return {self._string(name): self._string(value)
                for name, value in zip(numbers[::2], numbers[1::2], strict=False)}

    def _sparse(self, name: str) -> dict[int, str]:
        column = self._table.get(name) or {}
        return {node: self._string(number) for node, number in zip(
            column.get("index") or (), column.get("value") or (), strict=False)}

    def _string(self, number: Any) -> str:
        return str(self._strings[number]) if isinstance(number, int) and 0 <= number < len(self._strings) else ""
