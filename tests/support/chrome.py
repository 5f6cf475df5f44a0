"""A Chromium with the unpacked extension, driven as its panel drives it."""

import asyncio
import base64
import hashlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from playwright.async_api import BrowserContext, Page, Playwright, Worker

from pipeline.turns.folding import fold
from recorder import Recording
from recorder.devtools.endpoint import detach
from recorder.package.receiving import receive
from schemas.chromium import ADDRESS_BAR_PAGES, sandbox_arguments
from tests.support.browsers import full_chromium
from tests.support.checkout import ROOT
from tests.support.waiting import wait_until_async

from .samples.sessions import Session, painted

EXTENSION = ROOT / "extension"
ARGUMENTS = (
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run",
    "--disable-quic", f"--disable-features={ADDRESS_BAR_PAGES}", f"--disable-extensions-except={EXTENSION}",
    f"--load-extension={EXTENSION}",
)
_ASK = "([task, fields]) => import('/panel/panel.js').then(({ask}) => ask(task, fields))"
_FETCH = """async url => { const bytes = new Uint8Array(await (await fetch(url)).arrayBuffer()); let text = '';
  for (let at = 0; at < bytes.length; at += 32768) text += String.fromCharCode(...bytes.subarray(at, at + 32768));
  return btoa(text) }"""


def extension_id(folder: Path = EXTENSION) -> str:
    """The id that Chrome gives an unpacked extension: its path's SHA-256 in letters from a to p."""
    digest = hashlib.sha256(str(folder).encode()).hexdigest()[:32]
    return "".join(chr(ord("a") + int(letter, 16)) for letter in digest)


async def launch(playwright: Playwright, profile: Path, *, viewport=(800, 600), scale: float = 1, streams: bool = True,
                 without: Sequence[str] = ()) -> BrowserContext:
    """A Chromium with the extension.

    `scale`: device pixels per CSS pixel, as on a dense screen; `streams`: Chrome gives it every tab's stream
    without a click on the toolbar; `without`: arguments of Playwright's that it is to be started without.
    """
    given = [f"--allowlisted-extension-id={extension_id()}"] if streams else []
    if scale != 1:
        given.append(f"--force-device-scale-factor={scale}")
    return await playwright.chromium.launch_persistent_context(
        profile, executable_path=full_chromium(playwright.chromium.executable_path), headless=True,
        args=[*ARGUMENTS, *sandbox_arguments(), *given], ignore_default_args=["--disable-extensions", *without],
        viewport={"width": viewport[0], "height": viewport[1]}, device_scale_factor=scale)


async def service_worker(context: BrowserContext) -> Worker:
    """The extension's service worker."""
    return context.service_workers[0] if context.service_workers else await context.wait_for_event("serviceworker")


class Panel:
    """Asks the offscreen document for things, from an extension page of its own in a window of its own."""

    def __init__(self, context: BrowserContext):
        self._context = context

    async def __aenter__(self) -> "Panel":
        worker = await service_worker(self._context)
        async with self._context.expect_page() as opened:
            await worker.evaluate("chrome.windows.create({url: 'panel/panel.html', focused: false})")
        self.page: Page = await opened.value
        await self.page.wait_for_load_state()
        await self.page.evaluate("localStorage.setItem('agreed', 'by a test')")  # for those that start in the panel
        return self

    async def __aexit__(self, *_) -> None:
        await self.page.close()

    async def ask(self, do: str, **fields):
        """What the offscreen document answers; raises its error."""
        return await self.page.evaluate(_ASK, [do, fields])

    async def window_of(self, page: Page) -> int:
        """Chrome's number of the window of a page."""
        session = await self._context.new_cdp_session(page)
        window = await session.send("Browser.getWindowForTarget")
        await detach(session)
        return window["windowId"]

    async def package(self, recording: str, path: Path) -> Path:
        """Save the package of a recording."""
        packed = await self.ask("pack", id=recording)
        path.write_bytes(base64.b64decode(await self.page.evaluate(_FETCH, packed["url"])))
        return path


@dataclass
class Chrome:
    """A running Chromium with the extension, in which hands are recorded one after the other."""

    runner: asyncio.Runner
    context: BrowserContext
    panel: Panel
    folder: Path
    count: int = 0

    def record(self, user_actions: Callable[[Page], Awaitable], *, url: str | None = None,
               task: str = "test") -> Session:
        """Record what `user_actions` does in a new tab, from `url` on; returns the recording and its folded turns."""
        self.count += 1
        package, directory = self.folder / f"{self.count}.zip", self.folder / f"recording-{self.count}"

        async def work():
            page = await self.context.new_page()
            console: list[str] = []
            page.on("console", lambda message: console.append(message.text))
            try:
                started = await self.panel.ask("start", task=task, window=await self.panel.window_of(page))
                try:
                    if url:
                        await page.goto(url)
                        await painted(page)
                    answer = await user_actions(page)
                finally:
                    await self.panel.ask("stop")
                await self.panel.package(started["id"], package)
                return console, answer
            finally:
                for other in self.context.pages:
                    if other is not self.panel.page:
                        await other.close()

        console, answer = self.runner.run(work())
        return self.read(package, directory, console, answer)

    async def seen(self, tab: int) -> None:
        """Wait until there are pictures of a tab, as while a person looks at it."""
        async def is_acknowledged():
            return (await self.panel.ask("acknowledged"))["seen"] == tab
        await wait_until_async(is_acknowledged, what=f"a picture of tab {tab}")

    def read(self, package: Path, directory: Path, console: Sequence[str] = (), answer=None) -> Session:
        """The recording that a package becomes."""
        problems = receive(package, directory)
        recording = Recording(directory)
        return Session(recording, fold(recording.events), problems, list(console), answer)
