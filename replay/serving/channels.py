"""WebSockets and EventSources as they are served again: in order, what answered something as an answer to it."""

import asyncio
import math
from bisect import bisect
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import aclosing, suppress
from dataclasses import replace

from websockets.exceptions import WebSocketException
from websockets.frames import CloseCode, Frame, Opcode
from websockets.http11 import Request as WebSocketRequest
from websockets.http11 import Response as WebSocketResponse
from websockets.protocol import State
from websockets.server import ServerProtocol

from replay.archive.exchanges import Channel, Headers, Message, Recorded

from .carried_ids import CarriedValues

_LONGEST_WAIT = 0.1  # seconds between two messages: a session is served faster than it was
_RETRY_MS = 50  # milliseconds after which a browser is to ask again for a stream that ended
_READ = 1 << 16
_NEVER_SENT = (CloseCode.ABNORMAL_CLOSURE, CloseCode.TLS_HANDSHAKE)  # codes of connections that broke


class Channels:
    """Which channel is served next, those of an address in order, the last again when there are no more; and up to
    when they are played."""

    def __init__(self, channels: tuple[Channel, ...], exchanges: Iterable[Recorded] = ()):
        self._channels = channels
        self._renewed = _renewed(channels, exchanges)
        self._used: set[int] = set()
        self._playing: set[Playing] = set()
        self.until = math.inf  # seconds since the recording started
        self._moved = asyncio.Event()

    def reset(self) -> None:
        """Begin again."""
        self._used.clear()

    def play_until(self, time: float) -> None:
        """Give what was received up to a time of the recording at once, and what came later not yet."""
        self.until = time
        self._moved.set()
        self._moved = asyncio.Event()

    @property
    def behind(self) -> bool:
        """Whether a message is on its way that was received before the time up to which they are played."""
        return any(playing.awaited is not None and playing.awaited <= self.until for playing in self._playing)

    def open(self, kind: str, url: str) -> "Playing | None":
        """The channel for a connection to an address; one that differs after the `?` when there is none."""
        candidates = [channel for channel in self._channels if channel.kind == kind and channel.url == url]
        if not candidates:
            path = url.partition("?")[0]
            candidates = [channel for channel in self._channels if channel.kind == kind
                          and channel.url.partition("?")[0] == path]
        if not candidates:
            return None
        chosen = next((channel for channel in candidates if channel.number not in self._used), candidates[-1])
        self._used.add(chosen.number)
        return Playing(chosen, chosen.number in self._renewed, self)

    async def reach(self, time: float, gap: float) -> None:
        """Wait until a message of a time is due, `gap` seconds after the one before it."""
        if math.isinf(self.until):
            await asyncio.sleep(min(max(0.0, gap), _LONGEST_WAIT))
        while time > self.until:
            await self._moved.wait()

    def enter(self, playing: "Playing") -> None:
        """Count a channel as played."""
        self._playing.add(playing)

    def leave(self, playing: "Playing") -> None:
        """It has ended, or the browser has gone."""
        self._playing.discard(playing)


class Playing:
    """One channel as it is served to a browser. `awaited`: the time of the message that goes out next; None when that
    waits for the browser, or there is none."""

    def __init__(self, channel: Channel, renewed: bool, channels: Channels):
        self._channel, self._renewed, self._channels = channel, renewed, channels
        self._heard: asyncio.Queue[str | bytes] = asyncio.Queue()
        self._carried = CarriedValues()
        self.protocol, self.is_refused = channel.protocol, channel.is_refused
        self.awaited: float | None = None

    def hear(self, data: str | bytes = "") -> None:
        """The browser has sent a message."""
        self._heard.put_nowait(data)

    async def messages(self) -> AsyncGenerator[Message, None]:
        """What goes out, in order and each when it is due: what came after something was sent waits until that is sent
        again, and has the values that the page made. Ends with the message by which the server ended the recorded one,
        or where the page asked again for what had ended; goes on without end otherwise."""
        before = self._channel.time
        self._channels.enter(self)
        try:
            for message in self._channel.messages:
                if message.direction == "sent" and self._channel.kind == "websocket":
                    self._carried.learn(message.data, await self._heard.get())
                elif message.direction == "received" or (message.direction == "close" and self._is_ended(message)):
                    self.awaited = message.time
                    await self._channels.reach(message.time, message.time - before)
                    if message.direction == "received" or self._channel.kind == "websocket":
                        yield replace(message, data=self._carried.replaced(message.data))
                    self.awaited = None
                    if message.direction == "close":
                        return
                before = message.time
            await asyncio.Event().wait()
        finally:
            self.awaited = None
            self._channels.leave(self)

    def _is_ended(self, close: Message) -> bool:
        """Whether a close is the server's, and not the page's own, or that of its end."""
        return self._renewed or (close.code is not None and not close.by_page)


