"""A Chromium that sees nothing but what is served to it, in the state that a recording started from."""

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from playwright.async_api import Browser, BrowserContext, Playwright
from playwright.async_api import Error as PlaywrightError

from recorder.browser import launch
from recorder.reader import Recording
from replay.serving.server import ReplayServer
from schemas.chromium import NO_DATAGRAMS

_VIEWPORT = {"width": 1280, "height": 720}
_STORAGE = """(() => {
  const stored = STORED[location.origin];
  if (!stored || sessionStorage.length) return;
  for (const [name, value] of stored) sessionStorage.setItem(name, value);
})()"""


def offline_arguments(server: ReplayServer) -> list[str]:
    """Arguments of a Chromium whose every request goes to the server: loopback addresses, WebRTC and DNS, too."""
    return [
        f"--proxy-server=http://127.0.0.1:{server.port}", "--proxy-bypass-list=<-loopback>",
        f"--ignore-certificate-errors-spki-list={server.spki}",
        "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
        *NO_DATAGRAMS, "--no-pings", "--dns-prefetch-disable",
    ]


async def open_browser(playwright: Playwright, server: ReplayServer | None, *, headless: bool) -> Browser:
    """A browser that sees only what the server gives; without one, the real network."""
    return await launch(playwright, headless=headless, arguments=offline_arguments(server) if server else ())


async def open_context(browser: Browser, recording: Recording, first: Mapping[str, Any] | None) -> BrowserContext:
    """A context as the recording's was at its start: size, place, cookies and storage. `first`: the first state that
    is known."""
    options = context_options(recording, first)
    try:
        context = await browser.new_context(**options)
    except PlaywrightError:  # a time zone or language that this browser does not know
        context = await browser.new_context(**without_location(options))
    await give_storage(context, recording)
    await give_cookies(context, recording)
    return context


def context_options(recording: Recording, first: Mapping[str, Any] | None) -> dict[str, Any]:
    """What Playwright is told of a context: size, browser, place. `first`: the first state that is known."""
    manifest = recording.manifest
    at_start = manifest.get("browser_at_start")
    options: dict[str, Any] = {"viewport": manifest["viewport"] or (first or {}).get("viewport") or _VIEWPORT}
    if first and first["device_pixel_ratio"] > 0:
        options["device_scale_factor"] = min(first["device_pixel_ratio"] / (first["zoom"] or 1), 8)
    if manifest["user_agent"]:
        options["user_agent"] = manifest["user_agent"]
    if at_start:
        options |= {"locale": (at_start["languages"] or ["en-US"])[0], "timezone_id": at_start["time_zone"]}
    return options


def without_location(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options without language and time zone."""
    return {key: value for key, value in options.items() if key not in ("locale", "timezone_id")}


async def give_cookies(context: BrowserContext, recording: Recording) -> None:
    """Give a context the cookies that there were at the start."""
    at_start = recording.manifest.get("browser_at_start")
    for stored in at_start["cookies"] if at_start else ():
        cookie: Any = {"name": stored["name"], "value": stored["value"], "domain": stored["domain"],
                       "path": stored["path"],
                       "expires": -1, "httpOnly": stored["http_only"], "secure": stored["secure"],
                       "sameSite": stored["same_site"]}
        with suppress(PlaywrightError):  # one that no browser takes
            await context.add_cookies([cookie])


async def give_storage(context: BrowserContext, recording: Recording) -> None:
    """Have the pages of a context begin with the storage that there was at the start, where they have none; once."""
    at_start = recording.manifest.get("browser_at_start")
    if not at_start:
        return
    stored = {kind: {origin["origin"]: [(item["name"], item["value"])
                                        for item in origin[kind]]  # type: ignore[literal-required]
                     for origin in at_start["origins"]} for kind in ("session_storage", "local_storage")}
    for kind, area in (("session_storage", "sessionStorage"), ("local_storage", "localStorage")):
        if any(stored[kind].values()):
            await context.add_init_script(_source(stored[kind]).replace("sessionStorage", area))


def _source(stored: dict[str, list[tuple[str, str]]]) -> str:
    return _STORAGE.replace("STORED", json.dumps(stored).replace("<", "\\u003c"))
