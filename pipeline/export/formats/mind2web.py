"""Mind2Web's raw task files: lists of tasks, each action with its page, its target and the other candidates."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any, TypedDict, cast

from lxml import etree

from pipeline.export.archives import har_without, mhtml_without
from pipeline.export.destinations.destination import Destination, HashingFile
from pipeline.export.model_input.set_of_marks import legend
from pipeline.export.running import Files
from pipeline.export.source import File, Options, Source, Tally
from pipeline.export.splits import MIND2WEB, websites
from pipeline.export.states import States
from schemas import UID_ATTRIBUTE, InputError, limits
from schemas.files import read_inside
from schemas.intents import INTENTS
from schemas.types import Element, Turn, TurnState

from .mind2web_pages import NODE_ID, number

_ACTION = b'{"action_uid"'
_FOLDED = {"HOVER": "CLICK", "ENTER": "CLICK"}  # operations that the authors folded into one of their three


def samples(source: Source, options: Options, tally: Tally) -> Iterator[File | bytes]:
    """The task's JSON in pieces, so that one page is in memory at a time; files that go with it between them."""
    yield from _Task(source, options, tally).pieces()


class Writer(Files):
    """Writes tasks into `data/<split>/<split>_0.json`, …, each a list, of about `shard_size` bytes."""

    def __init__(self, destination: Destination, options: Options):
        super().__init__(destination, options)
        self._files: dict[str, HashingFile] = {}
        self._ends: dict[str, ExitStack] = {}
        self._numbers: Counter[str] = Counter()
        self._begun = ""

    def write(self, source: Source, sample: File | bytes) -> None:
        if isinstance(sample, File):
            self.destination.write(sample.path, sample.content)
            return
        split = MIND2WEB.get(source.split, source.split)
        if self._begun != source.name:
            self._begun = source.name
            self._begin_task(split)
        self._files[split].write(sample)
        self._files[split].samples += sample.startswith(_ACTION)

    def finish(self) -> None:
        for split in list(self._files):
            self._close(split)

    def _begin_task(self, split: str) -> None:
        if split in self._files and self._files[split].size > self.options.shard_size:
            self._close(split)
        if split in self._files:
            self._files[split].write(b",\n")
            return
        self._ends[split] = self._open.enter_context(ExitStack())
        name = f"data/{split}/{split}_{self._numbers[split]}.json"
        self._files[split] = self._ends[split].enter_context(self.destination.create(name))
        self._numbers[split] += 1
        self._files[split].write(b"[\n")

    def _close(self, split: str) -> None:
        self._files.pop(split).write(b"\n]\n")
        self._ends.pop(split).close()


class _Acted(TypedDict):
    """A turn that Mind2Web can have: what is used of a BrowserTurn, and never null."""

    id: str
    timestamp: float
    intent: str
    arguments: dict[str, Any]
    element: Element
    state: TurnState


