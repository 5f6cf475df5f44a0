"""What a page had loaded before anybody listened: style sheets, images and fonts, from the browser's memory and cache.

Nothing is requested again. `Page.getResourceContent` would: it has every style sheet loaded once more. So style sheets
and images are those of the page as MHTML, which the browser makes of what it holds. It holds no font as it came; those
of the page's own origin are fetched from the cache only, in a world that the page does not see.
"""

import json
from contextlib import suppress
from typing import Any

from recorder.building.tab_observer import TabObserver
from recorder.devtools.sessions import ProtocolError, Session, body_of
from recorder.privacy.mhtml import loaded_parts

from .resources import frames_of

_WORLD = "demotape-fonts"
_FORBIDDING = ("connect-src", "default-src")  # directives that may forbid the fetch, which the page would be told
_FETCH = """(async (url) => {
  if (new URL(url).origin !== location.origin || navigator.serviceWorker?.controller) return null;
  const answer = await fetch(url, { cache: "only-if-cached", mode: "same-origin" });
  if (!answer.ok) return null;
  const reader = new FileReader();
  const read = new Promise((done) => { reader.onload = () => done(reader.result); });
  reader.readAsDataURL(await answer.blob());
  return (await read).split(",")[1];
})(%s).catch(() => null)"""


async def take_up(session: Session, observer: TabObserver) -> None:
    """Hand the observer what the document of a page's session shows, and those in its frames."""
    epoch = observer.now
    answer = await session.send("Page.captureSnapshot", {"format": "mhtml"})
    for url, content_type, content in loaded_parts(answer["data"].encode()):
        observer.on_resource(url, content_type, epoch, content)


async def take_up_fonts(session: Session, observer: TabObserver) -> None:
    """Hand the observer the fonts of a session's frames, as far as the browser's cache has them."""
    for tree in await frames_of(session):
        fonts = [each for each in tree["resources"] if each["type"] == "Font"]
        with suppress(ProtocolError):  # the frame is gone
            if fonts and not await _forbids(session, tree["frame"]["id"]):
                await _fetch(session, tree["frame"]["id"], fonts, observer)


async def _forbids(session: Session, frame: str) -> bool:
    status = await session.send("Network.getSecurityIsolationStatus", {"frameId": frame})
    return any(name in policy["effectiveDirectives"] for policy in status["status"].get("csp", [])
               for name in _FORBIDDING)


async def _fetch(session: Session, frame: str, fonts: list[dict[str, Any]], observer: TabObserver) -> None:
    world = await session.send("Page.createIsolatedWorld", {"frameId": frame, "worldName": _WORLD})
    for font in fonts:
        answer = await session.send("Runtime.evaluate", {
            "expression": _FETCH % json.dumps(font["url"]), "contextId": world["executionContextId"],
            "awaitPromise": True, "returnByValue": True})
        if content := answer["result"].get("value"):
            body = body_of({"body": content, "base64Encoded": True})
            observer.on_resource(font["url"], font["mimeType"], observer.now, body)
