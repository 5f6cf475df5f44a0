"""The browser of a test: the complete Chromium, or its headless shell.

The shell is Chromium's engine without the browser around it and takes about 40 % less processor time. `make test` uses
it wherever the engine alone matters; modules that say `pytestmark = pytest.mark.chromium`, everything with the
extension, and all of `make test-all` use Chromium. DEMOTAPE_CHROMIUM names one browser for everything.
"""

import os
import shutil
from pathlib import Path

from schemas.chromium import find_chromium

SHELL = "chromium-headless-shell"
# Debian's program on PATH is a script that waits for this one, so signals to it do not reach the browser.
_DEBIAN = Path("/usr/lib/chromium") / SHELL
_VARIABLE = "DEMOTAPE_CHROMIUM"


def find_shell() -> str | None:
    """Path of a headless shell: Debian's, on PATH, or Playwright's."""
    if os.access(_DEBIAN, os.X_OK):
        return str(_DEBIAN)
    if path := shutil.which(SHELL):
        return path
    folders = Path(os.environ.get("PLAYWRIGHT_BROWSERS_PATH") or Path.home() / ".cache/ms-playwright")
    shells = sorted(folders.glob("chromium_headless_shell-*/*/*headless*shell*"))
    return next((str(path) for path in reversed(shells) if os.access(path, os.X_OK) and path.is_file()), None)


class BrowserChoice:
    """The browser of this run's tests, which the code under test finds in the environment."""

    def __init__(self, everything_in_chromium: bool):
        named = os.environ.get(_VARIABLE)
        self.named = named if named != find_shell() else None  # pytest-xdist's workers inherit what was chosen before
        self._shell = None if everything_in_chromium or self.named else find_shell()

    def use(self, chromium: bool) -> None:
        """Have the tests from now on, and the processes that they start, use Chromium or the shell."""
        if self._shell and not chromium:
            os.environ[_VARIABLE] = self._shell
        elif not self.named:
            os.environ.pop(_VARIABLE, None)

    @property
    def uses_shell(self) -> bool:
        """Whether the tests use the shell now."""
        return self._shell is not None and os.environ.get(_VARIABLE) == self._shell


def full_chromium(playwright_browser: str | None = None) -> str:
    """Path of all of Chromium, which can load an extension, whatever the other tests use."""
    if os.environ.get(_VARIABLE) == find_shell():
        saved = os.environ.pop(_VARIABLE)
        try:
            return find_chromium(playwright_browser)
        finally:
            os.environ[_VARIABLE] = saved
    return find_chromium(playwright_browser)
