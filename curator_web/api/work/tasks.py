"""The JSON API of tasks: the bank of a project, decisions, and the next one for who records."""

import random
from typing import Any

from flask.views import MethodView
from marshmallow import Schema, fields, validate

from curator_web.access.accounts import account, lead
from curator_web.access.services import services
from curator_web.api.bodies import Blueprint
from curator_web.api.review.demonstrations import IN_PROJECT, NO_PROJECT, NOT_ALLOWED
from curator_web.db.models.task_models import ACCEPTED, CATEGORY_LENGTH, REFUSED, RETURNED, TASK_STATES
from curator_web.jobs import proposing_tasks
from curator_web.tasks import assignment, bank, coverage, proposing
from curator_web.users import project_settings
from schemas.formats.parts import Strict

from .jobs import JobSchema

blueprint = Blueprint("tasks_api", __name__, url_prefix="/api", description="Tasks")

NOT_FOUND = {"description": "Unknown task."}
NONE_LEFT = {"description": "No task is left for you."}


class StoredTaskSchema(Schema):
    """A task as it is kept."""

    id = fields.String(required=True)
    name = fields.Function(assignment.name_of, required=True, metadata={
        "type": "string", "description": "what a recording of it tells as provenance.task_id"})
    project = fields.String(required=True)
    state = fields.String(required=True, validate=validate.OneOf(TASK_STATES))
    text = fields.String(required=True)
    url = fields.String(required=True)
    site = fields.String(required=True)
    category = fields.String(required=True)
    difficulty = fields.String(required=True)
    answer = fields.String(required=True)
    unachievable = fields.String(required=True)
    wanted = fields.Integer(required=True)
    seed = fields.Boolean(required=True)
    alike = fields.List(fields.String(), required=True, metadata={
        "description": "tasks of its site that were nearly the same"})
    proposed_by = fields.String(required=True)
    made_at = fields.AwareDateTime(required=True)
    decided_by = fields.String(required=True, allow_none=True)
    reason = fields.String(required=True)


class ObjectionSchema(Schema):
    """Somebody who could not do a task."""

    who = fields.String(required=True)
    reason = fields.String(required=True)


class ListedTaskSchema(StoredTaskSchema):
    """A task with what became of it."""

    recorded = fields.Integer(required=True, metadata={"description": "demonstrations of it but invalid ones"})
    objections = fields.List(fields.Nested(ObjectionSchema), required=True, metadata={
        "description": "who said that it cannot be done, and why"})


class TaskPageSchema(Schema):
    """A page of tasks."""

    tasks = fields.List(fields.Nested(ListedTaskSchema), required=True)
    total = fields.Integer(required=True)


class NextTaskSchema(StoredTaskSchema):
    """A task to be recorded."""

    consent_prompt = fields.Function(
        lambda task: project_settings.read(services().db, task.project).consent_prompt, required=True, metadata={
            "type": "string", "enum": [*project_settings.CONSENT_PROMPTS],
            "description": "when the project requests consent: before each session, or once for each "
                           "named person"})


class SoughtSchema(Strict):
    """Which tasks are meant."""

    state = fields.String(load_default="", validate=validate.OneOf(("", *TASK_STATES)))
    search = fields.String(load_default="", validate=validate.Length(max=1000))
    site = fields.String(load_default="", validate=validate.Length(max=bank.SITE_LENGTH))
    category = fields.String(load_default="", validate=validate.Length(max=1000))
    page = fields.Integer(load_default=1, validate=validate.Range(1, 1_000_000))


class ProposalsSchema(Strict):
    """Tasks to be added, all or none."""

    tasks = fields.List(fields.Nested(bank.TaskSchema), required=True,
                        validate=validate.Length(1, bank.MAX_TASKS_AT_ONCE))


class WishSchema(Strict):
    """Which tasks a model is to propose."""

    count = fields.Integer(required=True, validate=validate.Range(1, proposing.MAX_PROPOSALS))
    site = fields.String(load_default="", validate=validate.Length(max=bank.SITE_LENGTH), metadata={
        "description": "that all are of"})
    category = fields.String(load_default="", validate=validate.Length(max=CATEGORY_LENGTH), metadata={
        "description": "that all are of"})


class TaskDecisionSchema(Strict):
    """What becomes of a task."""

    state = fields.String(required=True, validate=validate.OneOf((ACCEPTED, RETURNED, REFUSED)))
    reason = fields.String(load_default="", validate=validate.Length(max=bank.TEXT_LENGTH))


