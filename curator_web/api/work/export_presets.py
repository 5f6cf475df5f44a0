"""The JSON API of export presets; only for leads of the project."""

from typing import Any

from flask.views import MethodView
from marshmallow import Schema, fields, validate

from curator_web.access.accounts import lead
from curator_web.access.services import services
from curator_web.api.bodies import Blueprint
from curator_web.api.review.demonstrations import IN_PROJECT, NO_PROJECT, NOT_ALLOWED
from curator_web.db.models.project_settings_models import PRESET_NAME_LENGTH
from curator_web.jobs import export_presets
from curator_web.jobs.export_request import ExportRequestSchema
from schemas.formats.parts import Strict

blueprint = Blueprint("export_presets_api", __name__, url_prefix="/api", description="Export presets")
NOT_FOUND = {"description": "Unknown preset."}
_NAME = validate.Length(1, PRESET_NAME_LENGTH)


class NewPresetSchema(Strict):
    """A preset to be saved."""

    name = fields.String(required=True, validate=_NAME)
    options = fields.Nested(ExportRequestSchema, required=True, metadata={"description": "as POST /api/exports"})


class ChangedPresetSchema(Strict):
    """What of a preset is to be changed; what is absent stays."""

    name = fields.String(validate=_NAME)
    options = fields.Nested(ExportRequestSchema)


class PresetSchema(Schema):
    """A preset."""

    id = fields.Integer(required=True)
    name = fields.String(required=True)
    options = fields.Dict(required=True)
    problem = fields.String(required=True, metadata={
        "description": "which option is not valid any more, and what to do; empty where all are"})
    changed_by = fields.String(required=True)
    changed_at = fields.AwareDateTime(required=True)


@blueprint.route("/export-presets")
class Presets(MethodView):
    """Those of a project."""

    @blueprint.doc(**IN_PROJECT)
    @blueprint.alt_response(403, **NOT_ALLOWED)
    @blueprint.alt_response(404, **NO_PROJECT)
    @blueprint.response(200, PresetSchema(many=True))
    def get(self):
        """All presets of the project, by name; only for leads"""
        return export_presets.presets(services().db, lead())

    @blueprint.doc(**IN_PROJECT)
    @blueprint.alt_response(403, **NOT_ALLOWED)
    @blueprint.alt_response(404, **NO_PROJECT)
    @blueprint.arguments(NewPresetSchema)
    @blueprint.response(201, PresetSchema)
    def post(self, body: dict[str, Any]):
        """Save a preset; one that has the name already is changed. Only for leads"""
        return export_presets.save(services().db, lead(), body["name"], _plain(body["options"]))


@blueprint.route("/export-presets/<int:preset_id>")
class ExportPreset(MethodView):
    """One of them."""

    @blueprint.arguments(ChangedPresetSchema)
    @blueprint.response(200, PresetSchema)
    @blueprint.alt_response(403, **NOT_ALLOWED)
    @blueprint.alt_response(404, **NOT_FOUND)
    def put(self, body: dict[str, Any], preset_id: int):
        """Give a preset another name or other options; only for leads"""
        options = _plain(body["options"]) if "options" in body else None
        return export_presets.change(services().db, lead(), preset_id, body.get("name"), options)

    @blueprint.response(204)
    @blueprint.alt_response(403, **NOT_ALLOWED)
    @blueprint.alt_response(404, **NOT_FOUND)
    def delete(self, preset_id: int):
        """Delete a preset; only for leads"""
        export_presets.remove(services().db, lead(), preset_id)


def _plain(options: dict[str, Any]) -> dict[str, Any]:
    return ExportRequestSchema().dump(options)
