"""ATIF 1.8 (Agent Trajectory Interchange Format): one JSON document for each demonstration, `<split>/<name>.json`.

Harbor's RFC 0001 is the specification, the models of the package `atif` 1.8.0 its form. An action's result is the page
that was there before the next action. At the start, after an utterance, and after turns that are not exported, a
`system` step has the page instead: it is not what the action before led to.
"""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from pipeline.export.model_input.set_of_marks import legend
from pipeline.export.source import File, Options, Source, Tally
from pipeline.export.states import States
from pipeline.privacy.redacting import has_redactions
from schemas import UID_ATTRIBUTE
from schemas.actors import actor_of
from schemas.files import dump_json, dump_line
from schemas.types.agent_steps import TurnReport
from schemas.types.recordings import BrowserTurn, ChatTurn, Turn, TurnState

from . import documents, layouts
from .calls import call_arguments, session_facts
from .card import Counted, Words
from .counted_files import CountedFiles
from .lines import WriteOnce

SCHEMA_VERSION = "ATIF-v1.8"
_UNKNOWN = "unknown"
_MEDIA = {"jpg": "image/jpeg", "png": "image/png", "webp": "image/webp"}
_METRICS = {"input_tokens": "prompt_tokens", "output_tokens": "completion_tokens", "cost": "cost_usd"}
_TEXTS = {"reasoning": "reasoning_content", "model": "model_name"}
_WORDS = Words("turn", "intent", """One trajectory (ATIF 1.8) a demonstration: the instructor is the user, the navigator
the agent, an action a tool call named as its intent, and the page before the next action its result. Paths of pictures
and pages are relative to this folder. `llm_call_count` is 0 for steps of persons and scripts. `extra.redacted` marks
arguments from which values were removed.""")


class Writer(CountedFiles):
    """Writes the documents, and what describes them."""

    def finish(self) -> None:
        files = {split: f"{split}/*.json" for split in self._counts.splits()}
        documents.write(self.destination, self.options, self._counts, _WORDS, {},
                        layouts.documents(files, self.options.screenshots or "jpg"))


def samples(source: Source, options: Options, tally: Tally) -> Iterator[File | Counted]:
    """The trajectory of one demonstration, after its pages and pictures."""
    trajectory = _Trajectory(source, options, tally)
    document = trajectory.document()
    yield from trajectory.once.take_waiting()
    yield File(f"{source.split}/{source.name}.json", dump_json(document), tally.turns)
    yield from trajectory.counted


