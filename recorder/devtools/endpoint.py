"""Finds the DevTools endpoint of a Playwright context's browser, and the context's id there."""

import asyncio
import json
import re
import time
import urllib.request
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from typing import Any
from urllib.parse import urlsplit

from playwright.async_api import BrowserContext, CDPSession
from playwright.async_api import Error as PlaywrightError

from schemas import InputError

from .connection import Connection
from .sessions import ProtocolError

_ANSWER = 5.0  # seconds that an HTTP address has to answer
_DETACHED = 1.0  # seconds that a target has to be left
_PROBE_HOST = "demotape.invalid"  # a name that by its standard never resolves


async def connect(context: BrowserContext, address: str | None = None) -> tuple[Connection, str] | None:
    """A connection to the context's browser, and the context's id there.

    `address`: the browser's `http:` or `ws:` address; without it, it is looked for on this machine, and None tells
    that there is none. Raises InputError when nothing answers at `address`, or another browser does.
    """
    try:
        websocket = websocket_of(address) if address else _local_websocket(context)
        connection = await Connection.open(await websocket)
    except (ProtocolError, PlaywrightError, OSError, ValueError, LookupError) as error:
        if address:
            raise InputError(f"{_without_secrets(address)}: no Chromium responds ({_line(error)})") from None
        return None
    with suppress(ProtocolError):
        if context_id := await _context_id(connection, context):
            return connection, context_id
    await connection.close()
    if address:
        raise InputError(f"{_without_secrets(address)}: this is not the browser of the context")
    return None


async def page_targets(context: BrowserContext) -> list[str]:
    """Ids of the targets of the context's pages, in order of appearance."""
    targets = []
    for page in context.pages:
        with suppress(PlaywrightError):  # closed meanwhile
            session = await context.new_cdp_session(page)
            targets.append((await session.send("Target.getTargetInfo"))["targetInfo"]["targetId"])
            await detach(session)
    return targets


async def detach(session: CDPSession) -> None:
    """Leave a target, which may be gone; one that hangs never answers that."""
    with suppress(PlaywrightError, TimeoutError):
        async with asyncio.timeout(_DETACHED):
            await session.detach()


async def websocket_of(address: str) -> str:
    """The WebSocket address of the browser that answers at an `http:` or `ws:` address."""
    if address.startswith(("ws:", "wss:")):
        return address
    if not address.startswith(("http:", "https:")):
        raise ValueError("not an http or ws address")

    def ask() -> str:
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(f"{address.rstrip('/')}/json/version", timeout=_ANSWER) as answer:
            return json.load(answer)["webSocketDebuggerUrl"]

    return await asyncio.to_thread(ask)


async def _local_websocket(context: BrowserContext) -> str:
    """The WebSocket address of a browser on this machine, from what it says of how it was started.

    Raises PlaywrightError, OSError, ValueError or LookupError when it was started without one.
    """
    arguments = await _arguments(context)
    port = arguments["remote-debugging-port"]
    if port != "0":
        return await websocket_of(f"http://127.0.0.1:{int(port)}")
    port, path = (Path(arguments["user-data-dir"]) / "DevToolsActivePort").read_text(encoding="ascii").split()
    return f"ws://127.0.0.1:{int(port)}{path}"


async def _arguments(context: BrowserContext) -> dict[str, str]:
    """The arguments with values that the browser was started with."""
    browser = context.browser
    session = await (browser.new_browser_cdp_session() if browser else context.new_cdp_session(context.pages[0]))
    try:
        try:
            line = (await session.send("Browser.getBrowserCommandLine"))["arguments"]
        except PlaywrightError:  # it tells automated browsers only
            text = (await session.send("SystemInfo.getInfo"))["commandLine"]
            line = [argument.rstrip() for argument in re.split(r"\s(?=--)", text.replace('"', ""))]
    finally:
        await session.detach()
    return dict(argument.removeprefix("--").split("=", 1) for argument in line if argument.startswith("--")
                and "=" in argument)


async def _context_id(connection: Connection, context: BrowserContext) -> str | None:
    """Which of the browser's contexts it is: the one that holds a cookie which is set for the moment."""
    cookie: Any = {"name": f"demotape-{token_hex(8)}", "value": "1", "domain": _PROBE_HOST, "path": "/"}
    await context.add_cookies([cookie])
    try:
        known = await connection.browser.send("Target.getBrowserContexts")
        default = known.get("defaultBrowserContextId")
        for context_id in dict.fromkeys((*known["browserContextIds"], *filter(None, [default]))):
            # Chromium 150 knows no id of the default context.
            parameters = {} if context_id == default else {"browserContextId": context_id}
            with suppress(ProtocolError):  # closed meanwhile
                answer = await connection.browser.send("Storage.getCookies", parameters)
                if any(stored_cookie["name"] == cookie["name"] for stored_cookie in answer["cookies"]):
                    return context_id
        return None
    finally:
        cookie["expires"] = time.time() - 3600
        await context.add_cookies([cookie])


def _without_secrets(address: str) -> str:
    """An address as it may be shown: services put keys in the rest of it."""
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.hostname or ''}" + (f":{parts.port}" if parts.port else "")


def _line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]
