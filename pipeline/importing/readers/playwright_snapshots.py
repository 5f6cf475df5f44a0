"""Snapshots of Playwright's traces: nested lists that refer to earlier ones, written as pages.

A node is a text, `[name, attributes, ...children]`, or `[[snapshots ago, number]]`: a node of an earlier snapshot of
the same frame, numbered in post-order.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from pipeline.importing.markup import MAX_DEPTH, MarkupWriter
from pipeline.importing.secret_fields import without_secret
from pipeline.pages.allowed import FRAMES
from pipeline.pages.dom import SOURCE_ATTRIBUTE
from schemas import InputError

_OWN = "__playwright_"
_TARGET = "__playwright_target__"
_FRAME_ID = re.compile(r"frame@[0-9a-zA-Z]+")
_MAX_FRAMES_DEEP = 8
_SKIPPED = {"noscript", "x-noscript"}


@dataclass
class Snapshot:
    """One frame at one moment. `time`: milliseconds of the trace's clock."""

    frame: str
    page: str
    call: str
    phase: str
    url: str
    time: float
    viewport: tuple[int, int]
    is_main: bool
    html: Any
    number: int = 0
    nodes: list[Any] | None = None


@dataclass
class DrawnPage:
    """A page as HTML with uids, and what the snapshot says besides."""

    html: str
    target: str | None = None
    target_frames: list[str] = field(default_factory=list)
    scroll: tuple[float, float] = (0.0, 0.0)
    values: dict[str, str] = field(default_factory=dict)  # of controls, by the path of their numbers among children
    target_path: str = ""
    scrolls: dict[str, tuple[float, float]] = field(default_factory=dict)


class Snapshots:
    """All snapshots of a trace, by frame and in order."""

    def __init__(self, where: str):
        self.where = where
        self._of_frame: dict[str, list[Snapshot]] = defaultdict(list)
        self._of_call: dict[tuple[str, str], list[Snapshot]] = defaultdict(list)
        self._main: dict[str, list[Snapshot]] = defaultdict(list)
        self._uids: dict[int, int] = {}  # by the identity of the node, which lives as long as this

    def add(self, snapshot: Snapshot) -> None:
        """Add one; they come in order."""
        snapshot.number = len(self._of_frame[snapshot.frame])
        self._of_frame[snapshot.frame].append(snapshot)
        self._of_call[snapshot.call, snapshot.phase].append(snapshot)
        if snapshot.is_main:
            self._main[snapshot.page].append(snapshot)

    def main_of(self, call: str, phase: str) -> Snapshot | None:
        """The snapshot of the top document of a call, if there is one."""
        return next((one for one in self._of_call.get((call, phase), ()) if one.is_main), None)

    def page_of(self, call: str) -> str:
        """The page that a call was about; empty where it has no snapshot."""
        return next((one.page for phase in ("before", "action", "after")
                     for one in self._of_call.get((call, phase), ())), "")

    def last_before(self, page: str, time: float) -> Snapshot | None:
        """The newest snapshot of a page's top document until a time."""
        return max((one for one in self._main.get(page, ()) if one.time <= time), key=lambda one: one.time,
                   default=None)

    def draw(self, main: Snapshot) -> DrawnPage:
        """The page of a snapshot with its frames."""
        drawn = DrawnPage("")
        drawn.html = self._draw(main, drawn, [], {one.frame: one for one in self._of_call[main.call, main.phase]})
        return drawn

    def _draw(self, snapshot: Snapshot, drawn: DrawnPage, frames: list[str], others: dict[str, Snapshot]) -> str:
        writer = MarkupWriter(self.where)
        writer.doctype()
        _Drawing(self, snapshot, writer, drawn, frames, others).node(snapshot.html, snapshot.number, "", 0)
        return writer.content()

    def draw_frame(self, snapshot: Snapshot, drawn: DrawnPage, frames: list[str], others: dict[str, Snapshot]) -> str:
        """The document in a frame; empty where frames are nested too deeply."""
        if snapshot.is_main or len(frames) > _MAX_FRAMES_DEEP:
            return ""
        return self._draw(snapshot, drawn, frames, others)

    def uid(self, node: list[Any]) -> str:
        """A uid that a node keeps in later snapshots that refer to it."""
        return f"e{self._uids.setdefault(id(node), len(self._uids) + 1)}"

    def referred(self, frame: str, number: int, index: int) -> Any:
        """A node of an earlier snapshot; raises InputError where there is none."""
        listed = self._of_frame[frame]
        if not 0 <= number < len(listed):
            raise InputError(f"{self.where}: a snapshot refers to one that is not in the trace")
        if listed[number].nodes is None:
            listed[number].nodes = list(_post_order(listed[number].html))
        nodes = listed[number].nodes or []
        if not 0 <= index < len(nodes):
            raise InputError(f"{self.where}: a snapshot refers to an element that is not in the trace")
        return nodes[index]


