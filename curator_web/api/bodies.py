"""Read JSON bodies so that no body causes a server error: deep nesting, long numbers, invalid text."""

from typing import Any

import flask_smorest
from flask import Request
from marshmallow import Schema
from webargs.flaskparser import FlaskParser

from curator_web.errors import InputError
from schemas.text import storable


class _Parser(FlaskParser):
    def load_json(self, req: Request, schema: Schema) -> Any:
        """The body with text that any database can hold; raises InputError for JSON that Python does not read."""
        try:
            return storable(super().load_json(req, schema))
        except (RecursionError, ValueError):  # arrays in arrays; integers of thousands of digits
            raise InputError("the body is nested too deeply or contains a number that is too long") from None


class Blueprint(flask_smorest.Blueprint):
    """A part of the API."""

    ARGUMENTS_PARSER = _Parser()
