"""Pages of notifications: the list, and links to their subjects. How many are new stands on every page."""

from flask import Blueprint, Flask, flash, redirect, render_template, request, url_for
from flask_babel import gettext as _
from werkzeug import Response

from curator_web.access.accounts import account
from curator_web.access.services import services
from curator_web.db.models.notification_models import ASSIGNED, WEBHOOK_OFF
from curator_web.jobs import bulk_changes, exporting, outcome_trials, proposing_tasks, recounts, replays
from curator_web.notifications import reading
from curator_web.web.shell.languages import grouped

blueprint = Blueprint("notifications", __name__, url_prefix="/notifications")


def register(app: Flask) -> None:
    """Have templates ask how many are new: what is no whole page does not."""
    app.context_processor(lambda: {"unread_notifications": _unread})


def _unread() -> int:
    return 0 if account().alone else reading.unread(services().db, account())


@blueprint.get("")
def show() -> str:
    """All of them, the new ones first."""
    return render_template("team/notifications.html", rows=reading.latest_notifications(services().db, account()),
                           shown=reading.SHOWN)


@blueprint.get("/<int:notification_id>")
def follow(notification_id: int) -> Response:
    """Go to what it tells of; it is read by that."""
    return redirect(address_of(reading.follow(services().db, account(), notification_id)), 303)


@blueprint.post("/read")
def read() -> Response:
    """Mark some as read, or all."""
    ids = request.form.getlist("id", type=int)
    flash(_("Marked as read: %(count)s.", count=grouped(reading.mark_read(services().db, account(), ids or None))))
    return redirect(url_for(".show"), 303)


def address_of(notification: reading.NotificationRow) -> str:
    """The address of what a notification tells of."""
    row = notification.row
    if row.demonstration_id:
        return url_for("pages.review", demonstration_id=row.demonstration_id, turn=notification.turn)
    if row.task_id:
        return url_for("tasks.show", task_id=row.task_id)
    if row.kind == ASSIGNED:
        return url_for("pages.index", project=row.project, assigned=row.who)
    if row.kind == WEBHOOK_OFF:
        return url_for("webhooks.index", project=row.project)
    pages = {exporting.KIND: "exports.show", bulk_changes.KIND: "team.changes", recounts.KIND: "project_settings.show",
             replays.KIND: "proofs.runs", outcome_trials.KIND: "pages.index",
             proposing_tasks.KIND: "task_proposals.index"}
    endpoint = pages.get(notification.work or "", "imports.show")
    return url_for(endpoint, project=row.project)
