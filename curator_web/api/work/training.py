"""The JSON API of training: demonstrations with a known answer, and how far annotators are with them."""

from typing import Any

from flask.views import MethodView
from marshmallow import Schema, fields, validate

from curator_web.access.accounts import account, lead
from curator_web.access.services import services
from curator_web.api.bodies import Blueprint
from curator_web.api.review.demonstrations import DAMAGED, IN_PROJECT, NO_PROJECT, NOT_ALLOWED, NOT_FOUND
from curator_web.demonstrations.leases import leases, training_attempts
from curator_web.demonstrations.measuring import differences
from curator_web.demonstrations.workflow import training
from schemas.formats.parts import Strict

from .pairs import ReliabilitySchema

blueprint = Blueprint("training_api", __name__, url_prefix="/api", description="Training")
SHARE = {"description": "share of the points that are as in the known answer, from 0 to 1"}


class AnswerSchema(Schema):
    """What an annotator answered."""

    id = fields.String(required=True, attribute="copy")
    original = fields.String(required=True)
    agreed = fields.Integer(required=True)
    points = fields.Integer(required=True, metadata={
        "description": "labels, dropped turns, intents and targets that the known answer or the annotator has "
                       "otherwise than as recorded"})
    submitted_at = fields.AwareDateTime(required=True)


class TraineeSchema(Schema):
    """How far an annotator is."""

    who = fields.String(required=True)
    state = fields.String(required=True, validate=validate.OneOf(training.STATES), metadata={
        "description": "`below`: all is done, and the share is below the pass mark; `nothing`: there is nothing to do"})
    done = fields.Function(lambda trainee: len(trainee.standing.answers), metadata={"type": "integer"})
    of = fields.Function(lambda trainee: len(trainee.standing.due), metadata={"type": "integer"})
    share = fields.Float(required=True, allow_none=True, attribute="standing.share", metadata=SHARE)
    answers = fields.List(fields.Nested(AnswerSchema), required=True, attribute="standing.answers")
    rows = fields.List(fields.Nested(ReliabilitySchema), required=True, metadata={
        "description": "how far all their answers agree with the known ones"})


class TrainingSchema(Schema):
    """The training of a project."""

    first = fields.Boolean(required=True, metadata={"description": "whether it comes before all other work"})
    mark = fields.Float(required=True, metadata={"description": "from which share on it is passed"})
    demonstrations = fields.Function(lambda project_training: [row.id for row in project_training.demonstrations],
                                     metadata={
        "type": "array", "items": {"type": "string"}, "description": "ids; told to leads only"})
    people = fields.List(fields.Nested(TraineeSchema), required=True)


class ToTrainSchema(Strict):
    """Which demonstrations are training from now on, or no more."""

    ids = fields.List(fields.String(), required=True, validate=validate.Length(1, leases.ASSIGN_LIMIT))
    training = fields.Boolean(load_default=True, metadata={"description": "false: no more"})


class ChosenSchema(Schema):
    """Of how many that is new."""

    changed = fields.Integer(required=True)


class TrainingDecisionSchema(Strict):
    """What a lead decides about an annotator."""

    who = fields.String(required=True)
    decision = fields.String(required=True, validate=validate.OneOf(training.DECISIONS), metadata={
        "description": "`again`: their answers count no more; `through`: they need not pass"})


class DifferenceSchema(Schema):
    """What differs. `known`, `given`: what the two have there, null for nothing."""

    what = fields.String(required=True)
    turn = fields.String(required=True, allow_none=True)
    name = fields.String(required=True, metadata={"description": "of the label"})
    counts = fields.Boolean(required=True, metadata={"description": "whether it is one of the points"})
    known = fields.Raw(required=True, allow_none=True)
    given = fields.Raw(required=True, allow_none=True)


class ComparedSchema(AnswerSchema):
    """An answer beside the known one."""

    who = fields.String(required=True)
    differences = fields.List(fields.Nested(DifferenceSchema), required=True)


@blueprint.route("/training")
class Training(MethodView):
    """What new annotators do first."""

    @blueprint.doc(**IN_PROJECT)
    @blueprint.response(200, TrainingSchema)
    @blueprint.alt_response(404, **NO_PROJECT)
    def get(self) -> training.Overview:
        """How far annotators are: a lead's are all, others' themselves"""
        return training.overview(services().db, account())

    @blueprint.doc(**IN_PROJECT)
    @blueprint.arguments(ToTrainSchema)
    @blueprint.response(200, ChosenSchema)
    @blueprint.alt_response(403, **NOT_ALLOWED)
    @blueprint.alt_response(404, **NOT_FOUND)
    def post(self, body: dict[str, Any]) -> dict[str, Any]:
        """Have settled demonstrations be training, all or none, or no more; only for leads"""
        change = training.choose if body["training"] else training.take_out
        return {"changed": change(services().db, body["ids"], lead())}


@blueprint.post("/training/decisions")
@blueprint.doc(**IN_PROJECT)
@blueprint.arguments(TrainingDecisionSchema)
@blueprint.response(200, TrainingSchema)
@blueprint.alt_response(403, **NOT_ALLOWED)
@blueprint.alt_response(404, **NOT_FOUND)
def decide(body: dict[str, Any]) -> training.Overview:
    """Give an annotator the training again, or let them through; only for leads"""
    training.decide(services().db, body["who"], body["decision"], lead())
    return training.overview(services().db, account())


@blueprint.get("/demonstrations/<demonstration_id>/training")
@blueprint.response(200, ComparedSchema)
@blueprint.alt_response(404, **NOT_FOUND)
@blueprint.alt_response(409, **DAMAGED)
def compared(demonstration_id: str) -> dict[str, Any]:
    """An answer that was submitted, beside the known one"""
    comparison = training_attempts.compare(services().db, demonstration_id, account())
    difference_rows = [{"what": difference.what, "turn": difference.turn, "name": difference.name,
                        "known": difference.first, "given": difference.second,
                        "counts": differences.counts(difference, comparison.labels)}
                       for difference in comparison.differences]
    return {name: getattr(comparison.tried, name) for name in ("copy", "original", "who", "agreed", "points",
                                                               "submitted_at")} | {"differences": difference_rows}
