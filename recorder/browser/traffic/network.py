"""Records every request of a tab over CDP, for the HAR and for replays."""

import asyncio
import base64
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from recorder.building.recording_clock import Clock, as_if_never_set
from recorder.devtools.sessions import ProtocolError, Session, body_of, stored_body
from recorder.privacy.body_text import bytes_of, charset_of
from recorder.privacy.har import Exchange

from .own_requests import is_own_request
from .wire_headers import Hops

Spawn = Callable[[Coroutine], None]
STILL_OPEN = "open"  # the failure of an answer that had not ended with the recording
_NOT_STREAMED = ("Image", "Media", "Font", "Preflight")  # whose bytes the browser gives as they are when it is asked
_MAX_STREAMED_BYTES = 64 << 20  # of an answer that has not ended; beyond, the browser is asked for it at the end


@dataclass
class _Incoming:
    """The bytes of an answer as they come. `begun`: is set once what came before it was followed is there; `complete`:
    whether they are all that came so far."""

    chunks: list[bytes] = field(default_factory=list)
    size: int = 0
    received: int = 0  # bytes that the browser counts
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    failed: bool = False

    @property
    def content(self) -> bytes | None:
        """What came; None where some of it was missed."""
        return None if self.failed or self.size != self.received else b"".join(self.chunks)

    def add(self, chunk: bytes, *, first: bool = False) -> None:
        self.chunks.insert(0, chunk) if first else self.chunks.append(chunk)
        self.size += len(chunk)
        if self.size > _MAX_STREAMED_BYTES:
            self.chunks.clear()
            self.failed = True


class OpenRequests:
    """Requests of a tab that have not ended: a worker's is told of in part by its page's session, in part by its own.
    """

    def __init__(self) -> None:
        self.by_id: dict[str, Exchange] = {}
        self.incoming: dict[str, _Incoming] = {}
        self.hops = Hops()

    def end(self, done: Callable[[Exchange], None]) -> None:
        """The recording ends: call `done` with each exchange that has not ended, with what has come of its answer."""
        for key, exchange in list(self.by_id.items()):
            del self.by_id[key]
            exchange.failure = STILL_OPEN
            if exchange.response:
                _take_in(exchange, self.incoming.pop(key, None))
            done(exchange)


