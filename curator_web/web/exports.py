"""Exports begun from the pages."""

from flask import Blueprint, redirect, render_template, request, send_file, url_for
from werkzeug import Response

from curator_web.db.models import APPROVED, DONE, STATUSES
from curator_web.errors import InputError, NotFound
from curator_web.jobs.exporting import KIND, file_of
from pipeline.export import format_names

from .accounts import lead
from .context import services

blueprint = Blueprint("exports", __name__)


@blueprint.get("/exports")
def show() -> str:
    """The form, and the exports so far; asked by htmx, only these."""
    lead()
    jobs = services().jobs.latest(KIND)
    if request.headers.get("HX-Request"):
        return render_template("_jobs.html", jobs=jobs, here=url_for(".show"))
    return render_template("exports.html", jobs=jobs, here=url_for(".show"), formats=format_names(), statuses=STATUSES,
                           usual=APPROVED)


@blueprint.post("/exports")
def begin() -> Response:
    """Begin an export."""
    who, format_, status = lead(), request.form.get("format", ""), request.form.get("status") or None
    if format_ not in format_names():
        raise InputError(f"field format: {format_[:40]!r} is none; {', '.join(format_names())} are")
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
    if here := files.path(file_of(job_id)):
        return send_file(here, mimetype="application/zip", as_attachment=True, download_name=name, conditional=True)
    answer = Response(files.read(file_of(job_id)), mimetype="application/zip")
    answer.content_length = job.result["size"]
    answer.headers.set("Content-Disposition", "attachment", filename=name)
    return answer
