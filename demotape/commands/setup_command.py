"""The command that finds a Chromium, or installs one."""

import click

from .terminal import console, errors


@click.command()
def setup() -> None:
    """Find a Chromium that starts, or install one.

    On Debian and Ubuntu, a missing Chromium is installed, by apt-get as root or else by Playwright. On other systems,
    the command that installs one is printed. The exit code is 0 if a Chromium starts.
    """
    from recorder.browser.install import find_or_install
    from recorder.browser.install_plan import install_plan, this_host

    chromium = find_or_install(install_plan(this_host()), lambda command: errors.print(f"Running {command}"))
    console.print(f"Chromium {chromium.version}: {chromium.path}")
