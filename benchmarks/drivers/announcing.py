"""Announcements of a driver's actions over HTTP, as a program in another process makes them."""

import asyncio
import os
import urllib.request
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

ANNOUNCEMENTS = "DEMOTAPE_ANNOUNCEMENTS"  # variable with the address, which puppeteer.mjs reads, too


@asynccontextmanager
async def announcing() -> AsyncIterator[None]:
    """Announce an action if there is an address for announcements."""
    await _request("POST")
    try:
        yield
    finally:
        await _request("DELETE")


async def _request(method: str) -> None:
    if address := os.environ.get(ANNOUNCEMENTS):
        request = urllib.request.Request(address, method=method)
        await asyncio.to_thread(lambda: urllib.request.urlopen(request).close())
