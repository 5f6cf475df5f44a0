"""The commands that install a Chromium on each system: those that are run, and those that a person is shown."""

import platform
import shlex
import shutil
import sys
from dataclasses import dataclass

from schemas.chromium import is_root

Command = tuple[str, ...]


@dataclass(frozen=True)
class Host:
    """What decides how a Chromium is installed. `system`: as `platform.system()` names it; `distributions`: of Linux,
    its id and those of the distributions that it is like; `python`: path of the interpreter that has Playwright."""

    system: str
    distributions: frozenset[str]
    has_apt: bool
    is_root: bool
    python: str


@dataclass(frozen=True)
class Plan:
    """`attempts`: commands to run here, of which each attempt is made if the one before brought none; `shown`: what a
    person runs if all fail, or a text in its place if no command is known."""

    attempts: tuple[tuple[Command, ...], ...]
    shown: str


def this_host() -> Host:
    """The machine that this runs on."""
    return Host(platform.system(), _distributions(), shutil.which("apt-get") is not None, is_root(), sys.executable)


def install_plan(host: Host) -> Plan:
    """Debian's own package needs root and apt-get; Ubuntu's is a snap, which no program can start with its own
    profile, so Playwright's is used there; other systems are left to their users."""
    playwright = (host.python, "-m", "playwright")
    own: Command = (*playwright, "install", "chromium")
    sudo: Command = () if host.is_root else ("sudo",)
    if host.system == "Windows":
        return Plan((), "winget install --exact --id Google.Chrome")
    if host.system == "Darwin":
        return Plan((), shlex.join(own))
    if "fedora" in host.distributions:
        return Plan((), shlex.join((*sudo, "dnf", "install", "-y", "chromium")))
    if not host.has_apt:
        return Plan((), "the package manager of your system to install Chromium or Google Chrome")
    with_libraries = ((*own, "--with-deps") if host.is_root else own,)
    if "ubuntu" in host.distributions:
        return Plan((with_libraries,), _joined((*sudo, *playwright, "install-deps", "chromium"), own))
    update, install = ("apt-get", "update"), ("apt-get", "install", "-y", "chromium")
    shown = _joined((*sudo, *update), (*sudo, *install))
    return Plan(((update, install), with_libraries) if host.is_root else (with_libraries,), shown)


def _joined(*commands: Command) -> str:
    return " && ".join(map(shlex.join, commands))


def _distributions() -> frozenset[str]:
    try:
        release = platform.freedesktop_os_release()
    except OSError:
        return frozenset()
    return frozenset((release["ID"], *release.get("ID_LIKE", "").split()))
