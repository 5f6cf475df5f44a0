"""Converts a package of the extension to a recording: its journal, on its clock, for the recording builder.

The second user of the recording builder beside the Playwright recorder: what is merged, named and kept is the same.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recorder.blob_store import BlobStore
from recorder.building.builder import RecordingBuilder
from recorder.building.frame_merging import insert_uids
from recorder.building.recording_clock import RecordingClock
from recorder.building.tab_state import TabState
from recorder.media.painted_frames import PaintedFrame
from recorder.media.video import PacketVideo
from schemas import InputError, limits
from schemas.types.package import (
    BeginLine,
    ChatLineOfPackage,
    NavigateLine,
    OfTabLine,
    PackageLine,
    PageLine,
    PictureLine,
    ProblemLine,
    ResourceLine,
    Snapshot,
    TabLine,
    UndoLine,
    VideoLine,
    ZoomLine,
)

from .package_file import Package

_DRAIN_EVERY = 16  # lines after which the writer is waited for, so that little stands in memory
_MAX_FIRST_LATE_S = 2.0  # by which a document's first message may come late; more: its clock was set
_WAITING_KINDS = {"page", "picture", "video", "resource"}  # of lines that may wait for the position of a frame
_MAX_WAITING_LINES, _MAX_WAIT_S = 50, 2.0
_FRAME_LATE = 0.002  # seconds by which a frame's time may be too late
_PAINTS = 1.0  # seconds in which a page that has changed is painted, however busy the machine
_MARK = re.compile("([\x01\x02])(\\d+)\\1")


def receive(package: Path | str, directory: Path | str, name: str | None = None) -> list[str]:
    """Make the new folder `directory` a recording from a package (a zip file); returns the problems met on the way.

    `name`: the recording's id, instead of the one that the package has.
    Raises InputError when the package is not whole, or the folder holds something.
    """
    with Package(package) as source:
        receiver = _Receiver(source, directory, name)
        builder = receiver.builder
        try:
            receiver.replay()
        except (KeyError, IndexError, RecursionError, OverflowError):  # what no schema could see
            raise InputError(f"{source.path}: cannot be converted into a recording; its journal is "
                             "inconsistent") from None
        finally:
            builder.abandon()
    if builder.failed:
        if isinstance(builder.failed.__cause__, MemoryError):  # whoever limits it says how much it may take
            raise builder.failed.__cause__
        raise builder.failed
    return builder.problems


@dataclass(frozen=True)
class _Action:
    """An action in a tab: when it was done and when its message was sent (wall clock, seconds), and what the page then
    was: by the path of each frame group, its name and the number of its root chunk."""

    time: float
    sent: float
    page: dict[tuple[int, ...], tuple[str, int]]


class _Tab(TabState):
    """One tab, as the journal tells of it."""

    def __init__(self, *arguments: Any):
        super().__init__(*arguments)
        self.document = ""
        self.shown_since = 0.0  # when this document began to be shown, wall clock
        self._last_action: _Action | None = None
        self._row_numbers: dict[str, set[int]] = {}  # frame group -> numbers of its rows
        self._sizes: dict[str, dict[int, tuple[int, int]]] = {}  # frame group -> chunk -> its text's size, its depth

    def new_document(self, url: str, began: float = math.inf, left_at: float = 0.0) -> None:
        super().new_document(url, began, left_at)
        self._row_numbers = {name: rows for name, rows in self._row_numbers.items() if self.has_parts_of(name)}
        self._sizes = {name: sizes for name, sizes in self._sizes.items() if self.has_parts_of(name)}

    @property
    def is_alone(self) -> bool:
        """Whether the page is one frame group: of the others it is not known whether they have changed."""
        return set(self.frame_groups) <= {()}

    def unchanged_since(self, line: Mapping[str, Any]) -> float:
        """Since when (wall clock, seconds) a picture of the tab shows the page as it was at the action of a line.

        Since this document was shown; or, if the page has changed after an action right before, since that was sent.
        """
        before, action = self._last_action, self._action_of(line)
        if before and action.page != before.page and action.time - before.time < _PAINTS:
            return max(self.shown_since, before.sent + _FRAME_LATE)
        return self.shown_since

    def note_action(self, line: Mapping[str, Any]) -> None:
        """The action of this line, which has a state, was done; lines come in order."""
        if line["message"]["type"] != "hover":
            self._last_action = self._action_of(line)

    def _action_of(self, line: Mapping[str, Any]) -> _Action:
        """The action of a line, with the page as the line's snapshot leaves it."""
        message, snapshot = line["message"], line["message"]["snapshot"]
        page = {path: (group["frame_group"], group["root"]) for path, group in self.frame_groups.items()}
        if snapshot:
            page[tuple(message["path"])] = snapshot["frame_group"], snapshot["root"]
        return _Action(message["time"] / 1000, line["sent"], page)

    def fault(self, snapshot: Snapshot) -> str | None:
        """Why a snapshot cannot be put together; None when it can. Nobody may blow up a page by chunks in chunks."""
        rows = self._row_numbers.setdefault(snapshot["frame_group"], set())
        rows.update(row[0] for row in snapshot["rows"] if isinstance(row, list))
        if any(row not in rows for row in snapshot["rows"] if isinstance(row, int)):
            return "rows are missing"
        sizes = self._sizes.setdefault(snapshot["frame_group"], {})
        for number, text in sorted(snapshot["chunks"]):
            try:
                size, depth = len(insert_uids(text, snapshot["frame_group"])), 0
            except InputError:
                return "its uids do not fit"
            for mark, inner in _MARK.findall(text):
                if int(inner) not in sizes:
                    return "pieces of it are missing"
                size += sizes[int(inner)][0] * (1 if mark == "\x01" else 2)  # a frame's document is escaped
                depth = max(depth, sizes[int(inner)][1] + 1)
            if size > limits.PAGE or depth > limits.DEPTH:
                return "it is too large"
            if sizes.setdefault(number, (size, depth)) != (size, depth):
                return "a piece of it was sent twice"  # those that hold it were measured by the first
        return None if snapshot["root"] in sizes else "its root is missing"


