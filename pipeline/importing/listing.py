"""The demonstrations in a file or folder, listed in a process with limits: foreign data are parsed nowhere else."""

from pathlib import Path

from pipeline.isolation import allowance_for, run_isolated
from schemas import InputError

from .contract import Item
from .ids import recording_id
from .registry import find_importer, list_importers
from .sources import Archive, explained

Listed = tuple[str, list[Item]]  # the importer's name, and the demonstrations


def list_items(path: Path, name: str | None = None, *, background: bool = False) -> Listed | None:
    """The importer of a file or folder with its demonstrations; None where no importer recognises it.

    Raises InputError for an unknown `name`, and for what cannot be read.
    """
    return run_isolated(allowance_for(path), str(path), _list_items, path, name, background=background)


def unknown_kind(path: Path) -> InputError:
    """The error for a file or folder that no importer recognises: what is accepted."""
    if not path.exists():
        return InputError(f"{path}: no such file or folder")
    kinds = "; ".join(f"{name}: {accepts}" for name, accepts in list_importers())
    return InputError(f"{path}: not recognised. Accepted: folders of recordings; packages (zip files) of the "
                      f"extension; folders in WebLINX's layout; {kinds}. `--from NAME` selects one of these by name")


def may_be_package(path: Path) -> bool:
    """Whether a zip file may be a package of the extension: it has a manifest, or it is damaged."""
    return run_isolated(allowance_for(path), str(path), _has_manifest, path)


def _has_manifest(path: Path) -> bool:
    try:
        with Archive(path) as archive:
            return "manifest.json" in archive.names
    except InputError:
        return True


def _list_items(path: Path, name: str | None) -> Listed | None:
    chosen = find_importer(path, name)
    if chosen is None:
        return None
    with explained(str(path), f"of the kind {chosen[0]}"):
        items = list(chosen[1].items(path))
    if not items:
        raise InputError(f"{path}: contains no demonstrations ({chosen[0]})")
    return chosen[0], _distinct(items, path)


def _distinct(items: list[Item], path: Path) -> list[Item]:
    """The items; raises InputError where two would be the same recording."""
    ids: set[str] = set()
    for item in items:
        new_id = recording_id(item.name)
        if new_id in ids:
            raise InputError(f"{path}: two demonstrations have the id {item.name[:80]!r}")
        ids.add(new_id)
    return items
