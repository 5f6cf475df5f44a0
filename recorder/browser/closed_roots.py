"""Gives closed shadow roots to the capture script, without a trace in the page."""

import asyncio
import itertools
from contextlib import suppress

from recorder.devtools.sessions import ProtocolError, Session

_numbers = itertools.count(1)


async def find(session: Session, context: int) -> None:
    """Look into the elements that the capture script takes for possible hosts of closed roots; `context`: its world."""
    group = f"demotape-{next(_numbers)}"  # its own: on a busy machine several searches overlap
    listed = await session.send("Runtime.evaluate", {
        "expression": "demotape.closedRoots.takeCandidates()", "contextId": context, "objectGroup": group})
    members = await session.send("Runtime.getProperties", {"objectId": listed["result"]["objectId"],
                                                           "ownProperties": True})
    elements = [member.get("value", {}) for member in members["result"] if member["name"].isdigit()]
    await asyncio.gather(*[_hand_over(session, context, element["objectId"], group)
                           for element in elements if element.get("subtype") == "node"])
    await session.send("Runtime.releaseObjectGroup", {"objectGroup": group})


async def _hand_over(session: Session, context: int, element: str, group: str) -> None:
    """Hand an element's closed roots over; nothing is done when it is gone by now."""
    with suppress(ProtocolError):
        for root in await _closed_roots_of(session, context, element, group):
            await session.send("Runtime.callFunctionOn", {
                "functionDeclaration": "function () { demotape.closedRoots.adopt(this) }", "objectId": root})


async def _closed_roots_of(session: Session, context: int, element: str, group: str) -> list[str]:
    described = await session.send("DOM.describeNode", {"objectId": element, "depth": 1, "pierce": True})
    resolved = [await session.send("DOM.resolveNode", {"backendNodeId": root["backendNodeId"],
                                                       "executionContextId": context, "objectGroup": group})
                for root in described["node"].get("shadowRoots", []) if root["shadowRootType"] == "closed"]
    return [answer["object"]["objectId"] for answer in resolved]
