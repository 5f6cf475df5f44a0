"""The page of outcome checks: what makes the task done, written by forms; and what that says of each session of it."""

import json
from collections.abc import Callable
from functools import partial
from typing import Any

from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask_babel import gettext as _
from werkzeug import Response

from curator_web.access.accounts import account
from curator_web.access.services import services
from curator_web.demonstrations.library import library
from curator_web.demonstrations.measuring import divergence
from curator_web.demonstrations.workflow import outcomes, workflow
from curator_web.errors import ErrorText, InputError, NotFound
from curator_web.jobs import outcome_trials
from curator_web.sandboxed import list_sandboxed, run_sandboxed
from curator_web.web.shell.display_names import error_words
from pipeline.outcomes import check_editing, session_checks, wording
from schemas.files import dump_json, validated
from schemas.formats.outcome import OutcomeCheckSchema
from schemas.types.outcome import Outcome, OutcomeCheck

from . import outcome_forms, outcome_view
from .edit_forms import version_from_form
from .outcome_forms import CheckForm
from .presentation import ReviewView

blueprint = Blueprint("outcomes", __name__)
_CHECK = OutcomeCheckSchema()


@blueprint.get("/demonstrations/<demonstration_id>/outcome")
def show(demonstration_id: str) -> str:
    """The checks, a form for one of them, and the last trial; asked by htmx, only how far a trial is."""
    if request.headers.get("HX-Request"):
        job = outcome_trials.latest(services().db, demonstration_id)
        jobs_url = url_for(".show", demonstration_id=demonstration_id)
        return render_template("shell/_jobs.html", jobs=[job] if job else [], here=jobs_url)
    review = library.review(services().db, demonstration_id)
    return _page(review, _form(review, request.args) if {"new", "edit"} & request.args.keys() else None)


@blueprint.post("/demonstrations/<demonstration_id>/outcome")
def change(demonstration_id: str) -> Response | tuple[str, int]:
    """Make one change of the checks; what is refused is told on the page."""
    review, op = library.review(services().db, demonstration_id), request.form.get("op", "")
    if op == "save":
        return _save(review)
    try:
        _store(review, _CHANGES[op](review.outcome) if op in _CHANGES else _unknown(op), version_from_form())
    except InputError as error:
        return _page(review, problem=_plain(error)), 400
    return redirect(url_for(".show", demonstration_id=demonstration_id), 303)


@blueprint.post("/demonstrations/<demonstration_id>/outcome/trial")
def begin_trial(demonstration_id: str) -> Response:
    """Try the checks on every session of the task."""
    outcome_trials.begin(services().db, services().jobs, demonstration_id, account())
    return redirect(url_for(".show", demonstration_id=demonstration_id, _anchor="jobs"), 303)


@blueprint.get("/demonstrations/<demonstration_id>/outcome.json")
def download(demonstration_id: str) -> Response:
    """The checks as a file, for `demotape outcome --checks`."""
    outcome = library.review(services().db, demonstration_id).outcome
    if outcome is None:
        raise NotFound(ErrorText("this demonstration has no outcome checks"))
    return Response(dump_json(outcome), content_type="application/json", headers={
        "Content-Disposition": 'attachment; filename="outcome.json"'})


@blueprint.get("/demonstrations/<demonstration_id>/beside/<other>")
def beside(demonstration_id: str, other: str) -> str:
    """Another session turn by turn beside this one, and where they part."""
    db = services().db
    if other not in outcomes.visible_rows(db, [other], account()):
        raise NotFound(ErrorText("unknown demonstration %(other)r", other=other[:80]))
    reviews = [library.review(db, name) for name in (demonstration_id, other)]
    first, second = ({turn.id: turn for turn in ReviewView(review_).turns} for review_ in reviews)
    steps = divergence.aligned(reviews[0].turns, reviews[1].turns)
    names = [outcome_view.navigator_name(review_.row, services().store.open(review_.row.recording).manifest)
             for review_ in reviews]
    return render_template(
        "review/beside.html", row=reviews[0].row, other=reviews[1].row, who=names, parts=divergence.parting(steps),
        steps=[(first.get(step.first or ""), second.get(step.second or ""), step.same) for step in steps])


def _page(review: library.Review, form: CheckForm | None = None, problem: str = "") -> str:
    db, row, args = services().db, review.row, request.args
    job = outcome_trials.latest(db, row.id)
    proposed = points = None
    try:
        if "propose" in args:
            proposed = [(json.dumps(proposal, ensure_ascii=False), proposal)
                        for proposal in outcomes.propose(services().store, review)]
        if form and "point" in args:
            points = _points(review)
    except InputError as error:
        problem = _plain(error)
    return render_template(
        "review/outcome.html", row=row, outcome=review.outcome, form=form, problem=problem, proposed=proposed,
        points=points, items=outcome_view.items(review.outcome, check_editing.CHECKS), begun=outcome_forms.BEGUN,
        told=wording.describe_check,
        checkpoints=outcome_view.items(review.outcome, check_editing.CHECKPOINTS), kind_of=outcome_view.kind_of,
        jobs=[job] if job else [], here=url_for(".show", demonstration_id=row.id),
        tried=outcome_view.tried(db, job.result, account()) if job and job.result else None,
        locked=ReviewView(review).locked)


