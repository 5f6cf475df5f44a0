"""Keeps whoever drives a browser over CDP from opening files of this machine in it.

No argument of Chromium does: what a page may not, its driver may. Intercepted for the browser itself, as here, requests
of every page are refused, in each context and also in a tab that is opened with an address; intercepted for each page,
the first request of such a tab is not.
"""

from typing import Any

from recorder.devtools import endpoint
from recorder.devtools.connection import Connection

_FILES = {"patterns": [{"urlPattern": "file:*"}]}
_MAX_LISTED = 1000  # addresses, so that no agent fills the memory
_MAX_ADDRESS_LENGTH = 2000


class FileGuard:
    """Refuses files to the browser at `cdp`, an `http:` address, from `async with` to its end.

    `refused` counts the addresses. Raises ProtocolError when the browser does not answer.
    """

    def __init__(self, cdp: str):
        self._cdp = cdp
        self.refused: dict[str, int] = {}

    async def __aenter__(self) -> "FileGuard":
        self._connection = await Connection.open(await endpoint.websocket_of(self._cdp))
        self._connection.browser.on("Fetch.requestPaused", self._refuse)
        await self._connection.browser.send("Fetch.enable", _FILES)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._connection.close()

    def _refuse(self, event: dict[str, Any]) -> None:
        self._connection.browser.post("Fetch.failRequest", {"requestId": event["requestId"],
                                                            "errorReason": "AccessDenied"})
        url = event["request"]["url"][:_MAX_ADDRESS_LENGTH]
        if url in self.refused or len(self.refused) < _MAX_LISTED:
            self.refused[url] = self.refused.get(url, 0) + 1
