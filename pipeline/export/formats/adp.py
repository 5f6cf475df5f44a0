"""ADP 1.2 (Agent Data Protocol): one trajectory for each demonstration, `<split>/<name>.json`, a file of one line.

The protocol's tools read the trajectories of a split as lines (`cat train/*.json`). An observation after an action is
read as its result, so that a text of the environment stands where turns are not exported. The protocol has pages in the
trajectory, not in files.
"""

from collections.abc import Iterator
from typing import Any

from pipeline.export.source import File, Options, Source, Tally
from pipeline.export.states import States
from pipeline.privacy.redacting import has_redactions
from schemas import UID_ATTRIBUTE
from schemas.actors import actor_of
from schemas.files import dump_line
from schemas.types.recordings import BrowserTurn, ChatTurn, Turn, TurnState

from . import documents, layouts
from .calls import call_arguments, session_facts
from .card import Counted, Words
from .counted_files import CountedFiles
from .lines import WriteOnce

SCHEMA_VERSION = "1.2.0"
MAX_PAGES_BYTES = 96 << 20  # of the pages of a trajectory, as JSON: readers hold a whole trajectory in memory
GAP = "Turns before this page are not in this trajectory."
_WORDS = Words("turn", "intent", """One trajectory (ADP 1.2) a demonstration: the instructor is the user, an action an
`api_action` named as its intent, with the page before it as a `web_observation`. Each file is one line of JSON, so that
those of a split together are JSON lines. Paths of pictures are relative to this folder. `details.demotape.turns` has
the id and time of each turn, and marks arguments from which values were removed (`redacted`).""")
_REPORTED = {"reasoning": "reasoning_content", "reward": "reward"}  # of an agent, with the fields of ADP


class Writer(CountedFiles):
    """Writes the trajectories, and what describes them."""

    def finish(self) -> None:
        files = {split: f"{split}/*.json" for split in self._counts.splits()}
        documents.write(self.destination, self.options, self._counts, _WORDS, {},
                        layouts.protocol(files, self.options.screenshots or "jpg"))


def samples(source: Source, options: Options, tally: Tally) -> Iterator[File | Counted]:
    """The trajectory of one demonstration, after its pictures."""
    trajectory = _Trajectory(source, options, tally)
    document = trajectory.document()
    yield from trajectory.once.take_waiting()
    yield File(f"{source.split}/{source.name}.json", dump_line(document), tally.turns)
    yield from trajectory.counted


class _Trajectory:
    """Makes the parts of one demonstration."""

    def __init__(self, source: Source, options: Options, tally: Tally):
        self.states = States(source, UID_ATTRIBUTE, options, "jpg")
        self.source, self.options, self.tally = self.states.source, options, tally
        tally.redacted += self.states.known.counts
        self.once = WriteOnce()
        self.counted: list[Counted] = []
        self._content: list[dict[str, Any]] = []
        self._turns: list[dict[str, Any]] = []
        self._pages_bytes = 0

    def document(self) -> dict[str, Any]:
        """The whole trajectory."""
        after_gap = _after_gap(self.source)
        for turn in self.source.turns:
            if turn["id"] in after_gap:
                self._content.append({"class_": "text_observation", "content": GAP, "source": "environment"})
            if turn["type"] == "chat":
                self._add_utterance(turn)
            else:
                self._add_action(turn)
            self.tally.turns += 1
        self.tally.pictures_left_out = len(self.states.pictures_left_out)
        recording = self.source.recording
        provenance = recording.manifest.get("provenance", {})
        about = {**session_facts(self.source), "recording": recording.id,
                 "started_at": recording.manifest["started_at"].isoformat(timespec="milliseconds"),
                 "actor": actor_of(provenance), "agent": provenance.get("agent", ""), "turns": self._turns}
        return {"schema_version": SCHEMA_VERSION, "id": self.source.id, "content": self._content,
                "details": {"demotape": about}}

    def _add_utterance(self, turn: ChatTurn) -> None:
        said = {"content": turn["utterance"]}
        extra = {name: turn[name] for name in ("source", "reply_to") if turn.get(name)}  # type: ignore[literal-required]
        self._add(turn, {"class_": "message_action", **said} if turn["speaker"] == "navigator" else {
            "class_": "text_observation", **said, "source": "user"}, extra)
        self.counted.append(Counted("say", "none"))

    def _add_action(self, turn: BrowserTurn) -> None:
        status = "none"
        if turn["state"] is not None:
            self._content.append(self._page(turn["state"]))
            status = turn["state"]["screenshot_status"]
        arguments = call_arguments(turn, self.states)
        extra: dict[str, Any] = {"redacted": True} if has_redactions(dump_line(arguments)) else {}
        if turn.get("trusted") is False:
            extra["trusted"] = False
        report: dict[str, Any] = dict(turn.get("agent", {}))
        reported = {field: report.pop(name) for name, field in _REPORTED.items() if name in report}
        self._add(turn, {"class_": "api_action", "function": turn["intent"], "kwargs": arguments, **reported},
                  extra | ({"agent": report} if report else {}))
        self.counted.append(Counted(turn["intent"], status))

    def _add(self, turn: Turn, part: dict[str, Any], extra: dict[str, Any]) -> None:
        self._turns.append({"part": len(self._content), "id": turn["id"], "timestamp": turn["timestamp"], **extra})
        self._content.append(part)

    def _page(self, state: TurnState) -> dict[str, Any]:
        picture = self.states.picture(state) if state["screenshot_status"] == "good" else None
        image = None
        if picture:
            path = f"images/{self.source.name}-{len(self._content):04d}.{self.states.kind}"
            image = {"class_": "image_observation", "content": self.once.path(path, picture), "source": "environment"}
        tree = self.states.tree(state) if self.options.axtree else None
        return {"class_": "web_observation", "html": self._html(state),
                "axtree": None if tree is None else dump_line(tree).decode().rstrip(), "url": state["url"],
                "image_observation": image,
                "viewport_size": [int(state["viewport"][side]) for side in ("width", "height")]}  # type: ignore[literal-required]

    def _html(self, state: TurnState) -> str | None:
        page = self.states.page(state)
        if page is None:
            return None
        html = page.content.decode()
        self._pages_bytes += len(dump_line(html))
        if self._pages_bytes > MAX_PAGES_BYTES:
            self.tally.notes[f"page left out: a trajectory has at most {MAX_PAGES_BYTES >> 20} MiB of pages"] += 1
            return None
        return html


def _after_gap(source: Source) -> set[str]:
    """Ids of the exported turns with turns before them that are not exported, except at the start."""
    exported = {turn["id"] for turn in source.turns}
    turns = [turn["id"] in exported for turn in source.demonstration["turns"]]
    first = turns.index(True) if True in turns else 0
    return {turn["id"] for number, turn in enumerate(source.demonstration["turns"])
            if number > first and turns[number] and not turns[number - 1]}
