"""The two steps of adding an action, as the review page shows them: the element, then what was done with it."""

from dataclasses import dataclass, replace
from typing import Any

from flask import request
from flask_babel import lazy_gettext as _l

from curator_web.demonstrations.workflow import added_actions
from curator_web.demonstrations.workflow.added_actions import Chosen, Page
from recorder.reader import Recording
from schemas import InputError, types

from .presentation import ReviewView, TurnView

FIRST, FIRST_TREE, SECOND = VIEWS = ("add", "add-tree", "operation")


@dataclass(frozen=True)
class Operation:
    """What can be done with an element, and the letter that chooses it."""

    intent: str
    letter: str
    label: Any  # a lazy text


OPERATIONS = (
    Operation("click", "c", _l("Click")), Operation("textInput", "t", _l("Type a text")),
    Operation("change", "s", _l("Select")), Operation("hover", "h", _l("Hover")),
    Operation("dblclick", "d", _l("Double click")), Operation("press", "k", _l("Press a key")),
    Operation("submit", "f", _l("Submit a form")))


@dataclass(frozen=True)
class Adding:
    """`page`: where the action is seen, of those in which it can be; None without any. `shown`: that page as a turn
    which acts on the chosen element. `chosen`: in the second step."""

    pages: list[Page]
    page: Page | None
    shown: TurnView | None
    chosen: Chosen | None = None

    def operations(self, intents: list[str]) -> list[tuple[Operation, bool]]:
        """Those whose intents are in use, and which of them is chosen at first."""
        operations = [operation for operation in OPERATIONS if operation.intent in intents]
        usual = next((operation for operation in operations if self.chosen and operation.intent == self.chosen.usual),
                     None)
        return [(operation, operation is (usual or operations[0])) for operation in operations]


def adding(review_view: ReviewView, turn: TurnView, view: str, recording: Recording) -> Adding:
    """What a step shows, behind a turn: of the page that the address names (`seen`), and the element (`uid`). Raises
    InputError for the second step without an element that was in sight."""
    pages = added_actions.pages(review_view.review, turn.id, recording)
    if not pages:
        return Adding(pages, None, None)
    page = added_actions.page_of(review_view.review, turn.id, recording, request.args.get("seen", ""))
    chosen = _chosen(recording, page, request.args.get("uid", ""), view == SECOND)
    element = chosen.element if chosen else None
    shown: types.BrowserTurn = {
        "id": turn.id, "type": "browser", "timestamp": turn.turn["timestamp"], "intent": "click",
        "arguments": {"x": None, "y": None, "button": 0, "modifiers": []}, "element": element, "state": page.state,
        "events": [], "checks": [], "dropped": False}
    return Adding(pages, page, replace(turn, turn=shown, answered=None), chosen if view == SECOND else None)


def _chosen(recording: Recording, page: Page, uid: str, is_needed: bool) -> Chosen | None:
    """The element of the address; in the first step there may be none, or none that was in sight."""
    if not uid and not is_needed:
        return None
    try:
        return added_actions.chosen(recording, page.state, uid)
    except InputError:
        if is_needed:
            raise
        return None
