"""Does anything leave the browsers that show recorded pages, by any protocol?

    python -m benchmarks.egress [--seconds N] [--only NAME]

Each way out that a page or the browser itself has (`ways.py`) is tried to an address of this machine, one of the
network, one of IPv6 and a name, in a replayed page, in an environment for agents (which opens files of the machine,
too) and in the rendered page of a state. All runs in a network namespace whose every packet is counted, but those
between the browser and the program that drives it. The same in an ordinary Chromium shows that the count works: the
ways that send something there are those that are tested.
"""

import argparse
import asyncio
import json
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, closing, suppress
from pathlib import Path
from urllib.parse import urlsplit

from playwright.async_api import BrowserContext, Page, async_playwright
from playwright.async_api import Error as PlaywrightError

from pipeline.pages.offline import offline_browser, restore
from pipeline.pages.rendering import render
from recorder import Recorder, Recording
from recorder.browser import launch
from replay.agents.environment import Environment
from replay.archive.exchanges import Archive, Recorded
from replay.running.offline import open_browser
from replay.serving.server import ReplayServer
from tests.support.services.site import Site

from .packets import NETWORK, Packet, PacketCounter, enter_namespace
from .ways import MARKUP, WAYS

_FIRST_PORT = 20_000
_SHOP = "https://shop.example"
_FILES = ("file://PATH", "file://localhostPATH", "view-source:file://PATH", "FILE:PATH", "file:///proc/self/root/PATH")
_WORD = "a word of a file"
_SCRIPT_LIMIT_S, _FILE_LIMIT_S = 3.0, 5.0
_PORTS = {name: _FIRST_PORT + number for number, name in enumerate(WAYS)}


def _code(name: str, host: str) -> str:
    host = host if host != "leak.example" else f"w{_PORTS[name]}.leak.example"
    return WAYS[name].replace("HOST", host).replace("PORT", str(_PORTS[name]))


async def _try_all(context: BrowserContext, address: str) -> None:
    """Try each way in a separate page."""
    for name in WAYS:
        page = await context.new_page()
        with suppress(PlaywrightError):
            await page.goto(address)
            for host in NETWORK:
                script = f"async () => {{ {_code(name, host)} }}"
                await asyncio.wait([asyncio.ensure_future(_evaluate(page, script))], timeout=_SCRIPT_LIMIT_S)


async def _evaluate(page: Page, script: str) -> None:
    with suppress(PlaywrightError):  # the way is not there, or leads nowhere
        await page.evaluate(script)


@asynccontextmanager
async def _ordinary(counter: PacketCounter) -> AsyncIterator[tuple[BrowserContext, str]]:
    with closing(Site()) as site:
        site.pages["/"] = "<p>Hello"
        counter.own.add(urlsplit(site.origin).port or 0)
        async with async_playwright() as playwright:
            browser = await launch(playwright, headless=True)
            yield await browser.new_context(), site.origin
            await browser.close()


@asynccontextmanager
async def _replayed(counter: PacketCounter) -> AsyncIterator[tuple[BrowserContext, str]]:
    worker = (("Content-Type", "text/javascript"),)
    html = (("Content-Type", "text/html"), ("Reporting-Endpoints", f'default="http://10.9.9.9:{_PORTS["reports"]}/"'),
            ("NEL", '{"report_to":"default","max_age":99,"success_fraction":1}'),
            ("Link", f"<http://10.9.9.9:{_PORTS['preconnect']}>; rel=preconnect"),
            ("Content-Security-Policy-Report-Only", "img-src 'none'; report-to default; report-uri "
                                                    f"http://10.9.9.9:{_PORTS['reports']}/"))
    archive = Archive((
        Recorded(1, 1.0, "GET", f"{_SHOP}/", 200, lambda: b"<!DOCTYPE html><p>Hello", html, kind="document", top=True),
        Recorded(2, 2.0, "GET", f"{_SHOP}/w.js", 200, lambda: b"onfetch = () => 0", worker, kind="other")), (), 1.6e9)
    async with ReplayServer(archive) as server, async_playwright() as playwright:
        counter.own.add(server.port)
        browser = await open_browser(playwright, server, headless=True)
        yield await browser.new_context(), _SHOP
        await browser.close()


@asynccontextmanager
async def _environment(counter: PacketCounter) -> AsyncIterator[tuple[BrowserContext, str]]:
    with tempfile.TemporaryDirectory() as folder:
        await _record(Path(folder, "recording"), "<!DOCTYPE html><p>Hello")
        counter.take()  # what the ordinary browser of the recording sent
        recording = Recording(Path(folder, "recording"))
        async with Environment(recording, None, Path(folder, "runs")) as environment, async_playwright() as playwright:
            counter.own |= {urlsplit(environment.cdp).port or 0, environment.proxy_port}
            await environment.reset()
            connected = await playwright.chromium.connect_over_cdp(environment.cdp)
            yield connected.contexts[0], environment.start_url
            await _open_files(connected.contexts[0], Path(folder, "file.txt"))
            await connected.close()


