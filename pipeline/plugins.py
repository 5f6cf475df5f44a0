"""Components of other packages, found through entry points: formats, chat parsers, checks, splits, recognisers,
importers (docs/plugins.md).

Names come from the metadata of what is installed; a plug-in's code is imported when it is first used. A plug-in that is
broken is an error where it was asked for, and left out with one complaint where all of them are used.
"""

import hashlib
import json
import logging
import re
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path

from schemas import InputError

FORMATS, CHAT, CHECKS, SPLITS, RECOGNISERS, IMPORTERS = GROUPS = (
    "demotape.formats", "demotape.chat", "demotape.checks", "demotape.splits", "demotape.recognisers",
    "demotape.importers")
NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,59}")  # names stand in file names, addresses and filters
_CODE_GROUPS = CHAT, CHECKS  # those that decide what a demonstration is
_log = logging.getLogger("demotape.plugins")
_reported: set[str] = set()
_heard: ContextVar[list[str] | None] = ContextVar("complaints", default=None)

Fault = Callable[[str, object], str]  # what is wrong with the object of a name; empty when nothing is


@dataclass(frozen=True)
class Plugin:
    """An entry point of an installed package."""

    entry: EntryPoint
    distribution: str

    @property
    def name(self) -> str:
        """The name by which it is asked for."""
        return self.entry.name

    def __str__(self) -> str:
        return f"plug-in {self.name!r} of {self.distribution} ({self.entry.group}, {self.entry.value})"


@cache
def installed_plugins(group: str) -> tuple[Plugin, ...]:
    """The plug-ins of a group that are installed, in the order of their names; imports none of them."""
    try:
        entries = entry_points(group=group)
    except Exception as error:  # one package's metadata that nobody can read must not stop the command
        complain(f"plug-ins cannot be listed ({_describe_error(error)}); an installed package has broken metadata")
        return ()
    return tuple(sorted((Plugin(entry, _distribution(entry)) for entry in entries),
                        key=lambda plugin: (plugin.name, plugin.distribution, plugin.entry.value)))


def names(group: str, reserved: Collection[str]) -> list[str]:
    """Names of a group's plug-ins that can be asked for; `reserved` are demotape's own. Imports nothing."""
    return [name for name in dict.fromkeys(plugin.name for plugin in installed_plugins(group))
            if name not in reserved and NAME.fullmatch(name)]


def shadowed(group: str, name: str) -> None:
    """Complain of plug-ins with a name of demotape's own, which is what the name stands for."""
    for plugin in installed_plugins(group):
        if plugin.name == name:
            complain(f"{plugin} is skipped: {_fault_of_name(plugin, {name})}")


def get(group: str, name: str, fault: Fault) -> tuple[Plugin, object] | None:
    """The plug-in of a name and its object; None when there is no plug-in of that name.

    Raises InputError when it cannot be imported, is not what `fault` asks for, or is not the only one of that name.
    """
    for plugin in installed_plugins(group):
        if plugin.name == name:
            if wrong := _fault_of_name(plugin, ()) or _fault(plugin, fault):
                raise InputError(f"{plugin}: {wrong}")
            return plugin, _load(plugin)[0]
    return None


def load_each(group: str, fault: Fault, reserved: Collection[str]) -> Iterator[tuple[Plugin, object]]:
    """All plug-ins of a group that work, with their objects; complains of the others. `reserved`: demotape's own
    names."""
    for plugin in installed_plugins(group):
        if wrong := _fault_of_name(plugin, reserved) or _fault(plugin, fault):
            complain(f"{plugin} is skipped: {wrong}")
        else:
            yield plugin, _load(plugin)[0]


def stamp() -> str:
    """What tells when a plug-in that decides about demonstrations comes, goes or changes; empty without any.

    Whether it can be imported is part of it: a library that it needs may come later.
    """
    stamps = [(plugin.entry.group, plugin.name, plugin.entry.value, plugin.distribution, _code(plugin.entry.value),
               not _load(plugin)[1]) for group in _CODE_GROUPS for plugin in installed_plugins(group)]
    return json.dumps(stamps) if stamps else ""


def complain(text: str) -> None:
    """Tell who listens (see `listening`), else the log, there once a process."""
    heard = _heard.get()
    if heard is not None:
        heard.append(text)
    elif text not in _reported:
        _reported.add(text)
        _log.warning("%s", text)


@contextmanager
def listening() -> Iterator[list[str]]:
    """Collect the complaints of a piece of work, so that they get to the process that the user sees."""
    heard: list[str] = []
    token = _heard.set(heard)
    try:
        yield heard
    finally:
        _heard.reset(token)


def failure(plugin: Plugin, error: BaseException) -> str:
    """One line about a plug-in that raised."""
    return f"{plugin} failed: {_describe_error(error)}"


def _describe_error(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:300]


def _distribution(entry: EntryPoint) -> str:
    return f"{entry.dist.name} {entry.dist.version}" if entry.dist else "an unknown package"


def _fault_of_name(plugin: Plugin, reserved: Collection[str]) -> str:
    if not NAME.fullmatch(plugin.name):
        return "its name must consist of lower case letters, digits, hyphens and underscores; rename the entry point"
    if plugin.name in reserved:
        return "demotape has a built-in of this name; rename the entry point"
    others = [other for other in installed_plugins(plugin.entry.group) if other.name == plugin.name and other != plugin]
    return f"{others[0].distribution} has a plug-in of the same name; uninstall one of them" if others else ""


def _fault(plugin: Plugin, fault: Fault) -> str:
    value, wrong = _load(plugin)
    if wrong:
        return wrong
    try:
        wrong = fault(plugin.name, value)
    except Exception as error:  # an object that cannot even be looked at
        wrong = _describe_error(error)
    return f"{wrong}; fix or uninstall {plugin.distribution}" if wrong else ""


@cache
def _load(plugin: Plugin) -> tuple[object, str]:
    """A plug-in's object, and why it cannot be had: empty when it can."""
    try:
        return plugin.entry.load(), ""
    except (Exception, SystemExit) as error:  # whatever foreign code does when it is imported
        return None, f"it cannot be imported ({_describe_error(error)}); fix or uninstall {plugin.distribution}"


@cache
def _code(value: str) -> str:
    """SHA-256 of the source of the package that an entry point's value names: versions stay while one is worked on."""
    digest = hashlib.sha256()
    try:
        spec = find_spec(value.partition(":")[0].partition(".")[0].strip())
        roots = [Path(location) for location in (spec and spec.submodule_search_locations) or ()]
        files = [(root, path) for root in roots for path in sorted(root.rglob("*.py"))]
        if spec and not roots and spec.origin:
            files = [(Path(spec.origin).parent, Path(spec.origin))]
        for root, path in files:
            digest.update(f"{path.relative_to(root).as_posix()}\0".encode())
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    except (ImportError, ValueError, OSError):
        pass  # one that is not there is told when it is loaded
    return digest.hexdigest()
