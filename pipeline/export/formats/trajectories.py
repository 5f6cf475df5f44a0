"""Trajectories: `<split>.jsonl`, one line for each step: observation, action, next observation."""

import json
from collections.abc import Iterator
from typing import Any

from pipeline.export.grammars.acts import NoForm, picture_size
from pipeline.export.grammars.table import USUAL
from pipeline.export.model_input.set_of_marks import legend
from pipeline.export.source import File, Line, Options, Source, Tally
from schemas.files import dump_line
from schemas.types.recordings import BrowserTurn, Turn

from . import features
from .card import Counted, Words
from .lines import Acted, LineFiles

UNKNOWN = "unknown"
_ABOUT = """One line a step: `observation`, `action`, `next_observation`, `done`, `outcome`. The actions are those of
the grammar `{grammar}`. Paths are told from this folder."""


def samples(source: Source, options: Options, tally: Tally) -> Iterator[File | Line | Counted]:
    """The steps of one demonstration, with their pages and pictures."""
    yield from _Trajectory(source, options, tally).all()


class Writer(LineFiles):
    """Writes the lines of each split, and what describes them at the end."""

    def words(self) -> Words:
        return Words("action", "intent", _ABOUT.format(grammar=self.options.grammar or USUAL))

    def row_types(self) -> features.Features:
        return features.trajectories(self.options)


class _Trajectory(Acted):
    """Makes the steps of one demonstration; one waits until what comes next is known."""

    def __init__(self, source: Source, options: Options, tally: Tally):
        super().__init__(source, options, tally)
        self.outcome = self.source.about.get("labels", {}).get("outcome", UNKNOWN)
        self._waiting: dict[str, Any] | None = None
        self._said: list[dict[str, str]] = []

    def all(self) -> Iterator[File | Line | Counted]:
        """Pages and pictures before the lines that name them."""
        previous: BrowserTurn | None = None
        for index, turn in enumerate(self.turns):
            if turn["type"] == "browser" and turn["state"]:
                previous = turn
            if turn["type"] == "chat" and turn["speaker"] != "navigator":
                self._said.append({"speaker": turn["speaker"], "utterance": turn["utterance"]})
                continue
            row = self._step(index, turn, previous)
            yield from self.once.take_waiting()
            if row:
                yield from self._end(row["observation"]["id"])
                self._waiting = row
        yield from self._end(None)
        if self._said:
            self.tally.left_out["chat: nothing was done after it"] += len(self._said)
        self.tally.pictures_left_out = len(self.states.pictures_left_out)

    def _end(self, following: str | None) -> Iterator[Line | Counted]:
        """The step that waits; `following` is the observation after it."""
        if self._waiting is not None:
            row = self._waiting | {"next_observation": following, "done": following is None}
            yield Line(f"{self.source.split}.jsonl", dump_line(row))
            yield Counted(row["intent"], row["observation"]["screenshot_status"])
            self.tally.turns += 1

    def _step(self, index: int, turn: Turn, previous: BrowserTurn | None) -> dict[str, Any] | None:
        state = previous["state"] if previous else None
        picture = self.states.picture(state) if state else None
        good = picture if state and state["screenshot_status"] == "good" else None
        own = turn["state"] if turn["type"] == "browser" else None
        act = self.session.act(index, self.states.page(own) if own else None, picture_size(good))
        try:
            action = self.grammar.write(act)
        except NoForm as reason:
            self.tally.left_out[str(reason)] += 1
            if self._waiting is not None:
                self._waiting["left_out"] += 1
            return None
        name = f"{self.source.name}-{index:04d}"
        said, self._said = self._said, []
        return {"demonstration": self.source.id, "task": self.source.demonstration["task"], "turn": turn["id"],
                "intent": act.intent, "utterances": said, "observation": self._observation(name, previous, picture),
                "action": action, "left_out": 0, "outcome": self.outcome,
                "report": json.dumps(turn.get("agent"))}

    def _observation(self, name: str, previous: BrowserTurn | None, picture: bytes | None) -> dict[str, Any]:
        """What was to be seen: always the same keys."""
        state = previous["state"] if previous else None
        page = self.states.page(state) if state else None
        kind = self.states.kind
        observation: dict[str, Any] = {
            "id": name, "state_turn": previous["id"] if previous else "", "url": state["url"] if state else "",
            "title": state["title"] if state else "", "tab": state["tab"] if state else -1,
            "viewport_width": state["viewport"]["width"] if state else 0,
            "viewport_height": state["viewport"]["height"] if state else 0,
            "html": self.once.path(f"pages/{name}.html", page.content) if page else None,
            "screenshot": self.once.path(f"images/{name}.{kind}", picture) if picture else None,
            "screenshot_status": state["screenshot_status"] if state and picture else "none"}
        if self.options.set_of_marks:
            marked, marks = self.states.with_marks(state) if state else (None, [])
            observation |= {"marks": json.dumps(legend(marks)),
                      "marked_screenshot": self.once.path(f"images/{name}-marked.{kind}", marked) if marked else None}
        if self.options.axtree:
            observation["axtree"] = json.dumps(self.states.tree(state) if state else None)
        return observation
