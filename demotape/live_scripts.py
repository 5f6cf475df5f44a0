"""Files of other tools, such as recorded scripts, as recordings that can be replayed on the real network."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from pipeline.importing import list_items, unknown_kind
from pipeline.importing.ids import recording_id
from schemas import InputError

from .foreign_data import import_item


def replayable(paths: Iterable[Path], folder: Path, *, live: bool) -> Iterator[tuple[str, Path]]:
    """Each recording with its name for people; the demonstrations of a file are imported into `folder` first.

    Raises InputError for a file of no known kind, and for one that is to be replayed without the network.
    """
    for path in paths:
        if not path.is_file():
            yield str(path), path
            continue
        if not live:
            raise InputError(f"{path}: has no recorded network; use --live to replay it on the real one")
        listed = list_items(path)
        if listed is None:
            raise unknown_kind(path)
        importer, items = listed
        for item in items:
            target = folder / recording_id(item.name)
            import_item(importer, item, target, for_review=False)
            yield str(path) if len(items) == 1 else f"{path}: {item.name}", target
