"""Actions of an agent in a page that runs: which element each is about, and how it is performed."""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from playwright.async_api import Page

from recorder.building.idle_snapshot import IdleSnapshot
from recorder.devtools.sessions import ProtocolError
from replay.running import finding
from replay.running.acting import Actor
from replay.running.action_forms import ParsedAction
from replay.running.finding import ElementMatch, ElementNotFound, World
from replay.running.parsed_action import VisibleElements, arguments_of, target_of
from schemas import InputError
from schemas.types.recordings import Element

from .live_tree import elements_source

_PATIENCE_S = 1.0  # that an element may take to appear


async def find_live(worlds: Sequence[World], element: Element) -> ElementMatch:
    """An element by its uid, or as it was described when it was recorded. Raises ElementNotFound."""
    if element["css"]:
        return await finding.find(worlds, element)
    for session, context in worlds:
        try:
            answer = await session.send("Runtime.evaluate", {
                "expression": f"{elements_source()}\ndemotapeLiveElements.find({json.dumps(element['uid'])})",
                "contextId": context})
        except ProtocolError:  # the frame is gone
            continue
        if name := answer["result"].get("objectId"):
            return ElementMatch(session, context, name, 1.0, ("uid",))
    raise ElementNotFound(f"no element has the uid {element['uid']!r} any more")


async def offscreen_tag(worlds: Sequence[World], uid: str) -> str | None:
    """The tag of an element that the element table need not have, by its uid; None where there is none."""
    for session, context in worlds:
        with suppress(ProtocolError):  # the frame is gone
            answer = await session.send("Runtime.evaluate", {
                "expression": f"{elements_source()}\ndemotapeLiveElements.tagOf({json.dumps(uid)})",
                "contextId": context, "returnByValue": True})
            if tag := answer["result"].get("value"):
                return str(tag)
    return None


def visible_elements(snapshot: IdleSnapshot, recorded: Mapping[str, Element], offscreen_tags: Mapping[str, str]
                     ) -> VisibleElements:
    """What an agent can name in a live state. `offscreen_tags`: tags of elements that are not in the element table, by
    uid; `recorded`: elements of the recorded session by their uids, which are looked for by description."""
    rows = {row["uid"]: row for row in snapshot.rows}

    def element(uid: str) -> Element:
        if uid in rows:
            row = rows[uid]
            return _live_element(uid, row["tag"], row["role"], row["name"]) | {"bbox": row["bbox"]}
        if uid in offscreen_tags:
            return _live_element(uid, offscreen_tags[uid])
        if uid in recorded:
            return recorded[uid]
        raise InputError(f"no element of this page has the uid {uid[:40]!r}")

    return VisibleElements(snapshot.state, [row for row in snapshot.rows if row["visible"]], element)


def _live_element(uid: str, tag: str, role: str = "", name: str = "") -> Element:
    return {"uid": uid, "tag": tag, "role": role, "name": name, "text": "", "attributes": {}, "xpath": "", "css": "",
            "frame": [], "bbox": None}


async def perform(action: ParsedAction, page: Page, worlds: Sequence[World], snapshot: IdleSnapshot,
                  recorded: Mapping[str, Element], uploads: Path) -> None:
    """Perform an action in a page. `snapshot`: what the agent was shown; `recorded`: as in `visible_elements`.
    Raises InputError for an action that names what is not there, ActionFailed and ElementNotFound for one that cannot
    be done."""
    offscreen_tags = {uid: tag for uid in filter(None, (action.uid, action.arguments.get("to_uid")))
                    if uid not in recorded and (tag := await offscreen_tag(worlds, uid))}
    visible = visible_elements(snapshot, recorded, offscreen_tags)
    element = target_of(action, visible)
    arguments: dict[str, Any] = arguments_of(action, visible, element)
    await Actor(page, lambda: worlds, uploads, _PATIENCE_S, finder=find_live).act(action.intent, arguments, element)
    if action.grammar == "webvoyager" and action.intent == "textInput":  # there, typing ends with Enter
        await page.keyboard.press("Enter")
