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
    done = 0

    def progress(name: str) -> None:
        nonlocal done
        done += 1
        step(done, total, name)
    folder = store.data_dir / f".export-{job_id}"
    written, packed = folder / "export", folder / "packed.zip"
    shutil.rmtree(folder, ignore_errors=True)  # what a server that was stopped left
    folder.mkdir()
    try:
        summary = export((Source(*pair) for pair in exportable(db, store, status)), written, format_, progress)
        step(total, total, "packing")
        _pack(written, packed, f"demotape-{format_}-{job_id}")
        size = packed.stat().st_size
        store.files.keep(_file(job_id), packed)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    left_out = [f"{count} × {reason}" for reason, count in (summary.left_out + summary.notes).most_common(20)]
    return {"demonstrations": summary.demonstrations, "turns": summary.samples, "left_out": left_out,
            "size": size}


def _file(job_id: int) -> str:
    return f"exports/{job_id}.zip"


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
    if job.kind != KIND or job.state != DONE:
        raise NotFound("there is no such export")
    files, name = services().store.files, f"demotape-{job.arguments['format']}-{job_id}.zip"
    if here := files.path(_file(job_id)):
        return send_file(here, mimetype="application/zip", as_attachment=True, download_name=name, conditional=True)
    answer = Response(files.read(_file(job_id)), mimetype="application/zip")
    answer.content_length = job.result["size"]
    answer.headers.set("Content-Disposition", "attachment", filename=name)
    return answer


def _pack(folder: Path, target: Path, root: str) -> None:
    """What is in it is packed already, so it is only stored."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                archive.write(path, f"{root}/{path.relative_to(folder).as_posix()}")