class _Trajectory:
    """Makes the steps of one demonstration."""

    def __init__(self, source: Source, options: Options, tally: Tally):
        self.states = States(source, UID_ATTRIBUTE, options, "jpg")
        self.source, self.options, self.tally = self.states.source, options, tally
        tally.redacted += self.states.known.counts
        self.once = WriteOnce()
        self.counted: list[Counted] = []
        self._provenance = source.recording.manifest.get("provenance", {})
        self._calls_model = actor_of(self._provenance) == "agent"
        self._steps: list[dict[str, Any]] = []
        self._shown: str | None = None  # the turn whose page the last step shows

    def document(self) -> dict[str, Any]:
        """The whole trajectory."""
        turns = self.source.turns
        following = _following_turns(self.source)
        for turn in turns:
            if turn["type"] == "chat":
                self._add_utterance(turn)
            else:
                self._add_page(turn)
                self._add_action(turn, following.get(turn["id"]))
            self.tally.turns += 1
        self.tally.pictures_left_out = len(self.states.pictures_left_out)
        return {"schema_version": SCHEMA_VERSION, "session_id": self.source.recording.id,
                "trajectory_id": self.source.id, "agent": self._agent(), "steps": self._steps,
                "extra": session_facts(self.source)}

    def _agent(self) -> dict[str, Any]:
        actor = actor_of(self._provenance)
        return {"name": self._provenance.get("agent") or actor, "version": _UNKNOWN, "extra": {"actor": actor}}

    def _add_utterance(self, turn: ChatTurn) -> None:
        source = "agent" if turn["speaker"] == "navigator" else "user"
        extra = {"turn": turn["id"], **({"input": turn["source"]} if turn.get("source") else {}),
                 **({"reply_to": turn["reply_to"]} if "reply_to" in turn else {})}
        self._add(turn, {"source": source, "message": turn["utterance"], "extra": extra, **self._calls(source)})
        self.counted.append(Counted("say", "none"))

    def _add_page(self, turn: BrowserTurn) -> None:
        """The page before an action, if the last step does not show it already."""
        if turn["state"] is None or self._shown == turn["id"]:
            return
        self._add(turn, {"source": "system", "message": "", "observation": {"results": [self._result(turn["state"])]},
                         "extra": {"page_before": turn["id"]}})

    def _add_action(self, turn: BrowserTurn, following: BrowserTurn | None) -> None:
        call = {"tool_call_id": turn["id"], "function_name": turn["intent"],
                "arguments": call_arguments(turn, self.states)}
        extra: dict[str, Any] = {"turn": turn["id"]}
        if has_redactions(dump_line(call["arguments"])):
            extra["redacted"], call["extra"] = True, {"redacted": True}
        if turn.get("trusted") is False:
            extra["trusted"] = False
        step: dict[str, Any] = {"source": "agent", "message": "", "tool_calls": [call], "extra": extra,
                                **(_report(turn["agent"], extra) if "agent" in turn else self._calls("agent"))}
        self._shown = None
        if following is not None and following["state"] is not None:
            result = self._result(following["state"])
            step["observation"] = {"results": [{"source_call_id": turn["id"], **result}]}
            self._shown = following["id"]
        self._add(turn, step)
        status = turn["state"]["screenshot_status"] if turn["state"] else "none"
        self.counted.append(Counted(turn["intent"], status))

    def _add(self, turn: Turn, step: dict[str, Any]) -> None:
        at = self.source.recording.manifest["started_at"] + timedelta(seconds=turn["timestamp"])
        self._steps.append({"step_id": len(self._steps) + 1, "timestamp": at.isoformat(timespec="milliseconds"),
                            **step})

    def _calls(self, source: str) -> dict[str, int]:
        """How many calls of a model made a step: none of a person or script; of an agent that is not known."""
        return {"llm_call_count": 0} if source == "agent" and not self._calls_model else {}

    def _result(self, state: TurnState) -> dict[str, Any]:
        """What a page showed: title and address, the picture if it is good; the page itself is a file."""
        content: list[dict[str, Any]] = [{"type": "text", "text": f"{state['title']}\n{state['url']}"}]
        if self.options.axtree:
            content.append({"type": "text", "text": dump_line(self.states.tree(state)).decode().rstrip()})
        picture = self.states.picture(state) if state["screenshot_status"] == "good" else None
        stem = f"{self.source.name}-{len(self._steps):04d}"
        if picture:
            content.append(self._image(stem, picture))
        page = self.states.page(state)
        extra: dict[str, Any] = {"url": state["url"], "title": state["title"], "tab": state["tab"],
                 "viewport": dict(state["viewport"]), "scroll": dict(state["scroll"]),
                 "screenshot_status": state["screenshot_status"] if picture else "none",
                 **({"html": self.once.path(f"pages/{stem}.html", page.content)} if page else {})}
        if self.options.set_of_marks:
            marked, marks = self.states.with_marks(state)
            extra["marks"] = legend(marks)
            if marked and picture:
                content.append(self._image(f"{stem}-marked", marked))
        return {"content": content, "extra": extra}

    def _image(self, stem: str, picture: bytes) -> dict[str, Any]:
        path = self.once.path(f"images/{stem}.{self.states.kind}", picture)
        return {"type": "image", "source": {"media_type": _MEDIA[self.states.kind], "path": path}}


def _report(report: TurnReport, extra: dict[str, Any]) -> dict[str, Any]:
    """The fields of a step for what the agent reported; what ATIF has no field for goes to `extra`."""
    stated: dict[str, Any] = dict(report)
    extra |= {name: stated[name] for name in ("step", "error", "reward", "duration") if name in stated}
    metrics = {field: stated[name] for name, field in _METRICS.items() if name in stated}
    texts = {field: stated[name] for name, field in _TEXTS.items() if stated.get(name)}
    return texts | ({"metrics": metrics} if metrics else {})


def _following_turns(source: Source) -> dict[str, BrowserTurn]:
    """By the id of an action, the action right after it: none with an utterance or a turn that is not exported between,
    as the page then is not only what the action led to."""
    exported = {turn["id"]: turn for turn in source.turns}
    following: dict[str, BrowserTurn] = {}
    turns = source.demonstration["turns"]
    for turn, after in zip(turns, turns[1:], strict=False):
        chosen = exported.get(after["id"])
        if turn["id"] in exported and turn["type"] == "browser" and chosen is not None and chosen["type"] == "browser":
            following[turn["id"]] = chosen
    return following
