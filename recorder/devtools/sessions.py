"""Interface of DevTools sessions, independent of their transport."""

import base64
from collections.abc import Callable
from typing import Any, Protocol

Handler = Callable[[dict[str, Any]], None]


class ProtocolError(Exception):
    """The browser refused a command, or what it was sent to is gone."""


class Session(Protocol):
    """Commands to one target of the browser, and its events (Chrome DevTools Protocol). Commands keep their order.

    `bodies`: a second session of the target for which the browser keeps the bodies of answers, if there is one.
    """

    bodies: "Session | None"

    async def send(self, method: str, parameters: dict[str, Any] | None = None) -> dict[str, Any]:
        """Send a command and wait for its answer; raises ProtocolError."""

    def post(self, method: str, parameters: dict[str, Any] | None = None) -> None:
        """Send a command whose answer nobody waits for."""

    def on(self, event: str, handler: Handler) -> None:
        """Call `handler` with the parameters of each such event."""


# The browser process keeps the bytes of answers, whoever reads them and wherever the page goes then. It does so per
# session, and in such a session it has no bytes of answers that have not ended (`Network.streamResourceContent`).
_BODY_BUFFERS = {"maxTotalBufferSize": 128 << 20, "maxResourceBufferSize": 64 << 20}  # bytes


def keep_bodies(session: Session, bodies: Session) -> None:
    """Have the browser keep the bodies of answers in a second session of the same target, without events."""
    bodies.post("Network.configureDurableMessages", _BODY_BUFFERS)
    session.bodies = bodies


async def stored_body(session: Session, request: str) -> bytes | None:
    """The bytes of an answer as they came, unpacked; None where the browser did not keep them."""
    if session.bodies is None:
        return None
    try:
        return body_of(await session.bodies.send("Network.getResponseBody", {"requestId": request}))
    except ProtocolError:
        return None


def body_of(answer: dict[str, Any]) -> bytes:
    """The content in an answer to `Network.getResponseBody` and its like: as base64, or text with half characters."""
    body = answer["body"]
    return base64.b64decode(body) if answer["base64Encoded"] else body.encode("utf-8", "surrogatepass")
