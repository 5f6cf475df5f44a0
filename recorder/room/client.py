"""The recorder's connection to a live room: the instructor's messages into the recording, chat and pictures out of it.

The recording needs none of it: without a connection it continues, and what was said is sent afterwards, once.
"""

import asyncio
import json
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from typing import Any
from urllib.parse import urlsplit

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus, InvalidURI

from recorder.browser.session import Recorder
from recorder.building.chat import MessageRefused
from recorder.media.painted_frames import PaintedFrame
from schemas import InputError
from schemas.formats.room import ENDED, PAUSED, RECORDING, SAY, ChatMessageSchema, read_message

from .pictures import PictureStream
from .pointing import announcement, resolve

FIRST_WAIT_S, LONGEST_WAIT_S = 0.2, 2.0  # before the next connection
OPENING_TIMEOUT_S = 10.0
PING_INTERVAL_S, PING_TIMEOUT_S = 10.0, 60.0
FAREWELL_TIMEOUT_S = 5.0  # at the end, for what the room has not stored yet
MAX_MESSAGE_BYTES = 1 << 20
INSTRUCTOR = "instructor"
_REFUSED_CODES = (1007, 1008)  # the server closes the connection for good
_PASSING_STATUSES = (408, 429)
_CHAT = {"chat": ChatMessageSchema(unknown="exclude")}


class _Connect(connect):
    """Follows no redirect, which would send the token to another server."""

    def process_redirect(self, exc: Exception) -> Exception | str:
        return exc


