"""Pages of the work in a team: the next demonstration, assigning, comments and questions."""

from typing import Any

from flask import Blueprint, flash, make_response, redirect, render_template, request, url_for
from flask_babel import gettext as _
from werkzeug import Response

from curator_web.access.accounts import account, lead
from curator_web.access.services import services
from curator_web.demonstrations.leases import leases
from curator_web.demonstrations.listing import comments, moving
from curator_web.demonstrations.listing.listing import Filter, exact_filter, matching_ids, read_filter
from curator_web.demonstrations.workflow import bulk, training, workflow
from curator_web.errors import Conflict, ErrorText, InputError
from curator_web.jobs import bulk_changes
from curator_web.notifications import mentions
from curator_web.users import projects
from curator_web.web.shell.display_names import error_words, in_language
from curator_web.web.shell.languages import grouped

blueprint = Blueprint("team", __name__)
blueprint.add_app_template_filter(bulk_changes.change_of)
blueprint.add_app_template_filter(mentions.parts, "mentions")
NONE_CHOSEN = ErrorText("select demonstrations first")
REFUSED_SHOWN = 5
CARRIED_FIELDS = ("to", "project_to", "decision", "reason")  # what says how all that is found is changed


@blueprint.post("/next")
def next_() -> Response:
    """Hand out the next demonstration and open it."""
    row = leases.take_next(services().db, account(), request.form.get("after") or None)
    if row is None:
        if training.waits(services().db, account()):
            flash(in_language(training.DONE))
        return redirect(url_for("pages.index", nothing="1"), 303)
    return redirect(url_for("pages.review", demonstration_id=row.id), 303)


@blueprint.post("/assign")
def assign() -> Response:
    """Assign the chosen demonstrations, then show the same list again."""
    to = request.form.get("to") or None
    if request.form.get("all"):
        return _change_matching(bulk.Change(bulk.ASSIGN, to))
    leases.assign(services().db, ticked(), to, lead())
    return _list_again()


@blueprint.post("/move")
def move() -> Response:
    """Move the chosen demonstrations to another project, then show the same list again."""
    to = request.form.get("project_to", "")
    if request.form.get("all"):
        return _change_matching(bulk.Change(bulk.MOVE, to))
    flash(_("Moved to %(project)s: %(count)s.", project=to, count=moving.move(services().db, ticked(), to, lead())))
    return _list_again()


@blueprint.post("/statuses")
def statuses() -> Response:
    """Decide about the chosen demonstrations, each by itself; then show the same list again, and what was refused."""
    decision, reason = request.form.get("decision", ""), request.form.get("reason", "")
    if request.form.get("all"):
        return _change_matching(bulk.Change(bulk.STATUS, decision, reason))
    changed, refused = workflow.change_statuses(services().db, ticked(), decision, account(), reason)
    _flash_result(len(changed), len(changed) + len(refused), refused)
    return _list_again()


@blueprint.get("/changes")
def changes() -> str:
    """Changes of all that was found, so far; asked by htmx, only these."""
    jobs = services().jobs.latest(bulk_changes.KIND, lead().project)
    template = "shell/_jobs.html" if request.headers.get("HX-Request") else "work/bulk_changes.html"
    return render_template(template, jobs=jobs, here=url_for(".changes"))


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
    return render_template("work/questions.html", questions=comments.questions_for(services().db, account()),
                           members=projects.member_names(services().db, account().project))


def _back(demonstration_id: str, turn: str | None) -> Response:
    if request.form.get("back") == "questions":
        return redirect(url_for(".questions"), 303)
    turn = turn or request.form.get("selected")
    return redirect(url_for("pages.review", demonstration_id=demonstration_id, turn=turn), 303)


def ticked() -> list[str]:
    """The ids of the ticked demonstrations; raises InputError for none."""
    if ids := request.form.getlist("id"):
        return ids
    raise InputError(NONE_CHOSEN)


def _change_matching(change: bulk.Change) -> Response:
    """Change all that the list finds; first ask whether so many are meant, and again where it is another number by
    then."""
    caller, db, sought = lead(), services().db, exact_filter(list_parameters())
    bulk.require_permitted(db, change, caller)
    count = request.form.get("count", type=int)
    if count is None:
        return _confirm(change, sought)
    try:
        outcome = bulk_changes.begin(db, services().jobs, change, sought, count, caller)
    except Conflict as error:
        return _confirm(change, sought, error_words(error))
    if isinstance(outcome, int):
        return redirect(url_for(".changes"), 303)
    _flash_result(outcome.changed, outcome.found, {refusal["id"]: refusal["reason"] for refusal in outcome.first})
    return _list_again()


def _confirm(change: bulk.Change, sought: Filter, problem: str = "") -> Response:
    count = len(matching_ids(services().db, sought, account().project))
    if not count:
        raise InputError(ErrorText("no demonstration to change"))
    page = render_template("shell/confirm.html", change=change, count=count, problem=problem, sought=sought,
                           back=_list_address(), at_once=bulk_changes.AT_ONCE,
                           kept={name: request.form[name] for name in CARRIED_FIELDS if name in request.form})
    return make_response(page, 409 if problem else 200)


def _flash_result(changed: int, total: int, refused: dict[str, str]) -> None:
    """Say on the next page how many were changed, and why the first of the others were not."""
    flash(_("Changed: %(changed)s of %(total)s.", changed=grouped(changed), total=grouped(total)))
    for name, reason in list(refused.items())[:REFUSED_SHOWN]:
        flash(f"{name}: {reason}", "refused")


def _list_again() -> Response:
    return redirect(url_for("pages.index", **_list_address()), 303)


def list_parameters() -> dict[str, str]:
    """What the list showed when the form was sent, as the parameters of its address."""
    return {name.removeprefix("list."): value for name, value in request.form.items() if name.startswith("list.")}


def _list_address() -> dict[str, Any]:
    """The list as it was when the form was sent, page and all."""
    sought = read_filter(list_parameters())
    return sought.parameters(after=sought.after)
