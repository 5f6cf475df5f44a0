"""What the browser asked for and what pages wrote to the console between a turn and the next action, where the
recording kept it."""

from dataclasses import dataclass

from flask import Blueprint, render_template, request

from curator_web.demonstrations import library
from curator_web.errors import ErrorText, NotFound
from curator_web.sandboxed import list_sandboxed
from pipeline import console, network

from .context import services

blueprint = Blueprint("network", __name__)


@dataclass(frozen=True)
class TurnRequests:
    """The requests from `begin` on and before `end` (None: to the end of the recording), seconds of the recording."""

    turn: str
    begin: float
    end: float | None
    requests: list[network.Request]
    total: int


@dataclass(frozen=True)
class Written:
    """What pages wrote to the console in that time."""

    turn: str
    begin: float
    end: float | None
    lines: list[console.Line]
    total: int
    errors: int


@blueprint.get("/demonstrations/<demonstration_id>/network")
def show(demonstration_id: str) -> str:
    """The requests of a turn, and the console; asked by htmx, only their tables."""
    review, turn_id = library.review(services().db, demonstration_id), request.args.get("turn", "")
    store, name = services().store, review.row.recording
    lines = written(review, turn_id) if store.has_console(name) else None
    requests = None if lines and not store.has_network(name) else turn_requests(review, turn_id)
    template = "_requests.html" if request.headers.get("HX-Request") else "network.html"
    return render_template(template, row=review.row, asked=requests, written=lines, span=requests or lines)


def turn_requests(review: library.Review, turn_id: str) -> TurnRequests:
    """What was asked for from a turn to the next action; before the first action, from the start. Raises NotFound for
    a turn that there is none of, and for a recording that did not keep its network; InputError for files that are
    damaged."""
    begin, end = _span(review, turn_id)
    store, name = services().store, review.row.recording
    if not store.has_network(name):
        raise NotFound(ErrorText("the network of this recording was not recorded; record with --har or --replayable"))
    return TurnRequests(turn_id, begin, end, **list_sandboxed(network.requests, store.open(name), begin, end))


def written(review: library.Review, turn_id: str) -> Written:
    """What pages wrote to the console from a turn to the next action; raises as `turn_requests` does."""
    begin, end = _span(review, turn_id)
    store, name = services().store, review.row.recording
    if not store.has_console(name):
        raise NotFound(ErrorText("the console of this recording was not recorded; record with --console"))
    return Written(turn_id, begin, end, **list_sandboxed(console.summarize, store.open(name), begin, end))


def _span(review: library.Review, turn_id: str) -> tuple[float, float | None]:
    before, behind = review.elsewhere
    turn = next((candidate for candidate in review.turns if candidate["id"] == turn_id), None)
    if turn is None:
        raise NotFound(ErrorText("unknown turn %(turn_id)r in this demonstration", turn_id=turn_id[:80]))
    acted = [acting_turn["timestamp"] for acting_turn in (*before, *review.turns, *behind)
             if acting_turn["type"] == "browser" and not acting_turn["dropped"]]
    later = [time for time in acted if time > turn["timestamp"]]
    is_first = all(time >= turn["timestamp"] for time in acted)
    return 0.0 if is_first else turn["timestamp"], min(later, default=None)
