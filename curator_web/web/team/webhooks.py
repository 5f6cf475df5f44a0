"""Pages of webhooks, for leads: which there are, what was sent, and sending it again."""

from flask import Blueprint, redirect, render_template, request, url_for
from werkzeug import Response

from curator_web.access.accounts import lead
from curator_web.access.services import services
from curator_web.db.models.webhook_models import ON
from curator_web.webhooks import addresses, hooks
from curator_web.webhooks.events import EVENTS

blueprint = Blueprint("webhooks", __name__, url_prefix="/webhooks")


@blueprint.get("")
def index() -> str:
    """Those of the project, and the form of a new one."""
    return render_template("team/webhooks.html", rows=services().webhooks.all_of(lead()), events=EVENTS,
                           most=hooks.MAX_WEBHOOKS,
                           limit=addresses.URL_LENGTH)


@blueprint.post("")
def add() -> str:
    """Add one, and show its secret this once."""
    row, secret = services().webhooks.add(lead(), request.form.get("url", ""), request.form.getlist("event"))
    return _page(row.id, secret)


@blueprint.get("/<int:webhook_id>")
def show(webhook_id: int) -> str:
    """One, and what was sent to it; asked by htmx, only that."""
    return _page(webhook_id)


@blueprint.post("/<int:webhook_id>/secret")
def renew(webhook_id: int) -> str:
    """Make a new secret, and show it this once."""
    return _page(webhook_id, services().webhooks.renew(lead(), webhook_id))


@blueprint.post("/<int:webhook_id>/state")
def switch(webhook_id: int) -> Response:
    """Switch it on or off."""
    services().webhooks.switch(lead(), webhook_id, request.form.get("state") == ON)
    return redirect(url_for(".show", webhook_id=webhook_id), 303)


@blueprint.post("/<int:webhook_id>/remove")
def remove(webhook_id: int) -> Response:
    """Remove it."""
    project = lead().project
    services().webhooks.remove(lead(), webhook_id)
    return redirect(url_for(".index", project=project), 303)


@blueprint.post("/deliveries/<int:delivery_id>/again")
def again(delivery_id: int) -> Response:
    """Send something again."""
    return redirect(url_for(".show", webhook_id=services().webhooks.send_again(lead(), delivery_id)), 303)


def _page(webhook_id: int, secret: str | None = None) -> str:
    row, deliveries = services().webhooks.show(lead(), webhook_id)
    template = "team/_deliveries.html" if request.headers.get("HX-Request") else "team/webhook.html"
    return render_template(template, row=row, deliveries=deliveries, secret=secret, shown=hooks.SHOWN)
