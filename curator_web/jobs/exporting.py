"""The job that exports: a data set written in the background, as one zip file to download."""

import shutil
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

from curator_web.db.database import Database
from curator_web.db.models.job_models import Job
from curator_web.demonstrations.library import actors, damage
from curator_web.demonstrations.library.export_counts import REVIEWED, count_for_export, explain_empty
from curator_web.demonstrations.library.export_sources import exportable, properties, selected
from curator_web.demonstrations.library.reported_secrets import reported_secrets
from curator_web.errors import InputError
from curator_web.storage.names_key import names_key
from curator_web.storage.recordings import RecordingStore
from pipeline.export import InOrder, LeftOut, export
from pipeline.export.source import EXPORTED

from .export_request import ExportRequestSchema, options, rule, selection
from .queue import Step

KIND = "export"
READING_TIME_S = 1.0  # seconds that a request for counts waits for recordings to be read for their actor
DAMAGED_SHOWN = 20  # of the demonstrations that could not be read


def run(db: Database, store: RecordingStore, job: Job, step: Step) -> dict[str, Any]:
    """The job: a data set of its project as data/exports/<job>.zip. Raises InputError as `pipeline.export.export`
    does."""
    request, job_id = ExportRequestSchema().load(job.arguments), job.id
    format_, wanted = request["format"], selection(request)
    chosen = options(request)
    if chosen["names"]:
        chosen["names_key"] = names_key(db, store)
    actors.read_missing(db, store)
    total = len(selected(db, wanted, Counter(), job.project))
    if not total:
        counts = count_for_export(db, wanted, job.project)
        raise InputError(f"no demonstrations to export: {explain_empty(counts, wanted)}")
    done, names = 0, set[str]()

    def progress(name: str) -> None:
        nonlocal done
        done += 1
        names.add(name)
        step(done, total, name)
    folder = store.data_dir / f".export-{job_id}"
    written, packed = folder / "export", folder / "packed.zip"
    shutil.rmtree(folder, ignore_errors=True)  # what a server that was stopped left
    folder.mkdir(mode=0o700)
    temporary = folder / "temporary"
    temporary.mkdir()
    try:
        damaged: list[LeftOut] = []
        not_selected = Counter[str]()
        sources = InOrder(exportable(db, store, wanted, damaged, not_selected, job.project))
        try:
            summary = export(sources, written, format_, progress, rule=rule(request), damaged=damaged, selection=wanted,
                             not_selected=not_selected, properties=properties(db, job.project), jobs=1, background=True,
                             temporary=temporary,
                             secret_digests=reported_secrets(db, store), **chosen)
        finally:
            damage.note(db, damaged, names)
        step(total, total, "packing")
        _pack(written, packed, f"demotape-{format_}-{job_id}")
        size = packed.stat().st_size
        store.files.save(file_of(job_id), packed)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    damaged_shown = [{"id": left_out.id, "reason": store.without_paths(left_out.reason)}
                     for left_out in damaged[:DAMAGED_SHOWN]]
    left_out = [f"{count} × {reason}" for reason, count in summary.reasons()[:20]]
    reviewed = sum(summary.counts["status"].get(status, {}).get(EXPORTED, 0) for status in REVIEWED)
    return {"demonstrations": summary.demonstrations, "reviewed": reviewed, "counts": summary.counts,
            "turns": summary.samples, "left_out": left_out,
            "size": size, "damaged": len(damaged), "damaged_first": damaged_shown}


def file_of(job_id: int) -> str:
    return f"exports/{job_id}.zip"


def _pack(folder: Path, target: Path, root: str) -> None:
    """What is in it is packed already, so it is only stored."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                archive.write(path, f"{root}/{path.relative_to(folder).as_posix()}")
