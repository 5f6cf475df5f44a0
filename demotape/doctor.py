"""Checks of an installation of the review app: permissions, accounts, command lines, ports, versions, disk space."""

import importlib.metadata
import os
import re
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.requirements import Requirement

from schemas import limits
from schemas.files import reason

if TYPE_CHECKING:
    from curator_web.db.database import Database

MIN_FREE_BYTES = 2 << 30  # a package of the largest size, and what it becomes
_PUBLIC_BITS = 0o077
_MAX_NAMED = 3  # files in one finding
_PROC = Path("/proc")
_OWN_PROGRAMS = re.compile(r"(^|/)(demotape|gunicorn)\b|demotape\.(cli|wsgi)")
_SECRET_ARGUMENT = re.compile(r"^--(token|password|key)(=.|$)|://[^/@:]+:[^/@]+@")
_LISTENING = "0A"  # state in /proc/net/tcp
_LOOPBACK = ("0100007F", "00000000000000000000000001000000", "0000000000000000FFFF00000100007F")


@dataclass(frozen=True)
class Finding:
    """Something that is unsafe: what, and what to do; `mend` does it, where the program can."""

    kind: str
    text: str
    mend: Callable[[], None] | None = None


def examine(database: "Database", data: Path, *, hosts: str = "", https: bool = False) -> Iterator[Finding]:
    """Everything that is unsafe. `hosts`, `https`: the settings DEMOTAPE_HOSTS and DEMOTAPE_HTTPS."""
    yield from permissions(data)
    yield from owners(data)
    yield from accounts(database, hosts, https)
    yield from arguments()
    yield from ports()
    yield from versions()
    yield from free_space(data)


def permissions(data: Path) -> Iterator[Finding]:
    """Files and folders of the data folder that other users of the machine can reach."""
    if not data.is_dir():
        return
    public = [path for path in (data, *_below(data)) if _is_public(path)]
    if public:
        names = ", ".join(str(path) for path in public[:_MAX_NAMED])
        more = f" and {len(public) - _MAX_NAMED} more" if len(public) > _MAX_NAMED else ""
        yield Finding("permissions", f"{names}{more}: accessible to other users of this machine",
                      lambda: _make_private(public))


def owners(data: Path) -> Iterator[Finding]:
    """Files of the data folder that belong to another user than the folder: the app may be unable to read them."""
    try:
        owner = data.stat().st_uid
    except OSError:
        return
    others = [path for path in _below(data) if _owner(path) not in (owner, None)]
    if others:
        names = ", ".join(str(path) for path in others[:_MAX_NAMED])
        more = f" and {len(others) - _MAX_NAMED} more" if len(others) > _MAX_NAMED else ""
        yield Finding("owner", f"{names}{more}: owned by another user than {data}, so the app may be unable to "
                               f"read them; run: chown --recursive --reference={data} {data}, and commands as the "
                               "user of the app")


def accounts(database: "Database", hosts: str, https: bool) -> Iterator[Finding]:
    """Who may come in, where the app is reached by other machines."""
    from curator_web.users import has_accounts

    if hosts and not has_accounts(database):
        yield Finding("accounts", "DEMOTAPE_HOSTS is set, but there are no accounts; create one with: demotape user "
                                  "add NAME --role lead")
    if hosts and not https:
        yield Finding("https", "DEMOTAPE_HOSTS is set without DEMOTAPE_HTTPS=1: cookies are also sent without "
                               "encryption; serve the app behind a proxy with HTTPS")


def arguments() -> Iterator[Finding]:
    """Secrets in command lines of running programs of ours, which every user of the machine can list."""
    for process, words in _command_lines():
        if _OWN_PROGRAMS.search(" ".join(words[:4])) and any(_SECRET_ARGUMENT.search(word) for word in words):
            yield Finding("arguments", f"process {process}: its command line contains a password or token; pass it by "
                                       "an environment variable (DEMOTAPE_DB, DEMOTAPE_TOKEN)")


def ports() -> Iterator[Finding]:
    """Ports that programs of ours offer to other machines."""
    sockets = _sockets_for_others()
    for process, words in _command_lines():
        if not sockets or not _OWN_PROGRAMS.search(" ".join(words[:4])):
            continue
        for port in sorted({sockets[inode] for inode in _socket_inodes(process) if inode in sockets}):
            yield Finding("ports", f"process {process}: port {port} is open to other machines; bind it to 127.0.0.1 "
                                   "behind a proxy")


def versions() -> Iterator[Finding]:
    """Installed libraries older than what demotape requires."""
    for line in importlib.metadata.requires("demotape") or ():
        requirement = Requirement(line)
        if requirement.marker and not requirement.marker.evaluate({"extra": ""}):
            continue
        with suppress(importlib.metadata.PackageNotFoundError):
            installed = importlib.metadata.version(requirement.name)
            if not requirement.specifier.contains(installed, prereleases=True):
                yield Finding("versions", f"{requirement.name} {installed} is installed, required is "
                                          f"{requirement.specifier}; run: pip install '{requirement.name}"
                                          f"{requirement.specifier}'")


def free_space(data: Path) -> Iterator[Finding]:
    """A disk that is nearly full."""
    try:
        free = shutil.disk_usage(data).free
    except OSError as error:
        yield Finding("disk", f"{data}: cannot be examined ({reason(error)})")
        return
    if free < MIN_FREE_BYTES:
        yield Finding("disk", f"{data}: only {limits.size(free)} are free; imports and exports need more")


def _below(folder: Path) -> Iterator[Path]:
    for root, folders, files in os.walk(folder):
        yield from (Path(root, name) for name in (*folders, *files))


def _owner(path: Path) -> int | None:
    try:
        return path.lstat().st_uid
    except OSError:
        return None


def _is_public(path: Path) -> bool:
    try:
        mode = path.lstat().st_mode
    except OSError:
        return False
    return not stat.S_ISLNK(mode) and bool(mode & _PUBLIC_BITS)


def _make_private(paths: list[Path]) -> None:
    for path in paths:
        with suppress(FileNotFoundError):
            path.chmod(stat.S_IMODE(path.lstat().st_mode) & ~_PUBLIC_BITS)


def _command_lines() -> Iterator[tuple[int, list[str]]]:
    """Process ids and words of all processes that can be seen; none where the system does not list them in /proc."""
    for folder in _PROC.glob("[0-9]*"):
        with suppress(OSError):
            words = (folder / "cmdline").read_bytes().decode(errors="replace").split("\0")
            yield int(folder.name), [word for word in words if word]


def _sockets_for_others() -> dict[str, int]:
    """Inode of each listening TCP socket that is not bound to loopback -> its port."""
    sockets = {}
    for name in ("tcp", "tcp6"):
        with suppress(OSError):
            for line in (_PROC / "net" / name).read_text().splitlines()[1:]:
                fields = line.split()
                address, _, port = fields[1].partition(":")
                if fields[3] == _LISTENING and address not in _LOOPBACK:
                    sockets[fields[9]] = int(port, 16)
    return sockets


def _socket_inodes(process: int) -> Iterator[str]:
    with suppress(OSError):
        for descriptor in (_PROC / str(process) / "fd").iterdir():
            with suppress(OSError):
                if match := re.fullmatch(r"socket:\[(\d+)\]", os.readlink(descriptor)):
                    yield match[1]
