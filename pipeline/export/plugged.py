"""Formats and split rules of other packages: found on request, and named when they fail."""

import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pipeline import plugins
from pipeline.plugins import Plugin
from schemas import DemotapeError, InputError

from .running import Format
from .source import Source

_WRITER = "__enter__", "__exit__", "write", "add"
SplitFunction = Callable[[Source, object], str | None]


def find_format(name: str) -> tuple[Plugin, Format] | None:
    """A plug-in's format; None when there is none of that name. Raises InputError when it does not work."""
    got = plugins.get(plugins.FORMATS, name, _fault_of_format)
    return (got[0], got[1]) if got and isinstance(got[1], Format) else None


def find_split(name: str) -> tuple[Plugin, SplitFunction]:
    """A plug-in's split rule. Raises InputError when there is none of that name, or it does not work."""
    got = plugins.get(plugins.SPLITS, name, lambda _, value: "" if callable(value) else "it is no function")
    if got is None or not callable(got[1]):
        known = ", ".join(plugins.names(plugins.SPLITS, ())) or "none is installed"
        raise InputError(f"unknown split rule {name!r}; plug-ins with split rules: {known}")
    return got[0], got[1]


@contextmanager
def named(plugin: Plugin | None) -> Iterator[None]:
    """Name the plug-in in what it raises; raises DemotapeError for what nobody foresaw. Nothing without a plug-in."""
    try:
        yield
    except (DemotapeError, OSError):
        raise  # said for the user already, or the disk's
    except Exception as error:
        if plugin is None:
            raise
        raise DemotapeError(plugins.failure(plugin, error)) from error


def _fault_of_format(name: str, format: object) -> str:
    if not isinstance(format, Format) or not callable(format.samples) or not callable(format.writer):
        return "it is not a pipeline.export.Format(samples, writer)"
    missing = [part for part in _WRITER if isinstance(format.writer, type) and not hasattr(format.writer, part)]
    if missing:
        return f"its writer has no {missing[0]}; derive it from pipeline.export.Files"
    try:
        pickle.dumps(format.samples)
    except Exception:
        return "its samples cannot go to another process; make it a function at the top of a module"
    return ""
