"""The JSON API of a person's own keys."""

from typing import Any

from flask.views import MethodView
from marshmallow import Schema, fields, validate

from curator_web.access.accounts import account
from curator_web.access.services import services
from curator_web.api.bodies import Blueprint
from curator_web.users import own_keys
from schemas.formats.parts import Strict

blueprint = Blueprint("own_keys_api", __name__, url_prefix="/api", description="Keyboard shortcuts of an account")


class OwnKeySchema(Schema):
    """An action and its key."""

    action = fields.String(required=True)
    does = fields.String(required=True)
    key = fields.String(required=True, metadata={
        "description": "as `KeyboardEvent.key` has it, with `Shift+` or `Alt+` where that counts; empty: none"})
    usual = fields.String(required=True, metadata={"description": "the key where nothing else is chosen"})


class OwnKeysSchema(Strict):
    """Keys by action; of actions that are absent or have an empty one it is the usual one."""

    keys = fields.Dict(
        keys=fields.String(validate=validate.OneOf(list(own_keys.BY_NAME))),
        values=fields.String(validate=validate.Length(max=own_keys.LENGTH)), required=True)


@blueprint.route("/keys")
class OwnKeys(MethodView):
    """Those of who asks."""

    @blueprint.response(200, OwnKeySchema(many=True))
    def get(self) -> list[dict[str, Any]]:
        """Your keys, action by action"""
        return _listed(own_keys.keys_of(services().db, account().name))

    @blueprint.arguments(OwnKeysSchema)
    @blueprint.response(200, OwnKeySchema(many=True))
    def put(self, body: dict[str, Any]) -> list[dict[str, Any]]:
        """Choose all your keys"""
        return _listed(own_keys.save_keys(services().db, account().name, body["keys"]))


def _listed(keys: dict[str, str]) -> list[dict[str, Any]]:
    return [{"action": action.name, "does": action.does, "key": keys[action.name], "usual": action.usual}
            for action in own_keys.ACTIONS]
