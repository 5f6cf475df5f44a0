"""The JSON API of pairs: what two people annotate, and how far they agree."""

from typing import Any

from flask.views import MethodView
from marshmallow import Schema, fields, validate

from curator_web.access.accounts import account, lead
from curator_web.access.services import services
from curator_web.api.bodies import Blueprint
from curator_web.api.review.demonstrations import IN_PROJECT, NO_PROJECT, NOT_ALLOWED
from curator_web.db.models.pair_models import OUTCOMES
from curator_web.demonstrations.leases import leases
from curator_web.demonstrations.library import pairs
from curator_web.demonstrations.measuring.agreement import agreement
from curator_web.demonstrations.workflow import pairing
from schemas.formats.parts import Strict

blueprint = Blueprint("pairs_api", __name__, url_prefix="/api", description="Double annotation")


class PairSchema(Schema):
    """A pair: an original, and the copy that a second person annotates."""

    original = fields.String(required=True, attribute="pair.original")
    copy = fields.String(required=True, attribute="pair.copy")
    state = fields.String(required=True, validate=validate.OneOf(pairs.STATES), metadata={
        "description": f"{', '.join(OUTCOMES)}: it is done"})
    made_by = fields.String(required=True, attribute="pair.made_by")
    made_at = fields.AwareDateTime(required=True, attribute="pair.made_at")
    ended_by = fields.String(required=True, allow_none=True, attribute="pair.ended_by")


class PairsSchema(Schema):
    """The latest pairs that one has to do with."""

    pairs = fields.List(fields.Nested(PairSchema), required=True)


class ToPairSchema(Strict):
    """Which demonstrations two people annotate from now on."""

    ids = fields.List(fields.String(), required=True, validate=validate.Length(1, leases.ASSIGN_LIMIT))


class PairedSchema(Schema):
    """Of how many that is new."""

    paired = fields.Integer(required=True)


class ReliabilitySchema(Schema):
    """How far two people agree on one thing, from what each submitted on their own."""

    what = fields.String(required=True, metadata={
        "description": "`intent`, `target` or `dropped` of turns, or a label as `turn: NAME` or `demonstration: NAME`"})
    items = fields.Integer(required=True, attribute="measured.items")
    agreement = fields.Float(required=True, allow_none=True, attribute="measured.agreement", metadata={
        "description": "share of items of which both said the same, from 0 to 1"})
    kappa = fields.Float(required=True, allow_none=True, attribute="measured.kappa", metadata={
        "description": "Cohen's kappa; null where chance explains everything"})
    alpha = fields.Float(required=True, allow_none=True, attribute="measured.alpha", metadata={
        "description": "Krippendorff's alpha, of numbers on the interval scale"})
    low = fields.Float(required=True, allow_none=True, attribute="measured.low", metadata={
        "description": "95 % interval of alpha, by a bootstrap over demonstrations"})
    high = fields.Float(required=True, allow_none=True, attribute="measured.high")


class AgreementSchema(Schema):
    """Of all pairs in which both have submitted."""

    pairs = fields.Integer(required=True)
    rows = fields.List(fields.Nested(ReliabilitySchema), required=True)


@blueprint.route("/pairs")
class Pairs(MethodView):
    """What two people annotate."""

    @blueprint.doc(**IN_PROJECT)
    @blueprint.response(200, PairsSchema)
    @blueprint.alt_response(404, **NO_PROJECT)
    def get(self) -> dict[str, Any]:
        """The latest pairs: a lead's are all, others' those that they annotate or compare"""
        return {"pairs": pairing.listed(services().db, account())}

    @blueprint.doc(**IN_PROJECT)
    @blueprint.alt_response(404, **NO_PROJECT)
    @blueprint.arguments(ToPairSchema)
    @blueprint.response(200, PairedSchema)
    @blueprint.alt_response(403, **NOT_ALLOWED)
    def post(self, body: dict[str, Any]) -> dict[str, Any]:
        """Have demonstrations annotated by two people, all or none; only for leads"""
        return {"paired": pairing.choose(services().db, body["ids"], lead())}


@blueprint.get("/agreement")
@blueprint.doc(**IN_PROJECT)
@blueprint.response(200, AgreementSchema)
@blueprint.alt_response(403, **NOT_ALLOWED)
@blueprint.alt_response(404, **NO_PROJECT)
def measured():
    """How far two people who annotate on their own agree; only for leads"""
    return agreement(services().db, lead().project)
