"""The JSON API of judges: a sample that people label without seeing verdicts, and agreement with judges."""

from typing import Any

from flask.views import MethodView
from marshmallow import Schema, fields, validate

from curator_web.access.accounts import account, lead
from curator_web.access.services import services
from curator_web.api.bodies import Blueprint
from curator_web.api.review.demonstrations import DAMAGED, IN_PROJECT, NO_PROJECT, NOT_ALLOWED, NOT_FOUND
from pipeline.judging.judgements import JudgementSchema
from schemas.formats.parts import Strict

from . import labelling, verdicts

blueprint = Blueprint("judging_api", __name__, url_prefix="/api/judging", description="Judges compared with people")
CLOSED = {"description": "You labelled it and can no longer change the label."}
SHARE = {"description": "from 0 to 1; null where there is nothing to tell"}


class StandingSchema(Schema):
    """How far you are with labelling."""

    drawn = fields.Integer(required=True, metadata={"description": "how many are handed out to you"})
    labelled = fields.Integer(required=True)
    given_up = fields.Integer(required=True, metadata={"description": "to see what others say of them"})
    left = fields.Integer(required=True)
    last = fields.String(required=True, allow_none=True, metadata={
        "description": "id of the one whose label you may still change"})
    people = fields.Function(lambda progress: dict(progress.people), metadata={
        "type": "object", "additionalProperties": {"type": "integer"},
        "description": "for leads: who has labelled how many"})


class ToDrawSchema(Strict):
    """How many more are drawn."""

    count = fields.Integer(required=True, strict=True, validate=validate.Range(1, labelling.DRAW_LIMIT))
    seed = fields.Integer(load_default=0, strict=True,
                          validate=validate.Range(-labelling.SEED_LIMIT, labelling.SEED_LIMIT))


class DrawnSchema(Schema):
    """How many there were."""

    drawn = fields.Integer(required=True)


class ToLabelSchema(Schema):
    """What you are asked about, as a judge is."""

    id = fields.String(required=True)
    recording = fields.String(required=True)
    task = fields.String(required=True)
    answer = fields.String(required=True, metadata={"description": "what the navigator said last, or empty"})
    screenshots = fields.List(fields.String(), required=True, metadata={
        "description": "the oldest first; /blobs/RECORDING/NAME serves each"})


class NextToLabelSchema(Schema):
    """The next one to label; null where all is done."""

    demonstration = fields.Nested(ToLabelSchema, required=True, allow_none=True)


class AfterSchema(Schema):
    """Where to go on."""

    after = fields.String(load_default=None, metadata={"description": "id of the one that you leave for later"})
    project = fields.String(metadata={"description": "where you are in several: of which"})


class SaidSchema(Strict):
    """What you say of one."""

    done = fields.Boolean(required=True, truthy={True}, falsy={False},
                          metadata={"description": "whether the task was done"})


class VerdictsSchema(Strict):
    """Lines that `demotape judge --out` wrote."""

    verdicts = fields.List(fields.Nested(JudgementSchema), required=True,
                           validate=validate.Length(1, verdicts.AT_ONCE))


class AcceptedVerdictsSchema(Schema):
    """What came of them."""

    new = fields.Integer(required=True)
    replaced = fields.Integer(required=True)
    strangers = fields.Integer(required=True, metadata={"description": "of no recording in the project: left out"})


class ToShowSchema(Strict):
    """What you see from now on."""

    everything = fields.Boolean(load_default=False, truthy={True}, falsy={False}, metadata={
        "description": "also what you have not labelled, which you give up labelling"})


class ShownSchema(Schema):
    """Of how many that is new."""

    changed = fields.Integer(required=True)


class JudgeSchema(Schema):
    """A judge on what you may see. `confusion`: what people say, what the judge says, how often."""

    judge = fields.String(required=True)
    host = fields.String(required=True)
    verdicts = fields.Integer(required=True, metadata={"description": "in all, as are seconds and tokens"})
    seconds = fields.Float(required=True)
    prompt_tokens = fields.Integer(required=True, allow_none=True)
    completion_tokens = fields.Integer(required=True, allow_none=True)
    labelled = fields.Integer(required=True, metadata={"description": "judged, and labelled by people"})
    agreement = fields.Float(required=True, allow_none=True, metadata=SHARE)
    kappa = fields.Float(required=True, allow_none=True, metadata={"description": "Cohen's"})
    low = fields.Float(required=True, allow_none=True, metadata={"description": "95 % interval of kappa"})
    high = fields.Float(required=True, allow_none=True)
    confusion = fields.Dict(keys=fields.String(), values=fields.Dict(keys=fields.String(), values=fields.Integer()),
                            required=True)


