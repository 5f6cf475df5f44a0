"""Requests and console lines between a turn and the next action, where the recording has them."""

from dataclasses import dataclass

from curator_web.errors import ErrorText, NotFound
from curator_web.sandboxed import list_sandboxed
from curator_web.storage.recordings import RecordingStore
from pipeline import console, network

from .library import Review


@dataclass(frozen=True)
class TurnRequests:
    """The requests from `begin` on and before `end` (None: to the end of the recording), seconds of the recording."""

    turn: str
    begin: float
    end: float | None
    requests: list[network.Request]
    total: int


@dataclass(frozen=True)
class ConsoleLines:
    """What pages wrote to the console in that time."""

    turn: str
    begin: float
    end: float | None
    lines: list[console.Line]
    total: int
    errors: int


def turn_requests(store: RecordingStore, review: Review, turn_id: str) -> TurnRequests:
    """What was asked for from a turn to the next action; before the first action, from the start. Raises NotFound for
    a turn that there is none of, and for a recording that did not keep its network; InputError for files that are
    damaged."""
    begin, end = _span(review, turn_id)
    name = review.row.recording
    if not store.has_network(name):
        raise NotFound(ErrorText("the network of this recording was not recorded; record with --har or --replayable"))
    return TurnRequests(turn_id, begin, end, **list_sandboxed(network.requests, store.open(name), begin, end))


def console_lines(store: RecordingStore, review: Review, turn_id: str) -> ConsoleLines:
    """What pages wrote to the console from a turn to the next action; raises as `turn_requests` does."""
    begin, end = _span(review, turn_id)
    name = review.row.recording
    if not store.has_console(name):
        raise NotFound(ErrorText("the console of this recording was not recorded; record with --console"))
    return ConsoleLines(turn_id, begin, end, **list_sandboxed(console.summarize, store.open(name), begin, end))


def _span(review: Review, turn_id: str) -> tuple[float, float | None]:
    before, behind = review.elsewhere
    turn = next((candidate for candidate in review.turns if candidate["id"] == turn_id), None)
    if turn is None:
        raise NotFound(ErrorText("unknown turn %(turn_id)r in this demonstration", turn_id=turn_id[:80]))
    acted = [acting_turn["timestamp"] for acting_turn in (*before, *review.turns, *behind)
             if acting_turn["type"] == "browser" and not acting_turn["dropped"]]
    later = [time for time in acted if time > turn["timestamp"]]
    is_first = all(time >= turn["timestamp"] for time in acted)
    return 0.0 if is_first else turn["timestamp"], min(later, default=None)