def _renewed(channels: tuple[Channel, ...], exchanges: Iterable[Recorded]) -> set[int]:
    """Numbers of the channels that ended while their page stayed, and were opened again by it."""
    documents = sorted(exchange.time for exchange in exchanges if exchange.kind == "document")
    last: dict[tuple[str, str], Channel] = {}
    renewed = set()
    for channel in sorted(channels, key=lambda channel: channel.time):
        before = last.get((channel.kind, channel.url))
        last[channel.kind, channel.url] = channel
        if before is None or not before.messages or before.messages[-1].direction != "close":
            continue
        stayed = bisect(documents, before.time) == bisect(documents, channel.time)
        if stayed and before.messages[-1].time <= channel.time:
            renewed.add(before.number)
    return renewed


async def event_stream(playing: Playing) -> AsyncGenerator[bytes, None]:
    """What an EventSource gets, in pieces."""
    yield b": demotape\n\n"
    async with aclosing(playing.messages()) as messages:
        async for message in messages:
            yield _event(message)
    yield f"retry: {_RETRY_MS}\n\n".encode()


def _event(message: Message) -> bytes:
    text = message.data if isinstance(message.data, str) else message.data.decode("utf-8", "replace")
    lines = [f"id: {message.id}"] if message.id else []
    lines += [f"event: {message.event}"] if message.event and message.event != "message" else []
    lines += [f"data: {line}" for line in text.split("\n")]
    return "".join(f"{line}\n" for line in [*lines, ""]).encode()


async def serve_websocket(playing: Playing | None, target: str, headers: Headers, reader: asyncio.StreamReader,
                          writer: asyncio.StreamWriter, buffered: bytes, on_activity: Callable[[], None]) -> None:
    """Answer a handshake and play a channel; None refuses it. `buffered`: bytes received after the request;
    `on_activity` is called for each message that is sent."""
    protocol = ServerProtocol(max_size=None)
    lines = [f"GET {target} HTTP/1.1", *(f"{name}: {value}" for name, value in headers), "", ""]
    protocol.receive_data("\r\n".join(lines).encode("latin-1", "replace"))
    request = next((event for event in protocol.events_received() if isinstance(event, WebSocketRequest)), None)
    if request is None:  # no handshake
        return
    protocol.send_response(_handshake_response(protocol, playing, request))
    await _flush(protocol, writer)
    if playing is None or protocol.state is not State.OPEN:
        return
    message_parts = _MessageParts()
    going_out = asyncio.ensure_future(_play(playing, protocol, writer, on_activity))
    try:
        if buffered:
            protocol.receive_data(buffered)
        while True:
            for event in protocol.events_received():
                if isinstance(event, Frame) and (data := message_parts.add(event)) is not None:
                    playing.hear(data)
            await _flush(protocol, writer)
            if protocol.state is State.CLOSED or not (received := await reader.read(_READ)):
                break
            protocol.receive_data(received)
        await _flush(protocol, writer)
    finally:
        going_out.cancel()
        with suppress(asyncio.CancelledError, OSError, WebSocketException):
            await going_out


async def _play(playing: Playing, protocol: ServerProtocol, writer: asyncio.StreamWriter,
                on_activity: Callable[[], None]) -> None:
    async with aclosing(playing.messages()) as messages:
        async for message in messages:
            if message.direction == "close":
                _close(message, protocol, writer)
            elif isinstance(message.data, str):
                protocol.send_text(message.data.encode("utf-8", "surrogatepass"))
            else:
                protocol.send_binary(message.data)
            await _flush(protocol, writer)
            on_activity()


def _handshake_response(protocol: ServerProtocol, playing: Playing | None, request: WebSocketRequest
                        ) -> WebSocketResponse:
    """The answer to a handshake, with the subprotocol that was chosen; where that is not known, the first offered."""
    if playing is None:
        return protocol.reject(504, "not in the recording\n")
    if playing.is_refused:
        return protocol.reject(403, "refused, as recorded\n")
    response = protocol.accept(request)
    offered = [name.strip() for name in request.headers.get("Sec-WebSocket-Protocol", "").split(",")]
    chosen = offered[0] if playing.protocol is None else playing.protocol
    if chosen and chosen in offered:
        response.headers["Sec-WebSocket-Protocol"] = chosen
    return response


def _close(message: Message, protocol: ServerProtocol, writer: asyncio.StreamWriter) -> None:
    """End a connection as the server ended it, with its code and reason or by breaking it off."""
    if message.code is None:
        protocol.send_close(CloseCode.GOING_AWAY)
    elif message.code == CloseCode.NO_STATUS_RCVD:
        protocol.send_close()
    elif message.code in _NEVER_SENT:
        writer.transport.abort()
    else:
        protocol.send_close(message.code, message.reason)


class _MessageParts:
    """Joins the frames of a message."""

    def __init__(self) -> None:
        self._parts: list[Frame] = []

    def add(self, frame: Frame) -> str | bytes | None:
        """The message that a frame completes; None where it completes none."""
        if frame.opcode not in (Opcode.TEXT, Opcode.BINARY, Opcode.CONT):
            return None
        self._parts.append(frame)
        if not frame.fin:
            return None
        parts, self._parts = self._parts, []
        content = b"".join(bytes(part.data) for part in parts)
        return content.decode("utf-8", "replace") if parts[0].opcode is Opcode.TEXT else content


async def _flush(protocol: ServerProtocol, writer: asyncio.StreamWriter) -> None:
    for data in protocol.data_to_send():
        if data:
            writer.write(data)
    await writer.drain()