def _form(review: library.Review, values_sent: Any) -> CheckForm:
    """The form that an address or a sent form is about."""
    path, within = values_sent.get("edit", ""), values_sent.get("within", "")
    if path:
        if review.outcome is None:
            raise InputError(ErrorText("the outcome checks were deleted"))
        name = check_editing.name_at(review.outcome, path) or None
        return outcome_forms.of_check(check_editing.check_at(review.outcome, path), path, name)
    kind = values_sent.get("new", "")
    if kind not in outcome_forms.BEGUN:
        raise InputError(ErrorText("field new: unknown kind of check %(kind)r", kind=kind[:40]))
    values = {name: values_sent[name] for name in ("css", "includes") if name in values_sent}
    return CheckForm(kind, values, within=within, name="" if values_sent.get("when") == "way" and not within else None)


def _save(review: library.Review) -> Response | tuple[str, int]:
    form = _form(review, request.form)
    check = outcome_forms.read(form, request.form, partial(_picture, review))
    if check is not None:
        try:
            changed = (check_editing.replace_check(_existing(review.outcome), form.path, check, form.name or "")
                       if form.path else
                       check_editing.add_check(review.outcome, check, form.name or "", form.within))
            _store(review, changed, version_from_form())
        except InputError as error:
            form.errors["check"] = _plain(error)
        else:
            flash(_("Saved."))
            return redirect(url_for(".show", demonstration_id=review.row.id), 303)
    return _page(review, form), 400


def _store(review: library.Review, outcome: Outcome | None, version: int) -> None:
    change = {"op": "set_outcome", "outcome": outcome}
    workflow.edit(services().db, services().store, review.row.id, change, version, account(), known=review)


def _picture(review: library.Review, css: str) -> str:
    """The blob of what a selector fits on the last page, or of all of it; raises InputError."""
    recording = services().store.open(review.row.recording)
    if css:
        picture = run_sandboxed(session_checks.picture, recording, css, review.part)
        return services().store.store_blob(recording, picture)
    last = list_sandboxed(session_checks.last_screenshot, recording, review.part)
    if last is None:
        raise InputError(ErrorText("the recording has no picture of its end"))
    return last[0]


def _points(review: library.Review) -> dict[str, Any]:
    """What can be pointed at on the last page: texts, and the picture that they stand in."""
    recording = services().store.open(review.row.recording)
    last = list_sandboxed(session_checks.last_screenshot, recording, review.part)
    offered = list_sandboxed(session_checks.offered_texts, recording, review.part)
    return {"offered": offered, "shown": last[0] if last else None, "size": last[1] if last else None}


def _with_ticked(outcome: Outcome | None) -> Outcome | None:
    """With the proposed checks that are ticked."""
    ticked = request.form.getlist("check")
    if not ticked:
        raise InputError(ErrorText("select at least one proposal"))
    for ticked_check in ticked:
        try:
            check: OutcomeCheck = validated(json.loads(ticked_check), _CHECK, "check")
        except (ValueError, RecursionError):
            raise InputError(ErrorText("field check: not a check")) from None
        outcome = check_editing.add_check(outcome, check)
    return outcome


def _existing(outcome: Outcome | None) -> Outcome:
    if outcome is None:
        raise InputError(ErrorText("the outcome checks were deleted"))
    return outcome


def _path() -> str:
    return request.form.get("place", "")


def _unknown(op: str) -> Outcome:
    raise InputError(ErrorText("unknown operation %(op)r on checks", op=op[:40]))


def _plain(error: InputError) -> str:
    """An error for people: without the name of the field, which stands beside it."""
    message = error_words(error)
    if str(error).startswith("field "):
        message = message.partition(": ")[2] or message
    message = services().store.without_paths(message)
    return f"{message[:1].upper()}{message[1:]}."


_CHANGES: dict[str, Callable[[Outcome | None], Outcome | None]] = {
    "remove": lambda outcome: check_editing.remove_check(_existing(outcome), _path()),
    "up": lambda outcome: check_editing.move_check(_existing(outcome), _path(), -1),
    "down": lambda outcome: check_editing.move_check(_existing(outcome), _path(), 1),
    "combine": lambda outcome: check_editing.combine_checks(_existing(outcome), request.form.getlist("place"),
                                                  request.form.get("kind", "")),
    "apart": lambda outcome: check_editing.ungroup_check(_existing(outcome), _path()),
    "keep": _with_ticked}