class PeopleSchema(Schema):
    """How far people agree among themselves, each two of the same demonstration."""

    items = fields.Integer(required=True, attribute="measured.items")
    agreement = fields.Float(required=True, allow_none=True, attribute="measured.agreement", metadata=SHARE)
    kappa = fields.Float(required=True, allow_none=True, attribute="measured.kappa")
    low = fields.Float(required=True, allow_none=True)
    high = fields.Float(required=True, allow_none=True)


class DisagreementSchema(Schema):
    """Where a judge says otherwise than most people."""

    id = fields.String(required=True)
    judge = fields.String(required=True)
    host = fields.String(required=True)
    verdict = fields.String(required=True)
    reason = fields.String(required=True)
    done = fields.Integer(required=True, metadata={"description": "people who say that it was done"})
    not_done = fields.Integer(required=True)


class ByMostSchema(Schema):
    """What most people say."""

    id = fields.String(required=True)
    success = fields.Boolean(required=True)


class ResultsSchema(Schema):
    """Judges held against people, on what you may see of both."""

    open = fields.Integer(required=True, metadata={"description": "demonstrations that you may see it of"})
    ties = fields.Integer(required=True, metadata={"description": "as many say one as the other: counted for nothing"})
    judges = fields.List(fields.Nested(JudgeSchema), required=True)
    people = fields.Nested(PeopleSchema, required=True, allow_none=True)
    labels = fields.List(fields.Nested(ByMostSchema), required=True)
    disagreeing = fields.Integer(required=True)
    disagreements = fields.List(fields.Nested(DisagreementSchema), required=True, metadata={
        "description": f"the first {verdicts.SHOWN}"})


@blueprint.get("")
@blueprint.doc(**IN_PROJECT)
@blueprint.response(200, StandingSchema)
@blueprint.alt_response(404, **NO_PROJECT)
def standing() -> labelling.LabellingProgress:
    """How far you are with labelling"""
    return labelling.labelling_progress(services().db, account())


@blueprint.post("/sample")
@blueprint.doc(**IN_PROJECT)
@blueprint.arguments(ToDrawSchema)
@blueprint.response(200, DrawnSchema)
@blueprint.alt_response(403, **NOT_ALLOWED)
@blueprint.alt_response(404, **NO_PROJECT)
def draw(body: dict[str, Any]) -> dict[str, Any]:
    """Draw demonstrations more for people to label; only for leads"""
    return {"drawn": labelling.draw(services().db, body["count"], body["seed"], lead())}


@blueprint.get("/next")
@blueprint.arguments(AfterSchema, location="query")
@blueprint.response(200, NextToLabelSchema)
@blueprint.alt_response(404, **NO_PROJECT)
@blueprint.alt_response(409, **DAMAGED)
def following(body: dict[str, Any]) -> dict[str, Any]:
    """What you label next"""
    name = labelling.following(services().db, account(), body["after"])
    return {"demonstration": labelling.labelling_question(services().db, services().store, name, account()) if name
            else None}


@blueprint.put("/labels/<demonstration_id>")
@blueprint.arguments(SaidSchema)
@blueprint.response(204)
@blueprint.alt_response(404, **NOT_FOUND)
@blueprint.alt_response(409, **CLOSED)
def label(body: dict[str, Any], demonstration_id: str) -> None:
    """Say whether the task was done, or change what you said last"""
    labelling.label(services().db, demonstration_id, body["done"], account())


@blueprint.post("/verdicts")
@blueprint.doc(**IN_PROJECT)
@blueprint.arguments(VerdictsSchema)
@blueprint.response(200, AcceptedVerdictsSchema)
@blueprint.alt_response(403, **NOT_ALLOWED)
@blueprint.alt_response(404, **NO_PROJECT)
def take(body: dict[str, Any]) -> verdicts.AcceptedVerdicts:
    """Keep what judges said, instead of what each said of the same before; only for leads"""
    return verdicts.store_verdicts(services().db, body["verdicts"], lead())


@blueprint.route("/results")
class Results(MethodView):
    """Judges held against people."""

    @blueprint.doc(**IN_PROJECT)
    @blueprint.response(200, ResultsSchema)
    @blueprint.alt_response(403, **NOT_ALLOWED)
    @blueprint.alt_response(404, **NO_PROJECT)
    def get(self) -> dict[str, Any]:
        """Figures, labels and disagreements, on what you may see; only for leads"""
        results = verdicts.results(services().db, lead())
        return vars(results) | {"judges": [vars(figures) | vars(judge) for judge, figures in results.figures],
                                "labels": [{"id": name, "success": done} for name, done in results.labels.items()]}

    @blueprint.doc(**IN_PROJECT)
    @blueprint.arguments(ToShowSchema)
    @blueprint.response(200, ShownSchema)
    @blueprint.alt_response(403, **NOT_ALLOWED)
    @blueprint.alt_response(404, **NO_PROJECT)
    def post(self, body: dict[str, Any]) -> dict[str, Any]:
        """See what others say of all that you labelled, from now on; only for leads"""
        return {"changed": labelling.show(services().db, lead(), body["everything"])}
