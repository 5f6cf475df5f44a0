"""Headers on the wire, which the browser tells apart from requests and answers, each brought to its own.

The requests of a chain of redirects share an id, and what is told of one may come before or after what is told of the
next. Chrome tells of each request whether it will (`hasExtraInfo`); what it tells comes in the order of the requests.
"""

from collections import OrderedDict
from dataclasses import dataclass, field

from recorder.privacy.har import Exchange

_MOST = 2000  # ids that are remembered


@dataclass
class _Chain:
    """The requests of one id in order; `told`: whether headers of each are told apart, None while it is not known."""

    exchanges: list[Exchange] = field(default_factory=list)
    told: list[bool | None] = field(default_factory=list)
    sent: list[dict[str, str]] = field(default_factory=list)
    came: list[dict[str, str]] = field(default_factory=list)

    def settle(self) -> None:
        """Bring headers to the requests that are known to have some."""
        if None in self.told[:-1]:
            return
        of = [exchange for exchange, told in zip(self.exchanges, self.told, strict=True) if told]
        for exchange, headers in zip(of, self.sent, strict=False):
            exchange.headers |= headers
        for exchange, headers in zip(of, self.came, strict=False):
            exchange.response_headers |= headers


class Hops:
    """Takes requests, answers and headers in whatever order they are told."""

    def __init__(self) -> None:
        self._chains: OrderedDict[str, _Chain] = OrderedDict()

    def request(self, key: str, exchange: Exchange) -> None:
        """A request has begun."""
        chain = self._chain(key)
        chain.exchanges.append(exchange)
        chain.told.append(None)

    def answer(self, key: str, told_apart: bool) -> None:
        """The newest request of an id was answered; `told_apart`: whether its headers are told."""
        chain = self._chain(key)
        if chain.told:
            chain.told[-1] = told_apart
            chain.settle()

    def sent(self, key: str, headers: dict[str, str]) -> None:
        """Headers of a request, as they were sent."""
        chain = self._chain(key)
        chain.sent.append(headers)
        chain.settle()

    def came(self, key: str, headers: dict[str, str]) -> None:
        """Headers of an answer, as they came."""
        chain = self._chain(key)
        chain.came.append(headers)
        chain.settle()

    def failed(self, key: str) -> None:
        """The newest request of an id got no answer: what was sent is its own."""
        chain = self._chain(key)
        if chain.told and chain.told[-1] is None:
            chain.told[-1] = True
            chain.settle()

    def _chain(self, key: str) -> _Chain:
        chain = self._chains.setdefault(key, _Chain())
        self._chains.move_to_end(key)
        if len(self._chains) > _MOST:
            self._chains.popitem(last=False)
        return chain
