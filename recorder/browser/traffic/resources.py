"""Style sheets, images and fonts of the pages, as the browser received them."""

from collections.abc import Callable, Coroutine, Iterable
from contextlib import suppress
from typing import Any

from recorder.building.recording_clock import as_if_never_set
from recorder.building.tab_observer import TabObserver
from recorder.devtools.sessions import ProtocolError, Session, body_of

_KINDS = {"Stylesheet", "Image", "Font"}
_MAX_BYTES = 20_000_000


async def frames_of(session: Session) -> list[dict[str, Any]]:
    """The resource trees of all frames of a session, the top one first, each with its `frame` and `resources`."""
    frames, trees = [], [(await session.send("Page.getResourceTree"))["frameTree"]]
    while trees:
        frames.append(tree := trees.pop())
        trees += tree.get("childFrames", [])
    return frames


async def in_use(sessions: Iterable[Session]) -> set[str]:
    """Addresses of all that the documents shown now have loaded."""
    urls: set[str] = set()
    for session in list(sessions):
        with suppress(ProtocolError):  # the tab is closed
            for tree in await frames_of(session):
                urls |= {resource["url"] for resource in tree["resources"]}
    return urls


def listeners(session: Session, observer: TabObserver, spawn: Callable[[Coroutine], None]) -> dict[str, Callable]:
    """CDP handlers that hand each finished resource of one session to the observer.

    What the browser takes from its cache is not asked for again when it was kept as it came there: the pages of a site
    share most of what they load.
    """
    waiting: dict[str, tuple[tuple[str, str], str, float]] = {}
    started: dict[str, tuple[float, str]] = {}  # request -> when, by a document of which origin
    from_memory: set[str] = set()  # requests that the renderer answered itself

    def sent(event: dict[str, Any]) -> None:
        epoch = as_if_never_set(observer, event["wallTime"], "requests")
        started[event["requestId"]] = epoch, _origin(event["documentURL"])

    def served_from_cache(event: dict[str, Any]) -> None:
        from_memory.add(event["requestId"])

    def received(event: dict[str, Any]) -> None:
        response, request = event["response"], event["requestId"]
        epoch, origin = started.pop(request, (0.0, ""))
        key = origin, response["url"]
        if request not in from_memory and not response.get("fromDiskCache"):
            observer.cached.discard(key)
        from_memory.discard(request)
        wanted = event["type"] in _KINDS and response["url"].startswith(("http:", "https:"))
        if wanted and key not in observer.cached:
            waiting[request] = (key, response["mimeType"], epoch)

    def failed(event: dict[str, Any]) -> None:
        for known in (waiting, started):
            known.pop(event["requestId"], None)
        from_memory.discard(event["requestId"])

    def finished(event: dict[str, Any]) -> None:
        if event["requestId"] in waiting and event["encodedDataLength"] <= _MAX_BYTES:
            spawn(fetch(event["requestId"], *waiting.pop(event["requestId"])))

    async def fetch(request: str, key: tuple[str, str], content_type: str, epoch: float) -> None:
        answer = await session.send("Network.getResponseBody", {"requestId": request})
        if observer.on_resource(key[1], content_type, epoch, body_of(answer)):
            observer.cached.add(key)

    return {"Network.requestWillBeSent": sent, "Network.requestServedFromCache": served_from_cache,
            "Network.responseReceived": received, "Network.loadingFinished": finished, "Network.loadingFailed": failed}


def _origin(url: str) -> str:
    return "/".join(url.split("/", 3)[:3])
