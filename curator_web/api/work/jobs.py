"""The JSON API of what is done in the background: begin an export, and see how far a job is."""

from typing import Any

from marshmallow import Schema, fields, validate

from curator_web.access.accounts import account, lead
from curator_web.access.services import services
from curator_web.api.bodies import Blueprint
from curator_web.api.review.demonstrations import IN_PROJECT, NO_PROJECT, NOT_ALLOWED
from curator_web.db.models.job_models import JOB_STATES
from curator_web.db.models.project_settings_models import PRESET_NAME_LENGTH
from curator_web.demonstrations.library import actors
from curator_web.demonstrations.library.export_counts import count_for_export
from curator_web.jobs import export_presets, exporting
from curator_web.jobs.export_request import ExportRequestSchema, selection
from pipeline.export import ANY, format_names

blueprint = Blueprint("jobs_api", __name__, url_prefix="/api", description="Work in the background")


class JobSchema(Schema):
    """How far a job is."""

    id = fields.Integer(required=True)
    kind = fields.String(required=True)
    state = fields.String(required=True, validate=validate.OneOf(JOB_STATES))
    done = fields.Integer(required=True)
    total = fields.Integer(required=True, allow_none=True)
    note = fields.String(required=True, metadata={"description": "what is being done, or why it failed"})
    result = fields.Dict(required=True)
    who = fields.String(required=True)
    made_at = fields.AwareDateTime(required=True)
    ended_at = fields.AwareDateTime(required=True, allow_none=True)
    waits_for = fields.String(required=True, allow_none=True, metadata={
        "description": "`database`, `storage` or `disk`: that was away, or full, when it was last tried; it is tried "
                       "again by itself"})
    waits_since = fields.AwareDateTime(required=True, allow_none=True)


class JobsSchema(Schema):
    """Jobs, the newest first."""

    jobs = fields.List(fields.Nested(JobSchema), required=True)


class ExportSchema(ExportRequestSchema):
    """What to export: options of a preset, others, or both; those that are told go before the preset's."""

    preset = fields.String(validate=validate.Length(1, PRESET_NAME_LENGTH), metadata={
        "description": "the name of a preset of the project; then `format` may be absent"})


_BEGINNING = ExportSchema(partial=True)  # what a preset tells need not be told


@blueprint.post("/exports")
@blueprint.doc(**IN_PROJECT)
@blueprint.alt_response(404, **NO_PROJECT)
@blueprint.arguments(_BEGINNING)
@blueprint.response(202, JobSchema)
@blueprint.alt_response(403, **NOT_ALLOWED)
def begin(body: dict[str, Any]):
    """Begin an export; when its job is done, GET /exports/ID.zip has the data set. Only for leads"""
    caller = lead()
    request = export_presets.export_arguments(services().db, caller.project, _BEGINNING.dump(body))
    return services().jobs.get(services().jobs.add(exporting.KIND, caller.name, request, project=caller.project))


class PartsSchema(Schema):
    """Demonstrations with one value of a property."""

    exported = fields.Integer(required=True)
    left_out = fields.Integer(required=True)


class ExportCountsSchema(Schema):
    """How many demonstrations an export would contain. Conditions on websites, labels and actions are not counted."""

    status = fields.String(required=True, metadata={"description": "the status that counts; `any`: all but invalid"})
    actors = fields.List(fields.String(), required=True, metadata={"description": "empty: any"})
    outcome = fields.String(required=True)
    total = fields.Integer(required=True, metadata={"description": "demonstrations of the project"})
    selected = fields.Integer(required=True)
    reviewed = fields.Integer(required=True, metadata={"description": "validated or approved ones of the selected"})
    counts = fields.Dict(keys=fields.String(), values=fields.Dict(
        keys=fields.String(), values=fields.Nested(PartsSchema)), required=True, metadata={
            "description": "by `status`, `actor` and `outcome`, then by value"})
    not_selected = fields.Dict(keys=fields.String(), values=fields.Integer(), required=True, metadata={
        "description": "by reason"})


@blueprint.post("/exports/counts")
@blueprint.doc(**IN_PROJECT)
@blueprint.alt_response(404, **NO_PROJECT)
@blueprint.arguments(_BEGINNING)
@blueprint.response(200, ExportCountsSchema)
@blueprint.alt_response(403, **NOT_ALLOWED)
def counts(body: dict[str, Any]):
    """How many demonstrations an export with these options would contain; it is not begun. Only for leads"""
    caller = lead()
    request = export_presets.export_arguments(services().db, caller.project,
                                              {"format": format_names()[0]} | _BEGINNING.dump(body))
    wanted = selection(request)
    actors.read_missing(services().db, services().store, exporting.READING_TIME_S)
    counted = count_for_export(services().db, wanted, caller.project)
    return {"status": wanted.status or ANY, "actors": wanted.actors, "outcome": wanted.outcome or ANY,
            "total": counted.total, "selected": counted.selected, "reviewed": counted.reviewed,
            "counts": counted.counts, "not_selected": counted.reasons}


@blueprint.get("/jobs/<int:job_id>")
@blueprint.response(200, JobSchema)
@blueprint.alt_response(403, **NOT_ALLOWED)
@blueprint.alt_response(404, description="Unknown job.")
def job(job_id: int):
    """How far a job is; only for leads"""
    lead()
    return services().jobs.get(job_id)


@blueprint.get("/jobs")
@blueprint.doc(**IN_PROJECT)
@blueprint.response(200, JobsSchema)
@blueprint.alt_response(403, **NOT_ALLOWED)
@blueprint.alt_response(404, **NO_PROJECT)
def unfinished():
    """The latest jobs that failed or wait for something that is away; only for leads"""
    return {"jobs": services().jobs.failed(lead().project)}


@blueprint.post("/jobs/<int:job_id>/again")
@blueprint.response(202, JobSchema)
@blueprint.alt_response(403, **NOT_ALLOWED)
@blueprint.alt_response(404, description="Unknown job.")
@blueprint.alt_response(409, description="The job has not failed.")
def again(job_id: int):
    """Try a job again that failed, with what it was given; for who began it, and for leads"""
    return services().jobs.retry(job_id, account())
