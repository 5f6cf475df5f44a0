"""The JSON API of outcome checks: reading, changing and proposing them, and trying them on the sessions of the task."""

from typing import Any

from flask.views import MethodView
from marshmallow import Schema, fields

from curator_web.access.accounts import account
from curator_web.access.services import services
from curator_web.api.bodies import Blueprint
from curator_web.api.work.jobs import JobSchema
from curator_web.demonstrations.library import library
from curator_web.demonstrations.workflow import outcomes, workflow
from curator_web.errors import NotFound
from curator_web.jobs import outcome_trials
from schemas.formats.outcome import OutcomeCheckSchema, OutcomeSchema
from schemas.formats.parts import Strict

from .demonstrations import DAMAGED, NOT_ALLOWED, NOT_FOUND, STALE, VersionSchema

blueprint = Blueprint("outcomes_api", __name__, url_prefix="/api", description="Outcome checks")


class OutcomeNowSchema(Schema):
    """The outcome checks of a demonstration as they are now."""

    version = fields.Integer(required=True, metadata={"description": "of the demonstration"})
    outcome = fields.Nested(OutcomeSchema, required=True, allow_none=True, metadata={
        "description": "as outcome.json has them; null: there are none"})


class NewOutcomeSchema(Strict):
    """Other checks, and the version of the demonstration that they were written on."""

    version = fields.Integer(required=True, strict=True)
    outcome = fields.Nested(OutcomeSchema, required=True, allow_none=True)


class OutcomeProposalsSchema(Schema):
    """Outcome checks that a session suggests, the surest first."""

    checks = fields.List(fields.Nested(OutcomeCheckSchema), required=True)


class TriedCheckSchema(Schema):
    """What came of a check."""

    holds = fields.Boolean(required=True, allow_none=True, metadata={"description": "null: it is not decided"})
    reason = fields.String(required=True, metadata={"description": "why it does not hold, or is not decided"})


class TriedSchema(Schema):
    """What the checks say of a session of the task."""

    id = fields.String(required=True, metadata={"description": "of the demonstration"})
    actor = fields.String(metadata={"description": "`person`, `agent`, `script`, or empty where that is not told"})
    agent = fields.String(metadata={"description": "its name and version"})
    holds = fields.Boolean(allow_none=True)
    score = fields.Float(allow_none=True, metadata={"description": "1: all hold; 0: one does not; null: not decided"})
    reached = fields.Float(allow_none=True, metadata={
        "description": "the share of the checkpoints that were reached in order; null without any"})
    checks = fields.List(fields.Nested(TriedCheckSchema))
    shown = fields.String(allow_none=True, metadata={"description": "blob: the picture of the last state"})
    failed = fields.String(metadata={"description": "why they could not be tried; then nothing else is told"})


class TrialSchema(Schema):
    """What came of trying the checks of a demonstration."""

    outcome = fields.Nested(OutcomeSchema, required=True, metadata={"description": "the checks as they were tried"})
    rows = fields.List(fields.Nested(TriedSchema), required=True)


@blueprint.route("/demonstrations/<demonstration_id>/outcome")
class OneOutcome(MethodView):
    """The outcome checks of a demonstration."""

    @blueprint.response(200, OutcomeNowSchema)
    @blueprint.alt_response(404, **NOT_FOUND)
    @blueprint.alt_response(409, **DAMAGED)
    def get(self, demonstration_id: str) -> dict[str, Any]:
        """What makes the task done"""
        review = library.review(services().db, demonstration_id)
        return {"version": review.row.version, "outcome": review.outcome}

    @blueprint.arguments(NewOutcomeSchema)
    @blueprint.response(200, VersionSchema)
    @blueprint.alt_response(404, **NOT_FOUND)
    @blueprint.alt_response(403, **NOT_ALLOWED)
    @blueprint.alt_response(409, **STALE)
    def put(self, new: dict[str, Any], demonstration_id: str) -> dict[str, Any]:
        """Write other checks, or none; one that does not hold at the recorded end, or holds at the start, is refused"""
        review = library.review(services().db, demonstration_id)
        change = {"op": "set_outcome", "outcome": new["outcome"]}
        return {"version": workflow.edit(services().db, services().store, demonstration_id, change, new["version"],
                                         account(), known=review).version}


@blueprint.get("/demonstrations/<demonstration_id>/outcome/proposals")
@blueprint.response(200, OutcomeProposalsSchema)
@blueprint.alt_response(404, **NOT_FOUND)
@blueprint.alt_response(409, **DAMAGED)
def proposals(demonstration_id: str) -> dict[str, Any]:
    """Checks that the session suggests, from what it changed; none of them is kept by that"""
    return {"checks": outcomes.propose(services().store, library.review(services().db, demonstration_id))}


@blueprint.route("/demonstrations/<demonstration_id>/outcome/trial")
class Trial(MethodView):
    """Trying the checks on every session of the same task in the project."""

    @blueprint.response(200, TrialSchema)
    @blueprint.alt_response(404, description="Unknown demonstration, or its checks were not tried.")
    def get(self, demonstration_id: str) -> dict[str, Any]:
        """What came of the last time that they were tried"""
        library.listed(services().db, demonstration_id)
        job = outcome_trials.latest(services().db, demonstration_id)
        if job is None or not job.result:
            raise NotFound("the outcome checks of this demonstration were not tried")
        visible = outcomes.visible_rows(services().db, [row["id"] for row in job.result["rows"]], account())
        return {"outcome": job.result["outcome"], "rows": [row for row in job.result["rows"] if row["id"] in visible]}

    @blueprint.response(202, JobSchema)
    @blueprint.alt_response(404, **NOT_FOUND)
    @blueprint.alt_response(409, **DAMAGED)
    def post(self, demonstration_id: str):
        """Try them; the job tells how far that is"""
        return outcome_trials.begin(services().db, services().jobs, demonstration_id, account())
