"""The page as a tree, to choose a turn's target in: the elements that were in sight, and what they stand in.

Parts of the page in which nothing was in sight are left out. The tree is asked for level by level.
"""

from collections.abc import Mapping, Set
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from flask import Blueprint, render_template, request
from lxml import etree

from curator_web.access.services import services
from curator_web.demonstrations.library import library
from curator_web.demonstrations.workflow.added_actions import page_of
from curator_web.errors import ErrorText, InputError, NotFound
from curator_web.sandboxed import list_sandboxed
from pipeline.pages.allowed import FRAMES
from pipeline.pages.dom import Element, parse
from pipeline.pages.targets import candidates
from recorder.reader import Recording
from schemas import UID_ATTRIBUTE
from schemas.types.recordings import TableRow

from .presentation import ReviewView

blueprint = Blueprint("tree", __name__)
LEVEL = 200  # elements of a level that are shown at once
FRAMES_DEEP = 32
LABEL_LENGTH = 80
MAX_CACHED_TREES = 8  # trees of one process


@dataclass
class Node:
    """An element; `row` is its line in the element table, None when it cannot be a target itself."""

    number: int
    parent: "Node | None"
    tag: str
    hint: str
    row: TableRow | None
    text: str
    children: "list[Node]"

    @property
    def label(self) -> str:
        return (self.row["name"] if self.row else "") or self.text


@dataclass(frozen=True)
class Line:
    """One line of a tree as it is shown: `position` of `siblings` at its `level`, from 1; `left`: how many siblings the
    line stands for that are not shown yet."""

    node: Node
    level: int
    position: int
    siblings: int
    is_open: bool = False
    left: int = 0


@dataclass(frozen=True)
class Tree:
    """`nodes` by number, in the page's order; the first holds the page's root."""

    nodes: list[Node]

    def lines(self, number: int = 0, start: int = 0, opened: Set[int] = frozenset()) -> list[Line]:
        """What stands in a node, from the place `start` on, and what stands in those of it that are `opened`.

        Raises NotFound.
        """
        if not 0 <= number < len(self.nodes) or not 0 <= start <= len(self.nodes):
            raise NotFound(ErrorText("unknown element in this page"))
        lines: list[Line] = []
        # A stack, for a page may nest deeper than Python calls.
        stack = list(reversed(_lines(self.nodes[number], start, _level(self.nodes[number]), opened)))
        while stack:
            line = stack.pop()
            lines.append(line)
            if line.is_open:
                stack += reversed(_lines(line.node, 0, line.level + 1, opened))
        return lines

    def add(self, parent: Node, tag: str, hint: str, row: TableRow | None, text: str) -> Node:
        """Add a node as the last one in another."""
        node = Node(len(self.nodes), parent, tag, hint, row, text, [])
        self.nodes.append(node)
        parent.children.append(node)
        return node

    def find(self, uid: str | None) -> Node | None:
        """The node of an element that can be a target."""
        return next((node for node in self.nodes if node.row and node.row["uid"] == uid), None)

    def way(self, node: Node | None) -> set[int]:
        """The numbers of what an element stands in; without one, of the page's first levels that branch nowhere."""
        ancestors, node_ = set(), node.parent if node else None
        while node_ is not None:
            ancestors.add(node_.number)
            node_ = node_.parent
        if node is None:
            node_ = self.nodes[0]
            while len(node_.children) == 1:
                node_ = node_.children[0]
                ancestors.add(node_.number)
        return ancestors


@blueprint.get("/demonstrations/<demonstration_id>/tree")
def show(demonstration_id: str) -> str:
    """What stands in an element (`node`, from the place `start` on), or the tree opened at one (`uid`). `seen`: not of
    the turn's page but of that in which an action is added."""
    review_view = ReviewView(library.review(services().db, demonstration_id), request.args.get("turn"))
    turn, recording = review_view.selected, services().store.open(review_view.row.recording)
    seen_page = request.args.get("seen")
    if turn is None or (seen_page is None and not turn.state):
        raise NotFound(ErrorText("this turn shows no page"))
    state = turn.state if seen_page is None else page_of(review_view.review, turn.id, recording, seen_page).state
    tree = of_state(recording, state)
    if "uid" in request.args:
        lines = tree.lines(opened=tree.way(tree.find(request.args["uid"])))
    else:
        lines = tree.lines(request.args.get("node", -1, int), request.args.get("start", 0, int))
    return render_template("review/_tree.html", lines=lines, present=turn.uid if seen_page is None else None)


