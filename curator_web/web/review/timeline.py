"""The time line: the session at one glance, beside the external video, which can be placed by hand there."""

import math

from flask import Blueprint, flash, make_response, redirect, render_template, request, url_for
from flask_babel import gettext as _
from werkzeug import Response

from curator_web.access.accounts import account
from curator_web.access.services import services
from curator_web.demonstrations.leases import training_attempts
from curator_web.demonstrations.library import library, pairs
from curator_web.demonstrations.workflow import workflow
from curator_web.errors import Conflict, ErrorText, InputError, NotAllowed
from curator_web.web.shell.display_names import STATUS_WORDS, error_words
from schemas import types

from .edit_forms import version_from_form
from .timeline_form import CLOCK, RECTANGLE, PlacementForm
from .timeline_view import Timeline, process_options
from .visits import MISSING_TURN, nearest_turn

blueprint = Blueprint("timeline", __name__)


@blueprint.get("/demonstrations/<demonstration_id>/timeline")
def show(demonstration_id: str) -> str | Response:
    """The line, with the cursor at a turn (`turn`) or a time of the recording (`at`, seconds). A link to a turn that
    does not exist leads to the nearest one."""
    review = library.review(services().db, demonstration_id)
    selected = request.args.get("turn") or None
    if selected and (nearest := nearest_turn(review, selected)):
        flash(str(MISSING_TURN))
        return redirect(url_for(".show", demonstration_id=demonstration_id, turn=nearest))
    line = Timeline(review, selected, _cursor_time())
    return _page(review, line, PlacementForm(line))


@blueprint.post("/demonstrations/<demonstration_id>/timeline")
def place(demonstration_id: str) -> str | Response:
    """Keep what a person says of the video's clock and rectangle, if all of it can be meant."""
    review = library.review(services().db, demonstration_id)
    selected = request.form.get("selected") or None
    line = Timeline(review, selected)
    if line.alignment is None:
        raise InputError(ErrorText("this demonstration has no external video"))
    version = version_from_form()
    form = PlacementForm(line, request.form)
    if form.errors:
        return make_response(_page(review, line, form), 400)
    if said := form.placement():
        workflow.edit(services().db, services().store, demonstration_id, {"op": "place_video", "place": said}, version,
                      account(), known=review)
    return redirect(url_for(".show", demonstration_id=demonstration_id, turn=selected, _anchor="place"), 303)


def _page(review: library.Review, line: Timeline, form: PlacementForm) -> str:
    nothing: types.VideoPlacement = {}
    by_hand = line.alignment.get("by_hand", nothing) if line.alignment else nothing
    return render_template(
        "review/timeline.html", row=line.row, line=line, form=form,
        groups=(("clock", _("Clock"), CLOCK), ("rectangle", _("Rectangle"), RECTANGLE)),
        clock_by_hand="offset" in by_hand, rectangle_by_hand="rectangle" in by_hand, refused=_refused(line),
        options=process_options(by_hand), has_video=services().store.has_video(line.row.recording),
        has_external=line.alignment is not None and services().store.has_external_video(line.row.recording))


def _refused(line: Timeline) -> str | None:
    """Why who asks may not place the video now; None when they may."""
    if line.locked:
        return _("this demonstration is %(status)s; reopen it to change it", status=STATUS_WORDS[line.row.status])
    try:
        workflow.may_edit(line.row, account())
        with services().db.reading() as session:
            pairs.require_editable(session, line.row, account())
            training_attempts.require_own_attempt(session, line.row.id, account())
    except (NotAllowed, Conflict) as error:
        return error_words(error)
    return None


def _cursor_time() -> float | None:
    time = request.args.get("at", type=float)
    return time if time is not None and math.isfinite(time) else None
