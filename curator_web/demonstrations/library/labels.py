"""Labels that a lab asks for at each demonstration or turn, such as difficulty or success.

A lead defines them for a project; what people then say is an edit like any other.
"""

import math
from typing import Any

from marshmallow import ValidationError, fields, validate, validates_schema
from sqlalchemy.orm import Session

from curator_web.db import audit
from curator_web.db.database import Database
from curator_web.db.models.core import MAIN, Project
from curator_web.errors import ErrorText, InputError
from curator_web.users import Account
from schemas import types
from schemas.files import validated
from schemas.formats.parts import Strict, listing, string
from schemas.text import storable

DEMONSTRATION, TURN = SCOPES = ("demonstration", "turn")
SINGLE, MULTIPLE, NUMBER, TEXT = KINDS = ("single", "multiple", "number", "text")
NAME_LENGTH, OPTION_LENGTH, TEXT_LENGTH = 40, 59, 500  # name=option is what a demonstration is found by: a facet
OPTIONS, LABELS = 50, 50


class LabelSchema(Strict):
    """A label that people can give."""

    name = string("its name", validate=[validate.Length(1, NAME_LENGTH), validate.Regexp(r"^[^=\s][^=\n]*$(?!\n)")])
    scope = string("of what it is said: `demonstration` or `turn`", validate=validate.OneOf(SCOPES))
    kind = string("`single` or `multiple` of the options, a `number`, or a `text`", validate=validate.OneOf(KINDS))
    options = listing(fields.String(validate=validate.Length(1, OPTION_LENGTH)), "what can be chosen from",
                      required=False, load_default=list, validate=validate.Length(max=OPTIONS))
    hint = string("what it means, for who gives it", required=False, load_default="", validate=validate.Length(max=500))

    @validates_schema
    def _has_options(self, data: dict[str, Any], **_: Any) -> None:
        if data["kind"] in (SINGLE, MULTIPLE) and not data["options"]:
            raise ValidationError({"options": "List the options."})
        if len(set(data["options"])) < len(data["options"]):
            raise ValidationError({"options": "Options must be unique."})


def definitions(db: Database, project: str = MAIN) -> list[dict[str, Any]]:
    """The labels that a project has, in order."""
    with db.reading() as session:
        return session.get_one(Project, project).labels


def define(db: Database, labels: list[dict[str, Any]], account: Account) -> None:
    """Have these labels in the account's project from now on; what was said by others stays said. Raises InputError."""
    labels = [validated(storable(label), LabelSchema(), f"label {number}") for number, label in enumerate(labels, 1)]
    names = [label["name"] for label in labels]
    if len(set(names)) < len(names):
        raise InputError(ErrorText("field name: this label already exists"))
    if len(labels) > LABELS:
        raise InputError(ErrorText("at most %(labels)s labels are allowed", labels=LABELS))
    with db.writing() as session:
        session.get_one(Project, account.project).labels = labels
        audit.note(session, account.name, "labels defined", names=names)


def without_texts(demonstration: types.Demonstration, definitions_: list[dict[str, Any]]) -> types.Demonstration:
    """What exports may tell: answers that were chosen, and numbers. A text may hold anything, also about people."""
    exported = {(label["scope"], label["name"]) for label in definitions_ if label["kind"] != TEXT}

    def exported_values(said: dict[str, list[str]], scope: str) -> dict[str, list[str]]:
        return {name: values for name, values in said.items() if (scope, name) in exported}
    turns = [turn | {"labels": exported_values(turn["labels"], TURN)} if "labels" in turn else turn
             for turn in demonstration["turns"]]
    if "labels" in demonstration:
        demonstration = {**demonstration, "labels": exported_values(demonstration["labels"], DEMONSTRATION)}
    return {**demonstration, "turns": turns}


def require_allowed_label(session: Session, edit: types.Edit, project: str) -> None:
    """Raises InputError for what cannot be said by a label of the project."""
    scope = TURN if "turn" in edit else DEMONSTRATION
    name, values = edit["label"], edit["said"]
    definitions_ = session.get_one(Project, project).labels
    label = next((definition for definition in definitions_ if definition["name"] == name
                  and definition["scope"] == scope), None)
    if label is None:
        if values:  # what is no label any more can be taken away
            raise InputError(ErrorText("field label: unknown label %(name)r for a %(scope)s",
                                       name=name[:NAME_LENGTH], scope=scope))
        return
    if len(set(values)) < len(values) or (len(values) > 1 and label["kind"] != MULTIPLE):
        raise InputError(ErrorText("field said: %(name)r allows each option only "
                                   "once", name=name) if label["kind"] == MULTIPLE
                         else ErrorText("field said: %(name)r requires a single option", name=name))
    for value in values:
        if label["kind"] in (SINGLE, MULTIPLE) and value not in label["options"]:
            raise InputError(ErrorText("field said: unknown option %(value)r of %(name)r", value=value[:OPTION_LENGTH],
                                       name=name))
        if label["kind"] == NUMBER and not _is_number(value):
            raise InputError(ErrorText("field said: %(name)r requires a number", name=name))
        if not 0 < len(value) <= TEXT_LENGTH:
            raise InputError(ErrorText("field said: 1 to %(text_length)s characters", text_length=TEXT_LENGTH))


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
