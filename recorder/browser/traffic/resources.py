"""Style sheets, images and fonts of the pages, as the browser received them."""

import json
from collections.abc import Callable, Coroutine, Iterable
from contextlib import suppress
from typing import Any

from recorder.building.recording_clock import as_if_never_set
from recorder.building.tab_observer import TabObserver
from recorder.devtools.sessions import ProtocolError, Session, body_of

from .own_requests import is_own_request

_KINDS = {"Stylesheet", "Image", "Font"}
_MAX_BYTES = 20_000_000
_MAX_REMEMBERED = 8_000_000  # characters of style sheets, of one session
_MAX_COMPARED = 1_000_000  # bytes of a style sheet whose rules are compared with its text


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


def listeners(session: Session, observer: TabObserver, spawn: Callable[[Coroutine], None], worlds: set[int]
              ) -> dict[str, Callable]:
    """CDP handlers that hand each finished resource of one session to the observer.

    What the browser takes from its cache is not asked for again when it was kept as it came there: the pages of a site
    share most of what they load. The capture script, in those `worlds`, is given the texts of style sheets, to compare
    their rules with.
    """
    sheets: dict[str, str] = {}  # requests for style sheets -> address
    texts = _SheetTexts()
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
        # A script may make a font of bytes that it fetched; a `use` shows a part of another SVG file.
        is_wanted = event["type"] in _KINDS or "font" in response["mimeType"] or "svg" in response["mimeType"]
        wanted = (is_wanted and response["url"].startswith(("http:", "https:", "blob:"))
                  and not is_own_request(response["url"]))
        if event["type"] == "Stylesheet":
            sheets[request] = response["url"]
        if wanted and key not in observer.cached:
            waiting[request] = (key, response["mimeType"], epoch)

    def failed(event: dict[str, Any]) -> None:
        for known in (waiting, started):
            known.pop(event["requestId"], None)
        sheets.pop(event["requestId"], None)
        from_memory.discard(event["requestId"])

    def finished(event: dict[str, Any]) -> None:
        request = event["requestId"]
        if request in waiting and event["encodedDataLength"] <= _MAX_BYTES:
            spawn(fetch(request, *waiting.pop(request)))
        elif (url := sheets.pop(request, None)) and (text := texts.get(url)) is not None:
            _compare_sheet(session, worlds, url, text)

    async def fetch(request: str, key: tuple[str, str], content_type: str, epoch: float) -> None:
        answer = await session.send("Network.getResponseBody", {"requestId": request})
        body = body_of(answer)
        if observer.on_resource(key[1], content_type, epoch, body):
            observer.cached.add(key)
        if sheets.pop(request, None) and len(body) <= _MAX_COMPARED:
            texts.add(key[1], text := body.decode("utf-8", "replace"))
            _compare_sheet(session, worlds, key[1], text)

    return {"Network.requestWillBeSent": sent, "Network.requestServedFromCache": served_from_cache,
            "Network.responseReceived": received, "Network.loadingFinished": finished, "Network.loadingFailed": failed}


class _SheetTexts:
    """The texts of the style sheets that came last, as the browser may take them from its cache for the next page."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._length = 0

    def add(self, url: str, text: str) -> None:
        self._length += len(text) - len(self._texts.pop(url, ""))
        self._texts[url] = text
        while self._length > _MAX_REMEMBERED:
            self._length -= len(self._texts.pop(next(iter(self._texts))))

    def get(self, url: str) -> str | None:
        return self._texts.get(url)


def _compare_sheet(session: Session, worlds: set[int], url: str, text: str) -> None:
    """Have the capture script compare a sheet's rules with its text: a script may have changed them before."""
    arguments = json.dumps([url, text])
    for world in worlds:
        session.post("Runtime.evaluate", {"contextId": world, "expression":
                     "globalThis.demotape?.styleSheets.noteText("
                     f"...{arguments}, demotape.snapshotCache.scheduleWarming)"})


def _origin(url: str) -> str:
    return "/".join(url.split("/", 3)[:3])
