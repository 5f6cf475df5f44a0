"""`python -m recorder.browser.install`: installs a Chromium if it is missing."""

import os
import shutil
import subprocess
import sys
from contextlib import suppress

from schemas import InputError
from schemas.chromium import find_chromium


def playwrights_own() -> str:
    """Where Playwright's own Chromium lies, or would."""
    from playwright.sync_api import sync_playwright
    with sync_playwright() as playwright:
        return playwright.chromium.executable_path


def find_or_install() -> str:
    """Path of a Chromium; if there is none, it is installed by apt-get, or else by Playwright. Raises InputError when
    neither installs one."""
    for install in (_install_by_apt, _install_by_playwright):
        try:
            return _find_installed()
        except InputError:
            install()
    return _find_installed()


def _find_installed() -> str:
    """Path of the system's Chromium, or else of Playwright's own; raises InputError when there is neither."""
    try:
        return find_chromium()
    except InputError:
        with suppress(InputError):
            return find_chromium(playwrights_own())
        raise


def _install_by_apt() -> None:
    if shutil.which("apt-get") and hasattr(os, "geteuid") and os.geteuid() == 0:
        print("setup: installing Chromium by apt-get", flush=True)
        _quietly("apt-get", "update")
        _quietly("apt-get", "install", "-y", "chromium")


def _install_by_playwright() -> None:
    print("setup: installing Chromium by Playwright", flush=True)
    _quietly(sys.executable, "-m", "playwright", "install", "chromium")


def _quietly(*command: str) -> None:
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, check=False)


if __name__ == "__main__":
    try:
        find_or_install()
    except InputError as error:
        sys.exit(f"setup: {error}")
