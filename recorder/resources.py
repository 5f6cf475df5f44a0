"""Style sheets, images and fonts of the pages, as the browser received them."""

import base64
from collections.abc import Callable, Coroutine, Iterable
from contextlib import suppress

from playwright.async_api import CDPSession
from playwright.async_api import Error as PlaywrightError

from .sink import Sink

_KINDS = {"Stylesheet", "Image", "Font"}
_MAX_BYTES = 20_000_000


async def in_use(sessions: Iterable[CDPSession]) -> set[str]:
    """Addresses of all that the documents shown now have loaded."""
    found: set[str] = set()
    for session in list(sessions):
        with suppress(PlaywrightError):  # the tab is closed
            trees = [(await session.send("Page.getResourceTree"))["frameTree"]]
            while trees:
                tree = trees.pop()
                found |= {resource["url"] for resource in tree["resources"]}
                trees += tree.get("childFrames", [])
    return found


def listeners(session: CDPSession, sink: Sink, spawn: Callable[[Coroutine], None]) -> dict[str, Callable]:
    """CDP handlers that hand each finished resource of one session to the sink."""
    waiting: dict[str, tuple[str, str, float]] = {}
    started: dict[str, float] = {}

    def sent(event: dict) -> None:
        if event.get("type") in _KINDS:
            started[event["requestId"]] = event["wallTime"]

    def received(event: dict) -> None:
        response = event["response"]
        if event["type"] in _KINDS and response["url"].startswith(("http:", "https:")):
            epoch = started.pop(event["requestId"], 0.0)
            waiting[event["requestId"]] = (response["url"], response["mimeType"], epoch)

    def finished(event: dict) -> None:
        if event["requestId"] in waiting and event["encodedDataLength"] <= _MAX_BYTES:
            spawn(fetch(event["requestId"], *waiting.pop(event["requestId"])))

    async def fetch(request: str, url: str, content_type: str, epoch: float) -> None:
        answer = await session.send("Network.getResponseBody", {"requestId": request})
        body = answer["body"]
        content = base64.b64decode(body) if answer["base64Encoded"] else body.encode()
        sink.on_resource(url, content_type, epoch, content)

    return {"Network.requestWillBeSent": sent, "Network.responseReceived": received,
            "Network.loadingFinished": finished}
