"""The state of the browser at the start of the recording, as far as pages can observe it; the start state of a
replay."""

import asyncio
from contextlib import suppress
from typing import Any

from playwright.async_api import BrowserContext, Page
from playwright.async_api import Error as PlaywrightError

_ANSWER_TIMEOUT_S = 3.0  # seconds that pages have to tell what they store
_SESSION_STORAGE_JS = "() => [location.origin, Object.entries(sessionStorage)]"
_LOCALE_JS = "() => [Intl.DateTimeFormat().resolvedOptions().timeZone, [...navigator.languages]]"


async def storage_state(context: BrowserContext) -> dict[str, Any]:
    """Cookies and what was stored by origin, of pages that are open; the values as they are. Of pages that do not
    answer in time, as with a dialog open, only the cookies."""
    state: Any = {"cookies": await context.cookies()}
    sessions: dict[str, list[tuple[str, str]]] = {}
    with suppress(TimeoutError, PlaywrightError):
        async with asyncio.timeout(_ANSWER_TIMEOUT_S):
            state = await context.storage_state(indexed_db=True)
            sessions = {origin: items for page in context.pages for origin, items in await _session_storage(page)}
    local = {origin_state["origin"]: origin_state for origin_state in state.get("origins", ())}
    cookies = [{"name": cookie["name"], "value": cookie["value"], "domain": cookie["domain"], "path": cookie["path"],
                "expires": cookie["expires"], "http_only": cookie["httpOnly"], "secure": cookie["secure"],
                "same_site": cookie["sameSite"]} for cookie in state.get("cookies", ())]
    origins = [{
        "origin": origin,
        "local_storage": [{"name": item["name"], "value": item["value"]}
                          for item in local.get(origin, {}).get("localStorage", ())],
        "session_storage": [{"name": name, "value": value} for name, value in sessions.get(origin, ())],
        "databases": [database["name"] for database in local.get(origin, {}).get("indexedDB", ())],
    } for origin in sorted(local.keys() | sessions.keys())]
    return {"cookies": cookies, "origins": origins}


async def locale(context: BrowserContext) -> dict[str, Any]:
    """Time zone and languages, as a page is told them; neutral ones where no page answers."""
    for page in context.pages:
        with suppress(PlaywrightError, TimeoutError):
            async with asyncio.timeout(_ANSWER_TIMEOUT_S):
                zone, languages = await page.evaluate(_LOCALE_JS)
            return {"time_zone": str(zone)[:100], "languages": [str(language)[:100] for language in languages[:20]]}
    return {"time_zone": "UTC", "languages": ["en-US"]}


async def _session_storage(page: Page) -> list[tuple[str, list[tuple[str, str]]]]:
    sessions = []
    for frame in page.frames:
        with suppress(PlaywrightError):  # it may not look, or is gone
            origin, items = await frame.evaluate(_SESSION_STORAGE_JS)
            if items and origin.startswith("http"):
                sessions.append((origin, items))
    return sessions
