"""The prompt of a model for one turn, as text: the task, utterances and actions, the page, the visible elements."""

from collections.abc import Mapping
from typing import Any

from pipeline.pages.dom import Page
from schemas.intents import INTENTS
from schemas.types.recordings import BrowserTurn, Element, TableRow, TurnState

from .truncation import cut, fit

_LINES = 40  # of what was said and done that are told
_UTTERANCE, _ACTION, _TASK, _TITLE, _ADDRESS = 200, 60, 1000, 60, 200  # tokens


class History:
    """What was said and done, a line each: the last ones, and the first utterance."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._first = -1  # number of the first utterance

    def say(self, speaker: str, utterance: str) -> None:
        """Add an utterance."""
        if self._first < 0:
            self._first = len(self._lines)
        self._lines.append(f"{speaker}: {one_line(utterance, _UTTERANCE)}")

    def act(self, action: str) -> None:
        """Add an action as text."""
        self._lines.append(f"action: {one_line(action, _ACTION)}")

    def text(self) -> str:
        """The lines."""
        start = max(0, len(self._lines) - _LINES)
        lines = self._lines[start:]
        if start:
            first = [self._lines[self._first]] if 0 <= self._first < start else []
            lines = [*first, f"({start - len(first)} earlier lines are left out)", *lines]
        return "\n".join(lines) or "(nothing)"


def in_words(turn: BrowserTurn) -> str:
    """An action that the grammar has no form for: `(Upload: textbox "Photo")`."""
    element = turn["element"]
    on = f": {_described(element['role'] or element['tag'], element['name'] or element['text'])}" if element else ""
    return f"({INTENTS[turn['intent']].label}{on})"


def build_prompt(task: str, history: History, state: TurnState | None, tabs: tuple[int, int | None],
                 elements: str) -> str:
    """The text of one turn. `tabs`: how many are open, and the place of the one that is shown, from 0."""
    parts = [f"Task: {one_line(task, _TASK)}", f"So far:\n{history.text()}"]
    if state:
        parts.append(f"Page: {one_line(state['title'], _TITLE)}\nAddress: {one_line(state['url'], _ADDRESS)}")
        if tabs[0] > 1 and tabs[1] is not None:
            parts[-1] += f"\nTab: {tabs[1]} of 0 to {tabs[0] - 1}"
    if elements:
        parts.append(f"Elements in sight:\n{elements}")
    return "\n\n".join(parts)


def visible_elements(table: Mapping[str, TableRow], page: Page | None, target: Element | None, marks: Mapping[str, int],
             budget: int) -> str:
    """The elements that can be acted on, and the target, a line each; their names have `budget` tokens together.

    `target`: with its uid in the page, told where it stands in the page. `marks`: numbers in the marked picture by uid.
    """
    visible = {uid: (row["role"] or row["tag"], row["name"]) for uid, row in table.items()
            if (row["visible"] and row["clickable"]) or (target and uid == target["uid"])}
    if target and page and target["uid"] not in visible:
        visible[target["uid"]] = target["role"] or target["tag"], target["name"] or target["text"]
        positions = {uid: number for number, uid in enumerate(page.order)}
        visible = dict(sorted(visible.items(), key=lambda entry: positions.get(entry[0], -1)))
    names = fit([one_line(name) for _, name in visible.values()], budget)
    return "\n".join(f"[{one_line(uid)}] {_described(role, name)}" + (f" (mark {marks[uid]})" if uid in marks else "")
                     for (uid, (role, _)), name in zip(visible.items(), names, strict=True))


def one_line(text: str, limit: int | None = None) -> str:
    """A text without line breaks and halves of characters, of at most `limit` tokens."""
    line = " ".join(text.encode("utf-8", "replace").decode().split())
    return line if limit is None else cut(line, limit)


def answer(text: str) -> dict[str, Any]:
    """The message that the model is to give."""
    return {"role": "assistant", "content": [{"type": "text", "text": text.encode("utf-8", "replace").decode()}]}


def _described(role: str, name: str) -> str:
    return f'{one_line(role)} "{one_line(name)}"'
