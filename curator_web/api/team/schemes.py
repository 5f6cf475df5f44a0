"""The JSON API of labelling schemes."""

from typing import Any

from flask.views import MethodView
from marshmallow import Schema, fields, validate

from curator_web.access.accounts import lead
from curator_web.access.services import services
from curator_web.api.bodies import Blueprint
from curator_web.api.review.demonstrations import NOT_ALLOWED
from curator_web.demonstrations.schemes import versions
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


def _answer(project: str) -> dict[str, Any]:
    newest = next(iter(versions.versions(services().db, project)), None)
    if newest is None:
        return {"number": 0, "source": "", "questions": []}
    return {"number": newest.number, "source": newest.source, "questions": newest.content["questions"]}
