"""The page of jobs that failed or wait, and trying one again."""

from flask import Blueprint, redirect, render_template, request, url_for
from werkzeug import Response

from curator_web.access.accounts import account, lead
from curator_web.access.services import services

blueprint = Blueprint("jobs", __name__, url_prefix="/jobs")


@blueprint.get("")
def show() -> str:
    """Which of the project's jobs failed, and which wait for something that is away."""
    template = "shell/_jobs.html" if request.headers.get("HX-Request") else "work/jobs.html"
    return render_template(template, jobs=services().jobs.failed(lead().project), here=url_for(".show"))


@blueprint.post("/<int:job_id>/again")
def again(job_id: int) -> Response:
    """Try a job again that failed."""
    services().jobs.retry(job_id, account())
    allowed = {url_for(name) for name in ("imports.show", "exports.show", "team.changes")}
    back = request.form.get("back", "")
    return redirect(back if back in allowed else url_for(".show") if account().leads else url_for("imports.show"), 303)
