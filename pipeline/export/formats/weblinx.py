"""WebLINX's layout on disk: `demonstrations/<name>/…` and `splits.json`, read by the public `weblinx` library."""

import hashlib
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from pipeline.export.destinations.destination import Destination, json_bytes
from pipeline.export.manifest import tool_version
from pipeline.export.model_input.records import Records, View
from pipeline.export.model_input.set_of_marks import legend
from pipeline.export.running import Files
from pipeline.export.source import File, Line, Options, Source, Tally
from pipeline.export.splits import SPLITS
from pipeline.export.states import States
from pipeline.pages.dom import Page
from schemas.files import dump_json
from schemas.intents import INTENTS
from schemas.types.recordings import Box, BrowserTurn, Turn, TurnState

from . import documents, layouts
from .card import Counted, Counts, Words
from .weblinx_turns import (
    UID,
    browser_turn,
    chat_turn,
    eight_numbers,
    history_url,
    page_element,
    recorded_element,
    why_left_out,
)

WORDS = Words("turn", "intent", """One folder a demonstration, in the layout of WebLINX: `replay.json` has its turns,
what was said or done and on which element; pages, element boxes and screenshots are those *before* it took effect.
`splits.json` names the demonstrations of each split. The `weblinx` library reads them; the intents are its own.""")


def samples(source: Source, options: Options, tally: Tally) -> Iterator[File | Line | Counted]:
    """All files of one demonstration."""
    yield from _Demonstration(source, options, tally).files()


class Writer(Files):
    """Puts the files where they belong, and the splits at the end."""

    def __init__(self, destination: Destination, options: Options):
        super().__init__(destination, options)
        self._names: dict[str, list[str]] = {split: [] for split in SPLITS}
        self._counts = Counts()

    def write(self, source: Source, sample: File | Line | Counted) -> None:
        if isinstance(sample, Counted):
            self._counts.turn(source, sample)
        else:
            super().write(source, sample)

    def add(self, source: Source) -> None:
        self._names[source.split].append(source.name)
        self._counts.demonstration(source)

    def finish(self) -> None:
        self.destination.write_json("splits.json", self._names)
        self._open.close()  # the files that demonstrations share are complete, and can be told
        documents.write(self.destination, self.options, self._counts, WORDS, {},
                        layouts.demonstrations(self.options.screenshots or "png"))


