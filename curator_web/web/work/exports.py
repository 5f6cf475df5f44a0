"""Exports begun from the pages, and the presets of their options."""

from collections.abc import Mapping
from typing import Any

from flask import Blueprint, current_app, flash, redirect, render_template, request, send_file, url_for
from flask_babel import gettext as _
from marshmallow import fields
from werkzeug import Response
from werkzeug.datastructures import MultiDict

from curator_web.access.accounts import account, lead
from curator_web.access.services import services
from curator_web.db.models.core import STATUSES
from curator_web.db.models.job_models import DONE
from curator_web.db.models.project_settings_models import PRESET_NAME_LENGTH
from curator_web.demonstrations.library import actors
from curator_web.demonstrations.library.export_counts import count_for_export
from curator_web.errors import ErrorText, InputError, NotFound
from curator_web.jobs import export_presets
from curator_web.jobs.export_request import (
    ExportRequestSchema,
    default_status,
    narrowed,
    selection,
    with_defaults,
)
from curator_web.jobs.exporting import KIND, READING_TIME_S, file_of
from curator_web.users import project_settings
from curator_web.web.team.project_settings import read_rule
from pipeline import extras
from pipeline.export import ANY, EXPORT_ACTORS, GRAMMARS, OUTCOMES, format_names
from pipeline.privacy.finding import KINDS
from schemas import limits
from schemas.files import validated
from schemas.intents import BROWSER_INTENTS
from schemas.text import storable

blueprint = Blueprint("exports", __name__)
FROM_STORE = "DOWNLOADS_FROM_STORE"  # browsers reach the store themselves
BY_CONTENT = ("websites", "labels", "intents", "good_screenshots", "without_checks")  # conditions that are not counted
_PARTIAL = ExportRequestSchema(partial=True)
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
    options = with_defaults(services().db, chosen.options if chosen else {})
    has_rule = project_settings.split_rule(services().db, caller.project) is not None
    usual = OF_PROJECT if has_rule else NO_RULE
    source = (OF_PRESET if options["splits"] else NO_RULE) if "splits" in options else usual
    return render_template("work/exports.html", jobs=jobs, here=url_for(".show"), formats=format_names(),
                           statuses=(*STATUSES, ANY), grammars=GRAMMARS, intents=BROWSER_INTENTS,
                           actors=EXPORT_ACTORS, outcomes=OUTCOMES, kinds=KINDS, presets=presets, chosen=chosen,
                           options=options, wanted=selection(options), has_rule=has_rule, split_from=source,
                           default_status=default_status(services().db), name_length=PRESET_NAME_LENGTH,
                           missing=_hints(), **_counted(options))


@blueprint.get("/exports/counts")
def counts() -> str:
    """How many demonstrations an export with these options would contain: a part of the page, requested by htmx."""
    lead()
    try:
        options = with_defaults(services().db, validated(_options_of(request.args), _PARTIAL, "the form"))
    except InputError as error:
        return render_template("work/_export_counts.html", problem=str(error))
    return render_template("work/_export_counts.html", **_counted(options))


def _counted(options: Mapping[str, Any]) -> dict[str, Any]:
    """What the page shows of the demonstrations that would be exported; nothing of options that are not valid."""
    db, project = services().db, account().project
    try:
        wanted = selection(validated(dict(options), _PARTIAL, "preset"))
    except InputError:
        return {"counted": None}
    actors.read_missing(db, services().store, READING_TIME_S)
    counted = count_for_export(db, wanted, project)
    return {"counted": counted, "unread": actors.count_missing(db, project),
            "hidden": [name.replace("_", " ") for name in BY_CONTENT if getattr(wanted, name)]}


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
    return storable(_options_of(request.form) | _rule())


def _options_of(form: MultiDict[str, str]) -> dict[str, Any]:
    """The options of a form except the split rule, without what is empty. The form names `actors` also when none is
    chosen, which is refused: it would mean the default."""
    options = dict[str, Any]()
    for name, field in ExportRequestSchema().fields.items():
        if isinstance(field, fields.List):
            values = [part.strip() for value in form.getlist(name) for part in value.split(",")]
            options[name] = [value for value in values if value]
        elif name not in ("labels", "splits") and form.get(name):
            options[name] = form[name]
    if not options["actors"]:
        if "actors" in form:
            raise InputError(ErrorText("the form: field actors: choose at least one actor"))
        del options["actors"]
    labels = [label.partition("=") for label in form.get("labels", "").split(",") if label.strip()]
    if wrong := [name for name, equals, __ in labels if not equals]:
        raise InputError(ErrorText("the form: field labels: %(wrong)r must be name=value",
                                   wrong=wrong[0][:40]))
    options["labels"] = {name.strip(): value.strip() for name, __, value in labels}
    return options


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
