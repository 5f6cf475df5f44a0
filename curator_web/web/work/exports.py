"""Exports begun from the pages, and the presets of their options."""

from typing import Any

from flask import Blueprint, current_app, flash, redirect, render_template, request, send_file, url_for
from flask_babel import gettext as _
from marshmallow import fields
from werkzeug import Response

from curator_web.access.accounts import account, lead
from curator_web.access.services import services
from curator_web.db.models.core import STATUSES
from curator_web.db.models.job_models import DONE
from curator_web.db.models.project_settings_models import PRESET_NAME_LENGTH
from curator_web.errors import ErrorText, InputError, NotFound
from curator_web.jobs import export_presets
from curator_web.jobs.export_request import ExportRequestSchema, narrowed
from curator_web.jobs.exporting import KIND, file_of
from curator_web.users import project_settings
from curator_web.web.team.project_settings import read_rule
from pipeline import extras
from pipeline.export import GRAMMARS, format_names
from pipeline.privacy.finding import KINDS
from schemas import limits
from schemas.actors import ACTORS
from schemas.intents import BROWSER_INTENTS
from schemas.text import storable

blueprint = Blueprint("exports", __name__)
FROM_STORE = "DOWNLOADS_FROM_STORE"  # browsers reach the store themselves
blueprint.add_app_template_filter(narrowed)
# Where the split rule of an export comes from.
OF_PROJECT, OF_PRESET, OF_FILE, NO_RULE = ("project", "preset", "file", "none")


@blueprint.get("/exports")
def show() -> str:
    """The form, with the options of the preset that is chosen, and the exports so far; asked by htmx, only these."""
    caller = lead()
    jobs = services().jobs.latest(KIND, account().project)
    if request.headers.get("HX-Request"):
        return render_template("shell/_jobs.html", jobs=jobs, here=url_for(".show"))
    presets = export_presets.presets(services().db, caller)
    number = request.args.get("preset", type=int)
    chosen = None if number is None else export_presets.get(services().db, caller, number)
    options = chosen.options if chosen else {}
    has_rule = project_settings.split_rule(services().db, caller.project) is not None
    usual = OF_PROJECT if has_rule else NO_RULE
    source = (OF_PRESET if options["splits"] else NO_RULE) if "splits" in options else usual
    return render_template("work/exports.html", jobs=jobs, here=url_for(".show"), formats=format_names(),
                           statuses=STATUSES, grammars=GRAMMARS, intents=BROWSER_INTENTS, actors=ACTORS, kinds=KINDS,
                           presets=presets, chosen=chosen, options=options, has_rule=has_rule, split_from=source,
                           name_length=PRESET_NAME_LENGTH, missing=_hints())


def _hints() -> dict[str, str]:
    """What the options need that is not installed, by option; each has the name of its extra."""
    uses = {"names": _("redacting names and addresses"), "ocr": _("reading the text in pictures")}
    return {name: _("%(use)s needs %(library)s; install it with: %(command)s", use=use, library=library,
                    command=extras.install_command(name))
            for name, use in uses.items() if (library := extras.missing_library(name))}


@blueprint.post("/exports")
def begin() -> Response:
    """Begin an export; under a name its options are kept, too."""
    caller, options = lead(), _requested_options()
    export_request = export_presets.export_arguments(services().db, caller.project, options, "the form")
    if name := request.form.get("name", "").strip():
        export_presets.save(services().db, caller, name, options)
    services().jobs.add(KIND, caller.name, export_request, project=caller.project)
    return redirect(url_for(".show"), 303)


@blueprint.post("/exports/presets")
def save_preset() -> Response:
    """Keep what the form asks for under a name."""
    row = export_presets.save(services().db, lead(), request.form.get("name", ""), _requested_options())
    flash(_("Saved as preset %(name)s.", name=row.name))
    return redirect(url_for(".show", preset=row.id), 303)


@blueprint.post("/exports/presets/<int:preset_id>")
def rename_preset(preset_id: int) -> Response:
    """Give a preset another name."""
    export_presets.change(services().db, lead(), preset_id, request.form.get("name", ""))
    return redirect(url_for(".show", _anchor="presets"), 303)


@blueprint.post("/exports/presets/<int:preset_id>/remove")
def remove_preset(preset_id: int) -> Response:
    """Delete a preset."""
    export_presets.remove(services().db, lead(), preset_id)
    return redirect(url_for(".show", _anchor="presets"), 303)


def _requested_options() -> dict[str, Any]:
    """What the form asks for, without what is empty; raises InputError for a split rule or a label that is none."""
    form, options = request.form, dict[str, Any]()
    for name, field in ExportRequestSchema().fields.items():
        if isinstance(field, fields.List):
            values = [part.strip() for value in form.getlist(name) for part in value.split(",")]
            options[name] = [value for value in values if value]
        elif name not in ("labels", "splits") and form.get(name):
            options[name] = form[name]
    labels = [label.partition("=") for label in form.get("labels", "").split(",") if label.strip()]
    if wrong := [name for name, equals, __ in labels if not equals]:
        raise InputError(ErrorText("the form: field labels: %(wrong)r must be name=value",
                                   wrong=wrong[0][:40]))
    options["labels"] = {name.strip(): value.strip() for name, __, value in labels}
    return storable(options | _rule())


def _rule() -> dict[str, Any]:
    """The split rule that the form means, as `splits`; nothing for the project's own. Raises InputError."""
    if content := (request.files["splits"].read(limits.JSON) if "splits" in request.files else b""):
        return {"splits": read_rule(content, "splits")}
    source = request.form.get("split_from", OF_PROJECT)
    if source == NO_RULE:
        return {"splits": None}
    if source == OF_PRESET and (number := request.form.get("preset", type=int)) is not None:
        return {"splits": export_presets.get(services().db, lead(), number).options.get("splits")}
    if source == OF_FILE:
        raise InputError(ErrorText("the form: field splits: choose the JSON file of the split rule"))
    return {}


@blueprint.get("/exports/<int:job_id>.zip")
def download(job_id: int) -> Response:
    """The data set."""
    lead()
    job = services().jobs.get(job_id)
    if job.kind != KIND or job.state != DONE:
        raise NotFound(ErrorText("unknown export"))
    files, name = services().store.files, f"demotape-{job.arguments['format']}-{job_id}.zip"
    if path := files.path(file_of(job_id)):
        return send_file(path, mimetype="application/zip", as_attachment=True, download_name=name, conditional=True)
    if current_app.config.get(FROM_STORE) and (link := files.link(file_of(job_id), name)):
        return redirect(link, 303)
    answer = Response(files.read(file_of(job_id)), mimetype="application/zip")
    answer.content_length = job.result["size"]
    answer.headers.set("Content-Disposition", "attachment", filename=name)
    return answer
