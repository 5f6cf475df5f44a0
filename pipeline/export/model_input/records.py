"""Model-ready records: for each turn to predict, WebLINX's model input (section 3.1, B.1, B.5), and the action.

Also the candidates on which they rest. Works turn by turn, as the export goes through a demonstration.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pipeline.export.source import Line, Options
from pipeline.pages.dom import Page
from schemas.files import dump_line
from schemas.types.recordings import Box

from . import candidates
from .history import History, action
from .pruning import bracket_notation, prune
from .scorers import scorer
from .truncation import cut, fit_tree

PREDICTED = ("click", "change", "textInput", "scroll", "load", "say", "submit")
_NEEDING = ("click", "change", "textInput", "submit")
_PROMPTED = 10  # candidates that a model is shown
_BUDGET = 2048  # tokens, of which: (appendix B.6)
_DOM, _UTTERANCE, _ACTION, _CANDIDATE = 700, 40, 50, 65


@dataclass(frozen=True)
class View:
    """What a turn's page shows. `boxes` by uid, CSS pixels; `target` is a uid."""

    page: Page
    boxes: dict[str, Box]
    target: str | None


class Records:
    """Sees the turns of one demonstration's replay in order, and tells candidates and records."""

    def __init__(self, name: str, split: str, options: Options):
        self._name, self._split, self._options = name, split, options
        self._score = scorer(options.scorer)
        self._history = History()
        self._shown: dict[str, Any] = {}  # state of the last turn that had a screenshot
        self._view: View | None = None
        self._ranked: list[dict[str, Any]] = []

    def see(self, turn: dict[str, Any], index: int, view: View | None) -> Iterator[Line]:
        """Tell what the turn of the replay gives; `view` is None where its page is not known."""
        if turn["type"] == "browser":
            self._enter_turn(turn, view)
            if view is not None:
                yield from self._candidate_lines(index)
        if self._options.records and self._is_predicted(turn):
            yield Line(f"records/{self._split}.jsonl", dump_line(self._record(turn, index)))
        self._history.remember(turn)

    def _enter_turn(self, turn: dict[str, Any], view: View | None) -> None:
        if turn["state"]["screenshot"]:
            self._shown = turn["state"]
        self._history.enter_turn(turn)
        if view is not None:
            self._ranked = candidates.rank(view.page, view.boxes, self._history.query, self._score, view.target)
            self._view = view

    def _candidate_lines(self, index: int) -> Iterator[Line]:
        if self._options.candidates:
            for candidate in self._ranked:
                record = candidate | {"demo_name": self._name, "turn_index": index}
                yield Line(f"candidates/{self._split}.jsonl", dump_line(record))

    def _is_predicted(self, turn: dict[str, Any]) -> bool:
        """As `select_turns_and_candidates_for_prompts` of the library decides."""
        intent = "say" if turn["type"] == "chat" else turn["action"]["intent"]
        if intent not in PREDICTED or (intent == "say" and turn["speaker"] != "navigator"):
            return False
        if intent in _NEEDING and "element" not in turn["action"]["arguments"]:
            return False
        state = self._shown if intent == "say" else turn["state"]
        return bool(state and state["screenshot"] and state["screenshot_status"] == "good")

    def _record(self, turn: dict[str, Any], index: int) -> dict[str, Any]:
        share, query = self._options.budget / _BUDGET, self._history.query
        shown = [candidate for candidate in self._ranked if candidate["rank"] <= _PROMPTED]
        page = ""
        if self._view:
            tree = prune(self._view.page, [candidate["uid"] for candidate in shown])
            page = fit_tree(tree, bracket_notation, round(_DOM * share))
        return {
            "demo_name": self._name, "turn_index": index,
            "screenshot": f"demonstrations/{self._name}/screenshots/{self._shown['screenshot']}",
            "viewport": query.viewport, "html": page,
            "utterances": [cut(text, round(_UTTERANCE * share)) for text in query.utterances],
            "actions": [cut(text, round(_ACTION * share)) for text in query.actions],
            "candidates": [f"(uid = {candidate['uid']}) {cut(candidate['doc'], round(_CANDIDATE * share))}"
                           for candidate in shown],
            "candidate_uids": [candidate["uid"] for candidate in shown], "action": action(turn)}
