"""What the extension hands over, all the way into the review app: received, processed, imported."""

import tempfile
from pathlib import Path

from curator_web.database import Database
from curator_web.library import Imported, import_recording
from curator_web.storage import RecordingStore
from pipeline import process
from recorder.receive import receive


def import_path(database: Database, store: RecordingStore, path: Path) -> Imported:
    """Import a processed recording's folder, or a package of the extension; raises InputError."""
    return import_package(database, store, path) if path.is_file() else import_recording(database, store, path)


def import_package(database: Database, store: RecordingStore, package: Path,
                   recorded_by: str | None = None) -> Imported:
    """Make a package a recording, process it and import it; doing it again changes nothing.

    Raises InputError when the package is not whole.
    """
    with tempfile.TemporaryDirectory(dir=store.data_dir, prefix=".package-") as folder:
        recording = Path(folder) / "recording"
        receive(package, recording)
        process(recording)
        return import_recording(database, store, recording, recorded_by)


def take_package(database: Database, store: RecordingStore, package: Path, recorded_by: str | None = None) -> str:
    """As `import_package`; returns the demonstration's id, as the review app asks for it."""
    return import_package(database, store, package, recorded_by).id