class _Demonstration:
    """Makes the files of one demonstration; pages and pictures that turns share are made once."""

    def __init__(self, source: Source, options: Options, tally: Tally):
        self.options, self.tally = options, tally
        self.states = States(source, UID, options, "png")
        self.known, self.source = self.states.known, self.states.source
        tally.redacted += self.known.counts
        self.path = f"demonstrations/{source.name}"
        self.turns = self.source.turns
        self._targets = _boxes_of_targets(self.turns)
        self._pages: dict[tuple, str] = {}
        self._pictures: dict[tuple, str | None] = {}
        self._files: list[File] = []
        self._records = Records(source.name, source.split, options) if options.candidates or options.records else None

    def files(self) -> Iterator[File | Line | Counted]:
        """All files, the replay last."""
        replay = []
        for index, turn in enumerate(self.turns):
            url = history_url(self.turns, index, self.source.recording, self.known)
            if reason := why_left_out(turn, url):
                self.tally.left_out[reason] += 1
                continue
            if turn["type"] == "chat":
                replay.append(chat_turn(turn))
            else:
                replay.append(self._browser_turn(turn, len(replay), url))
            yield _counted(replay[-1])
            yield from self._files
            self._files.clear()
            if self._records:
                yield from self._records.see(replay[-1], len(replay) - 1, self._view(turn, replay[-1]))
        yield from self._descriptions()
        created = int(self.source.recording.manifest["started_at"].timestamp())
        self.tally.turns = len(replay)
        self.tally.pictures_left_out = len(self.states.pictures_left_out)
        yield File(f"{self.path}/replay.json",
                   json_bytes({"version": _version(), "created": created, "data": replay}), len(replay))

    def _view(self, turn: Turn, written: dict[str, Any]) -> View | None:
        """What a model that predicts the turn may look at."""
        state = turn["state"] if turn["type"] == "browser" else None
        page = self.states.page(state) if state else None
        if state is None or page is None:
            return None
        element = written["action"]["arguments"].get("element")
        target = element["attributes"].get(UID) if element and "pointOutside" not in element else None
        return View(page, self._boxes(state, page), target if target in page.elements else None)

    def _add(self, name: str, content: bytes) -> None:
        self._files.append(File(f"{self.path}/{name}", content))

    def _browser_turn(self, turn: BrowserTurn, number: int, url: str | None) -> dict[str, Any]:
        manifest = self.source.recording.manifest
        state = turn["state"]
        page = self.states.page(state) if state else None
        element, in_page = self._element(turn, page)
        picture = self._picture(state, number) if state else None
        # A reader predicts only turns whose screenshot is good: without a page, or with a target that the page does
        # not have, a turn is history only.
        good = bool(state and picture and page and in_page and state["screenshot_status"] == "good")
        written = {"screenshot": picture, "page": self._page(state, page, number) if state and page else None,
                   "screenshot_status": "good" if good else "broken"}
        size = manifest["viewport"] or (state["viewport"] if state else {"width": 0, "height": 0})
        return browser_turn(turn, state=written, element=element, started_at=manifest["started_at"], viewport=size,
                            url=url)

    def _element(self, turn: BrowserTurn, page: Page | None) -> tuple[dict[str, Any] | None, bool]:
        """The target, and whether the page and the boxes have it; true for turns that need no target."""
        element = turn["element"]
        if element is None or not INTENTS[turn["intent"]].acts_on_element:
            return None, True
        zoom = turn["state"]["zoom"] if turn["state"] else 1
        if page is None:
            return recorded_element(element, zoom), False
        uid = page.uid(element["frame"], element["uid"])
        if uid not in page.elements:
            self.tally.notes["target missing from the page, kept as history"] += 1
            return recorded_element(element, zoom), False
        box = element["bbox"] or (self.states.boxes(turn["state"]).get(uid) if turn["state"] else None)
        written = page_element(page, uid, box, zoom)
        if "point_outside" in element:
            written["pointOutside"] = element["point_outside"]
        return written, box is not None

    def _picture(self, state: TurnState, number: int) -> str | None:
        """File name of the screenshot; None when there is none or it cannot be decoded."""
        if state["screenshot"] is None:
            return None
        # What is blurred depends on what the page showed and whether the picture agrees; so does what is marked.
        key = (state["screenshot"], *_pair(state), state.get("stale"), state.get("screenshot_agrees"),
               "screenshot_source" in state)
        if key not in self._pictures:
            picture = self.states.picture(state)
            name = f"screenshot-{number}-0.{self.states.kind}" if picture else None
            if picture:
                self._add(f"screenshots/{name}", picture)
            self._pictures[key] = name
            if picture and self.options.set_of_marks:
                marked, marks = self.states.with_marks(state)
                self._add(f"marks/marks-{number}-0.{self.states.kind}", marked or b"")
                self._add(f"marks/marks-{number}.json", json_bytes(legend(marks)))
        return self._pictures[key]

    def _page(self, state: TurnState, page: Page, number: int) -> str:
        """File name of the page. Its boxes go by its first number, so page and boxes are written as one pair."""
        key = _pair(state)
        if key not in self._pages:
            boxes = self._boxes(state, page)
            self._pages[key] = f"page-{number}-0.html"
            self._add(f"pages/{self._pages[key]}", page.content)
            self._add(f"bboxes/bboxes-{number}.json",
                      json_bytes({uid: eight_numbers(box) for uid, box in boxes.items()}))
            if self.options.axtree and (tree := self.states.tree(state)) is not None:
                self._add(f"axtree/axtree-{number}.json", json_bytes(tree))
        return self._pages[key]

    def _boxes(self, state: TurnState, page: Page) -> dict[str, Box]:
        """Boxes of the page's elements, and those of targets that only their turns know."""
        boxes = self.states.boxes(state)
        for frame, uid, box in self._targets.get(_pair(state), ()):
            uid = page.uid(frame, uid)
            if uid in page.elements:
                boxes.setdefault(uid, box)
        return boxes

    def _descriptions(self) -> Iterator[File]:
        demonstration, manifest = self.source.demonstration, self.source.recording.manifest
        start = manifest["started_at"]
        last = max((turn["timestamp"] for turn in demonstration["turns"]), default=0)
        end = manifest["ended_at"] or start + timedelta(seconds=last)
        yield File(f"{self.path}/metadata.json", json_bytes({
            "recordingId": manifest["id"], "recordingStart": start.timestamp(), "recordingEnd": end.timestamp(),
            "recordingStartISO": start.isoformat(), "recordingEndISO": end.isoformat(),
            "timezoneOffsetMinutes": -round((start.utcoffset() or timedelta()).total_seconds() / 60), "user": "",
            "userAgent": manifest["user_agent"], "version": _version()}))
        yield File(f"{self.path}/form.json", json_bytes({
            "annotator": "", "description": demonstration["task"], "tasks": [demonstration["task"]],
            "navigator_name": "navigator", "instructor_name": "instructor",
            "shortcode": hashlib.sha256(self.source.id.encode()).hexdigest()[:7],
            "upload_date": start.strftime("%Y-%m-%d %H:%M:%S")}))
        yield File(f"{self.path}/demotape.json", dump_json(demonstration | {"turns": self.source.turns}))


def _counted(written: dict[str, Any]) -> Counted:
    """What the data set card counts of a turn of the replay."""
    if written["type"] == "chat":
        return Counted("say", "none")
    state = written["state"]
    return Counted(written["action"]["intent"], state["screenshot_status"] if state["screenshot"] else "none")


def _pair(state: TurnState) -> tuple:
    return state["dom"], state["elements"]


def _boxes_of_targets(turns: list[Turn]) -> dict[tuple, list[tuple[list[str], str, Box]]]:
    """Frame, uid and box of every target, by the page and boxes in which a reader looks for it."""
    targets: dict[tuple, list] = {}
    for turn in turns:
        if turn["type"] == "browser" and turn["state"] and turn["element"] and turn["element"]["bbox"]:
            element = turn["element"]
            targets.setdefault(_pair(turn["state"]), []).append((element["frame"], element["uid"], element["bbox"]))
    return targets


def _version() -> str:
    """The reader wants whole numbers with dots between them."""
    numbers = [part for part in tool_version().split(".") if part.isdigit()]
    return ".".join(numbers) or "0"
