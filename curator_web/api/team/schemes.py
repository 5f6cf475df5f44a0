"""The JSON API of labelling schemes."""

from typing import Any

from flask.views import MethodView
from marshmallow import Schema, fields, validate

from curator_web.access.accounts import lead
from curator_web.access.services import services
from curator_web.api.bodies import Blueprint
from curator_web.api.review.demonstrations import NOT_ALLOWED
from curator_web.demonstrations.schemes import measuring, versions
from pipeline.labelling.scheme_files import MAX_CHARACTERS
from schemas.formats.parts import Strict
from schemas.formats.scheme import QuestionSchema

from .projects import NOT_FOUND

blueprint = Blueprint("schemes_api", __name__, url_prefix="/api", description="Labelling schemes")


class SchemeSourceSchema(Strict):
    """A scheme to be."""

    source = fields.String(required=True, validate=validate.Length(1, MAX_CHARACTERS),
                           metadata={"description": "YAML or JSON"})


class SchemeVersionSchema(Schema):
    """The scheme in force."""

    number = fields.Integer(required=True, metadata={"description": "its version; 0: there is none yet"})
    source = fields.String(required=True, metadata={"description": "YAML or JSON, as a lead wrote it"})
    questions = fields.List(fields.Nested(QuestionSchema), required=True)


class QuestionAgreementSchema(Schema):
    """How far annotators agree on a question."""

    question = fields.String(required=True, attribute="question.name")
    level = fields.String(required=True, metadata={
        "description": "of measurement: `nominal` (choice, several) or `ordinal` (scale); empty for texts"})
    units = fields.Integer(required=True, attribute="measured.units", metadata={
        "description": "demonstrations or turns with two independent answers"})
    agreement = fields.Float(required=True, allow_none=True, attribute="measured.agreement", metadata={
        "description": "share of equal answers"})
    alpha = fields.Float(required=True, allow_none=True, attribute="measured.alpha", metadata={
        "description": "Krippendorff's"})
    low = fields.Float(required=True, allow_none=True, attribute="measured.low", metadata={
        "description": "95 % interval of alpha, by a bootstrap over demonstrations"})
    high = fields.Float(required=True, allow_none=True, attribute="measured.high")


@blueprint.route("/projects/<project>/scheme")
class Scheme(MethodView):
    """The labelling scheme of a project."""

    @blueprint.response(200, SchemeVersionSchema)
    @blueprint.alt_response(404, **NOT_FOUND)
    def get(self, project: str) -> dict[str, Any]:
        """The scheme in force"""
        return _answer(project)

    @blueprint.arguments(SchemeSourceSchema)
    @blueprint.response(200, SchemeVersionSchema)
    @blueprint.alt_response(403, **NOT_ALLOWED)
    @blueprint.alt_response(404, **NOT_FOUND)
    def put(self, body: dict[str, Any], project: str) -> dict[str, Any]:
        """A new version; only for leads of the project"""
        versions.save(services().db, body["source"], lead())
        return _answer(project)


@blueprint.get("/projects/<project>/scheme/agreement")
@blueprint.response(200, QuestionAgreementSchema(many=True))
@blueprint.alt_response(403, **NOT_ALLOWED)
@blueprint.alt_response(404, **NOT_FOUND)
def agreement(project: str) -> list[measuring.QuestionAgreement]:
    """How far annotators agree on each question, in pairs that both have submitted; only for leads of the project"""
    lead()
    return measuring.agreement(services().db, project)


def _answer(project: str) -> dict[str, Any]:
    newest = next(iter(versions.versions(services().db, project)), None)
    if newest is None:
        return {"number": 0, "source": "", "questions": []}
    return {"number": newest.number, "source": newest.source, "questions": newest.content["questions"]}