def of_state(recording: Recording, state: Mapping[str, Any]) -> Tree:
    """The tree of a state's page; raises InputError when the recording does not hold it."""
    if not state.get("dom") or not state.get("elements"):
        raise InputError(ErrorText("the elements of this turn's page were not recorded"))
    return _cached(_TreeKey(recording, state["dom"], state["elements"]))


class _TreeKey:
    """What a tree is made of; two of the same recording and blobs are one."""

    def __init__(self, recording: Recording, dom: str, elements: str):
        self.recording: Any = recording  # None once the tree is made
        self._key, self.state = (recording.id, dom, elements), {"dom": dom, "elements": elements}

    def __eq__(self, other_key: object) -> bool:
        return isinstance(other_key, _TreeKey) and self._key == other_key._key

    def __hash__(self) -> int:
        return hash(self._key)


@lru_cache(MAX_CACHED_TREES)
def _cached(cache_key: _TreeKey) -> Tree:
    tree = Tree([Node(0, None, "", "", None, "", [])])
    for above, tag, hint, row, text in list_sandboxed(_nodes, cache_key.recording, cache_key.state):
        tree.add(tree.nodes[above], tag, hint, row, text)
    cache_key.recording = None  # a tree is kept, what it was made of is not
    return tree


def _nodes(recording: Recording, state: Mapping[str, str]) -> list[tuple[int, str, str, TableRow | None, str]]:
    """The nodes of a tree but the first, flat: the number of the one above, and what stands in it."""
    builder = _Builder({(*row["frame"], row["uid"]): row for row in candidates(recording, state)})
    builder.add(parse(recording.blob(state["dom"])), (), builder.tree.nodes[0])
    return [(node.parent.number if node.parent else 0, node.tag, node.hint, node.row, node.text)
            for node in builder.tree.nodes[1:]]


class _Builder:
    """Makes the nodes of a page whose elements in sight are known by frames and uid."""

    def __init__(self, rows: dict[tuple[str, ...], TableRow]):
        self._rows = rows
        self._frames = {key[:length] for key in rows for length in range(1, len(key))}
        self.tree = Tree([Node(0, None, "", "", None, "", [])])

    def add(self, document: Element, frame: tuple[str, ...], parent: Node) -> None:
        """Add what of a document leads to an element in sight."""
        wanted: dict[Element, TableRow | None] = {}
        for element in document.iter(etree.Element):
            key = (*frame, element.get(UID_ATTRIBUTE, ""))
            if key not in self._rows and key not in self._frames:
                continue
            wanted[element] = self._rows.get(key)
            above = element.getparent()
            while above is not None and above not in wanted:
                wanted[above] = None
                above = above.getparent()
        # In the page's order; a stack, for a page may nest deeper than Python calls.
        stack = [(document, parent)] if document in wanted else []
        while stack:
            element, above = stack.pop()
            node = self._node(element, wanted[element], above)
            key = (*frame, element.get(UID_ATTRIBUTE, ""))
            if key in self._frames and element.tag in FRAMES and len(key) <= FRAMES_DEEP:
                self.add(parse(element.get("srcdoc", "").encode("utf-8", "replace")), key, node)
            stack += [(child, node) for child in reversed(element) if child in wanted]

    def _node(self, element: Element, row: TableRow | None, parent: Node) -> Node:
        classes = element.get("class", "").split()
        hint = f"#{element.get('id')}" if element.get("id") else f".{classes[0]}" if classes else ""
        shadow = element.get("shadowrootmode")
        return self.tree.add(parent, "shadow root" if shadow else str(element.tag), hint[:LABEL_LENGTH], row,
                             " ".join((element.text or "").split())[:LABEL_LENGTH] if row else "")


def _lines(node: Node, start: int, level: int, opened: Set[int]) -> list[Line]:
    """The lines right below a node. What leads to an opened one is shown however far down it stands."""
    siblings = node.children
    far = max((index for index, sibling in enumerate(siblings, 1) if sibling.number in opened), default=0)
    shown = siblings[start:max(start + LEVEL, far)]
    lines = [Line(sibling, level, start + index, len(siblings), sibling.number in opened and bool(sibling.children))
             for index, sibling in enumerate(shown, 1)]
    remaining = len(siblings) - start - len(shown)
    return [*lines, Line(node, level, start + len(shown), len(siblings), left=remaining)] if remaining else lines


def _level(node: Node) -> int:
    """How many levels down what stands in a node is, from 1."""
    level = 1
    while node.parent is not None:
        level, node = level + 1, node.parent
    return level
