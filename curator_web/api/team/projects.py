"""The JSON API of projects: which one is in, their members and guidelines."""

from typing import Any

from flask import g
from flask.views import MethodView
from marshmallow import Schema, fields, validate

from curator_web.access.accounts import account, lead, manager
from curator_web.access.services import services
from curator_web.api.bodies import Blueprint
from curator_web.api.review.demonstrations import NOT_ALLOWED
from curator_web.db.models.core import PROJECT_NAME_LENGTH, ROLES, Project
from curator_web.jobs import recounts
from curator_web.users import project_settings, projects
from schemas.formats.parts import Strict

blueprint = Blueprint("projects_api", __name__, url_prefix="/api", description="Projects")

NOT_FOUND = {"description": "You are not a member of this project."}


class ProjectSchema(Schema):
    """A project, and what who asks is there."""

    id = fields.String(required=True)
    name = fields.String(required=True)
    role = fields.String(required=True, validate=validate.OneOf(ROLES))


class NewProjectSchema(Strict):
    """A project to be made."""

    id = fields.String(required=True, validate=validate.Regexp(projects.ID.pattern + r"\Z"))
    name = fields.String(required=True, validate=validate.Length(1, PROJECT_NAME_LENGTH))


class ProjectSettingsSchema(project_settings.SettingsSchema):
    """What is set for a project; what is absent stays as it is."""

    answers_shown = fields.Boolean(metadata={"description": "whether who is given a task sees its expected answer"})


class MemberSchema(Schema):
    """Somebody in a project."""

    who = fields.String(required=True)
    role = fields.String(required=True, validate=validate.OneOf(ROLES))
    joined_at = fields.AwareDateTime(required=True)


class RoleSchema(Strict):
    """What somebody is to be in a project."""

    role = fields.String(required=True, allow_none=True, validate=validate.OneOf(ROLES),
                         metadata={"description": "null: no member any more"})


class GuidelinesTextSchema(Strict):
    """Guidelines to be, in Markdown."""

    text = fields.String(required=True, validate=validate.Length(max=projects.GUIDELINES_LENGTH))


class GuidelinesSchema(Schema):
    """A version of the guidelines."""

    number = fields.Integer(required=True)
    text = fields.String(required=True, metadata={"description": "Markdown"})
    who = fields.String(required=True)
    made_at = fields.AwareDateTime(required=True)


@blueprint.route("/projects")
class Projects(MethodView):
    """Those that there are."""

    @blueprint.response(200, ProjectSchema(many=True))
    def get(self):
        """The projects that you are in, in the order in which you joined"""
        return projects.memberships(services().db, account())

    @blueprint.arguments(NewProjectSchema)
    @blueprint.response(201, ProjectSchema)
    @blueprint.alt_response(403, **NOT_ALLOWED)
    def post(self, body: dict[str, Any]):
        """Make a project and lead it; only for leads of the server"""
        made = projects.add(services().db, body["id"], body["name"], manager())
        return {"id": made.id, "name": made.name, "role": "lead"}


@blueprint.route("/projects/<project>/settings")
class Settings(MethodView):
    """What its leads set for it."""

    @blueprint.response(200, ProjectSettingsSchema)
    @blueprint.alt_response(404, **NOT_FOUND)
    def get(self, project: str):
        """What is set for a project"""
        return _settings(g.membership.project)

    @blueprint.arguments(ProjectSettingsSchema)
    @blueprint.response(200, ProjectSettingsSchema)
    @blueprint.alt_response(403, **NOT_ALLOWED)
    @blueprint.alt_response(404, **NOT_FOUND)
    def put(self, body: dict[str, Any], project: str):
        """Set it; only for leads of the project. Where other checks count, a job counts anew what lists show"""
        recounts.change_settings(services().db, services().jobs, lead(), body)
        membership = next(candidate for candidate in projects.memberships(services().db, account())
                          if candidate.id == project)
        return _settings(membership.project)


def _settings(project: Project) -> dict[str, Any]:
    return project_settings.settings_fields(services().db, project.id) | {"answers_shown": project.answers_shown}


@blueprint.get("/projects/<project>/members")
@blueprint.response(200, MemberSchema(many=True))
@blueprint.alt_response(404, **NOT_FOUND)
def members(project: str):
    """Who is in a project"""
    return projects.members(services().db, project)


@blueprint.put("/projects/<project>/members/<who>")
@blueprint.arguments(RoleSchema)
@blueprint.response(200, MemberSchema(many=True))
@blueprint.alt_response(403, **NOT_ALLOWED)
@blueprint.alt_response(404, **NOT_FOUND)
def member(body: dict[str, Any], project: str, who: str):
    """Take somebody in, change their role, or let them go; only for leads of the project"""
    projects.set_member(services().db, project, who, body["role"], lead())
    return projects.members(services().db, project)


@blueprint.route("/projects/<project>/guidelines")
class Guidelines(MethodView):
    """What members of a project go by."""

    @blueprint.response(200, GuidelinesSchema(many=True))
    @blueprint.alt_response(404, **NOT_FOUND)
    def get(self, project: str):
        """All versions, the newest first"""
        return projects.guidelines(services().db, project)

    @blueprint.arguments(GuidelinesTextSchema)
    @blueprint.response(201, GuidelinesSchema)
    @blueprint.alt_response(403, **NOT_ALLOWED)
    @blueprint.alt_response(404, **NOT_FOUND)
    def post(self, body: dict[str, Any], project: str):
        """A new version; only for leads of the project"""
        return projects.write_guidelines(services().db, body["text"], lead())
