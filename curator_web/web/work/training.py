"""Pages of training: choosing demonstrations for it, seeing an answer beside the known one, and what leads decide."""

from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask_babel import gettext as _
from werkzeug import Response

from curator_web.access.accounts import account, lead
from curator_web.access.services import services
from curator_web.demonstrations.leases import training_attempts
from curator_web.demonstrations.measuring import differences
from curator_web.demonstrations.workflow import training
from curator_web.errors import InputError
from curator_web.web.team.team import ticked

from .pair_view import shown

blueprint = Blueprint("training", __name__, url_prefix="/training")


@blueprint.post("")
def choose() -> Response:
    """Have the ticked demonstrations be training, or no more; back to the one whose page has the button."""
    if request.form.get("all"):
        raise InputError(_("this cannot be applied to all results; select demonstrations"))
    db, caller, ids = services().db, lead(), ticked()
    if request.form.get("remove"):
        flash(_("Removed from training: %(count)s.", count=training.take_out(db, ids, caller)))
    else:
        flash(_("New annotators do first: %(count)s more.", count=training.choose(db, ids, caller)))
    if request.form.get("back"):
        return redirect(url_for("pages.review", demonstration_id=ids[0]), 303)
    return redirect(url_for("pages.index", project=caller.project), 303)


@blueprint.post("/decisions")
def decide() -> Response:
    """Give an annotator the training again, or let them through."""
    caller = lead()
    training.decide(services().db, request.form.get("who", ""), request.form.get("decision", ""), caller)
    return redirect(url_for("projects.show", project=caller.project, _anchor="training"), 303)


@blueprint.get("/<demonstration_id>")
def show(demonstration_id: str) -> str:
    """What was answered, beside the known answer."""
    comparison = training_attempts.compare(services().db, demonstration_id, account())
    return render_template("work/training.html", found=comparison, row=comparison.second.row, differences=[
        (difference, differences.counts(difference.difference, comparison.labels)) for difference in shown(comparison)])