class _Receiver:
    """Replays one package."""

    def __init__(self, source: Package, directory: Path | str, name: str | None):
        self._source, self._name = source, name
        self._now = source.manifest["started_at"]
        self.builder = RecordingBuilder(
            directory, source.manifest["task"], {"from": "extension"}, still=0.0, switching=False,
            clock=lambda: RecordingClock(wall=lambda: self._now, steady=lambda: self._now,
                                         max_first_late_s=_MAX_FIRST_LATE_S))
        self._pictures: dict[int, PictureLine] = {}
        self._committed: dict[str, float] = {}  # document -> when it took the place of the one before, wall clock
        self._numbers: dict[int, int] = {}  # line of the journal -> number of the event
        self._gone: list[int] = []  # lines of tabs that were closed, told of when the next event is
        self._waiting: list[PackageLine] = []  # an event in a frame of unknown position, and what came after it
        self._ended = False
        self._viewport_noted = False

    def replay(self) -> None:
        """The whole journal, in order."""
        self._pictures, self._committed = self._source.late_lines()
        for line in self._source.lines():
            if (line["kind"] == "begin") != (line["n"] == 1) or self._ended:
                raise InputError(f"{self._where(line)}: field kind: {line['kind']} is not allowed here")
            if self._waiting or self._is_unlocated(line):
                self._wait(line)
            else:
                self._take(line)
        self._take_waiting()
        self.builder.settle()
        self.builder.finish(self._now, cut_off=not self._ended)

    def _take(self, line: PackageLine) -> None:
        self._now, before = max(self._now, line["at"]), self.builder.last_event
        getattr(self, f"_on_{line['kind']}")(line)
        if self.builder.last_event > before:
            self._numbers |= zip(self._gone, range(before + 1, self.builder.last_event), strict=False)
            self._numbers[line["n"]], self._gone = self.builder.last_event, []
        if line["n"] % _DRAIN_EVERY == 0:
            self.builder.drain()

    def _is_unlocated(self, line: Mapping[str, Any]) -> bool:
        """Whether a line is of an event in a frame of which those above have not reported the position: the lines of
        several frames keep no order."""
        return (line["kind"] == "page" and line["frame"] != 0 and line["message"]["type"] != "snapshot"
                and not self._tab(line).is_located(tuple(line["message"]["path"])))

    def _wait(self, line: PackageLine) -> None:
        """Keep a line until the position of the frame of the first one is known, or nobody will report it soon."""
        self._waiting.append(line)
        page: Any = line
        first: Any = self._waiting[0]
        tab, path = self._tab(first), tuple(first["message"]["path"])
        if line["kind"] == "page" and line is not first and self._tab(page) is tab:
            message: Any = page["message"]
            above = tuple(message["path"])
            if message["snapshot"] and above == path[:len(above)] != path and tab.fault(message["snapshot"]) is None:
                self.builder.apply_snapshot(tab, message, self.builder.seconds(message["time"] / 1000))
        if (tab.is_located(path) or line["kind"] not in _WAITING_KINDS or len(self._waiting) >= _MAX_WAITING_LINES
                or line["at"] - first["at"] > _MAX_WAIT_S):
            self._take_waiting()

    def _take_waiting(self) -> None:
        waiting, self._waiting = self._waiting, []
        for line in waiting:
            self._take(line)

    def _open_video(self, path: Path) -> PacketVideo:
        self._video = PacketVideo(path)
        return self._video

    def _on_begin(self, line: BeginLine) -> None:
        if line["id"] != self._source.manifest["id"]:
            raise InputError(f"{self._where(line)}: field id: {line['id']!r} is not the manifest's")
        self._now = line["started_at"]
        self.builder.begin(line["browser"], name=self._name or line["id"], video=self._open_video, blobs=BlobStore)
        self._browser = {"user_agent": line["user_agent"], "browser": line["browser"]}
        manifest: Mapping[str, Any] = self._source.manifest
        self.builder.note(**self._browser, **{
            name: manifest[name] for name in ("provenance", "secret_digests") if name in manifest})

    def _on_tab(self, line: TabLine) -> None:
        if line["tab"] != len(self.builder.tabs) + 1:
            raise InputError(f"{self._where(line)}: field tab: {line['tab']} instead of {len(self.builder.tabs) + 1}")
        opener = self._tab(line, "opener") if line["opener"] is not None else None
        self._paint(line)
        self.builder.add_tab(_Tab(line["tab"], line["url"], self.builder.on_frame), opener)

    def _on_show(self, line: OfTabLine) -> None:
        self._paint(line)
        self.builder.show(self._tab(line))

    def _on_gone(self, line: OfTabLine) -> None:
        self._paint(line)
        self.builder.remove_tab(self._tab(line))
        self._gone.append(line["n"])

    def _on_page(self, line: PageLine) -> None:
        tab, message = self._tab(line), line["message"]
        if line["frame"] == 0 and tab.document != line["document"]:
            self._new_document(tab, line["document"], (message["snapshot"] or tab.facts)["url"])
        if snapshot := message["snapshot"]:
            self._note_viewport(snapshot, message["path"])
            if fault := tab.fault(snapshot):
                self.builder.on_lost(f"line {line['n']} of the journal: {fault}; the page's state is skipped")
                message["snapshot"] = None
        picture = self._paint(line, tab if message["snapshot"] and message["type"] != "snapshot" else None)
        self.builder.on_message(tab, message, picture)

    def _on_navigate(self, line: NavigateLine) -> None:
        tab = self._tab(line)
        self._paint(line)
        if not line["same_document"]:
            self._new_document(tab, line["document"], line["url"])
            tab.shown_since = line["committed"]
        before, tab.facts["url"] = tab.facts["url"], line["url"]
        self.builder.on_browser_event(tab, "navigate", line["started"],
                              {"url": line["url"], "transition": line["transition"]}, before)

    def _on_picture(self, line: PictureLine) -> None:
        """Taken up by the line that it belongs to, which came before."""

    def _on_video(self, line: VideoLine) -> None:
        content, offset = self._source.blob(line["blob"]), 0
        for time, size, key in line["packets"]:
            self._video.packet(content[offset:offset + size], self.builder.seconds(time), key,
                               (line["width"], line["height"]))
            offset += size

    def _on_resource(self, line: ResourceLine) -> None:
        self.builder.on_resource(line["url"], line["content_type"], line["at"], self._source.blob(line["blob"]))

    def _on_chat(self, line: ChatLineOfPackage) -> None:
        self.builder.chat.say(line["speaker"], line["utterance"])

    def _on_undo(self, line: UndoLine) -> None:
        if (number := self._numbers.get(line["event"])) is not None:
            self.builder.undo(number)

    def _on_zoom(self, line: ZoomLine) -> None:
        self._tab(line).zoom = line["zoom"]

    def _on_problem(self, line: ProblemLine) -> None:
        self.builder.on_lost(line["message"])

    def _on_pause(self, line: PackageLine) -> None:
        self.builder.pause()

    def _on_resume(self, line: PackageLine) -> None:
        self.builder.resume()

    def _on_end(self, line: PackageLine) -> None:
        self._ended = True

    # Pieces.

    def _tab(self, line: Mapping[str, Any], field: str = "tab") -> _Tab:
        if not 1 <= line[field] <= len(self.builder.tabs):
            raise InputError(f"{self._where(line)}: field {field}: unknown tab {line[field]}")
        return self.builder.tabs[line[field] - 1]

    def _paint(self, line: Mapping[str, Any], acted_in: _Tab | None = None) -> PaintedFrame | None:
        """The picture of a line, chosen and blackened by the extension; `acted_in`: where the line is an action."""
        picture = self._pictures.pop(line["n"], None)
        unchanged_since = -math.inf
        if acted_in:
            unchanged_since = acted_in.unchanged_since(line)
            acted_in.note_action(line)
        if picture is None:
            return None
        tab, agrees = self._tab(picture), picture.get("screenshot_agrees", False)
        # For a still capture, `agrees` means that the page did not change from before the capture until the event.
        unproven = picture["still"] and not (agrees and acted_in and acted_in.is_alone)
        late = "late" if picture["time"] < unchanged_since else None
        stale = "still" if unproven else picture.get("stale_because", late)
        until = picture.get("unchanged_until")
        frame = PaintedFrame(self._source.blob(picture["blob"]), self.builder.seconds(picture["time"]), stale,
                             followed=False, unchanged_until=until and self.builder.seconds(until),
                             agrees=stale is None and agrees)
        tab.ring.add(frame)
        self.builder.on_frame(tab, frame)
        return frame

    def _new_document(self, tab: _Tab, document: str, url: str) -> None:
        if tab.document != document:
            tab.document = document
            began = self._committed.get(document)
            tab.new_document(url, math.inf if began is None else self.builder.seconds(began))

    def _note_viewport(self, snapshot: Snapshot, path: list[int]) -> None:
        if not self._viewport_noted and not path:
            self._viewport_noted = True
            self.builder.note(viewport=snapshot["viewport"])

    def _where(self, line: Mapping[str, Any]) -> str:
        return f"{self._source.path}: journal.jsonl, line {line['n']}"
