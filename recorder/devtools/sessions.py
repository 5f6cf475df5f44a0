"""Interface of DevTools sessions, independent of their transport."""

import base64
from collections.abc import Callable
from typing import Any, Protocol

Handler = Callable[[dict[str, Any]], None]


class ProtocolError(Exception):
    """The browser refused a command, or what it was sent to is gone."""


class Session(Protocol):
    """Commands to one target of the browser, and its events (Chrome DevTools Protocol). Commands keep their order."""

    async def send(self, method: str, parameters: dict[str, Any] | None = None) -> dict[str, Any]:
        """Send a command and wait for its answer; raises ProtocolError."""

    def post(self, method: str, parameters: dict[str, Any] | None = None) -> None:
        """Send a command whose answer nobody waits for."""

    def on(self, event: str, handler: Handler) -> None:
        """Call `handler` with the parameters of each such event."""


def body_of(answer: dict[str, Any]) -> bytes:
    """The content in an answer to `Network.getResponseBody` and its like: as base64, or text with half characters."""
    body = answer["body"]
    return base64.b64decode(body) if answer["base64Encoded"] else body.encode("utf-8", "surrogatepass")
