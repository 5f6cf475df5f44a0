"""The accessibility tree of a page that runs, with the uids of its elements, and as text for a language model."""

import asyncio
from collections.abc import Hashable, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from pipeline.pages.accessibility_tree import frame_ids, join_trees
from recorder.devtools.sessions import ProtocolError, Session
from replay.running.finding import World, find_source

_HIDDEN_ROLES = {"none", "generic", "InlineTextBox", "LineBreak", "paragraph", "ignored"}
_SHOWN_PROPERTIES = ("checked", "pressed", "selected", "expanded", "disabled", "required", "invalid", "focused",
                     "level")
_MAX_NAME_CHARS = 200


@cache
def elements_source() -> str:
    """Source of `demotapeLiveElements`, for the capture script's world; there once, it does nothing again."""
    own = (Path(__file__).parent / "live_elements.js").read_text(encoding="utf-8")
    return f"{find_source()}\n{own}"


async def read_tree(worlds: Sequence[World]) -> list[dict[str, Any]]:
    """Nodes of the accessibility tree as `pipeline.pages.accessibility_tree.tree` gives them. `worlds`: where the
    capture script runs in the page; its first session is the page's own."""
    sessions = list(dict.fromkeys(session for session, _ in worlds))
    uids: dict[Hashable, str] = {}
    for listed in await asyncio.gather(*(_uids(world) for world in worlds)):
        uids |= listed
    parts = await asyncio.gather(*(_trees_of(session, sessions) for session in sessions))
    trees = [tree for part in parts for tree in part]
    return join_trees(trees, uids) if trees else []


async def _uids(world: World) -> dict[Hashable, str]:
    """Uids of the elements of a frame that a person can act on, by session and backend node id."""
    session, context = world
    try:
        named, handle = await asyncio.gather(
            session.send("Runtime.evaluate", {"expression": f"{elements_source()}\ndemotapeLiveElements.list()",
                                              "contextId": context, "returnByValue": True}),
            session.send("Runtime.evaluate", {"expression": "demotapeLiveElements.take()", "contextId": context}))
        array = handle["result"]["objectId"]
        properties = await session.send("Runtime.getProperties", {"objectId": array, "ownProperties": True})
        elements = [item["value"]["objectId"] for item in properties["result"] if item["name"].isdecimal()]
        nodes = await asyncio.gather(*(session.send("DOM.describeNode", {"objectId": name}) for name in elements))
        await session.send("Runtime.releaseObject", {"objectId": array})
    except (ProtocolError, KeyError):  # the frame is gone
        return {}
    return {(id(session), node["node"]["backendNodeId"]): uid
            for node, uid in zip(nodes, named["result"].get("value") or (), strict=False)}


async def _trees_of(session: Session, sessions: Sequence[Session]
                    ) -> list[tuple[Hashable, list[dict[str, Any]]]]:
    """The trees of the frames of a session's process, each with the key of its frame element; none of a page that is
    gone."""
    trees: list[tuple[Hashable, list[dict[str, Any]]]] = []
    with suppress(ProtocolError):
        for frame in frame_ids((await session.send("Page.getFrameTree"))["frameTree"]):
            owner = None if session is sessions[0] and not trees else await _owner(frame, sessions)
            nodes = (await session.send("Accessibility.getFullAXTree", {"frameId": frame}))["nodes"]
            for node in nodes:
                if "backendDOMNodeId" in node:
                    node["backendDOMNodeId"] = (id(session), node["backendDOMNodeId"])
            trees.append((owner, nodes))
    return trees


async def _owner(frame: str, sessions: Sequence[Session]) -> Hashable:
    """The key of the element that holds a frame, which is in one of these processes."""
    for session in sessions:
        with suppress(ProtocolError):
            await session.send("DOM.enable")
            owner = await session.send("DOM.getFrameOwner", {"frameId": frame})
            return id(session), owner["backendNodeId"]
    return "unknown"


def as_text(nodes: Sequence[dict[str, Any]]) -> str:
    """The tree as lines such as `[abc-12] button 'Search', focused`, indented by depth: elements with a uid, and others
    that say something."""
    depths: dict[int | None, int] = {None: 0}
    names: dict[int | None, str] = {}
    lines = []
    for node in nodes:
        role, name = str(node["role"]), " ".join(str(node["name"]).split())[:_MAX_NAME_CHARS]
        depth = depths[node["parent"]]
        says_more = name != names.get(node["parent"])  # than what it stands in
        hidden = role in _HIDDEN_ROLES or (role == "StaticText" and not says_more)
        shown = "uid" in node or (not hidden and bool(name or node["parent"] is None or node.get("value")))
        depths[node["id"]] = depth + shown
        names[node["id"]] = name if shown else names.get(node["parent"], "")
        if shown:
            lines.append("\t" * depth + _line(node, role, name))
    return "\n".join(lines)


def _line(node: dict[str, Any], role: str, name: str) -> str:
    properties = node.get("properties", {})
    parts = [f"{key}={value}" if value is not True else key for key in _SHOWN_PROPERTIES
             if (value := properties.get(key)) not in (None, "", "false", False)]
    if "value" in node:
        parts.insert(0, f"value={str(node['value'])[:_MAX_NAME_CHARS]!r}")
    uid = f"[{node['uid']}] " if "uid" in node else ""
    return ", ".join([f"{uid}{role} {name!r}", *parts])
