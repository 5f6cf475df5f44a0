"""Exports begun from the pages."""

import json
from typing import Any

from flask import Blueprint, current_app, redirect, render_template, request, send_file, url_for
from marshmallow import fields
from werkzeug import Response

from curator_web.db.job_models import DONE
from curator_web.db.models import STATUSES
from curator_web.errors import InputError, NotFound
from curator_web.jobs.export_request import ExportRequestSchema, narrowed, rule
from curator_web.jobs.exporting import KIND, file_of
from pipeline.export import GRAMMARS, format_names
from pipeline.privacy.finding import KINDS
from schemas import limits
from schemas.files import validated
from schemas.intents import BROWSER_INTENTS
from schemas.recording import ACTORS
from schemas.text import storable

from .accounts import account, lead
from .context import services

blueprint = Blueprint("exports", __name__)
FROM_STORE = "DOWNLOADS_FROM_STORE"  # browsers reach the store themselves
blueprint.add_app_template_filter(narrowed)


@blueprint.get("/exports")
def show() -> str:
    """The form, and the exports so far; asked by htmx, only these."""
    lead()
    jobs = services().jobs.latest(KIND, account().project)
    if request.headers.get("HX-Request"):
        return render_template("_jobs.html", jobs=jobs, here=url_for(".show"))
    return render_template("exports.html", jobs=jobs, here=url_for(".show"), formats=format_names(), statuses=STATUSES,
                           grammars=GRAMMARS, intents=BROWSER_INTENTS, actors=ACTORS, kinds=KINDS)


@blueprint.post("/exports")
def begin() -> Response:
    """Begin an export."""
    who, schema = lead(), ExportRequestSchema()
    asked = validated(_asked(), schema, "the form")
    rule(asked)  # complains of it now
    services().jobs.add(KIND, who.name, schema.dump(asked), project=who.project)
    return redirect(url_for(".show"), 303)


def _asked() -> dict[str, Any]:
    """What the form asks for, without what is empty; raises InputError for a split rule or a label that is none."""
    form, asked = request.form, dict[str, Any]()
    for name, field in ExportRequestSchema().fields.items():
        if isinstance(field, fields.List):
            given = [part.strip() for value in form.getlist(name) for part in value.split(",")]
            asked[name] = [value for value in given if value]
        elif name not in ("labels", "splits") and form.get(name):
            asked[name] = form[name]
    labels = [label.partition("=") for label in form.get("labels", "").split(",") if label.strip()]
    if wrong := [name for name, equals, _ in labels if not equals]:
        raise InputError(f"the form: field labels: {wrong[0][:40]!r} is not of the form name=value")
    asked["labels"] = {name.strip(): value.strip() for name, _, value in labels}
    if content := (request.files["splits"].read(limits.JSON) if "splits" in request.files else b""):
        try:
            asked["splits"] = json.loads(content)
        except (ValueError, RecursionError):
            raise InputError("the form: field splits: the split rule is not JSON") from None
    return storable(asked)


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
    if current_app.config.get(FROM_STORE) and (link := files.link(file_of(job_id), name)):
        return redirect(link, 303)
    answer = Response(files.read(file_of(job_id)), mimetype="application/zip")
    answer.content_length = job.result["size"]
    answer.headers.set("Content-Disposition", "attachment", filename=name)
    return answer
