"""A separate DevTools connection of the recorder: one WebSocket to the browser, with a session for each target.

Playwright's connection cannot hold a target before its first instruction: automatic attaching exists for the whole
browser only with flattened sessions, and its CDPSession cannot speak to those.
"""

import asyncio
import json
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidMessage, InvalidURI

from .sessions import Handler, ProtocolError, Session

_OPENING = 10.0  # seconds that a browser has to accept the connection


class TargetSession:
    """A session of a target, or of the browser itself (id None)."""

    def __init__(self, connection: "Connection", session_id: str | None):
        self.id = session_id
        self.bodies: Session | None = None
        self._connection = connection
        self._handlers: defaultdict[str, list[Handler]] = defaultdict(list)
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._closed = False

    async def send(self, method: str, parameters: dict[str, Any] | None = None) -> dict[str, Any]:
        """Send a command and wait for its answer; raises ProtocolError."""
        if self._closed:
            raise ProtocolError(f"{method}: the target is gone")
        number = self._connection.write(self.id, method, parameters)
        answer = self._waiting[number] = asyncio.get_running_loop().create_future()
        try:
            return await answer
        finally:
            self._waiting.pop(number, None)

    def post(self, method: str, parameters: dict[str, Any] | None = None) -> None:
        """Send a command whose answer nobody waits for."""
        if not self._closed:
            self._connection.write(self.id, method, parameters)

    def on(self, event: str, handler: Handler) -> None:
        """Call `handler` with the parameters of each such event."""
        self._handlers[event].append(handler)

    def child(self, session_id: str) -> "TargetSession":
        """The session with the id that `Target.attachedToTarget` reports."""
        return self._connection.session(session_id)

    def close(self) -> None:
        """The target is gone: nobody waits for its answers any more."""
        self._closed = True
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(ProtocolError("the target is gone"))

    def dispatch(self, message: dict[str, Any]) -> None:
        """An answer or an event."""
        if "id" not in message:
            for handler in list(self._handlers.get(message["method"], ())):
                handler(message.get("params", {}))
            return
        answer = self._waiting.get(message["id"])
        if answer and not answer.done():
            if "error" in message:
                answer.set_exception(ProtocolError(message["error"].get("message", "refused")))
            else:
                answer.set_result(message["result"])


class Connection:
    """`browser` is the browser's own session; `closed` is done when that has gone or the connection was closed."""

    def __init__(self, socket: ClientConnection):
        self.browser = TargetSession(self, None)
        self._socket = socket
        self._sessions: dict[str | None, TargetSession] = {None: self.browser}
        self._outgoing: asyncio.Queue[str] = asyncio.Queue()
        self._count = 0
        self.on_error: Callable[[Exception], None] = lambda _: None  # a handler failed; the others go on
        self._writing = asyncio.ensure_future(self._write_all())
        self.closed = asyncio.ensure_future(self._read_all())

    @classmethod
    async def open(cls, address: str) -> "Connection":
        """Connect to a browser's `ws:` address; raises ProtocolError when nothing answers there."""
        try:
            socket = await connect(address, max_size=None, compression=None, ping_interval=None, proxy=None,
                                   open_timeout=_OPENING, user_agent_header=None)
        except (OSError, TimeoutError, InvalidHandshake, InvalidMessage, InvalidURI) as error:
            raise ProtocolError(str(error)) from None
        return cls(socket)

    def session(self, session_id: str) -> TargetSession:
        """The session of that id; made when it is asked for first."""
        if session_id not in self._sessions:
            self._sessions[session_id] = TargetSession(self, session_id)
        return self._sessions[session_id]

    def write(self, session_id: str | None, method: str, parameters: dict[str, Any] | None) -> int:
        """Queue a command; returns its number."""
        self._count += 1
        command = {"id": self._count, "method": method, "params": parameters or {}}
        self._outgoing.put_nowait(json.dumps(command | ({"sessionId": session_id} if session_id else {})))
        return self._count

    async def close(self) -> None:
        """Close the connection, which detaches from all; what it held goes on."""
        await self._socket.close()
        await asyncio.wait([self.closed])

    async def _write_all(self) -> None:
        with suppress(ConnectionClosed):
            while True:
                await self._socket.send(await self._outgoing.get())

    async def _read_all(self) -> None:
        try:
            with suppress(ConnectionClosed):
                async for text in self._socket:
                    self._dispatch(json.loads(text))
        finally:
            self._writing.cancel()
            for session in list(self._sessions.values()):
                session.close()

    def _dispatch(self, message: dict[str, Any]) -> None:
        session = self._sessions.get(message.get("sessionId"))
        if session:
            try:
                session.dispatch(message)
            except Exception as error:  # what a page sends must not end the recording of all
                self.on_error(error)
        if message.get("method") == "Target.detachedFromTarget":
            gone = self._sessions.pop(message["params"]["sessionId"], None)
            if gone:
                gone.close()
