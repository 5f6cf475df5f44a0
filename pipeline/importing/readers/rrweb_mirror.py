"""The page of an rrweb recording at one time: full snapshots and what changed since."""

from dataclasses import dataclass, field
from typing import Any

from pipeline.importing.markup import MAX_DEPTH, MarkupWriter
from pipeline.importing.secret_fields import without_secret
from pipeline.pages.allowed import FRAMES
from schemas import InputError

_DOCUMENT, _ELEMENT, _TEXTS = 0, 2, (3, 4)
_MAX_NODES = 2_000_000
_SKIPPED = {"noscript"}


@dataclass(slots=True)
class Node:
    """A node of the page. `shadow`: the children that are in its shadow root."""

    id: int
    kind: int
    tag: str = ""
    attributes: dict[str, Any] = field(default_factory=dict)
    text: str = ""
    children: "list[Node]" = field(default_factory=list)
    shadow: "list[Node]" = field(default_factory=list)
    parent: "Node | None" = None
    is_shadow: bool = False


class Mirror:
    """Nodes by rrweb's numbers, which are the uids."""

    def __init__(self, where: str):
        self._where = where
        self.nodes: dict[int, Node] = {}
        self._root: Node | None = None
        self.lost = 0  # changes of nodes that are not in the page

    @property
    def is_known(self) -> bool:
        """Whether there was a full snapshot."""
        return self._root is not None

    def load(self, data: dict[str, Any]) -> None:
        """Take a full snapshot."""
        self.nodes = {}
        self._root = self._make(data["node"], None, 0)

    def mutate(self, data: dict[str, Any]) -> None:
        """Take a mutation: removals, additions in any order, texts, attributes."""
        for removal in data.get("removes") or ():
            self._remove(removal)
        waiting = list(data.get("adds") or ())
        while waiting:
            later = [addition for addition in waiting if not self._add(addition)]
            if len(later) == len(waiting):
                self.lost += len(later)
                break
            waiting = later
        for change in data.get("texts") or ():
            if node := self.nodes.get(change["id"]):
                node.text = str(change.get("value") or "")
        for change in data.get("attributes") or ():
            if node := self.nodes.get(change["id"]):
                self._set(node, change.get("attributes") or {})

    def set_value(self, number: int, text: str | None, checked: bool | None) -> None:
        """Take what a control holds after input."""
        if node := self.nodes.get(number):
            kind = str(node.attributes.get("type") or "").lower()
            if kind in ("checkbox", "radio"):
                node.attributes["checked"] = bool(checked)
            elif text is not None and node.tag == "select":
                for option in self._options(node):
                    option.attributes["selected"] = str(option.attributes.get("value", _text(option))) == text
            elif text is not None:
                node.attributes["value"] = text

    def _options(self, node: Node) -> list[Node]:
        options, waiting = [], list(node.children)
        while waiting:
            one = waiting.pop()
            options += [one] if one.tag == "option" else []
            waiting += one.children
        return options

    def value(self, number: int) -> str | None:
        """What a text field holds; None where that is not known."""
        node = self.nodes.get(number)
        value = node.attributes.get("value") if node else None
        return None if value is None else str(value)

    def draw(self) -> str | None:
        """The page as HTML with uids; None before the first full snapshot."""
        return self._document(self._root, 0) if self._root else None

    def _document(self, root: Node, frames: int) -> str:
        writer = MarkupWriter(self._where)
        writer.doctype()
        for child in root.children:
            self._write(child, writer, 0, frames)
        return writer.content()

    def _write(self, node: Node, writer: MarkupWriter, depth: int, frames: int) -> None:
        if depth > MAX_DEPTH:
            raise InputError(f"{self._where}: elements are nested deeper than {MAX_DEPTH}")
        if node.kind in _TEXTS:
            writer.text(node.text)
        if node.kind != _ELEMENT or node.tag in _SKIPPED:
            return
        attributes = _plain_attributes(node)
        if node.tag in FRAMES and node.children and node.children[0].kind == _DOCUMENT and frames < 8:
            attributes["srcdoc"] = self._document(node.children[0], frames + 1)
        name = writer.start(node.tag, attributes, str(node.id))
        if name is None:
            return
        if node.shadow:
            template = writer.start("template", {"shadowrootmode": "open"}, f"{node.id}-shadow")
            for child in node.shadow:
                self._write(child, writer, depth + 2, frames)
            writer.end(template or "template")
        if style := node.attributes.get("_cssText"):
            writer.text(str(style))
        elif node.tag == "textarea" and "value" in node.attributes:
            writer.text(str(node.attributes["value"] or ""))
        else:
            for child in node.children:
                if child.kind != _DOCUMENT:
                    self._write(child, writer, depth + 1, frames)
        writer.end(name)

    def _make(self, data: dict[str, Any], parent: Node | None, depth: int) -> Node:
        if depth > MAX_DEPTH:
            raise InputError(f"{self._where}: elements are nested deeper than {MAX_DEPTH}")
        if len(self.nodes) > _MAX_NODES:
            raise InputError(f"{self._where}: a page of more than {_MAX_NODES} nodes")
        attributes = data.get("attributes")
        node = Node(int(data["id"]), int(data["type"]), str(data.get("tagName") or "").lower(),
                    dict(attributes) if isinstance(attributes, dict) else {}, str(data.get("textContent") or ""),
                    parent=parent, is_shadow=bool(data.get("isShadow")))
        self.nodes[node.id] = node
        for child in data.get("childNodes") or ():
            inner = self._make(child, node, depth + 1)
            (node.shadow if inner.is_shadow else node.children).append(inner)
        return node

    def _add(self, addition: dict[str, Any]) -> bool:
        """Add a node; False where its parent or the node after it is not there yet."""
        parent, after = self.nodes.get(addition["parentId"]), addition.get("nextId")
        if parent is None or (after is not None and after != -1 and after not in self.nodes):
            return False
        before = self.nodes.get(addition["node"]["id"])
        if before is not None:
            self._detach(before)
        node = self._make(addition["node"], parent, 1)
        if node.kind == _DOCUMENT:  # of a frame
            parent.children = [node]
            return True
        siblings = parent.shadow if node.is_shadow else parent.children
        position = next((number for number, one in enumerate(siblings) if one.id == after), len(siblings))
        siblings.insert(position, node)
        return True

    def _remove(self, removal: dict[str, Any]) -> None:
        node = self.nodes.get(removal["id"])
        if node is None:
            return
        self._detach(node)
        waiting = [node]
        while waiting:
            one = waiting.pop()
            if self.nodes.get(one.id) is one:
                del self.nodes[one.id]
            waiting += [*one.children, *one.shadow]

    def _detach(self, node: Node) -> None:
        if node.parent is not None:
            node.parent.children = [one for one in node.parent.children if one is not node]
            node.parent.shadow = [one for one in node.parent.shadow if one is not node]

    def _set(self, node: Node, changes: dict[str, Any]) -> None:
        for name, value in changes.items():
            if value is None:
                node.attributes.pop(name, None)
            elif name == "style" and isinstance(value, dict):
                node.attributes["style"] = _merged_style(str(node.attributes.get("style") or ""), value)
            else:
                node.attributes[name] = value


def _merged_style(style: str, changes: dict[str, Any]) -> str:
    """A style attribute with properties set; False takes one away, a list has a priority."""
    declared = dict(part.split(":", 1) for part in style.split(";") if ":" in part)
    properties = {name.strip(): value.strip() for name, value in declared.items()}
    for name, value in changes.items():
        if value is False:
            properties.pop(name, None)
        else:
            properties[name] = " !".join(map(str, value)) if isinstance(value, list) else str(value)
    return "; ".join(f"{name}: {value}" for name, value in properties.items())


def _plain_attributes(node: Node) -> dict[str, str]:
    """The attributes of the page, without rrweb's own; flags that are false are left out."""
    plain = {}
    for name, value in node.attributes.items():
        if name.startswith(("rr_", "_css")) or value is False or value is None or isinstance(value, dict | list):
            continue
        if node.tag in ("textarea", "select") and name == "value":
            continue
        plain[name] = "" if value is True else str(value)
    return without_secret(plain)


def _text(node: Node) -> str:
    return " ".join("".join(child.text for child in node.children).split())