async def _open_files(context: BrowserContext, path: Path) -> None:
    """An agent opens a file of the machine, in a tab and by a new one; raises AssertionError when it sees it."""
    path.write_text(_WORD)
    page = await context.new_page()
    session = await context.new_cdp_session(page)
    for url in (url.replace("PATH", str(path)) for url in _FILES):
        with suppress(PlaywrightError):
            await page.goto(url, timeout=_FILE_LIMIT_S * 1000)
        assert _WORD not in await _text(page), f"{url} was opened"
        with suppress(PlaywrightError):
            await session.send("Target.createTarget", {"url": url})
    for opened in context.pages:
        assert _WORD not in await _text(opened), f"{opened.url} was opened"


async def _text(page: Page) -> str:
    """The text of a page, once it has one: that of an error comes late."""
    await page.wait_for_load_state()
    try:
        return await page.evaluate("document.documentElement.innerText")
    except PlaywrightError:
        return await page.evaluate("document.documentElement.innerText")


async def _count(counter: PacketCounter, subject: str, seconds: float) -> list[Packet]:
    opening = {"an ordinary browser": _ordinary, "a replayed page": _replayed, "an environment": _environment}[subject]
    async with opening(counter) as (context, address):
        await _try_all(context, address)
        await asyncio.sleep(seconds)
        return counter.take()


async def _record(folder: Path, page: str) -> None:
    """Record a page with an ordinary browser."""
    with closing(Site()) as site:
        site.pages["/"] = page
        async with async_playwright() as playwright:
            browser = await launch(playwright, headless=True)
            context = await browser.new_context()
            async with Recorder(context, folder, replayable=True):
                opened = await context.new_page()
                await opened.goto(site.origin, wait_until="domcontentloaded")
                await opened.mouse.click(20, 20)
            await browser.close()


def _count_rendered(counter: PacketCounter, seconds: float) -> list[Packet]:
    """The rendered page of a state that holds every way that is markup or a script."""
    text = "<!DOCTYPE html><p>Hello" + "".join(
        markup.replace("HOST", host).replace("PORT", str(_PORTS[name])) for name, markup in MARKUP.items()
        if name != "refresh" for host in NETWORK) + "".join(
        f"<script>if (0) (async () => {{ {_code(name, host)} }})()</script>" for name in WAYS for host in NETWORK)
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(_record(Path(folder, "recording"), text))
        recording = Recording(Path(folder, "recording"))
        state = [event["state"] for event in recording.events if event["state"] and event["state"]["dom"]][-1]
        counter.take()  # what the ordinary browser of the recording sent
        with offline_browser() as browser:
            page = browser.new_page()
            page.set_content(render(recording, state))
            restore(page)
            page.wait_for_timeout(seconds * 1000)
            return counter.take()


def _by_way(packets: Iterable[Packet]) -> Counter[str]:
    """Packets counted by the way that sent them: its port, or the name that is in them."""
    names = {port: name for name, port in _PORTS.items()}
    labels = {f"w{port}".encode(): name for port, name in names.items()}
    return Counter(next((name for label, name in labels.items() if label in packet.content),
                        names.get(packet.to[1], f"{packet.protocol} to {packet.to[0]}:{packet.to[1]}"))
                   for packet in packets)


def main() -> None:
    """Print for each browser what left it; the exit code is 1 when anything left one that must be closed."""
    parser = argparse.ArgumentParser(prog="benchmarks.egress")
    parser.add_argument("--seconds", type=float, default=10.0, help="to wait for what is sent late")
    parser.add_argument("--only", choices=("ordinary", "replayed", "environment", "rendered"))
    options = parser.parse_args()
    enter_namespace("benchmarks.egress")
    sent = {}
    with PacketCounter() as counter:
        for name, subject in (("ordinary", "an ordinary browser"), ("replayed", "a replayed page"),
                              ("environment", "an environment"), ("rendered", "a rendered state")):
            if options.only in (None, name):
                packets = (_count_rendered(counter, options.seconds) if name == "rendered" else
                           asyncio.run(_count(counter, subject, options.seconds)))
                counter.take()  # what its end still sent
                sent[name] = {"packets": len(packets), "bytes": sum(len(packet.content) for packet in packets)}
                print(f"{subject}: {sent[name]['packets']} packets, {sent[name]['bytes']} bytes by "
                      f"{len(_by_way(packets))} of {len(WAYS)} ways: {dict(_by_way(packets).most_common())}")
    print(json.dumps({"benchmark": "egress", "ways": len(WAYS), **sent}))
    raise SystemExit(any(count["packets"] for name, count in sent.items() if name != "ordinary"))
