"""Serves an archive to a browser as its proxy: every host, HTTP, HTTPS and WebSocket, and nothing from the network.

The proxy has no way out: it opens no connection at all. What was not recorded is answered 504 and listed.
"""

import asyncio
import tempfile
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, suppress
from pathlib import Path
from urllib.parse import urldefrag, urlsplit

import h11

from replay.archive.exchanges import Archive, Headers, Request, header
from schemas import InputError
from schemas.text import encode_windows_1252

from .answering import Answer, answer, is_beacon, missing, preflight
from .certificates import Authority
from .channels import Channels, event_stream, serve_websocket
from .matching import Session

_MOST_LISTED = 10_000  # requests that were not recorded, by address
_BODY = 128 << 20  # bytes that a browser may send at once
_HEADS = 1 << 20  # bytes of a request's head
_READ = 1 << 16
_CUT_DELAY_S = 0.5  # between the content and the end of a connection that broke
_SECURE = ("https", "wss")
_OF_PAGES = ("sec-fetch-mode", "referer", "origin", "upgrade-insecure-requests", "x-requested-with")


class ReplayServer:
    """A proxy on loopback that gives what `archive` holds; use it with `async with`.

    `port` is its own once it runs. `spki`: by which a Chromium admits its certificates; `certificate`: the file of the
    authority, for other browsers. `missing` counts requests that were not recorded, by method and address.
    `authority`: that of other servers, so that one browser admits all of them; `on_answer` is called for each request
    with what it gets.
    """

    def __init__(self, archive: Archive, port: int = 0, *, authority: Authority | None = None):
        self._wanted_port = port
        self._shared_authority = authority
        self.on_answer: Callable[[Request, Answer], None] | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._connections: set[asyncio.Task[None]] = set()
        self.missing: dict[tuple[str, str], int] = {}
        self.serve(archive)
        # When the newest document of a tab was recorded, in seconds of the recording; and when it was given again.
        self.document: tuple[float, float] | None = None
        self._active = 0  # requests that are being answered
        self._last_activity = time.monotonic()

    async def __aenter__(self) -> "ReplayServer":
        authority = self._shared_authority
        if authority is None:
            self._folder = tempfile.TemporaryDirectory(prefix="demotape-replay-")
            authority = await asyncio.to_thread(Authority, Path(self._folder.name))
        self._authority, self.spki, self.certificate = authority, authority.spki, authority.certificate
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", self._wanted_port, limit=_HEADS)
        self.port: int = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for connection in list(self._connections):
            connection.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)
        if self._folder:
            await asyncio.to_thread(self._folder.cleanup)

    def serve(self, archive: Archive) -> None:
        """Serve another archive from now on, from its beginning."""
        self._archive = archive
        self._session = Session(archive)
        self._channels = Channels(archive.channels, archive.exchanges)
        self._secure = _secure_ports(archive)
        self.missing.clear()

    def reset(self) -> None:
        """Begin the session again."""
        self._session.reset()
        self._channels.reset()
        self.missing.clear()

    def play_until(self, time: float) -> None:
        """Let WebSockets and EventSources carry at once what they did up to a time of the recording, and no more."""
        self._channels.play_until(time)

    def quiet_for(self) -> float:
        """Seconds since anything went out; 0 while something is on its way."""
        return 0.0 if self._active or self._channels.behind else time.monotonic() - self._last_activity

    def _note_activity(self) -> None:
        self._last_activity = time.monotonic()

    def answer(self, request: Request) -> Answer:
        """What a request gets, which is noted as missing when it was not recorded."""
        match = self._session.match(request)
        if match is not None:
            if match.exchange.top:
                self.document = match.exchange.ended, time.monotonic()
            with suppress(InputError):  # what was kept of it is damaged: it is missing like what was not kept
                return answer(request, match, self._archive.started)
        elif request.method == "OPTIONS" and header(request.headers, "access-control-request-method"):
            return preflight(request)
        elif is_beacon(request):
            return Answer(204)
        if _is_of_a_page(request):
            self._note_missing(request.method, request.url)
        return missing()

    def _note_missing(self, method: str, url: str) -> None:
        key = method, url[:2000]
        if key in self.missing or len(self.missing) < _MOST_LISTED:
            self.missing[key] = self.missing.get(key, 0) + 1

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            await self._serve(reader, writer)
        except (OSError, EOFError, h11.ProtocolError, ValueError, asyncio.CancelledError):
            pass  # the browser has gone, or this is none
        finally:
            self._connections.discard(task)
            with suppress(OSError, RuntimeError):
                writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection: to one host through a tunnel, or plain HTTP to any."""
        base = ""
        connection = h11.Connection(h11.SERVER, max_incomplete_event_size=_HEADS)
        while (request := await _next(connection, reader)) is not None:
            method, target = request.method.decode("latin-1"), request.target.decode("latin-1")
            headers = tuple((name.decode("latin-1"), value.decode("latin-1"))
                            for name, value in request.headers.raw_items())
            if method == "CONNECT":
                await _body(connection, reader)
                base = await self._tunnel(target, writer)
                connection = h11.Connection(h11.SERVER, max_incomplete_event_size=_HEADS)
                continue
            url = urldefrag(target if "://" in target.partition("?")[0] else base + target).url
            if header(headers, "upgrade").lower() == "websocket":
                await self._websocket(url, target, headers, reader, writer, connection.trailing_data[0])
                return
            body = await _body(connection, reader)
            await self._give(Request(method, url, headers, body or None), connection, reader, writer)
            if connection.our_state is not h11.DONE or connection.their_state is not h11.DONE:
                return
            connection.start_next_cycle()

    async def _tunnel(self, target: str, writer: asyncio.StreamWriter) -> str:
        """Begin to be the host of a tunnel; returns the beginning of its addresses."""
        host, _, port = target.rpartition(":")
        secure = port == "443" or self._secure.get((host.lower(), port), False)
        context = await asyncio.to_thread(self._authority.context, host) if secure else None
        if secure:  # what comes next is for TLS; `start_tls` reads on
            writer.transport.pause_reading()  # type: ignore[attr-defined]
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        await writer.drain()
        if context:
            await writer.start_tls(context)
            return f"https://{host}" if port == "443" else f"https://{target}"
        return f"http://{host}" if port == "80" else f"http://{target}"

    async def _give(self, request: Request, connection: h11.Connection, reader: asyncio.StreamReader,
                    writer: asyncio.StreamWriter) -> None:
        self._active += 1
        self._last_activity = time.monotonic()
        try:
            channel = None
            if "text/event-stream" in header(request.headers, "accept"):
                channel = self._channels.open("eventsource", request.url)
            if channel:
                self._active -= 1
                try:
                    await _stream(event_stream(channel), connection, writer, self._note_activity)
                finally:
                    self._active += 1
                return
            answer = self.answer(request)
            if self.on_answer:
                self.on_answer(request, answer)
            if answer.cut or answer.stays_open:
                await self._give_part(answer, connection, reader, writer)
                return
            head = h11.Response(status_code=answer.status, reason=answer.status_text[:100].encode("latin-1", "replace"),
                                headers=_framed(answer))
            data = connection.send(head) or b""
            if answer.content and request.method != "HEAD":
                data += connection.send(h11.Data(data=answer.content)) or b""
            writer.write(data + (connection.send(h11.EndOfMessage()) or b""))
            await writer.drain()
        finally:
            self._active -= 1
            self._last_activity = time.monotonic()

    async def _give_part(self, answer: Answer, connection: h11.Connection, reader: asyncio.StreamReader,
                         writer: asyncio.StreamWriter) -> None:
        """Give what had come of an answer; then end the connection, or leave it open until the browser ends it."""
        if answer.status:
            head = h11.Response(status_code=answer.status, headers=[*_framed(answer, in_chunks=True)],
                                reason=answer.status_text[:100].encode("latin-1", "replace"))
            writer.write(connection.send(head) or b"")
            if answer.content:
                writer.write(connection.send(h11.Data(data=answer.content)) or b"")
            await writer.drain()
        if answer.stays_open:
            self._active -= 1
            try:
                while await reader.read(_READ):
                    pass
            finally:
                self._active += 1
        elif answer.status:
            if answer.content:  # which the browser drops when the end comes together with it
                await asyncio.sleep(_CUT_DELAY_S)
            writer.close()
        else:
            writer.transport.abort()

    async def _websocket(self, url: str, target: str, headers: Headers, reader: asyncio.StreamReader,
                         writer: asyncio.StreamWriter, buffered: bytes) -> None:
        address = "ws" + url.removeprefix("http")
        channel = self._channels.open("websocket", address)
        if channel is None:
            self._note_missing("GET", address)
        await serve_websocket(channel, target, headers, reader, writer, buffered, self._note_activity)


async def _next(connection: h11.Connection, reader: asyncio.StreamReader) -> h11.Request | None:
    """The next request's head; None when there will be none."""
    while (event := connection.next_event()) is h11.NEED_DATA:
        connection.receive_data(await reader.read(_READ))
    return event if isinstance(event, h11.Request) else None


