"""Convert data of other tools into an export, without the review app: import, process, export, one after the other.

Recordings are written to a temporary folder, a few ahead of the export, and removed when they are exported, so that
the disk holds few of them at a time.
"""

import shutil
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from pipeline.batch import refreshed
from pipeline.export import InOrder, LeftOut, Source, export, order_key
from pipeline.export.source import Summary
from pipeline.export.splits import Rule
from pipeline.importing.ids import recording_id
from pipeline.isolation import allowance_for, isolating_threads, run_isolated
from recorder import Recording
from schemas import DemonstrationSchema, DemotapeError, InputError
from schemas.files import read_json

from .foreign_data import import_item
from .importing import Part, make_recording, package_allowance, package_id

_AHEAD = 2  # recordings that each process may be ahead of the export


@dataclass
class Conversion:
    """What was converted. `lacks`: demonstrations by what their source has not (docs/import.md); `left_out`: what
    importers left out, by reason; `failed`: demonstrations that could not be read."""

    summary: Summary | None = None
    lacks: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    failed: list[LeftOut] = field(default_factory=list)


def convert(parts: Sequence[Path | Part], destination: str, format: str, folder: Path, *, jobs: int = 1,
            rule: Rule | None = None, progress: Callable[[str], None] = lambda name: None, **options: Any
            ) -> Conversion:
    """Export what `expand_paths` returned, in so many processes with limits at a time, with `folder` for what is
    between; `options` as of `pipeline.export.export`.

    Demonstrations that cannot be read are left out, and are in `failed`. Raises InputError as `export` does, also where
    none can be read.
    """
    conversion = Conversion()
    recordings: dict[str, Path] = {}

    def written(name: str) -> None:
        if path := recordings.pop(name, None):
            shutil.rmtree(path, ignore_errors=True)
        progress(name)

    ordered = sorted(((_id_of(part), part) for part in parts), key=lambda entry: order_key(entry[0]))
    sources = _sources(ordered, folder, jobs, conversion, recordings, progress)
    try:
        conversion.summary = export(InOrder(sources), destination, format, written, rule=rule, jobs=jobs,
                                    damaged=conversion.failed, temporary=folder, **options)
    except InputError as error:
        if conversion.failed and len(conversion.failed) == len(parts):
            raise InputError(f"nothing was converted: {conversion.failed[0].reason}") from error
        raise
    return conversion


def _id_of(part: Path | Part) -> str:
    """The id that a part's recording will have."""
    if isinstance(part, Part):
        return recording_id(part.item.name)
    if part.is_file():
        return run_isolated(package_allowance(part), str(part), package_id, part)
    return Recording(part).id


def _sources(parts: Sequence[tuple[str, Path | Part]], folder: Path, jobs: int, conversion: Conversion,
             recordings: dict[str, Path], progress: Callable[[str], None]) -> Iterator[Source]:
    """The demonstrations in order, each as soon as it and those before it are imported."""
    waiting: deque[tuple[str, Path | Part, Future[Path]]] = deque()
    with isolating_threads(jobs) as threads:
        for number, (name, part) in enumerate(parts):
            waiting.append((name, part, threads.submit(partial(_make, part, name, folder / f"recording-{number}"))))
            if len(waiting) > _AHEAD * jobs:
                yield from _collect_source(*waiting.popleft(), conversion, recordings, progress)
        while waiting:
            yield from _collect_source(*waiting.popleft(), conversion, recordings, progress)


def _make(part: Path | Part, name: str, target: Path) -> Path:
    """A processed recording of a part: the part itself, or one written into `target`."""
    if isinstance(part, Part):
        import_item(part.importer, part.item, target, for_review=False)
        return target
    if part.is_file():
        run_isolated(package_allowance(part), str(part), make_recording, part, target, name)
        return target
    return part


def _collect_source(name: str, part: Path | Part, future: "Future[Path]", conversion: Conversion,
                    recordings: dict[str, Path], progress: Callable[[str], None]) -> Iterator[Source]:
    try:
        path = future.result()
        source = run_isolated(allowance_for(path), str(path), _source_of, path)
    except DemotapeError as error:
        conversion.failed.append(LeftOut(name, str(error)))
        progress(str(part))
        return
    if path != part:
        recordings[name] = path
    imported = source.recording.manifest.get("imported")
    if imported:
        conversion.lacks.update(imported["lacks"])
        conversion.left_out.update(imported["left_out"])
    yield source


def _source_of(path: Path) -> Source:
    recording = Recording(path)
    if not recording.layout.demonstration.is_file():
        return Source(refreshed(path), recording)
    return Source(read_json(recording.layout.demonstration, DemonstrationSchema()), recording)
