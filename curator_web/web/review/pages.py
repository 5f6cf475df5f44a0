"""The pages: the list of demonstrations and the review page, with the changes that are made there."""

from typing import Any

from flask import Blueprint, flash, make_response, redirect, render_template, request, url_for
from flask_babel import gettext as _
from werkzeug import Response

from curator_web.access.accounts import account, lead
from curator_web.access.services import services
from curator_web.db.database import Database
from curator_web.db.models.core import DRAFT, ORDERS, STATUSES
from curator_web.demonstrations.leases import leases, training_attempts
from curator_web.demonstrations.library import damage, labels, library, pairs, replay_proofs, review_cache
from curator_web.demonstrations.listing import comments, deleting, saved_filters
from curator_web.demonstrations.listing.listing import COUNT_LIMIT, listing, read_filter, sites
from curator_web.demonstrations.schemes import known as known_answer_store
from curator_web.demonstrations.schemes import versions
from curator_web.demonstrations.workflow import answering, editing, split_links, training, workflow
from curator_web.errors import Damaged, InputError
from curator_web.jobs import replays
from curator_web.users import project_settings, projects
from curator_web.web.shell.forms import MODIFIERS
from pipeline.export import EXPORT_ACTORS, OUTCOMES, LeftOut
from pipeline.turns.edits import standing
from schemas import INTENTS, types
from schemas.formats.recording import SPEAKERS

from . import list_view, turn_list
from .alternative_frames import moment_view
from .edit_forms import edit_from_form, version_from_form
from .presentation import ReviewView
from .questions import answer_from_form, questions_view
from .visits import MISSING_TURN, nearest_turn

blueprint = Blueprint("pages", __name__)
_PAGE, _WORKSPACE = "review/review.html", "review/_workspace.html"


@blueprint.get("/")
def index() -> str:
    """The list, searched and filtered by the URL."""
    sought, caller, is_whole_page = read_filter(request.args), account(), not request.headers.get("HX-Request")
    view = list_view.read_view(request.cookies.get(list_view.COOKIE, ""))
    with services().db.in_one_session() as db:
        context: dict[str, Any] = {
            "page": listing(db, sought, caller.project, caller, view.page_size),
            "people": projects.member_names(db, caller.project),
            "saved": saved_filters.saved(db, caller)}
        if is_whole_page:
            context |= {"kinds": project_settings.read(db, caller.project).checks, "sites": sites(db, caller.project),
                        "labels": _label_values(db), "questions": len(comments.questions_for(db, caller))}
    return render_template("review/list.html" if is_whole_page else "review/_rows.html", sought=sought,
                           view=view, columns=list_view.COLUMNS, page_sizes=list_view.PAGE_SIZES,
                           statuses=STATUSES, intents=INTENTS, orders=ORDERS, count_limit=COUNT_LIMIT,
                           runs=replays.KIND in services().jobs.kinds, proofs=replay_proofs.STATES,
                           actors=EXPORT_ACTORS, outcomes=OUTCOMES, **context)


def _label_values(db: Database) -> list[str]:
    """What can be said by labels with options, as the filter has it."""
    return [f"{label['name']}={option}" for label in labels.definitions(db, account().project)
            for option in label["options"]]


@blueprint.get("/demonstrations/<demonstration_id>")
def review(demonstration_id: str) -> str | Response:
    """The review page; for htmx only the selected turn. A link to a turn that does not exist leads to the nearest
    one."""
    selected, template = request.args.get("turn"), "review/_turn.html" if request.headers.get("HX-Request") else _PAGE
    if selected and template == _PAGE and (address := _nearest_address(demonstration_id, selected)):
        flash(str(MISSING_TURN))
        return redirect(address)
    return _render(template, demonstration_id, selected, request.args.get("view", "screenshot"),
                   tour=max(0, request.args.get("tour", 0, int)))


def _nearest_address(demonstration_id: str, selected: str) -> str | None:
    """Where the turn nearest to a missing one is shown; None for one that exists, and where there are no turns."""
    current = review_cache.cached_review(services().db, demonstration_id, intact=True)
    nearest = nearest_turn(current, selected)
    if nearest is None:
        return None
    view = request.args.get("view")
    return url_for(".review", demonstration_id=demonstration_id, turn=nearest, view=view)


@blueprint.post("/demonstrations/<demonstration_id>/edits")
def edit(demonstration_id: str) -> str | Response:
    """Save one edit at once; asked by htmx, answer the page's whole working area."""
    before = review_cache.cached_review(services().db, demonstration_id, intact=True)
    change = edit_from_form(before)
    made = workflow.edit(services().db, services().store, demonstration_id, change, version_from_form(), account(),
                         request.form.get("key") or None, before)
    if made.review:
        review_cache.remember_edited(services().db, before, made.review)
    selected = request.form.get("selected")
    if change["op"] in ("undo", "redo"):
        reverted: types.Edit = {"op": change["op"]}
        selected = _touched(before.edits, [*before.edits, reverted]) or selected
    elif change["op"] in ("add", "merge"):
        selected = change["turn"]
    if made.part:
        flash(_("Split: the turns from here on are now the demonstration %(id)s. Undo reverts this.", id=made.part))
    if change["op"] == "join":
        flash(_("Joined: the turns of %(id)s were appended. Undo reverts this.", id=change["other"]))
    return _after_change(demonstration_id, _still_there(selected, before, made.review or before), made.review, before)