class BackSchema(Strict):
    """Why a task is given back."""

    unachievable = fields.Boolean(load_default=False, metadata={"description": "it cannot be done; takes a reason"})
    reason = fields.String(load_default="", validate=validate.Length(max=bank.TEXT_LENGTH))


class CoverageRowSchema(Schema):
    """Tasks that have a value in common."""

    value = fields.String(required=True)
    tasks = fields.Integer(required=True)
    wanted = fields.Integer(required=True)
    recorded = fields.Integer(required=True, metadata={"description": "of the wanted ones"})


class CoverageSchema(Schema):
    """What of the wanted demonstrations is there."""

    site = fields.List(fields.Nested(CoverageRowSchema), required=True)
    category = fields.List(fields.Nested(CoverageRowSchema), required=True)
    difficulty = fields.List(fields.Nested(CoverageRowSchema), required=True)


@blueprint.route("/tasks")
class Tasks(MethodView):
    """Those of a project."""

    @blueprint.doc(**IN_PROJECT)
    @blueprint.alt_response(404, **NO_PROJECT)
    @blueprint.arguments(SoughtSchema, location="query")
    @blueprint.response(200, TaskPageSchema)
    def get(self, sought: dict[str, Any]):
        """Find tasks, the newest first, 50 on a page"""
        return bank.find(services().db, account(), **sought)

    @blueprint.doc(**IN_PROJECT)
    @blueprint.alt_response(404, **NO_PROJECT)
    @blueprint.arguments(ProposalsSchema)
    @blueprint.response(201, StoredTaskSchema(many=True))
    def post(self, body: dict[str, Any]):
        """Propose tasks; a lead's are accepted at once"""
        return bank.propose(services().db, account(), body["tasks"])


@blueprint.post("/tasks/proposals")
@blueprint.doc(**IN_PROJECT)
@blueprint.alt_response(404, **NO_PROJECT)
@blueprint.arguments(WishSchema)
@blueprint.response(202, JobSchema)
@blueprint.alt_response(403, **NOT_ALLOWED)
def ask_model(body: dict[str, Any]):
    """Have the model that the server names propose tasks, in the background; only for leads"""
    caller, wished = lead(), proposing.proposal_request(**body)
    sent = proposing.messages(services().db, caller, wished, random.Random())
    return services().jobs.get(proposing_tasks.begin(services().jobs, services().model, caller, wished, sent))


@blueprint.post("/tasks/next")
@blueprint.doc(**IN_PROJECT)
@blueprint.response(200, NextTaskSchema)
@blueprint.alt_response(404, **NONE_LEFT)
def following():
    """Take the next task to record; the one that you have already, until it is recorded or given back"""
    return assignment.give(services().db, account())


@blueprint.get("/tasks/coverage")
@blueprint.doc(**IN_PROJECT)
@blueprint.alt_response(404, **NO_PROJECT)
@blueprint.response(200, CoverageSchema)
@blueprint.alt_response(403, **NOT_ALLOWED)
def covered():
    """What of the wanted demonstrations is there, by site, category and difficulty; only for leads"""
    lead()
    return coverage.coverage(services().db, account().project)


@blueprint.route("/tasks/<task_id>")
class Task(MethodView):
    """One of them."""

    @blueprint.response(200, ListedTaskSchema)
    @blueprint.alt_response(404, **NOT_FOUND)
    def get(self, task_id: str):
        """One task"""
        return bank.show(services().db, account(), task_id)[0]

    @blueprint.arguments(bank.TaskSchema)
    @blueprint.response(200, StoredTaskSchema)
    @blueprint.alt_response(403, **NOT_ALLOWED)
    @blueprint.alt_response(404, **NOT_FOUND)
    def put(self, body: dict[str, Any], task_id: str):
        """Change a task: who proposed it, until it is decided, and a lead"""
        return bank.change(services().db, account(), task_id, body)


@blueprint.put("/tasks/<task_id>/state")
@blueprint.arguments(TaskDecisionSchema)
@blueprint.response(200, StoredTaskSchema)
@blueprint.alt_response(403, **NOT_ALLOWED)
@blueprint.alt_response(404, **NOT_FOUND)
def decide(body: dict[str, Any], task_id: str):
    """Accept a task, send it back or refuse it; only for who reviews"""
    return bank.decide(services().db, account(), task_id, body["state"], body["reason"])


@blueprint.post("/tasks/<task_id>/back")
@blueprint.arguments(BackSchema)
@blueprint.response(204)
@blueprint.alt_response(404, **NOT_FOUND)
def give_back(body: dict[str, Any], task_id: str):
    """Leave a task that you took to others"""
    assignment.give_back(services().db, account(), task_id, body["reason"], body["unachievable"])
