"""`python -m tests.support.install_shell`: installs the headless shell for the tests, or prints a prominent message if
that fails, in which case all tests run in Chromium."""

import os
import shutil
import subprocess
import sys

from tests.support.browsers import SHELL, find_shell


def main() -> None:
    """Install it by apt-get, else by Playwright."""
    if os.environ.get("DEMOTAPE_CHROMIUM"):
        return
    by_apt = ["apt-get", "install", "-y", SHELL]
    by_playwright = [sys.executable, "-m", "playwright", "install", SHELL]
    for command in (by_apt, by_playwright):
        if find_shell():
            return
        if shutil.which(command[0]) and (command[0] != "apt-get" or os.geteuid() == 0):
            print(f"setup: installing {SHELL} ({' '.join(command)})", flush=True)
            subprocess.run(command, env=os.environ | {"DEBIAN_FRONTEND": "noninteractive"}, stdin=subprocess.DEVNULL,
                           capture_output=True, check=False)
    if not find_shell():
        print(f"setup: NO {SHELL.upper()}: `make test` runs everything in Chromium and takes about a third longer",
              file=sys.stderr)


if __name__ == "__main__":
    main()
