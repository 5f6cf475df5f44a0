"""Import of other tools' data, in processes with limits: foreign data are parsed nowhere else."""

from pathlib import Path

from pipeline.context import Context
from pipeline.importing.contract import Item
from pipeline.importing.registry import find_importer
from pipeline.importing.sources import explained
from pipeline.isolation import allowance_for, run_isolated
from pipeline.processing import derive, process
from recorder import Recording
from schemas.files import dump_json, write_atomically

from .session_writer import write_session


def import_item(importer: str, item: Item, target: Path, *, for_review: bool = True, background: bool = False) -> str:
    """Write an item as a processed recording into the new folder `target`; returns the recording's id.

    `for_review`: what the review app and repeated exports read is prepared, too.

    Raises InputError naming the item's file, and LimitExceeded.
    """
    return run_isolated(allowance_for(item.path), f"{item.path}: {item.name[:80]}", _import_item, importer, item,
                        target, for_review, background=background)


def _import_item(name: str, item: Item, target: Path, for_review: bool) -> str:
    chosen = find_importer(item.path, name)
    assert chosen is not None  # one of that name is there, or it raised
    with explained(f"{item.path}: {item.name[:80]}", f"of the kind {name}"):
        new_id = write_session(chosen[1].read(item), item, name, target)
    if for_review:
        process(target)
    else:
        recording = Recording(target)
        write_atomically(recording.layout.demonstration, dump_json(derive(Context(recording))))
    return new_id
