"""Path of an installed Chromium, for recorder and pipeline, which do not import each other for it."""

import os
import platform
import shutil
from collections.abc import Mapping
from pathlib import Path, PurePosixPath, PureWindowsPath

from .errors import InputError

# Each window's address bar would load two pages for its suggestions, at more processor time than opening the window.
# Without them it shows suggestions as ever. A list of features to leave out replaces any before it.
ADDRESS_BAR_PAGES = "WebUIOmniboxPopup,WebUIOmniboxAimPopup,WebUIOmniboxFullPopup"
# WebRTC sends no datagrams past a proxy: the first is Chromium's name of the option, the second its headless shell's.
NO_DATAGRAMS = ("--webrtc-ip-handling-policy=disable_non_proxied_udp",
                "--force-webrtc-ip-handling-policy=disable_non_proxied_udp")
_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


def find_chromium(playwrights_own: str | None = None) -> str:
    """Path of a Chromium: DEMOTAPE_CHROMIUM, Playwright's own, PATH, then where installers of macOS and Windows put
    it. Raises InputError when there is none."""
    named = os.environ.get("DEMOTAPE_CHROMIUM")
    if named:
        if not Path(named).is_file():
            raise InputError(f"DEMOTAPE_CHROMIUM: {named}: no such file")
        return named
    if playwrights_own and Path(playwrights_own).is_file():
        return playwrights_own
    for name in _NAMES:
        if path := shutil.which(name):
            return path
    for path in application_paths(platform.system(), os.environ):
        if Path(path).is_file():
            return path
    raise InputError("no Chromium found; run demotape setup, or set DEMOTAPE_CHROMIUM to the path of one")


def application_paths(system: str, environment: Mapping[str, str]) -> list[str]:
    """Where installers put Chromium and Chrome on systems that do not put them on the path; `system`: as
    `platform.system()` names it."""
    if system == "Darwin":
        folders = [PurePosixPath("/Applications"), PurePosixPath(environment.get("HOME", "/"), "Applications")]
        return [str(folder / f"{name}.app" / "Contents" / "MacOS" / name)
                for name in ("Chromium", "Google Chrome") for folder in folders]
    if system == "Windows":
        roots = [environment[name] for name in ("PROGRAMFILES", "PROGRAMFILES(X86)", "LOCALAPPDATA")
                 if environment.get(name)]
        return [str(PureWindowsPath(root, *parts, "Application", "chrome.exe"))
                for parts in (("Chromium",), ("Google", "Chrome")) for root in roots]
    return []


NO_SANDBOX = ("Chromium's sandbox is not available on this machine; allow unprivileged user namespaces (in a "
              "container: its seccomp profile), or run as root, which disables the sandbox")


def is_root() -> bool:
    """Whether this process runs as root, which Windows has not."""
    return hasattr(os, "geteuid") and os.geteuid() == 0


def sandbox_arguments() -> list[str]:
    """Root cannot have Chromium's sandbox; other users keep it."""
    return ["--no-sandbox"] if is_root() else []
