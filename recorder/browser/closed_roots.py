"""Closed shadow roots: handed over to the capture script, without a trace in the page."""

from recorder.devtools.sessions import Session


async def find(session: Session, context: int) -> None:
    """Look into the elements that the capture script takes for possible hosts of closed roots; `context`: its world."""
    listed = await session.send("Runtime.evaluate", {"expression": "demotape.closedRoots.take()", "contextId": context,
                                                     "objectGroup": "demotape"})
    members = await session.send("Runtime.getProperties", {"objectId": listed["result"]["objectId"],
                                                           "ownProperties": True})
    for member in members["result"]:
        element = member.get("value", {})
        if member["name"].isdigit() and element.get("subtype") == "node":
            await _hand_over(session, context, element["objectId"])
    await session.send("Runtime.releaseObjectGroup", {"objectGroup": "demotape"})


async def _hand_over(session: Session, context: int, element: str) -> None:
    described = await session.send("DOM.describeNode", {"objectId": element, "depth": 1, "pierce": True})
    for root in described["node"].get("shadowRoots", []):
        if root["shadowRootType"] != "closed":
            continue
        resolved = await session.send("DOM.resolveNode", {"backendNodeId": root["backendNodeId"],
                                                          "executionContextId": context, "objectGroup": "demotape"})
        await session.send("Runtime.callFunctionOn", {
            "functionDeclaration": "function () { demotape.closedRoots.adopt(this) }",
            "objectId": resolved["object"]["objectId"]})
