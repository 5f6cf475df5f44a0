"""The accessibility tree of each turn's state, from its recorded DOM: a Chromium without network and scripts renders
the snapshot and returns its tree. So it is the tree of the very state before the effect, and making it costs the person
who acts nothing."""

import json
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any

from playwright.sync_api import Browser, Page
from playwright.sync_api import Error as PlaywrightError

from pipeline.context import Context
from recorder import Recording
from schemas import UID_ATTRIBUTE, InputError, limits
from schemas.types.recordings import Demonstration, Turn, TurnState

from .offline import limit_memory, offline_browser, restore, set_size
from .rendering import Resources, render

# What only says how the browser came to it.
_LEFT_OUT = {"focusable", "url", "hiddenRoot", "actions"}


def stage(demonstration: Demonstration, context: Context) -> Demonstration:
    """Pipeline stage: keep the accessibility tree of each turn's DOM, for recordings that were made with `axtree`."""
    states = [turn["state"] for turn in demonstration["turns"] if turn["type"] == "browser" and turn["state"]]
    trees: dict[str, str] = {}
    with offline_browser() as browser:
        resources = Resources(context.recording)
        for state in states:
            if state["dom"] and state["dom"] not in trees:
                nodes = _read_tree(browser, context.recording, state, resources)
                trees[state["dom"]] = context.store_blob(json.dumps(nodes, separators=(",", ":")).encode())
    return {**demonstration, "turns": [_with_tree(turn, trees) for turn in demonstration["turns"]]}


def _read_tree(browser: Browser, recording: Recording, state: TurnState, resources: Resources) -> list[dict[str, Any]]:
    """A state's tree, from a page of its own; raises InputError when the browser cannot tell it in time."""
    where = f"{recording.layout.blob(state['dom'] or '')}: page of the accessibility tree"
    with limit_memory(browser, limits.AXTREE_SECONDS) as late:
        try:
            context = browser.new_context(offline=True, java_script_enabled=False, service_workers="block",
                                          accept_downloads=False)
            context.set_default_timeout(limits.AXTREE_SECONDS * 1000)
            context.route("**/*", lambda route: route.abort())
            nodes = tree(context.new_page(), recording, state, resources)
            context.close()
        except PlaywrightError as error:
            if late.is_set():
                raise InputError(f"{where}: rendering took longer than {limits.AXTREE_SECONDS:.0f} s") from None
            raise InputError(f"{where}: cannot be shown ({str(error).partition(chr(10))[0][:200]})") from None
    return nodes


def _with_tree(turn: Turn, trees: Mapping[str, str]) -> Turn:
    state = turn["state"] if turn["type"] == "browser" else None
    if turn["type"] == "chat" or not state or not state["dom"]:
        return turn
    return {**turn, "state": {**state, "axtree": trees[state["dom"]]}}


def tree(page: Page, recording: Recording, state: TurnState, resources: Resources) -> list[dict[str, Any]]:
    """Nodes of a state's accessibility tree in document order, without those that assistive technology does not see.

    Each: `id` (from 1), `parent` (an id, null for the root), `role`, `name`, and, where there are any, `value`,
    `description`, `properties` (states and properties by name) and `uid` of its element.
    """
    set_size(page, state)
    page.set_content(render(recording, state, resources), wait_until="load")
    restore(page)
    session = page.context.new_cdp_session(page)
    uids = dict(_uids(session.send("DOM.getDocument", {"depth": -1, "pierce": True})["root"]))
    trees: list[tuple[int | None, list[dict[str, Any]]]] = []
    for frame in frame_ids(session.send("Page.getFrameTree")["frameTree"]):
        owner = session.send("DOM.getFrameOwner", {"frameId": frame})["backendNodeId"] if trees else None
        trees.append((owner, session.send("Accessibility.getFullAXTree", {"frameId": frame})["nodes"]))
    session.detach()
    return join_trees(trees, uids)


def frame_ids(tree: dict[str, Any]) -> Iterator[str]:
    """Ids of a page's frames, each before those inside it."""
    yield tree["frame"]["id"]
    for child in tree.get("childFrames", []):
        yield from frame_ids(child)


def _uids(node: dict[str, Any]) -> Iterator[tuple[int, str]]:
    """Backend node ids of a document's elements and their uids."""
    attributes = node.get("attributes", [])
    for name, value in zip(attributes[::2], attributes[1::2], strict=True):
        if name == UID_ATTRIBUTE:
            yield node["backendNodeId"], value
    for child in (*node.get("children", []), *node.get("shadowRoots", []),
                  *([node["contentDocument"]] if "contentDocument" in node else [])):
        yield from _uids(child)


def join_trees(trees: Sequence[tuple[Hashable, list[dict[str, Any]]]], uids: Mapping[Any, str]) -> list[dict[str, Any]]:
    """The frames' trees (each with the backend id of its frame element, None for the first) as one, as it is kept:
    numbered anew, ignored nodes left out and what is in them lifted. `uids`: those of elements, by backend id."""
    inner = {owner: nodes for owner, nodes in trees if owner is not None}
    joined: list[dict[str, Any]] = []

    def add_tree(nodes: list[dict[str, Any]], parent: int | None) -> None:
        by_id = {node["nodeId"]: node for node in nodes}
        waiting = [(node, parent) for node in reversed(nodes) if node.get("parentId") not in by_id]
        while waiting:
            node, parent = waiting.pop()
            if not node["ignored"]:
                joined.append({"id": len(joined) + 1, "parent": parent} | _facts(node, uids))
                parent = joined[-1]["id"]
            if node.get("backendDOMNodeId") in inner:
                add_tree(inner[node["backendDOMNodeId"]], parent)
            waiting += [(by_id[child], parent) for child in reversed(node.get("childIds", [])) if child in by_id]

    add_tree(trees[0][1], None)
    return joined


def _facts(node: dict[str, Any], uids: Mapping[Any, str]) -> dict[str, Any]:
    facts = {name: node.get(name, {}).get("value", "") for name in ("role", "name")}
    for name in ("value", "description"):
        if name in node and node[name].get("value") not in (None, ""):
            facts[name] = node[name]["value"]
    properties = {property_["name"]: property_["value"].get("value") for property_ in node.get("properties", [])
                  if property_["name"] not in _LEFT_OUT and property_["value"].get("value") not in (None, "", False)}
    if properties:
        facts["properties"] = properties
    if uid := uids.get(node.get("backendDOMNodeId", 0)):
        facts["uid"] = uid
    return facts
