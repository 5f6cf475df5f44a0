"""The request for an export, from the page or the API: format, selection, options."""

from typing import Any

from marshmallow import fields, validate

from curator_web.db.models.core import STATUSES
from pipeline.export import GRAMMARS, Rule, RuleSchema, Selection, format_names, make_rule
from pipeline.privacy.finding import KINDS
from schemas.actors import ACTORS
from schemas.formats.parts import Strict
from schemas.intents import BROWSER_INTENTS

_MAX_ENTRIES = validate.Length(max=100)
_NAME = validate.Length(min=1, max=200)
# What is no matter of the selection, by the name that `pipeline.export.export` has for it.
_OPTIONS = ("grammar", "screenshots", "names", "ocr")


def _names(description: str, choices: Any = None) -> fields.List:
    name_field = fields.String(validate=validate.OneOf(choices) if choices else _NAME)
    return fields.List(name_field, load_default=list, validate=_MAX_ENTRIES, metadata={"description": description})


def _choice(description: str, choices: Any) -> fields.String:
    return fields.String(load_default=None, allow_none=True, validate=validate.OneOf(choices),
                         metadata={"description": description})


def _flag(description: str) -> fields.Boolean:
    return fields.Boolean(load_default=False, metadata={"description": description})


class ExportRequestSchema(Strict):
    """What to export; what is absent asks for nothing."""

    format = fields.String(required=True, validate=validate.OneOf(format_names()))
    status = _choice("null: all but the invalid ones", STATUSES)
    reviewed = _flag("only what somebody validated")
    proven = _flag("only what was run again as it is now, and did what it did")
    recorded_by = _names("only recordings of these users")
    since = fields.Date(load_default=None, allow_none=True, metadata={"description": "the first day of recording"})
    until = fields.Date(load_default=None, allow_none=True, metadata={"description": "the last day of recording"})
    actors = _names("only what these did", ACTORS)
    websites = _names("only demonstrations that were on one of these")
    labels = fields.Dict(keys=fields.String(validate=_NAME), values=fields.String(validate=_NAME), load_default=dict,
                         validate=_MAX_ENTRIES,
                         metadata={"description": "only demonstrations with these labels in `splits`"})
    intents = _names("only actions of these kinds, and chat", BROWSER_INTENTS)
    good_screenshots = _flag("only actions with a good screenshot, and chat")
    without_checks = _names("only actions without checks of these kinds, and chat")
    splits = fields.Nested(RuleSchema, allow_none=True, metadata={
        "description": "the split rule; absent: the project's; null, or where the project has none: all is train"})
    grammar = _choice("chat, trajectories: how actions are written", [*GRAMMARS])
    screenshots = _choice("encoding of the screenshots", ("png", "webp", "jpg"))
    allow = _names("kinds of personal data to leave in", [*KINDS])
    names = _flag("also take out names of persons and postal addresses")
    ocr = _flag("also read the text in pictures, and take personal data out of it")


def selection(request: dict[str, Any]) -> Selection:
    """The demonstrations and turns that are asked for."""
    arguments = {name: request[name] for name in Selection.__dataclass_fields__}
    return Selection(**{name: tuple(value) if isinstance(value, list) else value for name, value in arguments.items()}
                     | {"status": arguments["status"] or ""})


def rule(request: dict[str, Any]) -> Rule | None:
    """The split rule; raises InputError as `pipeline.export.make_rule` does."""
    return make_rule(request["splits"], "splits") if request.get("splits") else None


def options(request: dict[str, Any]) -> dict[str, Any]:
    """How they are written."""
    return {name: request[name] for name in _OPTIONS} | {"allow": frozenset(request["allow"])}


def narrowed(arguments: dict[str, Any]) -> list[str]:
    """By what besides the status an export was narrowed, in words; of a job of any version."""
    return [name.replace("_", " ") for name in Selection.__dataclass_fields__
            if name != "status" and arguments.get(name)]
