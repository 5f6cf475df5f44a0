"""A server on loopback that answers as planned, and keeps what it sent and received, byte for byte."""

import asyncio
import json
import threading
import zlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import brotli
import h11
import zstandard
from websockets.frames import Frame, Opcode
from websockets.http11 import Request as WebSocketRequest
from websockets.server import ServerProtocol

from .planning import CODINGS, OTHER_HOSTS, Planned

_HERE = Path(__file__).parent
_BODY_BYTES = 64 << 20  # of a request
_PAGE = (b"<!DOCTYPE html><meta charset=utf-8><title>archive</title><link rel=icon href=data:,>"
         b"<button id=go>Go</button><input type=file id=disk><script src=/ask.js></script>"
         b"<script src=/page.js></script>")
_FRAME = b"<!DOCTYPE html><meta charset=utf-8><title>frame</title><script src=/ask.js></script>"
_PLAIN_WORKER = ("/* {number} é😀 */ importScripts('/ask.js');"
                 "onmessage = async ({{ data }}) => postMessage(await ask(data));")
_WORKERS = {
    "plain": _PLAIN_WORKER,
    "module": "/* {number} é */ import '/ask-module.js'; "
              "onmessage = async ({{ data }}) => postMessage(await globalThis.ask(data));",
    "nested": "const inner = new Worker('/worker/plain-{number}.js');"
              "onmessage = ({{ data }}) => inner.postMessage(data);"
              "inner.onmessage = ({{ data }}) => postMessage(data);",
    "shared": "/* {number} é */ importScripts('/ask.js'); onconnect = ({{ ports: [port] }}) => "
              "{{ port.onmessage = async ({{ data }}) => port.postMessage(await ask(data)); }};",
    "service": "/* {number} é */ importScripts('/ask.js'); oninstall = () => skipWaiting(); onactivate = (event) =>"
               " event.waitUntil(clients.claim()); onfetch = (event) => event.respondWith(fetch(event.request));"
               "onmessage = (event) => event.waitUntil(ask(event.data).then("
               "(said) => event.ports[0].postMessage(said)));",
}
_CORS = [("Access-Control-Expose-Headers", "X-Other"), ("Timing-Allow-Origin", "*")]


@dataclass
class Entry:
    """What came and what was sent. `content`: unpacked; `number` of its plan, None for pages and scripts of ours;
    `ending`: as in Planned."""

    method: str
    url: str
    body: bytes
    status: int = 0
    content: bytes = b""
    number: int | None = None
    ending: str = "whole"
    headers: list[tuple[str, str]] = field(default_factory=list)


@dataclass
class Carried:
    """What a WebSocket carried: messages as (direction, data), and how it ended."""

    number: int
    messages: list[tuple[str, str | bytes]] = field(default_factory=list)
    protocol: str = ""
    close: tuple[str, int | None, str] | None = None  # who closed it, code, reason


