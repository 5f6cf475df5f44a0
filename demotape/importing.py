"""What others driver over, all the way into the review app: received or converted, processed, imported."""

from collections.abc import Iterable
from pathlib import Path

from curator_web.db.database import Database
from curator_web.demonstrations.library import Imported, import_recording
from curator_web.storage.recordings import RecordingStore
from pipeline import process
from recorder.package.receiving import receive

from . import weblinx_import


def import_path(database: Database, store: RecordingStore, path: Path) -> Imported:
    """Import a processed recording, a package of the extension or a demonstration of WebLINX's; raises InputError."""
    if path.is_file():
        return import_package(database, store, path)
    if weblinx_import.folders(path):
        return import_weblinx(database, store, path)
    return import_recording(database, store, path)


def each_path(paths: Iterable[Path]) -> list[Path]:
    """What `import_path` takes one by one: a data set in WebLINX's layout is all of its demonstrations."""
    return [each for path in paths for each in (weblinx_import.folders(path) or [path])]


def import_weblinx(database: Database, store: RecordingStore, demonstration: Path) -> Imported:
    """Make a demonstration in WebLINX's layout a recording and import it; raises InputError."""
    with store.temporary.folder("weblinx") as folder:
        recording = folder / "recording"
        weblinx_import.convert(demonstration, recording)
        return import_recording(database, store, recording)


def import_package(database: Database, store: RecordingStore, package: Path,
                   recorded_by: str | None = None) -> Imported:
    """Make a package a recording, process it and import it; doing it again changes nothing.

    Raises InputError when the package is not whole.
    """
    with store.temporary.folder("package") as folder:
        recording = folder / "recording"
        receive(package, recording)
        process(recording)
        return import_recording(database, store, recording, recorded_by)