async def _body(connection: h11.Connection, reader: asyncio.StreamReader) -> bytes:
    """All that a request sends."""
    parts, size = [], 0
    while True:
        event = connection.next_event()
        if event is h11.NEED_DATA:
            connection.receive_data(await reader.read(_READ))
        elif isinstance(event, h11.Data):
            parts.append(bytes(event.data))
            if (size := size + len(event.data)) > _BODY:
                raise ValueError("a request that is too large")
        else:
            return b"".join(parts)


async def _stream(parts: AsyncGenerator[bytes, None], connection: h11.Connection, writer: asyncio.StreamWriter,
                  on_activity: Callable[[], None]) -> None:
    """An answer that goes on; `on_activity` is called for each part."""
    head = h11.Response(status_code=200, headers=[("Content-Type", "text/event-stream"), ("Cache-Control", "no-store"),
                                                  ("Access-Control-Allow-Origin", "*")])
    writer.write(connection.send(head) or b"")
    async with aclosing(parts):
        async for part in parts:
            writer.write(connection.send(h11.Data(data=part)) or b"")
            await writer.drain()
            on_activity()
    writer.write(connection.send(h11.EndOfMessage()) or b"")


def _is_of_a_page(request: Request) -> bool:
    """Whether a page asks, and not the browser for itself, such as for updates of its own."""
    headers = request.headers
    if header(headers, "sec-fetch-site") == "none" and header(headers, "sec-fetch-dest") == "empty":
        return False
    if request.url.endswith("/favicon.ico"):  # which it asks every site for
        return False
    return any(header(headers, name) for name in _OF_PAGES)