class RoomClient:
    """A room for the time of an `async with`; `url`: the room's address, `token`: the navigator's.

    `complain` is called with a sentence when the server refuses the connection; the recording goes on then.
    """

    def __init__(self, url: str, token: str, recorder: Recorder, complain: Callable[[str], None]):
        self._address = f"{url.rstrip('/').replace('http', 'ws', 1)}/record"
        self._headers = {"Authorization": f"Bearer {token}"}
        self._recorder, self._complain = recorder, complain
        self._unstored: dict[str, dict[str, Any]] = {}  # own messages that the server has not acknowledged
        self._receipts: dict[str, dict[str, Any] | None] = {}  # of the instructor's, None until written
        self._outgoing: asyncio.Queue[str | bytes] | None = None  # while connected
        self._pictures = PictureStream(self._put, lambda: recorder.paused)
        self._incoming: asyncio.Queue[dict[str, Any]] = asyncio.Queue()  # messages that are not written yet, in order
        self._numbers = count(1)
        self._ending = False
        self._over = asyncio.Event()

    async def __aenter__(self) -> "RoomClient":
        self._loop = asyncio.get_running_loop()
        self._recorder.listeners.append(self._on_news)
        self._recorder.frame_listeners.append(self._on_frame)
        self._task = asyncio.ensure_future(self._run())
        self._writing = asyncio.ensure_future(self._write_incoming())
        return self

    async def __aexit__(self, kind, error, trace) -> None:
        self._ending = True
        self._put_state()
        with suppress(TimeoutError):
            async with asyncio.timeout(FAREWELL_TIMEOUT_S):
                await self._over.wait()
        self._recorder.listeners.remove(self._on_news)
        self._recorder.frame_listeners.remove(self._on_frame)
        for task in (self._task, self._writing):
            task.cancel()
        await asyncio.gather(self._task, self._writing, return_exceptions=True)

    async def _run(self) -> None:
        """Connect again after every break, until the server refuses or the room is over."""
        wait = FIRST_WAIT_S
        try:
            while not self._over.is_set():
                try:
                    async with _Connect(self._address, additional_headers=self._headers, compression=None,
                                        open_timeout=OPENING_TIMEOUT_S, ping_interval=PING_INTERVAL_S,
                                        ping_timeout=PING_TIMEOUT_S, max_size=MAX_MESSAGE_BYTES) as connection:
                        wait = FIRST_WAIT_S
                        await self._converse(connection)
                    if connection.close_code in _REFUSED_CODES:
                        return self._give_up(connection.close_reason or "refused")
                except InvalidStatus as refusal:
                    status = refusal.response.status_code
                    if status < 500 and status not in _PASSING_STATUSES:
                        return self._give_up(f"status {status}")
                except InvalidURI as invalid:
                    return self._give_up(str(invalid))
                except (OSError, TimeoutError, InvalidHandshake, ConnectionClosed):
                    pass
                await asyncio.sleep(wait)
                wait = min(wait * 2, LONGEST_WAIT_S)
        finally:
            self._over.set()

    def _give_up(self, reason: str) -> None:
        self._complain(f"room: the server refuses the connection ({reason}); the recording continues without the room")

    async def _converse(self, connection: ClientConnection) -> None:
        """Serve one connection until it ends."""
        self._outgoing = asyncio.Queue()
        self._put_state()
        for message in self._unstored.values():
            self._put(message)
        sender = asyncio.ensure_future(self._send(connection, self._outgoing))
        try:
            async for content in connection:
                self._receive(json.loads(content))
                if self._over.is_set():
                    return
        except ConnectionClosed:
            pass
        finally:
            self._outgoing = None
            self._pictures.want(False)
            sender.cancel()
            self._recorder.announce({"type": "room", "people": []})

    async def _send(self, connection: ClientConnection, outgoing: "asyncio.Queue[str | bytes]") -> None:
        with suppress(ConnectionClosed):
            while True:
                await connection.send(await outgoing.get())

    def _put(self, message: dict[str, Any] | bytes) -> None:
        """Send now, or not at all while there is no connection."""
        if self._outgoing is not None:
            self._outgoing.put_nowait(message if isinstance(message, bytes) else json.dumps(message))

    def _put_state(self) -> None:
        state = ENDED if self._is_finished else PAUSED if self._recorder.paused else RECORDING
        self._put({"type": "state", "recording": self._recorder.recording_id, "state": state})

    @property
    def _is_finished(self) -> bool:
        """Whether the end can be reported: every message that was accepted is in the file."""
        return self._ending and None not in self._receipts.values()

    def _receive(self, message: dict[str, Any]) -> None:
        arrived = self._recorder.elapsed
        match message.get("type"):
            case "welcome":
                self._recorder.note(room={"id": _room_id(self._address), "pictures": message["pictures"]})
            case "chat":
                self._take_chat(message)
            case "stored":
                self._unstored.pop(message["id"], None)
            case "clock":
                self._put({"type": "clock", "to": message["to"], "sent": message["sent"], "received": arrived,
                           "answered": self._recorder.elapsed})
            case "pictures":
                self._pictures.want(message["wanted"])
            case "painted":
                self._pictures.acknowledge()
            case "people":
                self._recorder.announce({"type": "room", "people": message["people"]})
            case "ended":
                self._over.set()

    def _take_chat(self, content: dict[str, Any]) -> None:
        """Have a message of the instructor written once; one that is sent again gets the same receipt again."""
        try:
            message = read_message(content, _CHAT)
        except InputError:
            return  # not a message that this version knows
        message_id = message["id"]
        if message_id in self._receipts:
            if receipt := self._receipts[message_id]:
                self._put(receipt)
            return
        self._receipts[message_id] = None
        self._incoming.put_nowait(message)

    async def _write_incoming(self) -> None:
        """Write what arrives, one after another: where somebody points is known only when the page has answered."""
        while True:
            await self._write(await self._incoming.get())

    async def _write(self, message: dict[str, Any]) -> None:
        message_id, region = message["id"], message["region"]

        def written() -> None:  # in the writer's thread
            self._loop.call_soon_threadsafe(lambda: self._settle(message_id, time, None))

        try:
            if self._ending:
                raise MessageRefused(ENDED)
            pointing = await resolve(region, self._pictures) if region else None
            time = self._recorder.add_message(INSTRUCTOR, message, written, pointing)
        except MessageRefused as refusal:
            self._settle(message_id, None, refusal.reason)
        else:
            if region:
                self._recorder.announce(announcement(message_id, region, self._pictures))

    def _settle(self, message_id: str, time: float | None, refused: str | None) -> None:
        receipt = {"type": "receipt", "id": message_id, "time": time, "refused": refused}
        self._receipts[message_id] = receipt
        self._put(receipt)
        if self._ending:
            self._put_state()

    def _on_frame(self, frame: PaintedFrame) -> None:
        self._pictures.add(frame, self._recorder.shown_tab)

    def _on_news(self, news: dict[str, Any]) -> None:
        """What the recorder shows: pauses, and what is typed where it is recorded."""
        if news["type"] == "state":
            self._put_state()
            self._pictures.resume()
        elif news["type"] == "chat" and "id" not in news:
            message = {"type": "chat", "kind": news.get("signal", SAY), "success": news.get("success"),
                       "id": f"recorder-{next(self._numbers)}", "text": news["utterance"],
                       "changes": None, "began": None, "sent": None, "uncertainty": None,
                       "speaker": news["speaker"], "time": news["time"]}
            self._unstored[message["id"]] = message
            self._put(message)


def _room_id(address: str) -> str:
    return urlsplit(address).path.rsplit("/", 2)[1]
