"""The request for an export, from the page or the API: format, selection, options."""

from collections.abc import Mapping
from typing import Any

from marshmallow import fields, validate

from curator_web.db.database import Database
from curator_web.db.models.core import APPROVED, STATUSES
from curator_web.users import has_accounts
from pipeline.export import (
    ANY,
    EXPORT_ACTORS,
    GRAMMARS,
    OUTCOMES,
    Rule,
    RuleSchema,
    Selection,
    format_names,
    make_rule,
)
from pipeline.privacy.finding import KINDS
from schemas.actors import PERSON, UNKNOWN_ACTOR
from schemas.formats.parts import Strict
from schemas.intents import BROWSER_INTENTS

_MAX_ENTRIES = validate.Length(max=100)
_NAME = validate.Length(min=1, max=200)
DEFAULT_ACTORS = (PERSON, UNKNOWN_ACTOR)  # nothing states that an agent or a script acted
# What is no matter of the selection, by the name that `pipeline.export.export` has for it.
_OPTIONS = ("grammar", "screenshots", "names", "ocr", "without_reports")


def _names(description: str, choices: Any = None) -> fields.List:
    name_field = fields.String(validate=validate.OneOf(choices) if choices else _NAME)
    return fields.List(name_field, load_default=list, validate=_MAX_ENTRIES, metadata={"description": description})


def _choice(description: str, choices: Any) -> fields.String:
    return fields.String(load_default=None, allow_none=True, validate=validate.OneOf(choices),
                         metadata={"description": description})


def _flag(description: str) -> fields.Boolean:
    return fields.Boolean(load_default=False, metadata={"description": description})


class ExportRequestSchema(Strict):
    """What to export; what is absent asks for nothing, except `status` and `actors` (`with_defaults`)."""

    format = fields.String(required=True, validate=validate.OneOf(format_names()))
    status = fields.String(allow_none=True, validate=validate.OneOf([*STATUSES, ANY]), metadata={
        "description": "`any`: all but the invalid ones, as null; absent: `approved` if the app has accounts and "
                       "`reviewed` is false, otherwise `any`"})
    reviewed = _flag("only what somebody validated")
    proven = _flag("only what was run again as it is now, and did what it did")
    recorded_by = _names("only recordings of these users")
    since = fields.Date(load_default=None, allow_none=True, metadata={"description": "the first day of recording"})
    until = fields.Date(load_default=None, allow_none=True, metadata={"description": "the last day of recording"})
    actors = fields.List(
        fields.String(validate=validate.OneOf([*EXPORT_ACTORS, ANY])), validate=_MAX_ENTRIES, metadata={
            "description": "only what these did; `any`: everything, as an empty list; absent: `person` and `unknown` "
                           "(the recording does not state who acted)"})
    outcome = _choice("only those with this result of outcome checks; null: `any`", [*OUTCOMES, ANY])
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
    without_reports = _flag("without what agents reported of their steps, such as reasoning")


def default_status(db: Database) -> str:
    """The status of what is exported if a request has none: approved as soon as the app has accounts."""
    return APPROVED if has_accounts(db) else ANY


def with_defaults(db: Database, request: Mapping[str, Any]) -> dict[str, Any]:
    """The request with a status and actors. Another condition on the review (`reviewed`) replaces the default status.

    Null as status and an empty list of actors, as versions up to 0.3 wrote them in presets and jobs, stay what they
    were: no condition.
    """
    defaults: dict[str, Any] = {"status": ANY if request.get("reviewed") else default_status(db),
                                "actors": [*DEFAULT_ACTORS]}
    return defaults | dict(request)


def selection(request: Mapping[str, Any]) -> Selection:
    """The demonstrations and turns that are asked for. Without a status or actors, none are required: the defaults are
    `with_defaults`'."""
    arguments: dict[str, Any] = {name: request[name] for name in Selection.__dataclass_fields__ if name in request}
    arguments |= {name: "" for name in ("status", "outcome") if arguments.get(name) in (None, ANY)}
    actors = arguments.get("actors") or ()
    arguments["actors"] = () if ANY in actors or {*actors} == {*EXPORT_ACTORS} else actors
    selected: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value
                               for name, value in arguments.items()}
    return Selection(**selected)


def rule(request: dict[str, Any]) -> Rule | None:
    """The split rule; raises InputError as `pipeline.export.make_rule` does."""
    return make_rule(request["splits"], "splits") if request.get("splits") else None


def options(request: dict[str, Any]) -> dict[str, Any]:
    """How they are written."""
    return {name: request[name] for name in _OPTIONS} | {"allow": frozenset(request["allow"])}


def narrowed(arguments: Mapping[str, Any]) -> list[str]:
    """By what besides status and default actors an export was narrowed, in words; of a job of any version."""
    wanted = selection(arguments)
    names = [name for name in Selection.__dataclass_fields__ if name != "status" and getattr(wanted, name)]
    return [name.replace("_", " ") for name in names if name != "actors" or {*wanted.actors} != {*DEFAULT_ACTORS}]