class _Task:
    """Makes the JSON of one task."""

    def __init__(self, source: Source, options: Options, tally: Tally):
        self.options, self.tally = options, tally
        self.states = States(source, UID_ATTRIBUTE, options, "png")
        self.known, self.source = self.states.known, self.states.source
        tally.redacted += self.known.counts
        self.path = f"raw_dump/{source.name}"
        self._files: list[File] = []
        self._written: set[str] = set()
        self._archives = [event for event in source.recording.events if event["type"] == "mhtml"]

    def pieces(self) -> Iterator[File | bytes]:
        """Head, actions, tail; nothing when the task has no action that Mind2Web knows."""
        reprs: list[str] = []
        for turn in self.source.turns:
            if reason := _why_left_out(turn):
                self.tally.left_out[reason] += 1
                continue
            acted = cast(_Acted, turn)  # others are left out
            action = self._action(acted)
            if action is None:
                continue
            yield self._head() if not reprs else b",\n"
            yield json.dumps(action).encode("ascii")
            yield from self._files
            self._files.clear()
            reprs.append(_repr(acted, action["operation"]))
        self.tally.turns = len(reprs)
        self.tally.pictures_left_out = len(self.states.pictures_left_out)
        if reprs:
            yield f'\n],"action_reprs":{json.dumps(reprs)}}}'.encode("ascii")
            yield from self._network()
        else:
            self.tally.notes["demonstration without an action in Mind2Web's words"] += 1

    def _head(self) -> bytes:
        sites, about = websites(self.source), self.source.about
        head = {"annotation_id": self.source.name, "website": sites[0] if sites else "",
                "domain": about.get("category", ""), "subdomain": about.get("subdomain", ""),
                "confirmed_task": self.source.demonstration["task"]}
        return (json.dumps(head)[:-1] + ',"actions":[\n').encode("ascii")

    def _action(self, turn: _Acted) -> dict[str, Any] | None:
        """None, counted, when the page does not have the target."""
        state, element = turn["state"], turn["element"]
        page = self.states.page(state)
        uid = page.uid(element["frame"], element["uid"]) if page else ""
        if page is None or uid not in page.elements:
            self.tally.left_out[f"{turn['intent']}: target missing from the page"] += 1
            return None
        table = self.states.table(state)
        box = element["bbox"] or (table[uid]["bbox"] if uid in table else None)
        if box is None:
            self.tally.notes["target without a box"] += 1
        numbered = number(page, table, self.states.boxes(state) | ({uid: box} if box else {}))
        name = f"{self.source.name}_{turn['id']}"
        cleaned = numbered.cleaned(uid)
        present = {node.get(NODE_ID) for node in cleaned.iter()}
        target = numbered.candidate(uid)
        others = [candidate for other in table if other != uid
                  if (candidate := numbered.candidate(other))[NODE_ID] in present]
        return {
            "action_uid": name, "raw_html": numbered.raw(uid, name),
            "cleaned_html": etree.tostring(cleaned, encoding="unicode"), "operation": _operation(turn),
            "pos_candidates": [target | {"is_original_target": True, "is_top_level_target": True}],
            "neg_candidates": others, **self._beside(turn, name)}

    def _beside(self, turn: _Acted, name: str) -> dict[str, str]:
        """Names of the files that go with an action; empty where there is none."""
        state, beside = turn["state"], {"screenshot": "", "mhtml": ""}
        if picture := self.states.picture(state):
            beside["screenshot"] = self._file(f"screenshots/{name}.{self.states.kind}", picture)
        if self.options.set_of_marks:
            marked, marks = self.states.marked(state)
            beside["marks"] = json.dumps(legend(marks))
            beside["marked_screenshot"] = marked and self._file(f"marks/{name}.{self.states.kind}", marked) or ""
        if self.options.axtree:
            beside["axtree"] = json.dumps(self.states.tree(state))
        earlier = [event for event in self._archives
                   if event["tab"] == state["tab"] and event["time"] <= turn["timestamp"]]
        if earlier:
            blob = earlier[-1]["data"]["blob"]
            beside["mhtml"] = self._file(f"snapshots/{earlier[-1]['seq']}.mhtml",
                                         lambda: mhtml_without(self.source.recording.blob(blob), self.known))
        return beside

    def _file(self, name: str, content: bytes | Callable[[], bytes]) -> str:
        """Add a file once; returns its path in the export."""
        path = f"{self.path}/{name}"
        if path not in self._written:
            self._written.add(path)
            self._files.append(File(path, content() if callable(content) else content))
        return path

    def _network(self) -> Iterator[File]:
        har = self.source.recording.layout.har
        if har.is_file():
            try:
                content = read_inside(har, limits.HAR)
            except OSError as error:
                raise InputError(f"{har}: cannot be read ({error.strerror})") from None
            clean, left_out = har_without(content, self.known, str(har))
            if left_out:
                self.tally.notes["compressed body left out of a HAR (personal data)"] += left_out
            yield File(f"{self.path}/session.har", clean)


def _why_left_out(turn: Turn) -> str | None:
    if turn["type"] == "chat":
        return "chat: Mind2Web has none"
    intent = turn["intent"]
    if INTENTS[intent].mind2web is None or (intent == "press" and turn["arguments"]["key"] != "Enter"):
        return f"{intent}: no equal in Mind2Web"
    if turn["element"] is None:
        return f"{intent}: no element"
    if turn["state"] is None or turn["state"]["dom"] is None:
        return f"{intent}: no page"
    return None


def _operation(turn: _Acted) -> dict[str, str]:
    """`op` is one of the authors' three, `original_op` what it was before they folded."""
    arguments = turn["arguments"]
    original, value = INTENTS[turn["intent"]].mind2web or "", ""
    if original == "TYPE":
        value = arguments["text"]
    elif original == "SELECT" and "value" not in arguments:
        original = "CLICK"  # a checkbox or radio button
    elif original == "SELECT":
        value = arguments.get("label") or arguments["value"]
        original = "SELECT" if turn["element"]["tag"] == "select" else "TYPE"
    return {"op": _FOLDED.get(original, original), "original_op": original, "value": value}


def _repr(turn: _Acted, operation: dict[str, str]) -> str:
    """`[searchbox]  Label -> TYPE: value`."""
    element = turn["element"]
    label = " ".join((element["name"] or element["text"]).split())
    value = f": {operation['value']}" if operation["original_op"] in ("TYPE", "SELECT") else ""
    return f"[{element['role'] or element['tag']}]  {label} -> {operation['original_op']}{value}"
