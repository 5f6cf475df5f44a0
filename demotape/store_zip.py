"""The extension as a zip file for the store: `python -m demotape.store_zip FILE`. The same files, the same bytes."""

import sys
import zipfile
from pathlib import Path

EXTENSION = Path(__file__).resolve().parent.parent / "extension"
_KINDS = {".js", ".json", ".html", ".css", ".png"}
_TIME = (1980, 1, 1, 0, 0, 0)  # the first that a zip file can tell


def files() -> list[Path]:
    """What the extension consists of, in order."""
    return sorted(path for path in EXTENSION.rglob("*") if path.suffix in _KINDS and path.is_file())


def write(destination: Path) -> None:
    """Write the zip file."""
    destination.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(destination, "w") as archive:
        for path in files():
            entry = zipfile.ZipInfo(path.relative_to(EXTENSION).as_posix(), _TIME)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            archive.writestr(entry, path.read_bytes())


if __name__ == "__main__":
    write(Path(sys.argv[1]))
    print(f"{sys.argv[1]}: {len(files())} files")
