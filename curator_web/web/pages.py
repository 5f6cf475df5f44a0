"""The pages: the list of demonstrations and the review page, with the changes that are made there."""

from flask import Blueprint, flash, make_response, redirect, render_template, request, url_for
from flask_babel import gettext as _
from werkzeug import Response

from curator_web.db.database import Database
from curator_web.db.models import DRAFT, ORDERS, STATUSES
from curator_web.demonstrations import (
    comments,
    damage,
    deleting,
    editing,
    labels,
    leases,
    library,
    pairs,
    parts,
    proving,
    saved_filters,
    sight,
    training,
    tries,
    workflow,
)
from curator_web.demonstrations.listing import COUNT_LIMIT, listing, read_filter, sites
from curator_web.errors import Damaged, InputError
from curator_web.jobs import replays
from curator_web.users import project_settings, projects
from pipeline.export import LeftOut
from pipeline.turns.edits import standing
from schemas import INTENTS, types
from schemas.recording import SPEAKERS

from .accounts import account
from .added_actions import expect_seen
from .blobs import expect_picture
from .context import services
from .edit_forms import edit_from_form, version_from_form
from .forms import MODIFIERS
from .moments import moment
from .presentation import ReviewView

blueprint = Blueprint("pages", __name__)


@blueprint.get("/")
def index() -> str:
    """The list, searched and filtered by the URL."""
    db, sought = services().db, read_filter(request.args)
    page = listing(db, sought, account().project, sight.hidden_from(account()))
    runs = replays.KIND in services().jobs.kinds
    if request.headers.get("HX-Request"):
        return render_template("_rows.html", page=page, sought=sought, count_limit=COUNT_LIMIT, people=_people(),
                               runs=runs, saved=saved_filters.saved(db, account()))
    return render_template(
        "list.html", page=page, sought=sought, statuses=STATUSES, intents=INTENTS,
        kinds=project_settings.read(db, account().project).checks,
        sites=sites(db, account().project),
        orders=ORDERS, people=_people(), saved=saved_filters.saved(db, account()), labels=_label_values(db),
        count_limit=COUNT_LIMIT, runs=runs, proofs=proving.STATES,
        questions=len(comments.questions_for(db, account())))


def _label_values(db: Database) -> list[str]:
    """What can be said by labels with options, as the filter has it."""
    return [f"{label['name']}={option}" for label in labels.definitions(db, account().project)
            for option in label["options"]]


def _people() -> list[str]:
    return [member.who for member in projects.members(services().db, account().project)]


@blueprint.get("/demonstrations/<demonstration_id>")
def review(demonstration_id: str) -> str:
    """The review page; asked by htmx, only the selected turn."""
    template = "_turn.html" if request.headers.get("HX-Request") else "review.html"
    return _render(template, demonstration_id, request.args.get("turn"), request.args.get("view", "screenshot"),
                   tour=max(0, request.args.get("tour", 0, int)))


@blueprint.post("/demonstrations/<demonstration_id>/edits")
def edit(demonstration_id: str) -> str | Response:
    """Save one edit at once; asked by htmx, answer the page's whole working area."""
    before = library.review(services().db, demonstration_id)
    change = edit_from_form(before)
    if change["op"] == "set_screenshot":  # a check's own fix may name any
        expect_picture(change, before.row.recording)
    expect_seen(change, before)
    made = workflow.edit(services().db, demonstration_id, change, version_from_form(), account(),
                         request.form.get("key") or None, before)
    selected = request.form.get("selected")
    if change["op"] in ("undo", "redo"):
        taken_back: types.Edit = {"op": change["op"]}
        selected = _touched(before.edits, [*before.edits, taken_back]) or selected
    elif change["op"] in ("add", "merge"):
        selected = change["turn"]
    if made.part:
        flash(_("Split: what follows is the demonstration %(id)s now. Undo takes it back.", id=made.part))
    if change["op"] == "join":
        flash(_("Joined: the turns of %(id)s stand at the end of this one. Undo takes it back.", id=change["other"]))
    return _after_change(demonstration_id, _still_there(selected, before, made.review or before), made.review)


