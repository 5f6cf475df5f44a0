"""The pages: the list of demonstrations and the review page, with the changes that are made there."""

from flask import Blueprint, make_response, redirect, render_template, request, url_for
from werkzeug import Response

from pipeline.checks import KINDS
from pipeline.edits import standing
from pipeline.retarget import candidates, element_of
from schemas import BROWSER_INTENTS, INTENTS
from schemas.recording import SPEAKERS

from . import comments, editing, leases, library, users, workflow
from .accounts import account
from .context import services
from .errors import InputError
from .forms import MODIFIERS, converted, parse_arguments
from .listing import COUNT_LIMIT, listing, read_filter, sites
from .models import DRAFT, ORDERS, STATUSES
from .presentation import ReviewView

blueprint = Blueprint("pages", __name__)


@blueprint.get("/")
def index() -> str:
    """The list, searched and filtered by the URL."""
    db, sought = services().db, read_filter(request.args)
    page = listing(db, sought)
    if request.headers.get("HX-Request"):
        return render_template("_rows.html", page=page, sought=sought, count_limit=COUNT_LIMIT, people=_people())
    return render_template(
        "list.html", page=page, sought=sought, statuses=STATUSES, intents=INTENTS, kinds=KINDS, sites=sites(db),
        orders=ORDERS, people=_people(), count_limit=COUNT_LIMIT, questions=len(comments.questions_for(db, account())))


def _people() -> list[str]:
    return [user.name for user in users.everybody(services().db)]


@blueprint.get("/demonstrations/<demonstration_id>")
def review(demonstration_id: str) -> str:
    """The review page; asked by htmx, only the selected turn."""
    template = "_turn.html" if request.headers.get("HX-Request") else "review.html"
    return _render(template, demonstration_id, request.args.get("turn"), request.args.get("view", "screenshot"))


@blueprint.post("/demonstrations/<demonstration_id>/edits")
def edit(demonstration_id: str) -> str | Response:
    """Save one edit at once; asked by htmx, answer the page's whole working area."""
    change = _edit_from_form(demonstration_id)
    steps_back = change["op"] in ("undo", "redo")
    before = library.review(services().db, demonstration_id).edits if steps_back else []
    workflow.edit(services().db, demonstration_id, change, _version(), account(), request.form.get("key") or None)
    selected = request.form.get("selected")
    if steps_back:
        selected = _touched(before, [*before, change]) or selected
    return _after_change(demonstration_id, selected)


@blueprint.post("/demonstrations/<demonstration_id>/status")
def status(demonstration_id: str) -> str | Response:
    """Change the status; in a team, who is done with a demonstration gets the next one at once."""
    db, given, who = services().db, request.form.get("status", ""), account()
    workflow.change_status(db, demonstration_id, given, _version(), who, request.form.get("reason", ""))
    if who.alone or given == DRAFT:
        return _after_change(demonstration_id, request.form.get("selected"))
    following = leases.take_next(db, who, after=demonstration_id)
    address = (url_for(".review", demonstration_id=following.id, done=demonstration_id) if following
               else url_for(".index", done=demonstration_id))
    if not request.headers.get("HX-Request"):
        return redirect(address, 303)
    response = make_response("")
    response.headers["HX-Redirect"] = address
    return response


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
    targets = _targets(found) if view == "targets" else []
    return render_template(
        template, review=found, row=found.row, turn=found.selected, actions=workflow.actions(found.row, account()),
        comments=comments.comments_of(db, demonstration_id),
        holder=leases.holder(found.row), view=view, targets=targets, intents=BROWSER_INTENTS,
        speakers=SPEAKERS, modifiers=MODIFIERS,
        last_change=editing.last_status_change(db, demonstration_id) if found.row.status != DRAFT else None)


def _targets(found: ReviewView) -> list[dict]:
    """What the selected turn can be about: what a person could act on, or all that was in sight; each with a number."""
    if not found.selected or found.selected.is_chat:
        return []
    rows = candidates(services().store.open(found.row.recording), found.selected.state)
    present = (found.selected.turn["element"] or {}).get("uid")
    if not request.args.get("all"):
        rows = [row for row in rows if row["clickable"] or row["uid"] == present]
    return [row | {"number": number, "present": row["uid"] == present,
                   "area": row["bbox"]["width"] * row["bbox"]["height"]} for number, row in enumerate(rows, 1)]


def _version() -> int:
    version = request.form.get("version", type=int)
    if version is None:
        raise InputError("field version: is needed")
    return version


def _edit_from_form(demonstration_id: str) -> dict:
    """The edit that a sent form means; what it lacks or has wrong is found by the edit's schema."""
    form = request.form
    edit: dict = {"op": form.get("op", "")}
    if edit["op"] in ("undo", "redo"):
        return edit
    edit["turn"] = form.get("turn", "")
    if edit["op"] == "move":
        edit["after"] = _neighbour(demonstration_id, edit["turn"]) if "step" in form else form.get("after") or None
    elif edit["op"] == "retarget":
        edit["element"] = _element_from_form(demonstration_id, edit["turn"])
    elif edit["op"] in ("set_intent", "set_arguments"):
        edit |= _arguments_from_form(demonstration_id, edit)
    else:
        edit |= {name: form[name] for name in ("status", "utterance", "speaker") if name in form}
    return edit


def _neighbour(demonstration_id: str, turn: str) -> str | None:
    """For a move by a place or more: the turn to stand behind, None for the first place.

    Counted from where the turn is now, not from where it was when the page was made: keys can be faster than answers.
    """
    ids = [each["id"] for each in library.current(services().db, demonstration_id)["turns"]]
    if turn not in ids:
        return None  # which the edit's check refuses
    rest = [each for each in ids if each != turn]
    place = min(max(ids.index(turn) + request.form.get("step", 0, int), 0), len(rest))
    return rest[place - 1] if place else None


def _action(demonstration_id: str, turn_id: str) -> dict:
    turns = library.current(services().db, demonstration_id)["turns"]
    for turn in turns:
        if turn["id"] == turn_id and turn["type"] == "browser":
            return turn
    raise InputError(f"field turn: no action {turn_id[:80]!r} in this demonstration")


def _element_from_form(demonstration_id: str, turn_id: str) -> dict:
    turn = _action(demonstration_id, turn_id)
    recording = services().store.open(library.review(services().db, demonstration_id).row.recording)
    return element_of(recording, turn.get("state") or {}, request.form.get("uid", ""))


def _arguments_from_form(demonstration_id: str, edit: dict) -> dict:
    turn = _action(demonstration_id, edit["turn"])
    if edit["op"] == "set_arguments":
        return {"arguments": parse_arguments(turn["intent"], request.form)}
    intent = request.form.get("intent", "")
    if intent not in BROWSER_INTENTS:
        raise InputError(f"field intent: {intent[:40]!r} is none")
    return {"intent": intent, "arguments": converted(turn, intent)}