class _Drawing:
    """Writes the nodes of one snapshot."""

    def __init__(self, snapshots: Snapshots, snapshot: Snapshot, writer: MarkupWriter, drawn: DrawnPage,
                 frames: list[str], others: dict[str, Snapshot]):
        self._snapshots, self._snapshot, self._writer, self._drawn = snapshots, snapshot, writer, drawn
        self._frames, self._others = frames, others

    def node(self, node: Any, number: int, path: str, depth: int) -> None:
        """Write a node of the snapshot `number` of the frame; `path`: its numbers among children, from the top."""
        if depth > MAX_DEPTH:
            raise InputError(f"{self._snapshots.where}: elements are nested deeper than {MAX_DEPTH}")
        if isinstance(node, str):
            self._writer.text(node)
        elif isinstance(node, list) and node and isinstance(node[0], list):
            ago, index = int(node[0][0]), int(node[0][1])
            if ago < 1:
                raise InputError(f"{self._snapshots.where}: a snapshot refers to itself")
            earlier = number - ago
            self.node(self._snapshots.referred(self._snapshot.frame, earlier, index), earlier, path, depth + 1)
        elif isinstance(node, list) and node and isinstance(node[0], str) and node[0].lower() not in _SKIPPED:
            self._element(node, number, path, depth)

    def _element(self, node: list[Any], number: int, path: str, depth: int) -> None:
        attributes = node[1] if len(node) > 1 and isinstance(node[1], dict) else {}
        tag = node[0].lower()
        uid = self._snapshots.uid(node)
        written = _plain_attributes(tag, attributes)
        self._note(tag, attributes, uid, path)
        if tag in FRAMES:
            written |= self._frame(attributes, uid)
            if "srcdoc" in written:
                written.pop("src", None)
        name = self._writer.start(tag, written, uid)
        if name is None:
            return
        value = attributes.get(f"{_OWN}value_")
        if tag == "textarea" and isinstance(value, str):
            self._writer.text(value)
        else:
            content = attributes.get(f"{_OWN}style_content__")
            if tag == "style" and isinstance(content, str):
                self._writer.text(content)
            for index, child in enumerate(node[2:]):
                self.node(child, number, f"{path}/{index}", depth + 1)
        self._writer.end(name)

    def _frame(self, attributes: dict[str, Any], uid: str) -> dict[str, str]:
        """The attributes of a frame that hold its document, and its address."""
        address = str(attributes.get(f"{_OWN}src__") or attributes.get("src") or "")
        name = _FRAME_ID.search(address)
        inner = self._others.get(name[0]) if name else None
        if inner is None:
            return {}
        written = self._snapshots.draw_frame(inner, self._drawn, [*self._frames, uid], self._others)
        return {"srcdoc": written, SOURCE_ATTRIBUTE: inner.url}

    def _note(self, tag: str, attributes: dict[str, Any], uid: str, path: str) -> None:
        """Remember the target, values and scroll offsets."""
        drawn, at = self._drawn, "|".join([*self._frames, path])
        if _TARGET in attributes and attributes[_TARGET] in ("", self._snapshot.call):
            drawn.target, drawn.target_frames, drawn.target_path = uid, list(self._frames), at
        if isinstance(value := attributes.get(f"{_OWN}value_"), str):
            drawn.values[at] = value
        offsets = [attributes.get(f"{_OWN}scroll_{side}_") for side in ("left", "top")]
        if any(offsets):
            left, top = (float(offset or 0) for offset in offsets)
            drawn.scrolls[at] = left, top
            if not self._frames and tag in ("html", "body"):
                drawn.scroll = left, top


def _plain_attributes(tag: str, attributes: dict[str, Any]) -> dict[str, str]:
    """The attributes of the page, with the state of controls as attributes."""
    plain = {name: str(value) for name, value in attributes.items()
             if not name.startswith(_OWN) and not isinstance(value, dict | list)}
    if tag == "input" and isinstance(value := attributes.get(f"{_OWN}value_"), str):
        plain["value"] = value
    for name, own in (("checked", "checked_"), ("selected", "selected_")):
        if (state := attributes.get(_OWN + own)) is not None:
            plain.pop(name, None)
            if state == "true":
                plain[name] = ""
    if tag == "template" and f"{_OWN}shadow_root_" in attributes:
        plain["shadowrootmode"] = "open"
    return without_secret(plain)


def _post_order(html: Any) -> Iterator[Any]:
    """The nodes of a snapshot in the order of their numbers, without those of others."""
    waiting: list[tuple[Any, bool]] = [(html, False)]
    while waiting:
        node, is_done = waiting.pop()
        if isinstance(node, str) or is_done:
            yield node
        elif isinstance(node, list) and node and isinstance(node[0], str):
            waiting.append((node, True))
            waiting += [(child, False) for child in reversed(node[2:])]
