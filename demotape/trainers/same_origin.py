"""An ASGI application that pages of other origins cannot reach."""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import urlsplit

_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
Scope = MutableMapping[str, Any]


class SameOrigin:
    """Refuses requests and WebSockets that a page of another origin sends, and host names that are not this machine's:
    any page in a browser here could read the tasks otherwise."""

    def __init__(self, app: Callable[..., Awaitable[None]], *, loopback: bool):
        self._app, self._loopback = app, loopback

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        """Pass on or refuse."""
        if scope["type"] in ("http", "websocket") and not self._is_allowed(scope):
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008, "reason": "refused"})
            else:
                await send({"type": "http.response.start", "status": 403,
                            "headers": [(b"content-type", b"text/plain; charset=utf-8")]})
                await send({"type": "http.response.body", "body": b"requests of pages of other origins are refused\n"})
            return
        await self._app(scope, receive, send)

    def _is_allowed(self, scope: Scope) -> bool:
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        host = headers.get("host", "")
        name = host if host.endswith("]") else host.rpartition(":")[0] or host
        if self._loopback and name not in _LOOPBACK:
            return False
        origin = headers.get("origin")
        return origin is None or urlsplit(origin).netloc == host
