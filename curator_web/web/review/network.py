"""The page of requests and console lines between a turn and the next action."""

from flask import Blueprint, render_template, request

from curator_web.access.services import services
from curator_web.demonstrations.library import library
from curator_web.demonstrations.library.turn_network import console_lines, turn_requests

blueprint = Blueprint("network", __name__)


@blueprint.get("/demonstrations/<demonstration_id>/network")
def show(demonstration_id: str) -> str:
    """The requests of a turn, and the console; requested by htmx, only their tables."""
    review, turn_id = library.review(services().db, demonstration_id), request.args.get("turn", "")
    store, name = services().store, review.row.recording
    lines = console_lines(store, review, turn_id) if store.has_console(name) else None
    requests = None if lines and not store.has_network(name) else turn_requests(store, review, turn_id)
    template = "review/_requests.html" if request.headers.get("HX-Request") else "review/network.html"
    return render_template(template, row=review.row, turn_requests=requests, written=lines, span=requests or lines)
