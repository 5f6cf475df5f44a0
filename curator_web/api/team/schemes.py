"""The JSON API of labelling schemes."""

from typing import Any

from flask.views import MethodView
from marshmallow import Schema, fields, validate

from curator_web.access.accounts import lead
from curator_web.access.services import services
from curator_web.api.bodies import Blueprint
from curator_web.api.review.demonstrations import NOT_ALLOWED
from curator_web.db.models.scheme_models import SOURCE_LENGTH
from curator_web.demonstrations.schemes import known, measuring, prelabels, versions
from pipeline.labelling.scheme_files import MAX_CHARACTERS
from schemas.formats.parts import Strict
from schemas.formats.scheme import PrelabelSchema, QuestionSchema

from .projects import NOT_FOUND

blueprint = Blueprint("schemes_api", __name__, url_prefix="/api", description="Labelling schemes")


class SchemeSourceSchema(Strict):
    """A scheme to be."""

    source = fields.String(required=True, validate=validate.Length(1, MAX_CHARACTERS),
                           metadata={"description": "YAML or JSON"})


class SchemeVersionSchema(Schema):
    """The scheme in force."""

    number = fields.Integer(required=True, metadata={"description": "version number; 0 without a scheme"})
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


class NewPrelabelsSchema(Strict):
    """Suggested answers of a model or a file."""

    source = fields.String(required=True, validate=validate.Length(1, SOURCE_LENGTH),
                           metadata={"description": "what annotators read as their origin"})
    prelabels = fields.List(fields.Nested(PrelabelSchema), required=True,
                            validate=validate.Length(1, prelabels.MAX_PRELABELS))


class CountSchema(Schema):
    """How many there were."""

    count = fields.Integer(required=True)


class ScoreSchema(Schema):
    """Answers that were compared with known ones."""

    compared = fields.Integer(required=True)
    equal = fields.Integer(required=True)


class AnnotatorReportSchema(Schema):
    """The answers of one person to what is known."""

    who = fields.String(required=True)
    total = fields.Nested(ScoreSchema, required=True)
    by_question = fields.Dict(keys=fields.String(), values=fields.Nested(ScoreSchema), required=True)


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


@blueprint.put("/projects/<project>/prelabels")
@blueprint.arguments(NewPrelabelsSchema)
@blueprint.response(200, CountSchema)
@blueprint.alt_response(403, **NOT_ALLOWED)
@blueprint.alt_response(404, **NOT_FOUND)
def save_prelabels(body: dict[str, Any], project: str) -> dict[str, int]:
    """Suggest answers to annotators: all of them or, if one is invalid, none; only for leads of the project"""
    return {"count": prelabels.save_prelabels(services().db, body["source"], body["prelabels"], lead())}


@blueprint.get("/projects/<project>/known-answers")
@blueprint.response(200, AnnotatorReportSchema(many=True))
@blueprint.alt_response(403, **NOT_ALLOWED)
@blueprint.alt_response(404, **NOT_FOUND)
def known_answers(project: str) -> list[known.AnnotatorReport]:
    """How often each annotator answered as is known; only for leads of the project"""
    lead()
    return known.report(services().db, project)


@blueprint.route("/demonstrations/<demonstration_id>/known-answers")
class KnownAnswers(MethodView):
    """The known answers about a demonstration."""

    @blueprint.response(200, CountSchema)
    @blueprint.alt_response(403, **NOT_ALLOWED)
    @blueprint.alt_response(404, **NOT_FOUND)
    def post(self, demonstration_id: str) -> dict[str, int]:
        """Have your answers be the known ones, hidden from annotators; only for leads"""
        return {"count": known.make_known(services().db, demonstration_id, lead())}

    @blueprint.response(204)
    @blueprint.alt_response(403, **NOT_ALLOWED)
    @blueprint.alt_response(404, **NOT_FOUND)
    def delete(self, demonstration_id: str) -> None:
        """Have it no known answers; only for leads"""
        known.forget_known(services().db, demonstration_id, lead())


def _answer(project: str) -> dict[str, Any]:
    newest = next(iter(versions.versions(services().db, project)), None)
    if newest is None:
        return {"number": 0, "source": "", "questions": []}
    return {"number": newest.number, "source": newest.source, "questions": newest.content["questions"]}
