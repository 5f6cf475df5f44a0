"""The JSON API of answers to the questions of a labelling scheme."""

from typing import Any

from flask.views import MethodView
from marshmallow import Schema, fields, validate

from curator_web.access.accounts import account
from curator_web.access.services import services
from curator_web.api.bodies import Blueprint
from curator_web.demonstrations.library import library
from curator_web.demonstrations.schemes import answers
from curator_web.demonstrations.workflow import answering
from schemas.formats.parts import Strict

from .demonstrations import NOT_ALLOWED, NOT_FOUND

blueprint = Blueprint("answers_api", __name__, url_prefix="/api", description="Answers to a project's questions")
VALUE = {"description": "choice: an option; several: a list of options; scale: a whole number; text: a text; "
                        "span: a list of objects with `first` and `last`, the ids of turns"}
LOCKED = {"description": "Another person has it, it is approved or invalid, or it is damaged."}


class NewAnswerSchema(Strict):
    """An answer of yours."""

    question = fields.String(required=True, metadata={"description": "the question's name"})
    turn = fields.String(load_default="", metadata={"description": "id of the turn; absent for the demonstration"})
    value = fields.Raw(required=True, allow_none=True, metadata=VALUE | {
        "description": VALUE["description"] + "; null: none", "nullable": True})


class NewAnswersSchema(Strict):
    """Answers of yours, in order: a condition must be fulfilled when its question is answered."""

    answers = fields.List(fields.Nested(NewAnswerSchema), required=True,
                          validate=validate.Length(1, answering.MAX_ANSWERS))


class StoredAnswerSchema(Schema):
    """An answer of somebody."""

    question = fields.String(required=True)
    turn = fields.String(required=True, metadata={"description": "id of the turn; empty: of the demonstration"})
    who = fields.String(required=True)
    value = fields.Raw(required=True, metadata=VALUE)
    scheme = fields.Integer(required=True, metadata={"description": "version of the scheme that was answered"})
    independent = fields.Boolean(required=True, metadata={
        "description": "whether nobody else had answered it where the person could see it"})
    prelabel = fields.String(required=True, allow_none=True, metadata={
        "description": "source of the pre-label that it confirms"})
    changed_at = fields.AwareDateTime(required=True)


class AnswersSchema(Schema):
    """Your answers, and those of others that you may see."""

    answers = fields.List(fields.Nested(StoredAnswerSchema), required=True)


@blueprint.route("/demonstrations/<demonstration_id>/answers")
class Answers(MethodView):
    """Answers about a demonstration and its turns."""

    @blueprint.response(200, AnswersSchema)
    @blueprint.alt_response(404, **NOT_FOUND)
    def get(self, demonstration_id: str) -> dict[str, Any]:
        """Your answers, and those of others as soon as you may see them"""
        return _visible(demonstration_id)

    @blueprint.arguments(NewAnswersSchema)
    @blueprint.response(200, AnswersSchema)
    @blueprint.alt_response(403, **NOT_ALLOWED)
    @blueprint.alt_response(404, **NOT_FOUND)
    @blueprint.alt_response(409, **LOCKED)
    def put(self, body: dict[str, Any], demonstration_id: str) -> dict[str, Any]:
        """Answer questions, change or remove answers: all of them or, if one is invalid, none"""
        answering.answer(services().db, demonstration_id, body["answers"], account())
        return _visible(demonstration_id)


def _visible(demonstration_id: str) -> dict[str, Any]:
    with services().db.reading() as session:
        row = library.row_of(session, demonstration_id)
        return {"answers": answers.visible_answers(session, row, account())}
