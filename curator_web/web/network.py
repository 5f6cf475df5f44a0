"""What the browser asked for between a turn and the next action, where the recording kept its network."""

from dataclasses import dataclass

from flask import Blueprint, render_template, request

from curator_web.demonstrations import library
from curator_web.errors import ErrorText, NotFound
from pipeline import network

from .apart import listed
from .context import services

blueprint = Blueprint("network", __name__)


@dataclass(frozen=True)
class Asked:
    """The requests from `begin` on and before `end` (None: to the end of the recording), seconds of the recording."""

    turn: str
    begin: float
    end: float | None
    requests: list[network.Request]
    total: int


@blueprint.get("/demonstrations/<demonstration_id>/network")
def show(demonstration_id: str) -> str:
    """The requests of a turn; asked by htmx, only their table."""
    review = library.review(services().db, demonstration_id)
    template = "_requests.html" if request.headers.get("HX-Request") else "network.html"
    return render_template(template, row=review.row, asked=asked(review, request.args.get("turn", "")))


def asked(review: library.Review, turn_id: str) -> Asked:
    """What was asked for from a turn to the next action; before the first action, from the start. Raises NotFound for
    a turn that there is none of, and for a recording that did not keep its network; InputError for files that are
    damaged."""
    begin, end = _span(review, turn_id)
    store, name = services().store, review.row.recording
    if not store.has_network(name):
        raise NotFound(ErrorText("the network of this recording was not kept; record with --har or --replayable"))
    return Asked(turn_id, begin, end, **listed(network.requests, store.open(name), begin, end))


def _span(review: library.Review, turn_id: str) -> tuple[float, float | None]:
    before, behind = review.elsewhere
    turn = next((each for each in review.turns if each["id"] == turn_id), None)
    if turn is None:
        raise NotFound(ErrorText("there is no turn %(turn_id)r in this demonstration", turn_id=turn_id[:80]))
    acted = [each["timestamp"] for each in (*before, *review.turns, *behind)
             if each["type"] == "browser" and not each["dropped"]]
    later = [time for time in acted if time > turn["timestamp"]]
    is_first = all(time >= turn["timestamp"] for time in acted)
    return 0.0 if is_first else turn["timestamp"], min(later, default=None)