def _header_bytes(value: str) -> bytes:
    """A header's value as it came: browsers tell its bytes as letters of windows-1252, whatever they are in."""
    try:
        return encode_windows_1252(value)
    except UnicodeEncodeError:  # another program's archive has it as text
        return value.encode("utf-8", "replace")


def _framed(answer: Answer, *, in_chunks: bool = False) -> list[tuple[bytes, bytes]]:
    """Headers as they go out: what HTTP cannot carry is left out."""
    headers = []
    for name, value in answer.headers:
        try:
            pair = name.encode("ascii"), _header_bytes(value).strip()
            h11.Response(status_code=200, headers=[pair])
        except (UnicodeEncodeError, h11.LocalProtocolError):
            continue
        headers.append(pair)
    if in_chunks:
        headers.append((b"Transfer-Encoding", b"chunked"))
    elif answer.status not in (204, 304):
        length = len(answer.content) if answer.length is None else answer.length
        headers.append((b"Content-Length", str(length).encode()))
    return headers


def _secure_ports(archive: Archive) -> dict[tuple[str, str], bool]:
    """Host and port -> whether TLS was spoken there, where the port does not tell."""
    secure_ports = {}
    urls = [*(exchange.url for exchange in archive.exchanges), *(channel.url for channel in archive.channels)]
    for url in urls:
        with suppress(ValueError):
            parts = urlsplit(url)
            if parts.port:
                host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname or ""
                secure_ports[host, str(parts.port)] = parts.scheme in _SECURE
    return secure_ports
