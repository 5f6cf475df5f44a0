"""Headers on the wire, which the browser reports separately, assigned to their requests and responses.

The requests of a chain of redirects share an id, and what is told of one may come before or after what is told of the
next. Chrome tells of each request whether it will (`hasExtraInfo`); what it tells comes in the order of the requests.
"""

from collections import OrderedDict
from dataclasses import dataclass, field

from recorder.privacy.har import Exchange

_MAX_REQUEST_IDS = 2000  # ids that are remembered


@dataclass
class _Chain:
    """The requests of one id in order; `has_extra_info`: whether headers of each are told apart, None while it is not
    known."""

    exchanges: list[Exchange] = field(default_factory=list)
    has_extra_info: list[bool | None] = field(default_factory=list)
    sent: list[dict[str, str]] = field(default_factory=list)
    received: list[dict[str, str]] = field(default_factory=list)

    def assign_headers(self) -> None:
        """Bring headers to the requests that are known to have some."""
        if None in self.has_extra_info[:-1]:
            return
        with_headers = [exchange for exchange,
                        has_extra in zip(self.exchanges, self.has_extra_info, strict=True) if has_extra]
        for exchange, headers in zip(with_headers, self.sent, strict=False):
            exchange.headers |= headers
        for exchange, headers in zip(with_headers, self.received, strict=False):
            exchange.response_headers |= headers


class Hops:
    """Takes requests, answers and headers in whatever order they are told."""

    def __init__(self) -> None:
        self._chains: OrderedDict[str, _Chain] = OrderedDict()

    def on_request(self, key: str, exchange: Exchange) -> None:
        """A request has begun."""
        chain = self._chain(key)
        chain.exchanges.append(exchange)
        chain.has_extra_info.append(None)

    def on_response(self, key: str, has_extra_info: bool) -> None:
        """The newest request of an id was answered; `has_extra_info`: whether its headers are told."""
        chain = self._chain(key)
        if chain.has_extra_info:
            chain.has_extra_info[-1] = has_extra_info
            chain.assign_headers()

    def on_request_headers(self, key: str, headers: dict[str, str]) -> None:
        """Headers of a request, as they were sent."""
        chain = self._chain(key)
        chain.sent.append(headers)
        chain.assign_headers()

    def on_response_headers(self, key: str, headers: dict[str, str]) -> None:
        """Headers of an answer, as they came."""
        chain = self._chain(key)
        chain.received.append(headers)
        chain.assign_headers()

    def on_failed(self, key: str) -> None:
        """The newest request of an id got no answer: what was sent is its own."""
        chain = self._chain(key)
        if chain.has_extra_info and chain.has_extra_info[-1] is None:
            chain.has_extra_info[-1] = True
            chain.assign_headers()

    def _chain(self, key: str) -> _Chain:
        chain = self._chains.setdefault(key, _Chain())
        self._chains.move_to_end(key)
        if len(self._chains) > _MAX_REQUEST_IDS:
            self._chains.popitem(last=False)
        return chain
