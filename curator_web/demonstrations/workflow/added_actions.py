"""Actions that an annotator adds: the pages in which one can have been done, its element, and what an added action must
satisfy."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from curator_web.demonstrations.library.library import Review
from curator_web.errors import ErrorText, InputError
from curator_web.sandboxed import list_sandboxed
from pipeline.pages.targets import element_of, options_of
from pipeline.turns.folding import turn_state
from recorder.reader import Recording
from schemas import types
from schemas.shared import SHARED
from schemas.text import storable

NEXT, LAST, OWN = "next", "last", "own"  # pages: before the turn that follows, at the end, before the turn itself
_TEXT_ROLES = ("textbox", "searchbox", "combobox", "spinbutton")
_TICKED = ("checkbox", "radio")


@dataclass(frozen=True)
class Page:
    """A page in which an action can be added. `number`: that of the turn before which it was seen, None at the end."""

    name: str
    number: int | None
    state: types.TurnState


def pages(review: Review, turn_id: str, recording: Recording) -> list[Page]:
    """In which pages an action behind a turn can have been done, the likeliest first: the page that followed, which the
    recording may only know from its end, and that before the turn. Only those whose elements are known."""
    index = _index(review, turn_id)
    earlier = [(number, turn) for number, turn in enumerate(review.turns[:index + 1], 1) if _state(turn)]
    later = [(number, turn) for number, turn in enumerate(review.turns[index + 1:], index + 2) if _state(turn)]
    candidates = [Page(NEXT, number, state) for number, turn in later[:1] if (state := _state(turn))]
    candidates += [Page(LAST, None, state) for state in (_last(review, recording),) if state and not later]
    candidates += [Page(OWN, number, state) for number, turn in earlier[-1:] if (state := _state(turn))]
    return [page for number, page in enumerate(candidates) if page.state["dom"] and page.state["elements"]
            and not any(_appearance(page) == _appearance(earlier_page) for earlier_page in candidates[:number])]


def page_of(review: Review, turn_id: str, recording: Recording, name: str) -> Page:
    """The page of that name, by default the likeliest. Raises InputError where there is none."""
    candidates = pages(review, turn_id, recording)
    for page in candidates:
        if page.name == name or not name:
            return page
    raise InputError(ErrorText("field seen: no page with elements was recorded at this turn"))


def _appearance(page: Page) -> tuple[Any, ...]:
    return page.state["dom"], page.state["elements"], page.state["screenshot"]


def _state(turn: types.Turn) -> types.TurnState | None:
    return turn["state"] if turn["type"] == "browser" else None


def _last(review: Review, recording: Recording) -> types.TurnState | None:
    """What the last turn led to: where the session was split, the page there, else that at its end."""
    if review.elsewhere[1]:
        return review.state_after
    last = recording.manifest.get("last_state")
    return turn_state(last) if last else None


def _index(review: Review, turn_id: str) -> int:
    for index, turn in enumerate(review.turns):
        if turn["id"] == turn_id:
            return index
    raise InputError(ErrorText("field turn: unknown turn %(turn_id)r in this demonstration", turn_id=turn_id[:80]))


# ---- What can be done with an element -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Chosen:
    """The element that an action is added for. `usual`: the intent that it most likely is; `options`: value and label
    of what can be chosen in it; `ticked`: whether it is on or off."""

    element: types.Element
    usual: str
    options: list[tuple[str, str]]
    ticked: bool


def chosen(recording: Recording, state: types.TurnState, uid: str) -> Chosen:
    """The element of a page; raises InputError when it was not in sight there."""
    return Chosen(*list_sandboxed(_chosen, recording, state, uid))


def _chosen(recording: Recording, state: Mapping[str, Any], uid: str
            ) -> tuple[types.Element, str, list[tuple[str, str]], bool]:
    element = cast(types.Element, element_of(recording, state, uid))
    kind = element["attributes"].get("type", "").lower()
    ticked = element["role"] in _TICKED or (element["tag"] == "input" and kind in _TICKED)
    editable = element["attributes"].get("contenteditable", "false").lower() in ("", "true", "plaintext-only")
    field = element["tag"] == "textarea" or (element["tag"] == "input" and kind not in SHARED["not_typed_in"])
    options = options_of(recording, state, element)
    usual = "change" if ticked or element["tag"] == "select" else (
        "textInput" if field or editable or element["role"] in _TEXT_ROLES else "click")
    return element, usual, options, ticked


# ---- What an added action must satisfy ----------------------------------------------------------------------------


def require_possible_action(edit: Mapping[str, Any], review: Review, recording: Recording) -> None:
    """Raises InputError for an edit that adds an action which cannot have been done: in a page that this demonstration
    does not contain, on an element that was not visible there, or at a time outside its position."""
    added = edit.get("added")
    if not isinstance(added, dict) or added.get("type") != "browser":
        return
    state, element = added["state"], added["element"]
    if state is not None and state not in _known(review, recording):
        raise InputError(ErrorText("field added.state: must be the state of another turn of this demonstration, or "
                                   "the last state of its recording"))
    if state is not None and element is not None:
        recorded = storable(list_sandboxed(element_of, recording, state, element["uid"]))
        for name in ("tag", "frame", "bbox"):
            if recorded[name] != element[name]:
                raise InputError(ErrorText("field added.element.%(name)s: must be equal to its value in this "
                                           "page", name=name))
    low, high = time_range(review, edit.get("after"), recording)
    if not low <= added["timestamp"] <= high:
        raise InputError(ErrorText("field added.timestamp: must be from %(low)s to %(high)s, between the adjacent "
                                   "turns", low=format(low, "g"), high=format(high, "g")))


def _known(review: Review, recording: Recording) -> Iterator[types.TurnState]:
    for turns in (review.turns, review.base["turns"], review.elsewhere[1][:1]):
        yield from (state for turn in turns if (state := _state(turn)))
    if last := _last(review, recording):
        yield last


def time_range(review: Review, turn_id: str | None, recording: Recording) -> tuple[float, float]:
    """From when to when something behind a turn, or before the first, can have happened: seconds of the recording."""
    if turn_id is None:
        first = min((turn["timestamp"] for turn in review.turns[:1]), default=_end(review, recording))
        return min(0.0, first), first
    index = _index(review, turn_id)
    times = [turn["timestamp"] for turn in review.turns[index:index + 2]]
    return (min(times), max(times)) if len(times) > 1 else (times[0], max(times[0], _end(review, recording)))


def _end(review: Review, recording: Recording) -> float:
    """When what is behind the last turn began, or the recording ended, in seconds of the recording."""
    if review.elsewhere[1]:
        return review.part[1]
    ended = recording.manifest["ended_at"]
    length = (ended - recording.manifest["started_at"]).total_seconds() if ended else 0.0
    return max([length, *(turn["timestamp"] for turn in review.base["turns"])])