def listeners(session: Session, tab: int, main_frame: str, requests: OpenRequests, done: Callable[[Exchange], None],
              spawn: Spawn, clock: Clock) -> dict[str, Callable]:
    """CDP handlers of one session that call `done` with each exchange that has ended, its body fetched.

    `main_frame`: the id of the tab's main frame; `requests`: those of the tab, shared by its sessions; `clock`: by
    which an exchange began.
    """
    unknown_bodies: set[str] = set()  # requests whose body the browser has not told
    open_, incoming, hops = requests.by_id, requests.incoming, requests.hops

    def sent(event: dict[str, Any]) -> None:
        request, key = event["request"], event["requestId"]
        if not request["url"].startswith(("http:", "https:")) or is_own_request(request["url"]):
            return
        if "redirectResponse" in event and key in open_:
            redirected = open_.pop(key)
            redirected.redirect = request["url"]
            answered(redirected, event["redirectResponse"])
            hops.on_response(key, event.get("redirectHasExtraInfo", True))
            redirected.ended = event["timestamp"]
            incoming.pop(key, None)
            done(redirected)
        exchange = Exchange(tab, request["method"], request["url"] + request.get("urlFragment", ""),
                            as_if_never_set(clock, event["wallTime"], "requests"), event["timestamp"],
                            dict(request["headers"]), request.get("postData"))
        hops.on_request(key, exchange)
        exchange.kind = event.get("type", "Other")
        exchange.document = event.get("frameId", "") if exchange.kind == "Document" else ""
        exchange.top = exchange.document == main_frame
        exchange.posted_bytes = _posted_bytes(request)
        open_[key] = exchange
        if exchange.kind not in _NOT_STREAMED:  # now, as a short answer ends before it could be asked for
            incoming[key] = _Incoming()
            spawn(follow_bytes(key, incoming[key]))
        if request.get("hasPostData") and exchange.posted is None and exchange.posted_bytes is None:
            unknown_bodies.add(key)
            spawn(fetch_posted(key, exchange))

    def sent_headers(event: dict[str, Any]) -> None:
        hops.on_request_headers(event["requestId"], event["headers"])

    def received(event: dict[str, Any]) -> None:
        key = event["requestId"]
        if key in open_:
            answered(open_[key], event["response"])
            hops.on_response(key, event.get("hasExtraInfo", True))

    def came(event: dict[str, Any]) -> None:
        if arriving := incoming.get(event["requestId"]):
            arriving.received += event["dataLength"]
            if event.get("data"):
                arriving.add(base64.b64decode(event["data"]))

    async def follow_bytes(key: str, arriving: _Incoming) -> None:
        """Have the browser tell the bytes of an answer as they come: at its end it has its text, decoded."""
        try:
            answer = await session.send("Network.streamResourceContent", {"requestId": key})
            arriving.add(base64.b64decode(answer["bufferedData"]), first=True)
        except ProtocolError:  # it has ended already
            arriving.failed = True
        finally:
            arriving.begun.set()

    def received_headers(event: dict[str, Any]) -> None:
        hops.on_response_headers(event["requestId"], event["headers"])

    def finished(event: dict[str, Any]) -> None:
        exchange = open_.pop(event["requestId"], None)
        if exchange and not exchange.response and exchange.kind == "Script":
            incoming.pop(event["requestId"], None)  # of a shared worker, which `follow_scripts` takes from elsewhere
        elif exchange:
            exchange.ended, exchange.size = event["timestamp"], int(event["encodedDataLength"])
            spawn(fetch(event["requestId"], exchange))

    def failed(event: dict[str, Any]) -> None:
        key = event["requestId"]
        if exchange := open_.pop(key, None):
            exchange.ended, exchange.failure = event["timestamp"], event["errorText"]
            hops.on_failed(key)
            if exchange.response:
                spawn(end_early(key, exchange))
            else:
                incoming.pop(key, None)
                done(exchange)

    async def end_early(key: str, exchange: Exchange) -> None:
        """A failure that comes behind an answer is the end of that, and not the lack of one: nobody read it, the page
        stopped reading, the connection broke."""
        await take_in(key, exchange)
        done(exchange)

    async def fetch_posted(key: str, exchange: Exchange) -> None:
        with suppress(ProtocolError):  # gone, or a body that the browser does not keep
            answer = await session.send("Network.getRequestPostData", {"requestId": key})
            unknown_bodies.discard(key)
            if answer.get("base64Encoded"):
                exchange.posted_bytes = base64.b64decode(answer["postData"])
            else:
                exchange.posted = answer["postData"]

    async def fetch(key: str, exchange: Exchange) -> None:
        await take_in(key, exchange)
        done(exchange)

    async def take_in(key: str, exchange: Exchange) -> None:
        """Have an exchange keep what came of its answer; and what was sent, which the browser may know by now only."""
        if key in unknown_bodies:
            await fetch_posted(key, exchange)
            unknown_bodies.discard(key)
        arriving = incoming.pop(key, None)
        if arriving:
            await arriving.begun.wait()
            _take_in(exchange, arriving)
        if exchange.body:
            return
        if content := await stored_body(session, key):
            _take_in_bytes(exchange, content)
            return
        with suppress(ProtocolError):  # the page has nothing, or the document was left
            answer = await session.send("Network.getResponseBody", {"requestId": key})
            if answer["body"] or content is None:
                _take_in_decoded(exchange, answer, arriving.received if arriving else None)
                return
        if content is not None:
            _take_in_bytes(exchange, content)

    return {"Network.requestWillBeSent": sent, "Network.requestWillBeSentExtraInfo": sent_headers,
            "Network.responseReceived": received, "Network.responseReceivedExtraInfo": received_headers,
            "Network.dataReceived": came, "Network.loadingFinished": finished, "Network.loadingFailed": failed}


def _take_in(exchange: Exchange, arriving: _Incoming | None) -> None:
    """Have an exchange keep the bytes that came of its answer, if all of them are known."""
    if arriving and (content := arriving.content) is not None:
        _take_in_bytes(exchange, content)


def _take_in_bytes(exchange: Exchange, content: bytes) -> None:
    """Have an exchange keep the bytes of its answer, and the charset in which the browser reads them."""
    exchange.body = content
    exchange.charset = str((exchange.response or {}).get("charset") or "").lower()


def _take_in_decoded(exchange: Exchange, answer: dict[str, Any], size: int | None) -> None:
    """Have an exchange keep what the browser has of its answer in the end: of text the bytes, where they are certain by
    their number."""
    exchange.body, exchange.charset = body_of(answer), None
    if answer["base64Encoded"] or size is None:
        return
    declared = str((exchange.response or {}).get("charset") or "").lower()
    header = next((value for name, value in exchange.response_headers.items() if name.lower() == "content-type"), "")
    if encoded := bytes_of(answer["body"], size, declared, charset_of(header)):
        exchange.body, exchange.charset = encoded[0], declared


def answered(exchange: Exchange, response: dict[str, Any]) -> None:
    """Take in the response as the page sees it; headers on the wire, told apart, come before these."""
    exchange.response = response
    exchange.response_headers = dict(response["headers"]) | exchange.response_headers


def _posted_bytes(request: dict[str, Any]) -> bytes | None:
    """A request's body as it was sent; None where the browser tells it as text only, or not at all."""
    entries = request.get("postDataEntries", ())
    if not entries or any("bytes" not in entry for entry in entries):  # a file that is sent is not told
        return None
    return b"".join(base64.b64decode(entry["bytes"]) for entry in entries)
