"""Importers against the tools' own accounts.

    python -m benchmarks.importing [--seed N] [--steps N] [--inputs N] [--keep DIR]

Playwright (PyPI's, and two of npm whose traces have the versions before) and rrweb 1 and 2 (npm) record a seeded plan
of actions on a page with a frame and a shadow root, while the driver notes what it did and when; so do BrowserGym's
experiments and WebArena's environment (PyPI, in an environment of their own). Their files are imported and compared:
actions, targets, values, times, and the page before each. Each is exported again as Parquet and ATIF, and read by
`datasets` and `atif`. Our own exports of the kept recording are imported and exported again: the same turns. Then so
many changed copies of each file, and archives that must be refused. Exit code 1 if a share is below 0.99, a loader
fails, or a file is neither read nor refused with one line.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from demotape.foreign_data import import_item
from pipeline import process
from pipeline.export import Source, export
from pipeline.importing import list_items
from recorder import Recording
from schemas import DemonstrationSchema
from schemas.files import read_json
from schemas.types.recordings import Turn

from . import hostile, sources
from .scoring import score

_GOAL = 0.99
_KEPT = Path(__file__).parents[2] / "tests" / "data" / "v1" / "kept"
_OWN = ("parquet", "webdataset", "trajectories", "mind2web", "multimodal-mind2web", "chat", "weblinx", "atif", "adp",
        "agentnet")
_WITHOUT_PAGES = ("chat", "agentnet")
_EXACT = ("parquet", "webdataset")  # those that have everything


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--steps", type=int, default=60, help="actions of each session")
    parser.add_argument("--inputs", type=int, default=100, help="changed copies of each file")
    parser.add_argument("--keep", type=Path, help="folder for the files, which are kept there")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="demotape-importing-") as temporary:
        folder = options.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        faults = [*_tools(folder, options.seed, options.steps, options.inputs), *_own(folder),
                  *_archives(folder)]
    for fault in faults:
        print(f"fault: {fault}")
    print(f"{len(faults)} faults")
    sys.exit(bool(faults))


def _tools(folder: Path, seed: int, steps: int, inputs: int) -> Iterator[str]:
    sources.install(folder)
    files = [lambda: sources.playwright_today(folder, seed, steps),
             *(lambda version=version: sources.playwright_of_npm(folder, version, seed, steps)
               for version in sources.PLAYWRIGHTS),
             *(lambda version=version: sources.rrweb_of_npm(folder, version, seed, steps)
               for version in sources.RRWEBS),
             lambda: sources.browsergym_results(folder, seed, steps),
             lambda: sources.webarena_results(folder, seed, steps)]
    print(f"{'source':22} {'actions':>7} {'extra':>6} {'target':>7} {'value':>7} {'time':>7} {'state':>7}")
    for make in files:
        made = make()
        kind, imported = _imported(made.path, folder / made.path.stem)
        result = score(made, imported[0])
        print(f"{result.name:22} {result.actions:7} {result.extra:6} {result.target:7.3f} {result.value:7.3f} "
              f"{result.time:7.3f} {result.state:7.3f}")
        if result.lowest < _GOAL:
            yield f"{made.name}: {result.lowest:.3f} is below {_GOAL}"
        yield from _loaded(imported, folder / f"{made.path.stem}-exports")
        copies = folder / f"{made.path.stem}-copies"
        copies.mkdir(exist_ok=True)
        yield from hostile.faults(made.path, kind, copies, seed, inputs)


def _imported(path: Path, folder: Path) -> tuple[str, list[Source]]:
    """The importer that recognised a file, and what it made of it."""
    listed = list_items(path)
    if listed is None:
        sys.exit(f"{path}: not recognised")
    made = []
    for number, item in enumerate(listed[1]):
        target = folder / str(number)
        import_item(listed[0], item, target)
        made.append(Source(read_json(Recording(target).layout.demonstration, DemonstrationSchema()), Recording(target)))
    return listed[0], made


def _loaded(imported: list[Source], folder: Path) -> Iterator[str]:
    """What public loaders did not read of an import that was exported again."""
    import atif
    import datasets

    export(imported, folder / "parquet", "parquet")
    rows = datasets.load_dataset(str(folder / "parquet"), cache_dir=str(folder / "cache"))["train"]
    if len(rows) != sum(len(source.turns) for source in imported):
        yield f"{folder.name}: datasets reads {len(rows)} rows"
    export(imported, folder / "atif", "atif")
    for path in (folder / "atif").glob("train/*.json"):
        atif.Trajectory.model_validate(json.loads(path.read_text()))


def _own(folder: Path) -> Iterator[str]:
    """Our exports, imported and exported again."""
    import shutil

    kept = folder / "kept"
    shutil.copytree(_KEPT, kept, dirs_exist_ok=True)
    process(kept)
    before = Source(read_json(Recording(kept).layout.demonstration, DemonstrationSchema()), Recording(kept))
    for format in _OWN:
        first = export([before], folder / f"own-{format}", format)
        kind, imported = _imported(folder / f"own-{format}", folder / f"own-{format}-imported")
        again = export(imported, folder / f"own-{format}-again", format)
        print(f"own {format:18} {first.samples:7} {again.samples - first.samples:6}")
        if format in _WITHOUT_PAGES:  # what acts on an element cannot be exported without its page
            complete = sum(turn["type"] == "browser" or turn["speaker"] == "navigator" for turn in imported[0].turns)
        else:
            complete = again.samples
        if kind != format or complete != first.samples:
            yield f"{format}: {complete} of {first.samples} come back ({kind})"
        if format in _EXACT and [_plain(turn) for turn in imported[0].turns] != [
                _plain(turn) for turn in before.turns]:
            yield f"{format}: the turns are not the same"


def _plain(turn: Turn) -> tuple[Any, ...]:
    return tuple(turn.get(name) for name in ("id", "type", "timestamp", "intent", "arguments", "speaker", "utterance"))


def _archives(folder: Path) -> Iterator[str]:
    archives = folder / "archives"
    archives.mkdir(exist_ok=True)
    yield from hostile.archive_faults(archives)