@blueprint.post("/demonstrations/<demonstration_id>/status")
def status(demonstration_id: str) -> str | Response:
    """Change the status; who is done with a demonstration gets the next one at once; in training, the answer."""
    db, given, who = services().db, request.form.get("status", ""), account()
    workflow.change_status(db, demonstration_id, given, version_from_form(), who, request.form.get("reason", ""))
    if given == DRAFT:
        return _after_change(demonstration_id, request.form.get("selected"))
    address = (url_for("training.show", demonstration_id=demonstration_id) if tries.found(db, demonstration_id)
               else _following(demonstration_id))
    if not request.headers.get("HX-Request"):
        return redirect(address, 303)
    response = make_response("")
    response.headers["HX-Redirect"] = address
    return response


def _following(demonstration_id: str) -> str:
    """Where the next one is after one that is done."""
    following = leases.take_next(services().db, account(), after=demonstration_id)
    if following is None:
        return url_for(".index", done=demonstration_id)
    return url_for(".review", demonstration_id=following.id, done=demonstration_id)


def _after_change(demonstration_id: str, selected: str | None, after: library.Review | None = None) -> str | Response:
    address = url_for(".review", demonstration_id=demonstration_id, turn=selected or None)
    if not request.headers.get("HX-Request"):
        return redirect(address, 303)
    response = make_response(_render("_workspace.html", demonstration_id, selected or None, "screenshot", after))
    response.headers["HX-Replace-Url"] = address
    return response


def _touched(before: list[types.Edit], after: list[types.Edit]) -> str | None:
    """The turn of the edit that an undo took back or a redo brought back, so that one sees what happened."""
    longer, shorter = sorted((standing(before), standing(after)), key=len, reverse=True)
    if len(longer) == len(shorter):
        return None
    edit = longer[-1][1]
    return edit.get("turn") or next(iter(edit.get("turns", ())), None)


def _still_there(selected: str | None, before: library.Review, after: library.Review) -> str | None:
    """The selected turn, or where a change took it away the one before it."""
    there = {turn["id"] for turn in after.turns}
    ids = [turn["id"] for turn in before.turns]
    if not selected or selected in there or selected not in ids:
        return selected
    return next((each for each in reversed(ids[:ids.index(selected)]) if each in there), None)


def _render(template: str, demonstration_id: str, selected: str | None, view: str,
            known: library.Review | None = None, tour: int = 0) -> str:
    """A page of a demonstration; `known`: what was just read of it, which is not read again; `tour`: a step of it."""
    db = services().db
    review = known or library.review(db, demonstration_id)
    problem = review.row.damage if known else _problem(review)
    found, paired = ReviewView(review, selected), pairs.found(db, demonstration_id)
    tried = tries.found(db, demonstration_id)
    shown, talk = moment(found, view), comments.comments_of(db, demonstration_id)
    return render_template(
        template, damage=problem, review=found, row=found.row, turn=found.selected, moment=shown, view=shown.view,
        labels=labels.definitions(db, found.row.home), paired=paired, trouble=proving.trouble(db, found.row),
        neighbours=parts.neighbours(db, review),
        actions=workflow.actions(found.row, account(), paired, review.settings.review_steps, tried), tried=tried,
        training=training.is_training(db, demonstration_id),
        settings=review.settings, members=_people() if talk or template == "review.html" else [], comments=talk,
        may_withdraw=deleting.may_withdraw(found.row, account()), holder=leases.holder(found.row),
        speakers=SPEAKERS, modifiers=MODIFIERS, tour=tour,
        last_change=editing.last_status_change(db, demonstration_id) if found.row.status != DRAFT else None)


def _problem(review: library.Review) -> str | None:
    """Why a demonstration that can be shown is damaged all the same; the list says it from then on."""
    try:
        review.checked()
        lacking = services().store.lacks(review.row.recording, damage.blobs_of(review.turns))
        problem = f"pictures or pages missing in its recording: {len(lacking)}" if lacking else None
    except Damaged as error:
        problem = error.reason
    except InputError as error:
        problem = str(error)
    if problem is None:
        return review.row.damage
    problem = services().store.without_paths(problem)
    damage.note(services().db, [LeftOut(review.row.id, problem)])
    return problem

