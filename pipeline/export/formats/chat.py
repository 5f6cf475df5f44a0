"""Messages with images, one sample for each action: `<split>.jsonl`, as trainers of chat models load them."""

import json
from collections.abc import Iterator
from typing import Any

from pipeline.export.grammars.acts import NoForm, picture_size
from pipeline.export.grammars.table import USUAL
from pipeline.export.model_input.prompt import History, answer, build_prompt, in_words, visible_elements
from pipeline.export.model_input.set_of_marks import Mark, legend
from pipeline.export.source import File, Line, Options, Source, Tally
from schemas.files import dump_line
from schemas.types.recordings import Element, Turn, TurnState

from . import features
from .card import Counted, Words
from .lines import Acted, LineFiles

SYSTEM = "You act in a web browser for a user, one step at a time. You see the page as it is before your next step."
_IMAGE = "<image>"
_PLACEHOLDERS = ("<image>", "<video>", "<audio>")
_ABOUT = """One sample an action, as messages with images (`messages`, and `images`: paths in this folder). The actions
are those of the grammar `{grammar}`. `sharegpt/` has the same samples with texts in which `<image>` stands for each
image; `dataset_info.json` tells LLaMA-Factory of them (`dataset_dir`: this folder, `dataset`: {names})."""


def samples(source: Source, options: Options, tally: Tally) -> Iterator[File | Line | Counted]:
    """The samples of one demonstration, with their pictures."""
    yield from _Samples(source, options, tally).all()


class Writer(LineFiles):
    """Writes the lines of each split, and at the end what tells readers of the splits."""

    def words(self) -> Words:
        names = ", ".join(f"`demotape_{split}`" for split in self.splits)
        return Words("action", "intent", _ABOUT.format(grammar=self.options.grammar or USUAL, names=names))

    def row_types(self) -> features.Features:
        return features.chat(self.options)

    def finish(self) -> None:
        tags = {"role_tag": "role", "content_tag": "content", "user_tag": "user", "assistant_tag": "assistant",
                "system_tag": "system"}
        self.destination.write_json("dataset_info.json", {f"demotape_{split}": {
            "file_name": f"sharegpt/{split}.jsonl", "formatting": "sharegpt",
            "columns": {"messages": "messages", "images": "images"}, "tags": tags} for split in self.splits})
        super().finish()


class _Samples(Acted):
    """Makes the samples of one demonstration; equal pictures are written once."""

    def __init__(self, source: Source, options: Options, tally: Tally):
        super().__init__(source, options, tally)
        self.history = History()
        self._system = {"role": "system", "content": [{"type": "text", "text": f"{SYSTEM}\n{self.grammar.about}"}]}
        self._waiting = 0  # utterances of the instructor after which no sample has come

    def all(self) -> Iterator[File | Line | Counted]:
        """Pictures before the lines that name them."""
        state: TurnState | None = None
        for index, turn in enumerate(self.turns):
            own = turn["state"] if turn["type"] == "browser" else None
            state = own or state
            if turn["type"] == "chat" and turn["speaker"] != "navigator":
                self._waiting += 1
                self.tally.notes["the instructor's utterance: told in the samples after it"] += 1
            else:
                yield from self._sample(index, turn, state)
            if turn["type"] == "chat":
                self.history.say(turn["speaker"], turn["utterance"])
        if self._waiting:
            self.tally.left_out["chat: nothing was done after it"] += self._waiting
            self.tally.notes["the instructor's utterance: told in the samples after it"] -= self._waiting
        self.tally.pictures_left_out = len(self.states.pictures_left_out)

    def _sample(self, index: int, turn: Turn, state: TurnState | None) -> Iterator[File | Line | Counted]:
        good = state is not None and state["screenshot_status"] == "good"
        picture = self.states.picture(state) if state and good else None
        tabs = len(self.session.tabs), _tab_index(self.session.tabs, state)
        own = turn["state"] if turn["type"] == "browser" else None
        act = self.session.act(index, self.states.page(own) if own else None, picture_size(picture))
        try:
            action = self.grammar.write(act)
        except NoForm as reason:
            self.tally.left_out[str(reason)] += 1
            if turn["type"] == "browser":
                self.history.act(in_words(turn))
            return
        element = turn["element"] if turn["type"] == "browser" else None
        target: Element | None = {**element, "uid": act.uid} if element and act.uid is not None else None
        row = self._row(turn, state, target, picture, tabs, action, f"{self.source.name}-{index:04d}")
        yield from self.once.take_waiting()
        yield Line(f"{self.source.split}.jsonl", dump_line(row))
        yield Line(f"sharegpt/{self.source.split}.jsonl", dump_line(_as_texts(row)))
        yield Counted(row["intent"], "good" if picture else "none")
        self.tally.turns += 1
        self._waiting = 0
        if turn["type"] == "browser":
            self.history.act(action)

    def _row(self, turn: Turn, state: TurnState | None, target: Element | None, picture: bytes | None,
             tabs: tuple[int, int | None], action: str, name: str) -> dict[str, Any]:
        images = [self._image(name, picture)] if picture else []
        if not picture:
            self.tally.notes["sample without a picture: there is no good one"] += 1
        marks: list[Mark] = []
        if self.options.set_of_marks and state and picture:
            marked, marks = self.states.with_marks(state)
            images += [self._image(f"{name}-marked", marked)] if marked else []
        elements = ""
        if self.grammar.by_uid and state:
            numbers = {mark.uid: mark.number for mark in marks}
            table = self.states.table(state)
            elements = visible_elements(table, self.states.page(state), target, numbers, self.options.budget)
            if target is not None and target["uid"] not in table:
                self.tally.notes["target that the recording does not have in sight"] += 1
        text = build_prompt(self.source.demonstration["task"], self.history, state, tabs, elements)
        content = [*({"type": "image"} for _ in images), {"type": "text", "text": text}]
        row = {"messages": [self._system, {"role": "user", "content": content}, answer(action)], "images": images,
               "demonstration": self.source.id, "turn": turn["id"],
               "intent": turn["intent"] if turn["type"] == "browser" else "say"}
        if self.options.set_of_marks:
            row["marks"] = json.dumps(legend(marks))
        if self.options.axtree:
            row["axtree"] = json.dumps(self.states.tree(state) if state else None)
        return row

    def _image(self, name: str, picture: bytes) -> str:
        """Path of a picture in the export."""
        return self.once.path(f"images/{name}.{self.states.kind}", picture)


def _as_texts(row: dict[str, Any]) -> dict[str, Any]:
    """The same with one text a message. What is captured may hold a placeholder, too: it is written apart there."""
    messages = [{"role": message["role"], "content": "".join(
        _IMAGE if part["type"] == "image" else _harmless(part["text"]) for part in message["content"])}
        for message in row["messages"]]
    return {"messages": messages, "images": row["images"]}


def _harmless(text: str) -> str:
    for placeholder in _PLACEHOLDERS:
        text = text.replace(placeholder, f"< {placeholder[1:]}")
    return text


def _tab_index(tabs: list[int], state: TurnState | None) -> int | None:
    return tabs.index(state["tab"]) if state and state["tab"] in tabs else None
