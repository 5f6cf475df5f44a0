"""Pages of the work in a team: the next demonstration, assigning, comments and questions."""

from typing import Any

from flask import Blueprint, flash, redirect, render_template, request, url_for
from werkzeug import Response

from curator_web.demonstrations import comments, leases, moving, workflow
from curator_web.demonstrations.listing import read_filter
from curator_web.errors import InputError

from .accounts import account, lead
from .context import services

blueprint = Blueprint("team", __name__)
NONE_CHOSEN = "choose demonstrations first: tick the boxes before them"
REFUSED_SHOWN = 5


@blueprint.post("/next")
def next_() -> Response:
    """Hand out the next demonstration and open it."""
    row = leases.take_next(services().db, account(), request.form.get("after") or None)
    if row is None:
        return redirect(url_for("pages.index", nothing="1"), 303)
    return redirect(url_for("pages.review", demonstration_id=row.id), 303)


@blueprint.post("/assign")
def assign() -> Response:
    """Assign the chosen demonstrations, then show the same list again."""
    ids = request.form.getlist("id")
    if not ids:
        raise InputError(NONE_CHOSEN)
    leases.assign(services().db, ids, request.form.get("to") or None, lead())
    return redirect(url_for("pages.index", **_list_address()), 303)


@blueprint.post("/move")
def move() -> Response:
    """Move the chosen demonstrations to another project, then show the same list again."""
    ids, to = request.form.getlist("id"), request.form.get("project_to", "")
    if not ids:
        raise InputError(NONE_CHOSEN)
    flash(f"Moved to {to}: {moving.move(services().db, ids, to, lead())}.")
    return redirect(url_for("pages.index", **_list_address()), 303)


@blueprint.post("/statuses")
def statuses() -> Response:
    """Decide about the chosen demonstrations, each by itself; then show the same list again, and what was refused."""
    ids = request.form.getlist("id")
    if not ids:
        raise InputError(NONE_CHOSEN)
    changed, refused = workflow.change_statuses(services().db, ids, request.form.get("decision", ""), account(),
                                                request.form.get("reason", ""))
    flash(f"Changed: {len(changed)} of {len(changed) + len(refused)}.")
    for name, reason in list(refused.items())[:REFUSED_SHOWN]:
        flash(f"{name}: {reason}", "refused")
    return redirect(url_for("pages.index", **_list_address()), 303)


@blueprint.post("/demonstrations/<demonstration_id>/comments")
def comment(demonstration_id: str) -> Response:
    """Say or answer something, then show the turn that it is about."""
    answers = request.form.get("answers", type=int)
    said = comments.add_comment(
        services().db, demonstration_id, account(), request.form.get("text", ""),
        turn=request.form.get("turn") or None, kind=request.form.get("kind", "comment"), answers=answers)
    return _back(demonstration_id, said.turn)


@blueprint.post("/comments/<int:comment_id>/resolve")
def resolve(comment_id: int) -> Response:
    """Mark a comment as dealt with."""
    done = comments.resolve(services().db, comment_id, account())
    return _back(done.demonstration_id, done.turn)


@blueprint.get("/questions")
def questions() -> str:
    """Open questions to who recorded."""
    return render_template("questions.html", questions=comments.questions_for(services().db, account()))


def _back(demonstration_id: str, turn: str | None) -> Response:
    if request.form.get("back") == "questions":
        return redirect(url_for(".questions"), 303)
    turn = turn or request.form.get("selected")
    return redirect(url_for("pages.review", demonstration_id=demonstration_id, turn=turn), 303)


def _list_address() -> dict[str, Any]:
    """The list as it was when the form was sent, page and all."""
    sought = read_filter({name.removeprefix("list."): value for name, value in request.form.items()})
    return sought.given(after=sought.after)
