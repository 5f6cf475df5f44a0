"""Follows every request of a tab over CDP, for the HAR."""

from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

from recorder.devtools.sessions import ProtocolError, Session, body_of
from recorder.privacy.har import Exchange

Spawn = Callable[[Coroutine], None]


def listeners(session: Session, tab: int, done: Callable[[Exchange], None], spawn: Spawn) -> dict[str, Callable]:
    """CDP handlers of one session that call `done` with each exchange that has ended, its body fetched."""
    open_: dict[str, Exchange] = {}
    extra: dict[str, dict[str, str]] = {}  # headers on the wire that were told before their request

    def sent(event: dict[str, Any]) -> None:
        request, key = event["request"], event["requestId"]
        if not request["url"].startswith(("http:", "https:")):
            return
        if "redirectResponse" in event and key in open_:
            redirected = open_.pop(key)
            redirected.redirect = request["url"]
            answered(redirected, event["redirectResponse"])
            redirected.ended = event["timestamp"]
            done(redirected)
        exchange = Exchange(tab, request["method"], request["url"] + request.get("urlFragment", ""), event["wallTime"],
                            event["timestamp"], dict(request["headers"]), request.get("postData"))
        exchange.headers |= extra.pop(key, {})
        open_[key] = exchange
        if request.get("hasPostData") and exchange.posted is None:
            spawn(fetch_posted(key, exchange))

    def sent_headers(event: dict[str, Any]) -> None:
        if event["requestId"] in open_:
            open_[event["requestId"]].headers |= event["headers"]
        else:
            extra[event["requestId"]] = dict(event["headers"])

    def received(event: dict[str, Any]) -> None:
        if event["requestId"] in open_:
            answered(open_[event["requestId"]], event["response"])

    def received_headers(event: dict[str, Any]) -> None:
        if event["requestId"] in open_:
            open_[event["requestId"]].response_headers |= event["headers"]

    def finished(event: dict[str, Any]) -> None:
        if exchange := open_.pop(event["requestId"], None):
            exchange.ended, exchange.size = event["timestamp"], int(event["encodedDataLength"])
            spawn(fetch(event["requestId"], exchange))

    def failed(event: dict[str, Any]) -> None:
        if exchange := open_.pop(event["requestId"], None):
            exchange.ended, exchange.failure = event["timestamp"], event["errorText"]
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
