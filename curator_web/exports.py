"""Exports begun from the pages: written in the background, then one zip file to download."""

import shutil
import zipfile
from pathlib import Path

from flask import Blueprint, redirect, render_template, request, send_file, url_for
from sqlalchemy import func, select
from werkzeug import Response

from pipeline.export import FORMATS, Source, export

from .accounts import lead
from .context import services
from .database import Database
from .errors import InputError, NotFound
from .jobs import Step
from .library import exportable
from .models import APPROVED, DONE, INVALID, STATUSES, Demonstration
from .storage import RecordingStore

blueprint = Blueprint("exports", __name__)
KIND = "export"


def run(db: Database, store: RecordingStore, job_id: int, arguments: dict, step: Step) -> dict:
    """The job: a data set as data/exports/<job>.zip. Raises InputError as `pipeline.export.export` does."""
    status, format_ = arguments["status"], arguments["format"]
    wanted = Demonstration.status == status if status else Demonstration.status != INVALID
    with db.reading() as session:
        total = session.scalar(select(func.count()).select_from(Demonstration).where(wanted))
    folder = store.data_dir / "exports" / str(job_id)
    done = 0

    def progress(name: str) -> None:
        nonlocal done
        done += 1
        step(done, total, name)
    shutil.rmtree(folder, ignore_errors=True)  # what a server that was stopped left
    try:
        summary = export((Source(*pair) for pair in exportable(db, store, status)), folder, format_, progress)
        step(total, total, "packing")
        _pack(folder, file_of(store, job_id), f"demotape-{format_}-{job_id}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    left_out = [f"{count} × {reason}" for reason, count in (summary.left_out + summary.notes).most_common(20)]
    return {"demonstrations": summary.demonstrations, "turns": summary.samples, "left_out": left_out,
            "size": file_of(store, job_id).stat().st_size}


def file_of(store: RecordingStore, job_id: int) -> Path:
    """Where a finished export lies."""
    return store.data_dir / "exports" / f"{job_id}.zip"


@blueprint.get("/exports")
def show() -> str:
    """The form, and the exports so far; asked by htmx, only these."""
    lead()
    jobs = services().jobs.latest(KIND)
    if request.headers.get("HX-Request"):
        return render_template("_jobs.html", jobs=jobs, here=url_for(".show"))
    return render_template("exports.html", jobs=jobs, here=url_for(".show"), formats=list(FORMATS), statuses=STATUSES,
                           usual=APPROVED)


@blueprint.post("/exports")
def begin() -> Response:
    """Begin an export."""
    who, format_, status = lead(), request.form.get("format", ""), request.form.get("status") or None
    if format_ not in FORMATS:
        raise InputError(f"field format: {format_[:40]!r} is none; {', '.join(FORMATS)} are")
    if status is not None and status not in STATUSES:
        raise InputError(f"field status: {status[:40]!r} is none")
    services().jobs.add(KIND, who.name, {"format": format_, "status": status})
    return redirect(url_for(".show"), 303)


@blueprint.get("/exports/<int:job_id>.zip")
def download(job_id: int) -> Response:
    """The data set."""
    lead()
    job = services().jobs.get(job_id)
    if job.kind != KIND or job.state != DONE or not file_of(services().store, job_id).is_file():
        raise NotFound("there is no such export")
    return send_file(file_of(services().store, job_id), mimetype="application/zip", as_attachment=True,
                     download_name=f"demotape-{job.arguments['format']}-{job_id}.zip", conditional=True)


def _pack(folder: Path, target: Path, root: str) -> None:
    """Whole or not at all; what is in it is packed already, so it is only stored."""
    partial = target.with_suffix(".partial")
    with zipfile.ZipFile(partial, "w", zipfile.ZIP_STORED) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                archive.write(path, f"{root}/{path.relative_to(folder).as_posix()}")
    partial.replace(target)
