"""The lead's dashboard, as a page and as JSON."""

from flask import Blueprint, redirect, render_template, request, url_for
from flask_smorest import Blueprint as ApiBlueprint
from marshmallow import Schema, fields
from werkzeug import Response

from . import charts
from .accounts import lead
from .api import NOT_ALLOWED
from .context import services
from .errors import InputError
from .figures import DAYS, figures, set_goal

blueprint = Blueprint("dashboard", __name__)
api = ApiBlueprint("dashboard_api", __name__, url_prefix="/api", description="Figures for the lead")


class PersonSchema(Schema):
    """What one person did in the last 28 days."""

    name = fields.String(required=True)
    submitted = fields.Integer(required=True)
    decided = fields.Integer(required=True, metadata={"description": "validated or approved"})
    returned = fields.Integer(required=True, metadata={"description": "sent back"})
    minutes = fields.Float(required=True, allow_none=True, metadata={"description": "a demonstration, on average"})


class FiguresSchema(Schema):
    """The dashboard's figures; shares are from 0 to 1."""

    by_status = fields.Dict(keys=fields.String(), values=fields.Integer(), required=True)
    goal = fields.Integer(required=True, allow_none=True)
    people = fields.List(fields.Nested(PersonSchema), required=True)
    minutes = fields.Float(required=True, allow_none=True, metadata={"description": "a demonstration, on average"})
    turns = fields.Integer(required=True)
    dropped = fields.Float(required=True, allow_none=True)
    edited = fields.Float(required=True, allow_none=True)
    second_reviews = fields.Integer(required=True)
    intent_match = fields.Float(required=True, allow_none=True, metadata={
        "description": "of double-reviewed demonstrations: share of the turns with the same intent"})
    element_iou = fields.Float(required=True, allow_none=True, metadata={"description": "mean overlap of the boxes"})
    chrf = fields.Float(required=True, allow_none=True, metadata={"description": "mean chrF of the texts"})


@blueprint.get("/dashboard")
def show() -> str:
    """The figures, with charts."""
    lead()
    found = figures(services().db)
    bars, top = charts.by_day(found.days, ("submitted", "approved"))
    return render_template("dashboard.html", figures=found, bars=bars, top=top, days=DAYS, width=charts.WIDTH,
                           height=charts.HEIGHT, dropped_why=charts.shares(found.dropped_why),
                           edited_how=charts.shares(found.edited_how))


@blueprint.post("/dashboard/goal")
def goal() -> Response:
    """Set how many approved demonstrations are wanted."""
    text = request.form.get("goal", "").strip()
    if text and not text.isdecimal():
        raise InputError(f"field goal: {text[:40]!r} is not a number")
    set_goal(services().db, int(text[:20]) if text else None, lead())
    return redirect(url_for(".show"), 303)


@api.get("/dashboard")
@api.response(200, FiguresSchema)
@api.alt_response(403, **NOT_ALLOWED)
def as_json():
    """Throughput, time, what is dropped and changed, agreement; only for leads"""
    lead()
    return figures(services().db)
