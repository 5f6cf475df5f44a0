"""Saving filters of the list, and forgetting them."""

from typing import Any

from flask import Blueprint, redirect, request, url_for
from werkzeug import Response

from curator_web.access.accounts import account
from curator_web.access.services import services
from curator_web.demonstrations.listing import saved_filters
from curator_web.demonstrations.listing.listing import read_filter
from curator_web.web.team.team import list_parameters

blueprint = Blueprint("filters", __name__, url_prefix="/filters")


@blueprint.post("")
def save() -> Response:
    """Keep the filter that the form tells under a name."""
    sought = read_filter(list_parameters())
    saved_filters.save(services().db, account(), request.form.get("name", ""), sought,
                       request.form.get("shared") == "yes")
    shown: dict[str, Any] = {**sought.parameters()}
    return redirect(url_for("pages.index", **shown), 303)


@blueprint.post("/<int:filter_id>/remove")
def remove(filter_id: int) -> Response:
    """Forget one."""
    saved_filters.remove(services().db, account(), filter_id)
    return redirect(url_for("pages.index"), 303)
