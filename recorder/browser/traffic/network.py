"""Records every request of a tab over CDP, for the HAR and for replays."""

import base64
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

from recorder.building.recording_clock import Clock, as_if_never_set
from recorder.devtools.sessions import ProtocolError, Session, body_of
from recorder.privacy.har import Exchange

from .wire_headers import Hops

Spawn = Callable[[Coroutine], None]


class OpenRequests:
    """Requests of a tab that have not ended: a worker's is told of in part by its page's session, in part by its own.
    """

    def __init__(self) -> None:
        self.by_id: dict[str, Exchange] = {}
        self.hops = Hops()


def listeners(session: Session, tab: int, main_frame: str, requests: OpenRequests, done: Callable[[Exchange], None],
              spawn: Spawn, clock: Clock) -> dict[str, Callable]:
    """CDP handlers of one session that call `done` with each exchange that has ended, its body fetched.

    `main_frame`: the id of the tab's main frame; `requests`: those of the tab, shared by its sessions; `clock`: by
    which an exchange began.
    """
    open_, hops = requests.by_id, requests.hops

    def sent(event: dict[str, Any]) -> None:
        request, key = event["request"], event["requestId"]
        if not request["url"].startswith(("http:", "https:")):
            return
        if "redirectResponse" in event and key in open_:
            redirected = open_.pop(key)
            redirected.redirect = request["url"]
            answered(redirected, event["redirectResponse"])
            hops.on_response(key, event.get("redirectHasExtraInfo", True))
            redirected.ended = event["timestamp"]
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
        if request.get("hasPostData") and exchange.posted is None:
            spawn(fetch_posted(key, exchange))

    def sent_headers(event: dict[str, Any]) -> None:
        hops.on_request_headers(event["requestId"], event["headers"])

    def received(event: dict[str, Any]) -> None:
        if event["requestId"] in open_:
            answered(open_[event["requestId"]], event["response"])
            hops.on_response(event["requestId"], event.get("hasExtraInfo", True))

    def received_headers(event: dict[str, Any]) -> None:
        hops.on_response_headers(event["requestId"], event["headers"])

    def finished(event: dict[str, Any]) -> None:
        if exchange := open_.pop(event["requestId"], None):
            exchange.ended, exchange.size = event["timestamp"], int(event["encodedDataLength"])
            spawn(fetch(event["requestId"], exchange))

    def failed(event: dict[str, Any]) -> None:
        if exchange := open_.pop(event["requestId"], None):
            exchange.ended, exchange.failure = event["timestamp"], event["errorText"]
            hops.on_failed(event["requestId"])
            done(exchange)

    async def fetch_posted(key: str, exchange: Exchange) -> None:
        with suppress(ProtocolError):  # gone, or a body that the browser does not keep
            exchange.posted = (await session.send("Network.getRequestPostData", {"requestId": key}))["postData"]

    async def fetch(key: str, exchange: Exchange) -> None:
        with suppress(ProtocolError):  # the document was left before its body could be asked for
            answer = await session.send("Network.getResponseBody", {"requestId": key})
            exchange.body = body_of(answer)
        done(exchange)

    return {"Network.requestWillBeSent": sent, "Network.requestWillBeSentExtraInfo": sent_headers,
            "Network.responseReceived": received, "Network.responseReceivedExtraInfo": received_headers,
            "Network.loadingFinished": finished, "Network.loadingFailed": failed}


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