class ArchiveServer:
    """Serves the plan from a thread of its own; use it with `with`."""

    def __init__(self, planned: Sequence[Planned], together: int):
        self.planned, self._together = planned, together
        self.entries: list[Entry] = []
        self.carried: list[Carried] = []
        self._noted: dict[int, asyncio.Event] = {}
        self._times: dict[int, int] = {}
        self._ready = threading.Event()

    def __enter__(self) -> "ArchiveServer":
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()), daemon=True)
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._ended.set)
        self._thread.join(10)

    async def _run(self) -> None:
        self._loop, self._ended = asyncio.get_running_loop(), asyncio.Event()
        server = await asyncio.start_server(self._accept, "127.0.0.1", 0, limit=1 << 20)
        self.port: int = server.sockets[0].getsockname()[1]
        others = await asyncio.start_server(self._accept, OTHER_HOSTS, self.port, limit=1 << 20)
        self.origin = f"http://127.0.0.1:{self.port}"
        self._ready.set()
        await self._ended.wait()
        server.close()
        others.close()
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, EOFError, h11.ProtocolError, asyncio.CancelledError):
            await self._serve(reader, writer)
        with suppress(OSError, RuntimeError):
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = h11.Connection(h11.SERVER)
        while True:
            request, body = None, b""
            while True:
                event = connection.next_event()
                if event is h11.NEED_DATA:
                    connection.receive_data(data := await reader.read(1 << 20))
                    if not data and request is None:
                        return
                elif isinstance(event, h11.Request):
                    request = event
                    if dict(request.headers).get(b"upgrade", b"").lower() == b"websocket":
                        await self._websocket(request, connection.trailing_data[0], reader, writer)
                        return
                elif isinstance(event, h11.Data):
                    body += bytes(event.data)
                else:
                    break
            if request is None:
                return
            target, headers = request.target.decode("latin-1"), {
                name.decode(): value.decode("latin-1") for name, value in request.headers}
            entry = Entry(request.method.decode(), f"http://{headers.get('host', '')}{target}", body)
            if not await self._answer(entry, target, headers, reader, writer):
                return
            connection.start_next_cycle() if connection.our_state is h11.DONE else None
            # Heads are written by hand: h11 only reads here.
            rest = connection.trailing_data[0]
            connection = h11.Connection(h11.SERVER)
            if rest:
                connection.receive_data(rest)

    async def _answer(self, entry: Entry, target: str, headers: dict[str, str], reader: asyncio.StreamReader,
                      writer: asyncio.StreamWriter) -> bool:
        """Answer a request; returns whether the connection goes on."""
        path = urlsplit(target).path
        if entry.method == "OPTIONS" and "access-control-request-method" in headers:
            return await _reply(writer, entry, 204, [("Access-Control-Allow-Methods", "*"),
                                                     ("Access-Control-Allow-Headers", "*")], b"")
        if path.startswith("/seen/"):
            self._noted.setdefault(int(path[6:]), asyncio.Event()).set()
            return await _reply(writer, entry, 204, [], b"")
        self.entries.append(entry)
        if not path.startswith("/x/"):
            found = self._own(path)
            kind, content = found or ("text/plain", b"nothing")
            return await _reply(writer, entry, 200 if found else 404, [("Content-Type", kind),
                                ("Service-Worker-Allowed", "/")], content)
        number = int(path[3:].partition("/")[0])
        entry.number, item = number, self.planned[number]
        times = self._times[number] = self._times.get(number, 0) + 1
        if "broken" in item.extra:
            return _break(item, writer)
        hops = item.extra.get("redirects", 0)
        hop = int(path.rpartition("/")[2]) if path.count("/") > 2 else 0
        if hop < hops:
            aim = f"/x/{number}/{hop + 1}{item.extra['query']}"
            content = b"<p>moved</p>" if item.extra["filled"] else b""
            return await _reply(writer, entry, item.extra["code"], [("Location", aim), ("Content-Type", "text/html")],
                                content)
        return await self._planned(item, times, entry, headers, reader, writer)

    def _own(self, path: str) -> tuple[str, bytes] | None:
        if path == "/plan.json":
            items = [item.for_page(self.port) for item in self.planned]
            return "application/json", json.dumps({"items": items, "together": self._together}).encode()
        if path.startswith("/worker/"):
            kind, _, number = path[8:].removesuffix(".js").partition("-")
            return "text/javascript; charset=utf-8", _WORKERS[kind].format(number=number).encode()
        if path == "/ask-module.js":
            return "text/javascript", (_HERE / "ask.js").read_bytes() + b"\nglobalThis.ask = ask;\n"
        if path in ("/ask.js", "/page.js"):
            return "text/javascript", (_HERE / path[1:]).read_bytes()
        return ("text/html", _PAGE if path == "/" else _FRAME) if path == "/" or path.startswith("/service/") else None

    async def _planned(self, item: Planned, times: int, entry: Entry, asked: dict[str, str],
                       reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        status, content, headers = item.status, item.content, [("Content-Type", item.media)] if item.media else []
        entry.ending = item.ending
        if item.extra.get("mode") == "credentials":
            headers += [("Access-Control-Allow-Origin", asked.get("origin", "*")),
                        ("Access-Control-Allow-Credentials", "true")]
        if "cache" in item.extra:
            headers += [("ETag", '"v1"'), ("Cache-Control", "max-age=1000")]
            if asked.get("if-none-match") == '"v1"':
                status, content = 304, b""
        if item.extra.get("ranges"):
            status, content, more = _range(asked.get("range", ""), content)
            headers += more
        if item.extra.get("hints"):
            writer.write(b"HTTP/1.1 103 Early Hints\r\nLink: </ask.js>; rel=preload; as=script\r\n\r\n")
        if item.ending == "whole":
            coded = CODINGS[item.coding](content)
            if item.coding and content:
                headers.append(("Content-Encoding", item.coding))
                content_sent = coded
            else:
                content_sent = content
            entry.content = b"" if entry.method == "HEAD" else content
            return await _reply(writer, entry, status, headers, content_sent, framing=item.framing,
                                reason=item.extra.get("reason"))
        return await self._part(item, headers, entry, reader, writer)

    async def _part(self, item: Planned, headers: list[tuple[str, str]], entry: Entry, reader: asyncio.StreamReader,
                    writer: asyncio.StreamWriter) -> bool:
        """Give the beginning of an answer, and its end when the page has it."""
        content = item.content[:item.came]
        coded = _flushed(item.coding, content)
        entry.status, entry.content = item.status, content
        if item.coding:
            headers.append(("Content-Encoding", item.coding))
        if item.framing == "chunked":
            headers.append(("Transfer-Encoding", "chunked"))
            coded = b"%x\r\n%b\r\n" % (len(coded), coded) if coded else b""
        else:
            headers.append(("Content-Length", str(len(coded) + 5000)))
        entry.headers = headers
        writer.write(_head(item.status, "OK", headers) + coded)
        await writer.drain()
        if item.ending == "cut":
            await self._noted.setdefault(item.number, asyncio.Event()).wait()
            if item.extra.get("reset"):
                writer.transport.abort()
            return False
        while await reader.read(1 << 16):  # until the browser ends it, or all ends
            pass
        return False

    async def _websocket(self, request: h11.Request, rest: bytes, reader: asyncio.StreamReader,
                         writer: asyncio.StreamWriter) -> None:
        target = request.target.decode()
        item = self.planned[int(target[3:])]
        extra, carried = item.extra, Carried(item.number)
        self.carried.append(carried)
        protocol = ServerProtocol(max_size=None)
        lines = [f"GET {target} HTTP/1.1", *(f"{name.decode()}: {value.decode('latin-1')}"
                                             for name, value in request.headers), "", ""]
        protocol.receive_data("\r\n".join(lines).encode("latin-1"))
        handshake = next(event for event in protocol.events_received() if isinstance(event, WebSocketRequest))
        response = protocol.reject(403, "no") if extra["closed"] == "refused" else protocol.accept(handshake)
        if extra["closed"] != "refused" and extra["offered"] and extra["chosen"] is not None:
            carried.protocol = extra["offered"][extra["chosen"]]
            response.headers["Sec-WebSocket-Protocol"] = carried.protocol
        protocol.send_response(response)
        await _flush(protocol, writer)
        if extra["closed"] == "refused":
            return
        if rest:
            protocol.receive_data(rest)
        await _talk(protocol, extra, carried, reader, writer)


async def _talk(protocol: ServerProtocol, extra: dict[str, Any], carried: Carried, reader: asyncio.StreamReader,
                writer: asyncio.StreamWriter) -> None:
    """Carry the planned messages, and end as planned."""
    async def next_message() -> str | bytes | None:
        while True:
            for event in protocol.events_received():
                if isinstance(event, Frame) and event.opcode in (Opcode.TEXT, Opcode.BINARY, Opcode.CONT):
                    parts.append(event)
                    if event.fin:
                        data = b"".join(bytes(part.data) for part in parts)
                        is_text = parts[0].opcode is Opcode.TEXT
                        parts.clear()
                        return data.decode() if is_text else data
                if isinstance(event, Frame) and event.opcode is Opcode.CLOSE and protocol.close_rcvd:
                    received = protocol.close_rcvd
                    carried.close = "page", received.code, received.reason
                    return None
            await _flush(protocol, writer)
            if not (data := await reader.read(1 << 16)):
                return None
            protocol.receive_data(data)

    parts: list[Frame] = []
    for message in extra["messages"]:
        data: str | bytes = message.get("text") if message.get("text") is not None else bytes.fromhex(
            message.get("hex") or "")
        if message.get("rpc") or message["echo"]:
            received = await next_message()
            if received is None:
                return
            carried.messages.append(("sent", received))
            data = received
            if message.get("rpc"):
                data = json.dumps({"jsonrpc": "2.0", "id": json.loads(received)["id"], "result": message["rpc"]})
        carried.messages.append(("received", data))
        if isinstance(data, str):
            protocol.send_text(data.encode())
        else:
            protocol.send_binary(data)
        await _flush(protocol, writer)
    if extra["closed"] == "server":
        protocol.send_close(extra["code"], extra["why"]) if extra["code"] else protocol.send_close()
        carried.close = "server", extra["code"], extra["why"]
        await _flush(protocol, writer)
        await next_message()
        carried.close = "server", extra["code"], extra["why"]
    elif extra["closed"] == "broken":
        carried.close = "broken", None, ""
        writer.transport.abort()
    else:
        await next_message()
    await _flush(protocol, writer)


async def _flush(protocol: ServerProtocol, writer: asyncio.StreamWriter) -> None:
    for data in protocol.data_to_send():
        if data:
            writer.write(data)
    with suppress(OSError):
        await writer.drain()


def _flushed(coding: str, content: bytes) -> bytes:
    """The beginning of a packed answer of which everything so far can be unpacked."""
    if coding == "gzip":
        packer = zlib.compressobj(wbits=zlib.MAX_WBITS | 16)
        return packer.compress(content) + packer.flush(zlib.Z_SYNC_FLUSH)
    if coding == "br":
        other = brotli.Compressor(quality=4)
        return other.process(content) + other.flush()
    if coding == "zstd":
        third = zstandard.ZstdCompressor().compressobj()
        return third.compress(content) + third.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)
    return content


