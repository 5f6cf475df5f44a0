"""WebSockets and EventSources as they are served again: in order, what answered something as an answer to it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress

from websockets.exceptions import WebSocketException
from websockets.frames import Frame, Opcode
from websockets.http11 import Request as WebSocketRequest
from websockets.protocol import State
from websockets.server import ServerProtocol

from .exchanges import Channel, Headers, Message

_LONGEST_WAIT = 0.1  # seconds between two messages: a session is served faster than it was
_READ = 1 << 16


class Channels:
    """Which channel is served next: those of an address in order, the last again when there are no more."""

    def __init__(self, channels: tuple[Channel, ...]):
        self._channels = channels
        self._used: set[int] = set()

    def reset(self) -> None:
        """Begin anew."""
        self._used.clear()

    def take(self, kind: str, url: str) -> Channel | None:
        """The channel for a connection to an address; one that differs after the `?` when there is none."""
        same = [each for each in self._channels if each.kind == kind and each.url == url]
        if not same:
            path = url.partition("?")[0]
            same = [each for each in self._channels if each.kind == kind and each.url.partition("?")[0] == path]
        if not same:
            return None
        chosen = next((each for each in same if each.number not in self._used), same[-1])
        self._used.add(chosen.number)
        return chosen


async def event_stream(channel: Channel) -> AsyncIterator[bytes]:
    """What an EventSource gets, in pieces; it stays open afterwards, as the browser would ask again otherwise."""
    yield b": demotape\n\n"
    before = channel.time
    for message in channel.messages:
        if message.direction != "received":
            continue
        await asyncio.sleep(min(max(0.0, message.time - before), _LONGEST_WAIT))
        before = message.time
        yield _event(message)
    await asyncio.Event().wait()


def _event(message: Message) -> bytes:
    text = message.data if isinstance(message.data, str) else message.data.decode("utf-8", "replace")
    lines = [f"id: {message.id}"] if message.id else []
    lines += [f"event: {message.event}"] if message.event and message.event != "message" else []
    lines += [f"data: {line}" for line in text.split("\n")]
    return "".join(f"{line}\n" for line in [*lines, ""]).encode()


async def serve_websocket(channel: Channel | None, target: str, headers: Headers, reader: asyncio.StreamReader,
                          writer: asyncio.StreamWriter, rest: bytes) -> None:
    """Answer a handshake and play a channel; None refuses it. `rest`: what came behind the request."""
    protocol = ServerProtocol(max_size=None)
    lines = [f"GET {target} HTTP/1.1", *(f"{name}: {value}" for name, value in headers), "", ""]
    protocol.receive_data("\r\n".join(lines).encode("latin-1", "replace"))
    request = next((event for event in protocol.events_received() if isinstance(event, WebSocketRequest)), None)
    if request is None:  # no handshake
        return
    response = protocol.accept(request) if channel else protocol.reject(504, "not in the recording\n")
    if channel and (asked := request.headers.get("Sec-WebSocket-Protocol")):
        response.headers["Sec-WebSocket-Protocol"] = asked.split(",")[0].strip()
    protocol.send_response(response)
    await _flush(protocol, writer)
    if channel is None or protocol.state is not State.OPEN:
        return
    heard: asyncio.Queue[None] = asyncio.Queue()
    playing = asyncio.ensure_future(_play(channel, protocol, writer, heard))
    try:
        if rest:
            protocol.receive_data(rest)
        while protocol.state is State.OPEN:
            for event in protocol.events_received():
                if isinstance(event, Frame) and event.opcode in (Opcode.TEXT, Opcode.BINARY):
                    heard.put_nowait(None)
            await _flush(protocol, writer)
            if not (data := await reader.read(_READ)):
                break
            protocol.receive_data(data)
        await _flush(protocol, writer)
    finally:
        playing.cancel()
        with suppress(asyncio.CancelledError, OSError, WebSocketException):
            await playing


async def _play(channel: Channel, protocol: ServerProtocol, writer: asyncio.StreamWriter,
                heard: asyncio.Queue[None]) -> None:
    """Send what was received, in order: what came after something was sent waits until that is sent again."""
    before = channel.time
    for message in channel.messages:
        match message.direction:
            case "sent":
                await heard.get()
            case "received":
                await asyncio.sleep(min(max(0.0, message.time - before), _LONGEST_WAIT))
                if isinstance(message.data, str):
                    protocol.send_text(message.data.encode("utf-8", "surrogatepass"))
                else:
                    protocol.send_binary(message.data)
                await _flush(protocol, writer)
        before = message.time


async def _flush(protocol: ServerProtocol, writer: asyncio.StreamWriter) -> None:
    for data in protocol.data_to_send():
        if data:
            writer.write(data)
    await writer.drain()
