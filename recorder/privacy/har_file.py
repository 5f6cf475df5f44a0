"""The file network.har: whole after each entry, and written only once it is known what in an entry is secret."""

import json
import os
import time
from collections import deque
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from .har import Exchange, entry, secrets_of
from .secret_values import Secrets

HOLD = 2.0  # seconds in which a page that has got an answer shows, and so tells, what in it is secret
_TAIL = b"\n]}}\n"


class HarFile:
    """Appends entries; what was appended can be read at any moment, also after a kill."""

    def __init__(self, path: Path, browser: str, version: str):
        head = {"log": {"version": "1.2", "creator": {"name": "demotape", "version": version},
                        "browser": {"name": browser.partition(" ")[0], "version": browser.partition(" ")[2]},
                        "pages": [], "entries": []}}
        self._file = path.open("xb", buffering=0)
        self._file.write(json.dumps(head).removesuffix("]}}").encode())
        self._end = self._file.tell()
        self._file.write(_TAIL)
        self._some = False

    def append(self, entry: dict[str, Any]) -> None:
        """One write that overwrites the closing brackets by the entry and new ones."""
        text = (b",\n" if self._some else b"\n") + json.dumps(entry).encode()
        self._file.seek(self._end)
        self._file.write(text + _TAIL)
        self._end += len(text)
        self._some = True

    def close(self) -> None:
        """Sync and close."""
        os.fsync(self._file.fileno())
        self._file.close()


class HeldExchanges:
    """Exchanges that wait until their page has told what in it is secret. `write` is given each as a HAR entry."""

    def __init__(self, secrets: Secrets, write: Callable[[Callable[[], dict[str, Any]]], None]):
        self._secrets = secrets
        self._write = write
        self._held: deque[tuple[float, Exchange]] = deque()

    def add(self, exchange: Exchange) -> None:
        """Take in an exchange that has ended; its cookies and authorizations are secret from now on."""
        self._secrets.learn(secrets_of(exchange))
        self._held.append((time.monotonic() + HOLD, exchange))

    def release(self, *, all_: bool = False) -> None:
        """Hand on those that have waited long enough."""
        while self._held and (all_ or self._held[0][0] <= time.monotonic()):
            exchange = self._held.popleft()[1]
            self._write(partial(entry, exchange, self._secrets))