def _range(asked: str, content: bytes) -> tuple[int, bytes, list[tuple[str, str]]]:
    size = len(content)
    first, dash, last = asked.removeprefix("bytes=").partition("-")
    accepts = [("Accept-Ranges", "bytes")]
    if not dash:
        return 200, content, accepts
    begin = int(first) if first else max(0, size - int(last))
    end = min(int(last) if first and last else size - 1, size - 1)
    if begin >= size:
        return 416, b"", [*accepts, ("Content-Range", f"bytes */{size}")]
    return 206, content[begin:end + 1], [*accepts, ("Content-Range", f"bytes {begin}-{end}/{size}")]


def _break(item: Planned, writer: asyncio.StreamWriter) -> bool:
    if item.extra["broken"] == "garbage":
        writer.write(b"\x16\x03\x01 this is no answer\r\n\r\n")
    elif item.extra["broken"] == "reset":
        writer.transport.abort()
    return False


def _head(status: int, reason: str, headers: Sequence[tuple[str, str]]) -> bytes:
    given = headers if any(name == "Access-Control-Allow-Origin" for name, _ in headers) else [
        ("Access-Control-Allow-Origin", "*"), *headers]
    lines = [f"HTTP/1.1 {status} {reason}", *(f"{name}: {value}" for name, value in (*_CORS, *given)), "", ""]
    return "\r\n".join(lines).encode("utf-8")


async def _reply(writer: asyncio.StreamWriter, entry: Entry, status: int, headers: list[tuple[str, str]],
                 content: bytes, *, framing: str = "length", reason: str | None = None) -> bool:
    """Answer with all of a content (packed already); returns whether the connection goes on."""
    has_content = status not in (204, 304)
    if has_content and framing == "length":
        headers = [*headers, ("Content-Length", str(len(content)))]
    elif has_content and framing == "chunked":
        headers = [*headers, ("Transfer-Encoding", "chunked")]
    elif framing == "close":
        headers = [*headers, ("Connection", "close")]
    entry.status, entry.headers = status, headers
    if entry.number is None:
        entry.content = b"" if entry.method == "HEAD" else content
    writer.write(_head(status, "OK" if reason is None else reason, headers))
    if has_content and entry.method != "HEAD":
        if framing == "chunked":
            for start in range(0, len(content), 10_000):
                part = content[start:start + 10_000]
                writer.write(b"%x\r\n%b\r\n" % (len(part), part))
            writer.write(b"0\r\n\r\n")
        else:
            writer.write(content)
    await writer.drain()
    return framing != "close"
