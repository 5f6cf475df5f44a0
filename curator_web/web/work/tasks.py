"""Pages of tasks: the bank of a project, proposing, deciding, and the next one for who records."""

from typing import Any

from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask_babel import gettext as _
from werkzeug import Response

from curator_web.access.accounts import account, lead
from curator_web.access.services import services
from curator_web.db.models.task_models import TASK_STATES
from curator_web.errors import ErrorText, InputError
from curator_web.tasks import assignment, bank, files
from curator_web.web.shell.languages import grouped

blueprint = Blueprint("tasks", __name__, url_prefix="/tasks")


@blueprint.get("")
def index() -> str:
    """The tasks of the project, found by their state, site, category and words."""
    sought = {name: request.args.get(name, "").strip() for name in ("state", "search", "site", "category")}
    page = min(max(request.args.get("page", 1, type=int), 1), 1_000_000)
    db, caller = services().db, account()
    results = bank.find(db, caller, page=page, **sought)
    return render_template("work/tasks.html", found=results, sought=sought, page=page,
                           pages=-(-results.total // bank.PAGE), states=TASK_STATES, difficulties=bank.DIFFICULTIES,
                           mine=assignment.assigned_task(db, caller),
                           seeds=bank.seeds(db, caller), limit=bank.TEXT_LENGTH, model=services().model)


@blueprint.post("")
def propose() -> Response:
    """Propose a task; a lead's is accepted at once."""
    task, = bank.propose(services().db, account(), [_form_fields()])
    return redirect(url_for(".show", task_id=task.id), 303)


@blueprint.post("/file")
def take_file() -> Response:
    """Tasks from a file; a lead's are accepted at once."""
    lead()
    file = request.files.get("file")
    if file is None or not file.filename:
        raise InputError(ErrorText("field file: choose a CSV or JSON Lines file first"))
    added = bank.propose(services().db, account(), files.parse("the file", file.stream.read()))
    flash(_("%(count)s tasks were added.", count=grouped(len(added))))
    return redirect(url_for(".index"), 303)


take_file.takes_up_to = files.LARGEST  # type: ignore[attr-defined]  # a mark on the view, for accounts.py


@blueprint.post("/next")
def following() -> Response:
    """Take the next task to record."""
    return redirect(url_for(".show", task_id=assignment.give(services().db, account()).id), 303)


@blueprint.get("/<task_id>")
def show(task_id: str) -> str:
    """A task, those that are nearly the same, and what may be done with it."""
    listed, similar = bank.show(services().db, account(), task_id)
    own_task = assignment.assigned_task(services().db, account())
    return render_template("work/task.html", task=listed, alike=similar, difficulties=bank.DIFFICULTIES,
                           limit=bank.TEXT_LENGTH, mine=own_task is not None and own_task.id == task_id)


@blueprint.post("/<task_id>")
def change(task_id: str) -> Response:
    """Change what is told of it."""
    bank.change(services().db, account(), task_id, _form_fields())
    return redirect(url_for(".show", task_id=task_id), 303)


@blueprint.post("/<task_id>/decision")
def decide(task_id: str) -> Response:
    """Accept it, send it back or refuse it."""
    bank.decide(services().db, account(), task_id, request.form.get("state", ""), request.form.get("reason", ""))
    return redirect(url_for(".show", task_id=task_id), 303)


@blueprint.post("/<task_id>/back")
def give_back(task_id: str) -> Response:
    """Leave it to others, or say that it cannot be done."""
    assignment.give_back(services().db, account(), task_id, request.form.get("reason", ""),
                         request.form.get("unachievable") == "yes")
    return redirect(url_for(".index"), 303)


def _form_fields() -> dict[str, Any]:
    """What the form tells of a task; raises InputError."""
    fields: dict[str, Any] = {name: request.form.get(name, "").strip() for name in bank.COLUMNS}
    wanted = fields.pop("wanted") or "1"
    if not wanted.isdecimal() or len(wanted) > 6:
        raise InputError(ErrorText("field wanted: %(wanted)r is not a number", wanted=wanted[:40]))
    return {**fields, "wanted": int(wanted), "seed": bool(fields["seed"])}
