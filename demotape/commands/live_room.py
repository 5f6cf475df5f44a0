"""The live room of `demotape record --room`: an existing one by its address, or a new one on a server."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from demotape.client import Client, Refused
from schemas import InputError

_ROOM = re.compile(r"(https?://[^/?#]+(?:/[^?#]*)?)/rooms/([A-Za-z0-9-]{1,100})/?")


@dataclass(frozen=True)
class LiveRoom:
    """Where the recorder connects, and with which token."""

    url: str
    token: str
    task: str
    task_name: str | None = None  # of a task of the bank


def existing_room(address: str, token: str | None) -> LiveRoom:
    """The room at an address, for its instructor. Raises InputError."""
    if not (existing := _ROOM.fullmatch(address)):
        raise InputError(f"{address[:200]}: must be the address of a room, such as https://review.example.org/rooms/ROOM")
    if not token:
        raise InputError("set DEMOTAPE_TOKEN to your access token of the review app")
    try:
        room = Client(existing[1], token).room(existing[2])
    except Refused as error:
        raise InputError(f"{address[:200]}: {error}") from None
    return LiveRoom(f"{existing[1].rstrip('/')}/rooms/{room['id']}", token, room["task"])


def enter_room(address: str, token: str | None, project: str | None, task: str, say: Callable[[str], None]) -> LiveRoom:
    """The room at an address, or a new one where the address is a server's; `say` gets what the navigator sends to the
    instructor. Raises InputError."""
    if not address.startswith(("http://", "https://")):
        raise InputError(f"--room {address[:200]}: must be the address of the review app or of a room in it, with http "
                         "or https")
    if not token:
        raise InputError("--room: set DEMOTAPE_TOKEN to your access token of the review app")
    existing = _ROOM.fullmatch(address)
    server = existing[1] if existing else address
    client = Client(server, token, project=project)
    try:
        room = client.room(existing[2]) if existing else client.open_room(task)
    except Refused as error:
        raise InputError(f"--room {address[:200]}: {error}") from None
    # By the address that was entered: the server may not know the name by which it is reached.
    url = f"{server.rstrip('/')}/rooms/{room['id']}"
    if link := room.get("link"):
        say(f"Send this link to the instructor; it works once, within an hour:\n{link}")
    return LiveRoom(url, token, task or room.get("task", ""), room.get("task_name"))
