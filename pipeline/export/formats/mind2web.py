"""Mind2Web's raw task files: lists of tasks, each action with its page, its target and the other candidates."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack

from pipeline.export.archives import clean_har, mhtml_without
from pipeline.export.destinations.destination import Destination, HashingFile
from pipeline.export.model_input.set_of_marks import legend
from pipeline.export.needed_content import NeededContent
from pipeline.export.running import Files
from pipeline.export.source import File, Options, Source, Tally
from pipeline.export.splits import MIND2WEB, SPLITS
from schemas.types.recordings import TurnState

from . import documents, features, layouts
from .card import Counted, Counts, Words
from .mind2web_actions import Acted, Actions

WORDS = Words("action", "operation", """One record a task, with its actions: the page, its elements and the screenshot
*before* each took effect. `raw_dump/` has what goes with a task: screenshots, HAR and MHTML where they were recorded.
Candidates' boxes are CSS pixels from the upper left corner of the page; `-1,-1,-1,-1` is the box of an element that was
out of sight. An action's `viewport` is the part of the page that its screenshot shows.
`datasets.load_dataset(FOLDER)` gives each split by itself.""")
_ACTION = b'{"action_uid"'


def samples(source: Source, options: Options, tally: Tally) -> Iterator[File | Counted | bytes]:
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
        self._counts = Counts(MIND2WEB)

    def write(self, source: Source, sample: File | Counted | bytes) -> None:
        if isinstance(sample, Counted):
            self._counts.turn(source, sample)
            return
        if isinstance(sample, File):
            self.destination.write(sample.path, sample.content)
            return
        split = MIND2WEB.get(source.split, source.split)
        if self._begun != source.name:
            self._begun = source.name
            self._begin_task(split)
        self._files[split].write(sample)
        self._files[split].samples += sample.startswith(_ACTION)

    def add(self, source: Source) -> None:
        self._counts.demonstration(source)

    def finish(self) -> None:
        for split in list(self._files):
            self._close(split)
        names = (MIND2WEB.get(split, split) for split in SPLITS)
        files = {split: f"data/{split}/*.json" for split in names if self._numbers[split]}
        documents.write(self.destination, self.options, self._counts, WORDS, files,
                        layouts.tasks(files, self.options.screenshots or "png"), features.mind2web(self.options))

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


class _Task:
    """Makes the JSON of one task."""

    def __init__(self, source: Source, options: Options, tally: Tally):
        self.options, self.tally = options, tally
        self.actions = Actions(source, options, tally, "png", of_page=True)
        self.states, self.source = self.actions.states, self.actions.source
        self.path = f"raw_dump/{self.actions.head['annotation_id']}"
        self._files: list[File] = []
        self._written: set[str] = set()
        self._needed = NeededContent(source)
        archives = [event for event in source.recording.events if event["type"] == "mhtml"]
        self._archives = [event for event in archives if self._needed.needs(event["tab"], event["time"])]
        tally.notes["page archive left out (of turns that are not exported)"] += len(archives) - len(self._archives)

    def pieces(self) -> Iterator[File | Counted | bytes]:
        """Head, actions, tail; nothing when the task has no action that Mind2Web knows."""
        reprs: list[str] = []
        for action in self.actions:
            yield self._head() if not reprs else b",\n"
            fields = action.fields | {"turn": action.turn["id"], "viewport": _viewport(action.turn["state"])}
            beside = self._beside(action.turn, fields["action_uid"])
            yield json.dumps(fields | beside).encode("ascii")
            yield action.counted(bool(beside["screenshot"]))
            yield from self._files
            self._files.clear()
            reprs.append(action.text)
        if reprs:
            yield f'\n],"action_reprs":{json.dumps(reprs)}}}'.encode("ascii")
            yield from self._network()

    def _head(self) -> bytes:
        head = self.actions.head | {"demonstration": self.source.id}
        return (json.dumps(head)[:-1] + ',"actions":[\n').encode("ascii")

    def _beside(self, turn: Acted, name: str) -> dict[str, str]:
        """Names of the files that go with an action; empty where there is none."""
        state, beside = turn["state"], {"screenshot": "", "mhtml": ""}
        if picture := self.states.picture(state):
            beside["screenshot"] = self._add_file(f"screenshots/{name}.{self.states.kind}", picture)
        if self.options.set_of_marks:
            marked, marks = self.states.with_marks(state)
            beside["marks"] = json.dumps(legend(marks))
            beside["marked_screenshot"] = marked and self._add_file(f"marks/{name}.{self.states.kind}", marked) or ""
        if self.options.axtree:
            beside["axtree"] = json.dumps(self.states.tree(state))
        page = self._needed.documents.before(state["tab"], turn["timestamp"])
        earlier = [event for event in self._archives
                   if event["tab"] == state["tab"] and event["time"] <= turn["timestamp"]
                   and self._needed.documents.at(event["tab"], event["time"]) == page]
        if earlier:
            blob = earlier[-1]["data"]["blob"]
            beside["mhtml"] = self._add_file(f"snapshots/{earlier[-1]['seq']}.mhtml",
                                         lambda: mhtml_without(self.source.recording.blob(blob), self.states.known))
        return beside

    def _add_file(self, name: str, content: bytes | Callable[[], bytes]) -> str:
        """Add a file to those that are written beside the action, unless it was added before; returns its path in the
        export. `content` may be a function, which is called only for a new file."""
        path = f"{self.path}/{name}"
        if path not in self._written:
            self._written.add(path)
            self._files.append(File(path, content() if callable(content) else content))
        return path

    def _network(self) -> Iterator[File]:
        recording = self.source.recording
        if recording.layout.har.is_file():
            yield File(f"{self.path}/session.har",
                       clean_har(recording, self._needed, self.states.known, self.tally.notes))


def _viewport(state: TurnState) -> str:
    """What of the page the screenshot shows, as boxes are written."""
    return ",".join(f"{value:.10g}" for value in (
        state["scroll"]["x"], state["scroll"]["y"], state["viewport"]["width"], state["viewport"]["height"]))
