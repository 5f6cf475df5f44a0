"""What a bundle shows of one run: its turns as JSON, its pictures and pages as parts. Without what exports redact."""

import gzip
from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from pipeline import network
from pipeline.export import Options, Source
from pipeline.export.needed_content import NeededContent
from pipeline.export.states import States
from pipeline.outcomes.checking import CheckResult
from pipeline.outcomes.isolated_evaluation import score_session
from pipeline.pages.rendering import Resources, render
from recorder import Recording
from schemas import UID_ATTRIBUTE, InputError
from schemas.actors import actor_of
from schemas.files import read_json
from schemas.formats.outcome import OutcomeSchema
from schemas.types.recordings import BrowserTurn, Turn, TurnState

from .page_parts import part_id, split_page

_MEDIA = {"jpg": "image/jpeg", "png": "image/png", "webp": "image/webp"}
_COMPRESSION = 6
_ELEMENT_FIELDS = ("tag", "role", "name", "text", "xpath", "css", "bbox", "point_outside")


class Part(NamedTuple):
    """A piece of content by its id. `content` is compressed (gzip) where `media` is empty: it is text then."""

    id: str
    media: str
    content: bytes


class RunContent:
    """One run. `parts` must be read before `about`: it makes the pages on the way."""

    def __init__(self, source: Source, options: Options, without: Collection[str]):
        self._states = States(source, UID_ATTRIBUTE, replace(options, screenshots=options.screenshots or "jpg"), "jpg")
        self.source, self._without = self._states.source, without
        self._resources = Resources(source.recording)
        self._pages: dict[tuple[Any, ...], str] = {}
        self._written: set[str] = set()
        self._turns: list[dict[str, Any]] = []
        self.notes: list[str] = []

    def parts(self) -> Iterator[Part]:
        """Each picture and page, before the turn that needs it is in `about`."""
        for turn in self.source.turns:
            shown = _turn(turn)
            if turn["type"] == "browser" and turn["state"]:
                yield from self._with_picture(shown, turn["state"])
                if "pages" not in self._without:
                    yield from self._with_page(shown, turn["state"])
            self._turns.append(shown)

    def about(self) -> dict[str, Any]:
        """The run as JSON: who acted, the task, the outcome, the turns with the ids of their parts."""
        recording, demonstration = self.source.recording, self.source.demonstration
        provenance = recording.manifest.get("provenance", {})
        if "network" not in self._without:
            self._add_requests(recording)
        if self._states.pictures_left_out:
            self.notes.append(f"pictures left out, as it is not known where they show personal data: "
                              f"{len(self._states.pictures_left_out)}")
        about = {"id": self.source.id, "task": demonstration["task"], "actor": actor_of(provenance),
                 "agent": provenance.get("agent", ""), "started": recording.manifest["started_at"].isoformat(),
                 "license": provenance.get("license", ""), "outcome": self._outcome(recording),
                 "turns": self._turns, "notes": self.notes}
        return self._states.known.walk(about) if self._states.known.known else about

    def _with_picture(self, shown: dict[str, Any], state: TurnState) -> Iterator[Part]:
        picture = self._states.picture(state)
        if picture is None:
            return
        shown["picture"] = part_id(picture)
        yield from self._once(Part(shown["picture"], _MEDIA[self._states.kind], picture))

    def _with_page(self, shown: dict[str, Any], state: TurnState) -> Iterator[Part]:
        if state["dom"] is None:
            return
        key = (state["dom"], state["screenshot"], state["elements"], state["url"])
        if key not in self._pages:
            page = split_page(self._rendered(state), self._redact)
            content = page.text.encode()
            self._pages[key] = part_id(content)
            for name, text in page.parts.items():
                yield from self._once(Part(name, "", _compress(text.encode())))
            yield from self._once(Part(self._pages[key], "", _compress(content)))
        shown["page"] = self._pages[key]

    def _rendered(self, state: TurnState) -> str:
        """A state's page; canvases are not cut out of a screenshot in which something may have to be redacted."""
        if self._states.known.known:
            return render(self.source.recording, {**state, "screenshot": None}, self._resources)
        return render(self.source.recording, state, self._resources)

    def _redact(self, text: str) -> str:
        return self._states.known.markup(text.encode()).decode() if self._states.known.known else text

    def _once(self, part: Part) -> Iterator[Part]:
        if part.id not in self._written:
            self._written.add(part.id)
            yield part

    def _add_requests(self, recording: Recording) -> None:
        """The requests between each turn and the next one, of the pages that the turns need."""
        needed = NeededContent(self.source)
        starts = [index for index, turn in enumerate(self._turns) if turn["type"] == "browser"]
        for index, following in zip(starts, [*starts[1:], None], strict=True):
            begin = self._turns[index]["time"] if index != starts[0] else 0.0
            end = None if following is None else self._turns[following]["time"]
            listed = network.requests(recording, begin, end)
            requests = [request for request in listed["requests"]
                        if needed.needs(request["tab"], request["time"], url=f"https://{request['host']}{request['path']}")]
            if requests:
                self._turns[index]["requests"] = self._states.known.everything(requests)
                self._turns[index]["more_requests"] = listed["total"] - len(listed["requests"])

    def _outcome(self, recording: Recording) -> dict[str, Any] | None:
        """Whether the run's outcome checks pass; None without checks, or where they cannot be evaluated."""
        if not recording.layout.outcome.exists():
            return None
        spoken = [turn["utterance"] for turn in self.source.turns
                  if turn["type"] == "chat" and turn["speaker"] == "navigator"]
        try:
            outcome = read_json(recording.layout.outcome, OutcomeSchema())
            score = score_session(recording, outcome, spoken[-1] if spoken else "")
        except InputError as error:
            self.notes.append(f"the outcome checks could not be evaluated: {error}")
            return None
        return {"holds": score.holds, "checks": [_check(result) for result in score.checks]}


def _check(result: CheckResult) -> dict[str, Any]:
    return {"kind": result.check["kind"], "holds": result.holds, "reason": result.reason}


def _turn(turn: Turn) -> dict[str, Any]:
    common = {"id": turn["id"], "type": turn["type"], "time": turn["timestamp"], "labels": turn.get("labels", {})}
    if turn["type"] == "chat":
        return {**common, "speaker": turn["speaker"], "utterance": turn["utterance"],
                "reply_to": turn.get("reply_to", "")}
    return {**common, "intent": turn["intent"], "arguments": turn["arguments"], "trusted": turn.get("trusted", True),
            "agent": turn.get("agent", {}), "element": _element(turn),
            **(_state(turn["state"]) if turn["state"] else {})}


def _element(turn: BrowserTurn) -> dict[str, Any] | None:
    element = turn["element"]
    return None if element is None else {name: value for name, value in element.items() if name in _ELEMENT_FIELDS}


def _state(state: TurnState) -> dict[str, Any]:
    return {name: state[name] for name in ("url", "title", "tab", "viewport", "screenshot_status")}  # type: ignore[literal-required]


def _compress(content: bytes) -> bytes:
    return gzip.compress(content, _COMPRESSION, mtime=0)