@blueprint.post("/demonstrations/<demonstration_id>/status")
def status(demonstration_id: str) -> str | Response:
    """Change the status; who is done with a demonstration gets the next one at once; in training, the answer."""
    db, new_status, caller = services().db, request.form.get("status", ""), account()
    workflow.change_status(db, demonstration_id, new_status, version_from_form(), caller,
                           request.form.get("reason", ""))
    if new_status == DRAFT:
        return _after_change(demonstration_id, request.form.get("selected"))
    address = (url_for("training.show", demonstration_id=demonstration_id)
               if training_attempts.find_attempt(db, demonstration_id)
               else _following(demonstration_id))
    if not request.headers.get("HX-Request"):
        return redirect(address, 303)
    response = make_response("")
    response.headers["HX-Redirect"] = address
    return response


@blueprint.post("/demonstrations/<demonstration_id>/answers")
def answer(demonstration_id: str) -> str | Response:
    """Save an answer to a question; asked by htmx, answer the selected turn with all its questions."""
    before, selected = review_cache.cached_review(services().db, demonstration_id), request.form.get("selected")
    with services().db.reading() as session:
        scheme = versions.current_scheme(session, before.row.home).scheme
    if request.form.get("confirm"):
        answering.confirm(services().db, demonstration_id, request.form.get("question", ""),
                          request.form.get("turn", ""), account(), before)
    elif change := request.form.get("span"):
        answering.change_spans(services().db, demonstration_id, request.form.get("question", ""), change,
                               selected or "", account(), before)
    else:
        answering.answer(services().db, demonstration_id, [answer_from_form(scheme, request.form)], account(), before)
    if not request.headers.get("HX-Request"):
        return redirect(url_for(".review", demonstration_id=demonstration_id, turn=selected or None), 303)
    return _render("review/_turn.html", demonstration_id, selected or None, request.form.get("view", "screenshot"))


@blueprint.post("/demonstrations/<demonstration_id>/known-answers")
def known_answers(demonstration_id: str) -> Response:
    """Have the lead's answers be the known ones, or with `forget` none."""
    db, selected = services().db, request.form.get("selected")
    if request.form.get("forget"):
        known_answer_store.forget_known(db, demonstration_id, lead())
        flash(_("No answers are known any more."))
    else:
        count = known_answer_store.make_known(db, demonstration_id, lead())
        flash(_("Known answers: %(count)s. Only leads see that.", count=count))
    return redirect(url_for(".review", demonstration_id=demonstration_id, turn=selected or None), 303)


def _following(demonstration_id: str) -> str:
    """Where the next one is after one that is done."""
    following = leases.take_next(services().db, account(), after=demonstration_id)
    if following is None:
        return url_for(".index", done=demonstration_id)
    return url_for(".review", demonstration_id=following.id, done=demonstration_id)


def _after_change(demonstration_id: str, selected: str | None, after: library.Review | None = None,
                  before: library.Review | None = None) -> str | Response:
    address = url_for(".review", demonstration_id=demonstration_id, turn=selected or None)
    if not request.headers.get("HX-Request"):
        return redirect(address, 303)
    response = make_response(_render(_WORKSPACE, demonstration_id, selected or None, "screenshot", after, before))
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
    present = {turn["id"] for turn in after.turns}
    ids = [turn["id"] for turn in before.turns]
    if not selected or selected in present or selected not in ids:
        return selected
    return next((previous for previous in reversed(ids[:ids.index(selected)]) if previous in present), None)


def _render(template: str, demonstration_id: str, selected: str | None, view: str,
            known: library.Review | None = None, before: library.Review | None = None, tour: int = 0) -> str:
    """A page of a demonstration, or a part of it; `known`: what was just read of it, which is not read again; `before`:
    the same before an edit; `tour`: a step of it. Only the page is checked for damage: that costs all turns."""
    is_page = template == _PAGE
    review = known or review_cache.cached_review(services().db, demonstration_id, intact=not is_page)
    problem = _problem(review) if is_page else review.row.damage  # it may wait for the storage
    review_view = ReviewView(review, selected)
    with services().db.in_one_session() as db:
        row, talk = review_view.row, comments.comments_of(db, demonstration_id)
        paired, tried = pairs.find_pair(db, demonstration_id), training_attempts.find_attempt(db, demonstration_id)
        context: dict[str, Any] = {
            "labels": labels.definitions(db, row.home), "paired": paired,
                                   "trouble": replay_proofs.failing_turns(db, row),
            "neighbours": split_links.neighbours(db, review), "tried": tried, "comments": talk,
            "training": training.is_training(db, demonstration_id),
            "questions": questions_view(db, review_view, account()),
            "members": projects.member_names(db, account().project) if talk or is_page else [],
            "last_change": editing.last_status_change(db, demonstration_id) if row.status != DRAFT else None}
    if before:
        context["changes"] = turn_list.changes(ReviewView(before), review_view, context["trouble"])
    shown_moment = moment_view(review_view, view)
    return render_template(
        template, damage=problem, review=review_view, row=row, turn=review_view.selected, moment=shown_moment,
                           view=shown_moment.view,
        actions=workflow.actions(row, account(), paired, review.settings.review_steps, tried),
        settings=review.settings, may_withdraw=deleting.may_withdraw(row, account()), holder=leases.holder(row),
        speakers=SPEAKERS, modifiers=MODIFIERS, tour=tour, **context)


def _problem(review: library.Review) -> str | None:
    """Why a demonstration that can be shown is damaged all the same; the list says it from then on."""
    try:
        review_cache.require_valid(services().db, review)
        blobs = review.derive("blobs", lambda: damage.blobs_of(review.turns))
        lacking = services().store.lacks(review.row.recording, blobs)
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

