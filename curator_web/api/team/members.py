"""The JSON API of the work in a team: the queue, assigning, comments, the history of a demonstration."""

from typing import Any

from flask import jsonify, make_response
from flask.views import MethodView
from marshmallow import RAISE, Schema, ValidationError, fields, validate, validates_schema

from curator_web.access.accounts import account
from curator_web.access.services import services
from curator_web.api.bodies import Blueprint
from curator_web.api.review.demonstrations import (
    IN_PROJECT,
    NO_PROJECT,
    NOT_ALLOWED,
    NOT_FOUND,
    SoughtSchema,
    SummarySchema,
)
from curator_web.api.work.jobs import JobSchema
from curator_web.db.models.core import COMMENT_KINDS, STATUSES
from curator_web.demonstrations.leases import leases
from curator_web.demonstrations.listing import comments, deleting, moving
from curator_web.demonstrations.listing.listing import exact_filter
from curator_web.demonstrations.workflow import bulk, workflow
from curator_web.jobs import bulk_changes
from schemas.formats.parts import Strict

blueprint = Blueprint("team_api", __name__, url_prefix="/api", description="Working in a team")
IN_BACKGROUND: dict[str, Any] = {"schema": JobSchema, "description": "The change of this number of demonstrations "
                                                                     "runs in the background."}
ANOTHER_NUMBER = {"description": "The filter now matches another number of demonstrations; nothing was changed."}


class NextSchema(Strict):
    """What is left for another demonstration."""

    after = fields.String(load_default=None, allow_none=True, metadata={
        "description": "id of the demonstration that is left; its lease ends"})


class HandedOutSchema(Schema):
    """What is to be done next."""

    demonstration = fields.Nested(SummarySchema, required=True, allow_none=True,
                                  metadata={"description": "null: nothing is waiting"})


class ChosenSchema(Strict):
    """Which demonstrations: some by their ids, or all that are found."""

    ids = fields.List(fields.String(), validate=validate.Length(1, leases.ASSIGN_LIMIT))
    found = fields.Nested(SoughtSchema(unknown=RAISE), metadata={
        "description": "in place of `ids`: all that the list finds by these; `{}`: all of the project. Only for leads"})
    count = fields.Integer(strict=True, validate=validate.Range(1), metadata={
        "description": "with `found`: how many are meant; where it is another number by then, nothing is changed"})

    @validates_schema
    def one_of_them(self, body: dict[str, Any], **_: Any) -> None:
        """Refuse what names none, or both."""
        if ("ids" in body) == ("found" in body) or ("found" in body) != ("count" in body):
            raise ValidationError("pass either `ids`, or `found` and `count`")


class AssignmentSchema(ChosenSchema):
    """Who gets which demonstrations."""

    to = fields.String(required=True, allow_none=True, metadata={"description": "a user's name; null: nobody"})


class RefusedSchema(Schema):
    """A demonstration that could not be changed."""

    id = fields.String(required=True)
    reason = fields.String(required=True)


class ChangedSchema(Schema):
    """What changing several did."""

    changed = fields.Integer(required=True)
    refused = fields.Integer(metadata={"description": "where each is changed by itself: how many could not be"})
    first = fields.List(fields.Nested(RefusedSchema), metadata={
        "description": f"the first {bulk.FIRST} of these"})


class MoveSchema(ChosenSchema):
    """Which demonstrations go to which project."""

    to = fields.String(required=True, metadata={"description": "the project's id"})


class DeletionSchema(Strict):
    """Which demonstrations are deleted."""

    ids = fields.List(fields.String(), required=True, validate=validate.Length(1, leases.ASSIGN_LIMIT))


class BatchSchema(Schema):
    """What was deleted at once."""

    batch = fields.String(required=True, metadata={"description": "what restores it"})


class RestoredSchema(Schema):
    """How many demonstrations came back."""

    restored = fields.Integer(required=True)


class DecisionSchema(ChosenSchema):
    """Which demonstrations get which status."""

    status = fields.String(required=True, validate=validate.OneOf(STATUSES))
    reason = fields.String(load_default="", metadata={"description": "needed for `returned` and `invalid`"})


class NewCommentSchema(Strict):
    """Something to say."""

    text = fields.String(required=True)
    turn = fields.String(load_default=None, allow_none=True, metadata={"description": "null: the whole demonstration"})
    kind = fields.String(load_default="comment", validate=validate.OneOf(COMMENT_KINDS),
                         metadata={"description": "a `question` goes to who recorded it"})
    answers = fields.Integer(load_default=None, allow_none=True, strict=True, validate=validate.Range(1, 2**31 - 1),
                             metadata={"description": "id of the comment that this answers"})


class CommentSchema(Schema):
    """What somebody said."""

    id = fields.Integer(required=True)
    turn = fields.String(required=True, allow_none=True)
    kind = fields.String(required=True)
    text = fields.String(required=True)
    who = fields.String(required=True)
    made_at = fields.AwareDateTime(required=True)
    answers = fields.Integer(required=True, allow_none=True)
    resolved_by = fields.String(required=True, allow_none=True)
    resolved_at = fields.AwareDateTime(required=True, allow_none=True)


class StatusChangeSchema(Schema):
    """A step on the demonstration's way."""

    number = fields.Integer(required=True)
    status = fields.String(required=True, validate=validate.OneOf(STATUSES))
    reason = fields.String(required=True)
    who = fields.String(required=True)
    made_at = fields.AwareDateTime(required=True)


