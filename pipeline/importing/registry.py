"""Importers: demotape's own and plug-ins', in the order in which they are asked whether a file is theirs."""

from collections.abc import Iterator
from pathlib import Path

from pipeline import plugins
from schemas import InputError

from .contract import Importer
from .readers import (
    adp,
    agentnet,
    atif,
    browser_use,
    browsergym,
    chat_samples,
    mind2web,
    parquet,
    playwright_trace,
    rrweb,
    scripts,
    trajectories,
    webarena,
    webdataset,
    weblinx,
    webvoyager,
)

# Kinds that are recognised by more come before those that are recognised by less.
IMPORTERS: dict[str, Importer] = {
    "weblinx": weblinx.IMPORTER,
    "parquet": parquet.IMPORTER,
    "webdataset": webdataset.IMPORTER,
    "trajectories": trajectories.IMPORTER,
    "chat": chat_samples.IMPORTER,
    "playwright": playwright_trace.IMPORTER,
    "rrweb": rrweb.IMPORTER,
    "atif": atif.IMPORTER,
    "adp": adp.IMPORTER,
    "agentnet": agentnet.IMPORTER,
    "browser-use": browser_use.IMPORTER,
    "browsergym": browsergym.IMPORTER,
    "webarena": webarena.IMPORTER,
    "webvoyager": webvoyager.IMPORTER,
    "devtools-recorder": scripts.FLOW,
    "selenium-ide": scripts.SELENIUM_IDE,
    "mind2web": mind2web.IMPORTER,
    "multimodal-mind2web": mind2web.MULTIMODAL,
}


def importer_names() -> list[str]:
    """Names of all importers, those of plug-ins last; imports no plug-in."""
    return [*IMPORTERS, *plugins.names(plugins.IMPORTERS, IMPORTERS)]


def list_importers() -> list[tuple[str, str]]:
    """Names of all importers that work, with what they accept."""
    return [(name, importer.accepts) for name, importer in _all()]


def find_importer(path: Path, name: str | None = None) -> tuple[str, Importer] | None:
    """The importer of a name, or the first that recognises a file or folder; None where none does.

    Raises InputError for an unknown name.
    """
    if name is not None:
        return name, _named(name)
    return next(((name, importer) for name, importer in _all() if importer.detect(path)), None)


def _named(name: str) -> Importer:
    if name in IMPORTERS:
        plugins.shadowed(plugins.IMPORTERS, name)
        return IMPORTERS[name]
    got = plugins.get(plugins.IMPORTERS, name, _fault)
    if got and isinstance(got[1], Importer):
        return got[1]
    raise InputError(f"--from {name}: unknown; choose one of {', '.join(importer_names())}")


def _all() -> Iterator[tuple[str, Importer]]:
    yield from IMPORTERS.items()
    for plugin, importer in plugins.load_each(plugins.IMPORTERS, _fault, IMPORTERS):
        if isinstance(importer, Importer):
            yield plugin.name, importer


def _fault(name: str, importer: object) -> str:
    if not isinstance(importer, Importer):
        return "it is not a pipeline.importing.Importer"
    wrong = [part for part in ("detect", "read", "items") if not callable(getattr(importer, part))]
    return f"its {wrong[0]} is no function" if wrong else ""
