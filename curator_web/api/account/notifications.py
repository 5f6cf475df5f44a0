"""The JSON API of notifications."""

from typing import Any

from marshmallow import Schema, ValidationError, fields, validate, validates_schema

from curator_web.access.accounts import account
from curator_web.access.services import services
from curator_web.api.bodies import Blueprint
from curator_web.db.models.notification_models import KINDS
from curator_web.notifications import reading
from schemas.formats.parts import Strict

blueprint = Blueprint("notifications_api", __name__, url_prefix="/api", description="Notifications")
LAST_ID = 2**31 - 1


class NotificationSchema(Schema):
    """Something that you are told of."""

    id = fields.Integer(required=True)
    project = fields.String(required=True)
    kind = fields.String(required=True, validate=validate.OneOf(KINDS))
    by = fields.String(required=True, allow_none=True, metadata={"description": "who did it; null: the app"})
    demonstration = fields.String(required=True, allow_none=True, attribute="demonstration_id")
    comment = fields.Integer(required=True, allow_none=True)
    task = fields.String(required=True, allow_none=True, attribute="task_id")
    job = fields.Integer(required=True, allow_none=True)
    count = fields.Integer(required=True, metadata={"description": "of how many demonstrations"})
    made_at = fields.AwareDateTime(required=True)
    read_at = fields.AwareDateTime(required=True, allow_none=True)


class NotificationQuerySchema(Strict):
    """Which notifications are meant."""

    unread = fields.Boolean(load_default=False, metadata={"description": "only those that are not read yet"})


class ReadSchema(Strict):
    """Which notifications are read."""

    ids = fields.List(fields.Integer(strict=True, validate=validate.Range(1, LAST_ID)),
                      validate=validate.Length(1, reading.SHOWN))
    all = fields.Boolean(validate=validate.Equal(True), metadata={"description": "in place of `ids`"})

    @validates_schema
    def one_of_them(self, body: dict[str, Any], **_: Any) -> None:
        """Refuse what names none, or both."""
        if ("ids" in body) == ("all" in body):
            raise ValidationError("pass either `ids` or `all`")


class MarkedSchema(Schema):
    """How many were marked as read."""

    read = fields.Integer(required=True)


@blueprint.get("/notifications")
@blueprint.arguments(NotificationQuerySchema, location="query")
@blueprint.response(200, NotificationSchema(many=True))
def notifications(query: dict[str, Any]):
    """Your notifications of all projects that you are in, the unread ones first, 200 at most"""
    return reading.latest_notifications(services().db, account(), query["unread"])


@blueprint.post("/notifications/read")
@blueprint.arguments(ReadSchema)
@blueprint.response(200, MarkedSchema)
def read(body: dict[str, Any]):
    """Mark notifications as read; others' are left alone"""
    return {"read": reading.mark_read(services().db, account(), body.get("ids"))}