@blueprint.post("/next")
@blueprint.doc(**IN_PROJECT)
@blueprint.alt_response(404, **NO_PROJECT)
@blueprint.arguments(NextSchema)
@blueprint.response(200, HandedOutSchema)
def next_(body: dict[str, Any]) -> dict[str, Any]:
    """Hand out the next demonstration, with a lease that edits renew"""
    return {"demonstration": leases.take_next(services().db, account(), body["after"])}


@blueprint.post("/assignments")
@blueprint.doc(**IN_PROJECT)
@blueprint.arguments(AssignmentSchema)
@blueprint.response(200, ChangedSchema)
@blueprint.alt_response(202, **IN_BACKGROUND)
@blueprint.alt_response(403, **NOT_ALLOWED)
@blueprint.alt_response(404, **NOT_FOUND)
@blueprint.alt_response(409, **ANOTHER_NUMBER)
def assign(body: dict[str, Any]) -> Any:
    """Assign demonstrations to a user; only a lead may"""
    if "found" in body:
        return _change_matching(bulk.Change(bulk.ASSIGN, body["to"]), body)
    return {"changed": leases.assign(services().db, body["ids"], body["to"], account())}


@blueprint.post("/moves")
@blueprint.doc(**IN_PROJECT)
@blueprint.arguments(MoveSchema)
@blueprint.response(200, ChangedSchema)
@blueprint.alt_response(202, **IN_BACKGROUND)
@blueprint.alt_response(403, **NOT_ALLOWED)
@blueprint.alt_response(404, **NOT_FOUND)
@blueprint.alt_response(409, **ANOTHER_NUMBER)
def move(body: dict[str, Any]) -> Any:
    """Move demonstrations to another project; only who leads both may"""
    if "found" in body:
        return _change_matching(bulk.Change(bulk.MOVE, body["to"]), body)
    return {"changed": moving.move(services().db, body["ids"], body["to"], account())}


@blueprint.post("/deletions")
@blueprint.doc(**IN_PROJECT)
@blueprint.arguments(DeletionSchema)
@blueprint.response(201, BatchSchema)
@blueprint.alt_response(403, **NOT_ALLOWED)
@blueprint.alt_response(404, **NOT_FOUND)
def delete(body: dict[str, Any]) -> dict[str, Any]:
    """Delete demonstrations; they can be restored. Only a lead may"""
    return {"batch": deleting.delete(services().db, body["ids"], account())}


@blueprint.post("/demonstrations/<demonstration_id>/withdrawal")
@blueprint.response(201, BatchSchema)
@blueprint.alt_response(403, **NOT_ALLOWED)
@blueprint.alt_response(404, **NOT_FOUND)
@blueprint.alt_response(409, description="It is locked by another user.")
def withdraw(demonstration_id: str) -> dict[str, Any]:
    """Withdraw what you recorded, while it is a draft or submitted; a lead can restore it"""
    return {"batch": deleting.withdraw(services().db, demonstration_id, account())}


@blueprint.post("/deletions/<batch>/restore")
@blueprint.response(200, RestoredSchema)
@blueprint.alt_response(403, **NOT_ALLOWED)
@blueprint.alt_response(404, description="Unknown deletion.")
def restore(batch: str) -> dict[str, Any]:
    """Restore what was deleted at once; only a lead may"""
    return {"restored": deleting.restore(services().db, batch, account())}


@blueprint.post("/statuses")
@blueprint.doc(**IN_PROJECT)
@blueprint.arguments(DecisionSchema)
@blueprint.response(200, ChangedSchema)
@blueprint.alt_response(202, **IN_BACKGROUND)
@blueprint.alt_response(403, **NOT_ALLOWED)
@blueprint.alt_response(404, **NO_PROJECT)
@blueprint.alt_response(409, **ANOTHER_NUMBER)
def statuses(body: dict[str, Any]) -> Any:
    """Change the status of demonstrations as they are now, each by itself"""
    change = bulk.Change(bulk.STATUS, body["status"], body["reason"])
    if "found" in body:
        return _change_matching(change, body)
    return bulk.change_one_by_one(services().db, change, body["ids"], account())


def _change_matching(change: bulk.Change, body: dict[str, Any]) -> Any:
    outcome = bulk_changes.begin(services().db, services().jobs, change, exact_filter(body["found"]), body["count"],
                                 account())
    if isinstance(outcome, int):
        return make_response(jsonify(JobSchema().dump(services().jobs.get(outcome))), 202)
    return outcome


@blueprint.route("/demonstrations/<demonstration_id>/comments")
class Comments(MethodView):
    """What is said about a demonstration."""

    @blueprint.response(200, CommentSchema(many=True))
    @blueprint.alt_response(404, **NOT_FOUND)
    def get(self, demonstration_id: str):
        """All comments, each followed by its answers"""
        return comments.comments_of(services().db, demonstration_id)

    @blueprint.arguments(NewCommentSchema)
    @blueprint.response(201, CommentSchema)
    @blueprint.alt_response(404, **NOT_FOUND)
    def post(self, body: dict[str, Any], demonstration_id: str):
        """Say something, ask who recorded it, or answer"""
        return comments.add_comment(services().db, demonstration_id, account(), **body)


@blueprint.post("/comments/<int:comment_id>/resolve")
@blueprint.response(200, CommentSchema)
@blueprint.alt_response(403, **NOT_ALLOWED)
@blueprint.alt_response(404, **NOT_FOUND)
def resolve(comment_id: int):
    """Mark a comment as dealt with"""
    return comments.resolve(services().db, comment_id, account())


@blueprint.get("/demonstrations/<demonstration_id>/history")
@blueprint.response(200, StatusChangeSchema(many=True))
@blueprint.alt_response(404, **NOT_FOUND)
def history(demonstration_id: str):
    """Every change of status, with who and when"""
    return workflow.history(services().db, demonstration_id)
