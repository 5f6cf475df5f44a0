"""The lead's dashboard."""

from flask import Blueprint, redirect, render_template, request, url_for
from werkzeug import Response

from curator_web.access.accounts import account, lead
from curator_web.access.services import services
from curator_web.demonstrations.measuring.agreement import agreement
from curator_web.demonstrations.measuring.figures import DAYS, figures, set_goal
from curator_web.errors import ErrorText, InputError
from curator_web.tasks.coverage import coverage

from . import charts

blueprint = Blueprint("dashboard", __name__)


@blueprint.get("/dashboard")
def show() -> str:
    """The figures, with charts."""
    lead()
    project_figures = figures(services().db, account().project)
    bars, top = charts.by_day(project_figures.days, ("submitted", "approved"))
    covered = {kind: rows for kind, rows in coverage(services().db, account().project).items()
               if any(row.value for row in rows)}
    return render_template("work/dashboard.html", covered=covered, figures=project_figures, bars=bars, top=top,
                           days=DAYS, width=charts.WIDTH, height=charts.HEIGHT,
                           dropped_why=charts.shares(project_figures.dropped_why),
                           edited_how=charts.shares(project_figures.edited_how),
                           troubled=len(services().jobs.failed(account().project)),
                           agreement=agreement(services().db, account().project))


@blueprint.post("/dashboard/goal")
def goal() -> Response:
    """Set how many approved demonstrations are wanted."""
    text = request.form.get("goal", "").strip()
    if text and not text.isdecimal():
        raise InputError(ErrorText("field goal: %(text)r is not a number", text=text[:40]))
    set_goal(services().db, int(text[:20]) if text else None, lead())
    return redirect(url_for(".show"), 303)
