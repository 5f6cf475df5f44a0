"""Ends of a live room for tests: a recorder and viewers that speak the room's messages over real WebSockets."""

import itertools
import json
import queue
import threading
from collections.abc import Callable
from contextlib import ExitStack
from http.cookiejar import CookieJar
from typing import Any
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, Request, build_opener

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from schemas.formats.room import JPEG, PICTURE_HEADER

from .team_fixtures import PASSWORD

WAIT_S = 20.0
_numbers = itertools.count(1)


class RoomEnd:
    """One connection to a room; what it receives is kept in order."""

    def __init__(self, address: str, *, token: str = "", cookie: str = "", origin: str | None = None):
        headers = ({"Authorization": f"Bearer {token}"} if token else {}) | ({"Cookie": cookie} if cookie else {})
        self._opened = ExitStack()
        self.connection: ClientConnection = self._opened.enter_context(
            connect(address.replace("http", "ws", 1), additional_headers=headers, origin=origin, open_timeout=WAIT_S,
                    compression=None))
        self.received: list[Any] = []
        self._arrived: queue.Queue[Any] = queue.Queue()
        self.closed: ConnectionClosed | None = None
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        try:
            while True:
                content = self.connection.recv()
                self._arrived.put(json.loads(content) if isinstance(content, str) else content)
        except ConnectionClosed as error:
            self.closed = error
            self._arrived.put(None)

    def send(self, message: dict[str, Any] | bytes) -> None:
        self.connection.send(message if isinstance(message, bytes) else json.dumps(message))

    def wait_for(self, matches: Callable[[Any], bool]) -> Any:
        """The next message that matches; raises queue.Empty when none comes, ConnectionError when it was closed."""
        while True:
            message = self._arrived.get(timeout=WAIT_S)
            if message is None:
                raise ConnectionError(str(self.closed))
            self.received.append(message)
            if matches(message):
                return message

    def wait_for_type(self, kind: str, **fields: Any) -> dict[str, Any]:
        return self.wait_for(lambda message: isinstance(message, dict) and message["type"] == kind and all(
            message.get(name) == value for name, value in fields.items()))

    def wait_for_picture(self) -> bytes:
        return self.wait_for(lambda message: isinstance(message, bytes))

    def wait_for_end(self) -> str:
        """Wait until the server has closed it; returns its reason."""
        self._reader.join(WAIT_S)
        assert self.closed is not None
        return self.closed.rcvd.reason if self.closed.rcvd else ""

    def close(self) -> None:
        self._opened.close()


class RoomGuest(RoomEnd):
    """An instructor without an account, who follows a link; for the time of a `with`."""

    def __init__(self, link: str):
        jar = CookieJar()
        opener = build_opener(HTTPCookieProcessor(jar))
        form = urlencode({"csrf_token": csrf_of(opener.open(link).read().decode())}).encode()
        page = opener.open(Request(link, data=form, headers={"Referer": link}))
        assert page.url.endswith("/instruct"), page.url
        super().__init__(f"{page.url}/live", cookie="; ".join(f"{each.name}={each.value}" for each in jar),
                         origin=page.url.removesuffix("/instruct"))

    def __enter__(self) -> "RoomGuest":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def say(text: str, kind: str = "say", changes: str | None = None, **fields: Any) -> dict[str, Any]:
    """A message of an instructor."""
    return {"type": "chat", "kind": kind, "id": f"m{next(_numbers)}", "text": text, "changes": changes, "began": None,
            "sent": None, "uncertainty": None, **fields}


def state(recording: str, state: str = "recording") -> dict[str, Any]:
    return {"type": "state", "recording": recording, "state": state}


def receipt(message_id: str, time: float | None, refused: str | None = None) -> dict[str, Any]:
    return {"type": "receipt", "id": message_id, "time": time, "refused": refused}


def picture(number: int, content: bytes = b"") -> bytes:
    """What a recorder sends as a picture."""
    return PICTURE_HEADER.pack(number, float(number), 1280, 720) + JPEG + content


def cookie_of(url: str, name: str) -> str:
    """Sign in over HTTP; returns the value of the header Cookie."""
    jar = CookieJar()
    opener = build_opener(HTTPCookieProcessor(jar))
    token = csrf_of(opener.open(f"{url}sign-in").read().decode())
    form = urlencode({"csrf_token": token, "name": name, "password": PASSWORD}).encode()
    opener.open(Request(f"{url}sign-in", data=form, headers={"Referer": url})).read()
    return "; ".join(f"{cookie.name}={cookie.value}" for cookie in jar)


def csrf_of(page: str) -> str:
    return page.split('name="csrf_token" value="')[1].split('"')[0]
