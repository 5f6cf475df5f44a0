"""Resources that a page loaded before the recorder attached: style sheets, images and fonts, from the browser's memory
and cache.

Nothing is requested again. `Page.getResourceContent` would: it has every style sheet loaded once more. So style sheets
and images are those of the page as MHTML, which the browser makes of what it holds. It holds no font as it came: the
cache is asked for those, by a fetch in a world that the page does not see. A fetch may ask the cache alone for nothing
but an address of the page's own origin, and lacks the header `Origin`, by which caches tell apart what is for fonts. So
it asks for an address that is none, and its request is given the font's address and that header before it is sent.
"""

import json
from contextlib import suppress
from typing import Any

from recorder.building.tab_observer import TabObserver
from recorder.devtools.sessions import ProtocolError, Session, body_of
from recorder.privacy.mhtml import loaded_parts

from .own_requests import FONT_PATH
from .resources import frames_of

_WORLD = "demotape-fonts"
_RULING = ("connect-src", "default-src")  # the first there rules what may be fetched (CSP 3, section 6.8.3)
_OWN = {"'self'", "*"}  # by which a page's own origin is allowed
_FETCH = """(async (path) => {
  if (location.origin === "null" || navigator.serviceWorker?.controller) return null;
  const answer = await fetch(location.origin + path, { cache: "only-if-cached", mode: "same-origin" });
  if (!answer.ok) return null;
  const reader = new FileReader();
  const read = new Promise((done) => { reader.onload = () => done(reader.result); });
  reader.readAsDataURL(await answer.blob());
  return (await read).split(",")[1];
})(%s).catch(() => null)"""


async def record_loaded_resources(session: Session, observer: TabObserver) -> None:
    """Hand the observer what the document of a page's session shows, and those in its frames."""
    epoch = observer.now
    answer = await session.send("Page.captureSnapshot", {"format": "mhtml"})
    for url, content_type, content in loaded_parts(answer["data"].encode()):
        observer.on_resource(url, content_type, epoch, content)


async def record_loaded_fonts(session: Session, observer: TabObserver) -> None:
    """Hand the observer the fonts of a session's frames, as far as the browser's cache has them."""
    fonts: list[str] = []  # all that are asked for; the number of each is in the address that stands for it
    session.on("Fetch.requestPaused", lambda event: _give_address(session, event, fonts))
    for tree in await frames_of(session):
        fonts_loaded = [resource for resource in tree["resources"] if resource["type"] == "Font"]
        with suppress(ProtocolError):  # the frame is gone
            if fonts_loaded and not await _forbids(session, tree["frame"]["id"]):
                await session.send("Fetch.enable", {"patterns": [{"urlPattern": f"*{FONT_PATH}*"}]})
                await _fetch(session, tree["frame"]["id"], fonts_loaded, fonts, observer)
    if fonts:
        session.post("Fetch.disable")


def _give_address(session: Session, event: dict[str, Any], fonts: list[str]) -> None:
    """Let a request that stands for a font ask for that."""
    origin, marker, number = event["request"]["url"].partition(FONT_PATH)
    if marker and number.isdecimal() and int(number) < len(fonts):
        headers = event["request"]["headers"] | {"Origin": origin}
        session.post("Fetch.continueRequest", {
            "requestId": event["requestId"], "url": fonts[int(number)],
            "headers": [{"name": name, "value": value} for name, value in headers.items()]})
    else:  # the page's own
        session.post("Fetch.continueRequest", {"requestId": event["requestId"]})


async def _forbids(session: Session, frame: str) -> bool:
    """Whether a policy of the page forbids the fetch, of which it would be told."""
    status = await session.send("Network.getSecurityIsolationStatus", {"frameId": frame})
    return any(not _allows(policy["effectiveDirectives"]) for policy in status["status"].get("csp", []))


def _allows(policy: str) -> bool:
    directives = {words[0].lower(): words[1:] for directive in policy.split(";") if (words := directive.split())}
    ruling = next((directives[name] for name in _RULING if name in directives), ["*"])
    return not _OWN.isdisjoint(word.lower() for word in ruling)


async def _fetch(session: Session, frame: str, resources: list[dict[str, Any]], fonts: list[str],
                 observer: TabObserver) -> None:
    world = await session.send("Page.createIsolatedWorld", {"frameId": frame, "worldName": _WORLD})
    for font in resources:
        fonts.append(font["url"])
        answer = await session.send("Runtime.evaluate", {
            "expression": _FETCH % json.dumps(f"{FONT_PATH}{len(fonts) - 1}"),
            "contextId": world["executionContextId"], "awaitPromise": True, "returnByValue": True})
        if content := answer["result"].get("value"):
            body = body_of({"body": content, "base64Encoded": True})
            observer.on_resource(font["url"], font["mimeType"], observer.now, body)
