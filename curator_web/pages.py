"""The pages: the list of demonstrations and the review page, with the changes that are made there."""

from flask import Blueprint, make_response, redirect, render_template, request, url_for
from werkzeug import Response

from pipeline.edits import standing
from schemas import BROWSER_INTENTS
from schemas.recording import SPEAKERS

from . import editing, library
from .context import services
from .edit_forms import edit_from_form, version_from_form
from .forms import MODIFIERS
from .models import STATUSES
from .moments import moment
from .presentation import ReviewView

blueprint = Blueprint("pages", __name__)


@blueprint.get("/")
def index() -> str:
    """The list, searched and filtered by the URL."""
    search, status = request.args.get("search", "").strip(), request.args.get("status", "")
    page = library.listing(services().db, search, status, request.args.get("page", 1, int))
    template = "_rows.html" if request.headers.get("HX-Request") else "list.html"
    return render_template(template, page=page, search=search, status=status, statuses=STATUSES)


@blueprint.get("/demonstrations/<demonstration_id>")
def review(demonstration_id: str) -> str:
    """The review page; asked by htmx, only the selected turn."""
    template = "_turn.html" if request.headers.get("HX-Request") else "review.html"
    return _render(template, demonstration_id, request.args.get("turn"), request.args.get("view", "screenshot"))


@blueprint.post("/demonstrations/<demonstration_id>/edits")
def edit(demonstration_id: str) -> str | Response:
    """Save one edit at once; asked by htmx, answer the page's whole working area."""
    change = edit_from_form(demonstration_id)
    before = library.review(services().db, demonstration_id).edits
    editing.add_edit(services().db, demonstration_id, change, version_from_form(), services().who)
    selected = request.form.get("selected")
    if change["op"] in ("undo", "redo"):
        selected = _touched(before, [*before, change]) or selected
    elif change["op"] in ("add", "merge"):
        selected = change["turn"]
    return _after_change(demonstration_id, selected)


@blueprint.post("/demonstrations/<demonstration_id>/status")
def status(demonstration_id: str) -> str | Response:
    """Change the status."""
    editing.set_status(services().db, demonstration_id, request.form.get("status", ""), version_from_form(),
                       services().who, request.form.get("reason", ""))
    return _after_change(demonstration_id, request.form.get("selected"))


def _after_change(demonstration_id: str, selected: str | None) -> str | Response:
    address = url_for(".review", demonstration_id=demonstration_id, turn=selected or None)
    if not request.headers.get("HX-Request"):
        return redirect(address, 303)
    response = make_response(_render("_workspace.html", demonstration_id, selected or None, "screenshot"))
    response.headers["HX-Replace-Url"] = address
    return response


def _touched(before: list[dict], after: list[dict]) -> str | None:
    """The turn of the edit that an undo took back or a redo brought back, so that one sees what happened."""
    longer, shorter = sorted((standing(before), standing(after)), key=len, reverse=True)
    return longer[-1][1]["turn"] if len(longer) > len(shorter) else None


def _render(template: str, demonstration_id: str, selected: str | None, view: str) -> str:
    db = services().db
    found = ReviewView(library.review(db, demonstration_id), selected)
    shown = moment(found, view)
    return render_template(
        template, review=found, row=found.row, turn=found.selected, moment=shown, view=shown.view,
        intents=BROWSER_INTENTS,
        speakers=SPEAKERS, modifiers=MODIFIERS, last_change=editing.last_status_change(db, demonstration_id))
