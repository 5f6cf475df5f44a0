"""State of one tab under recording: the content of its frame groups, and its painted frames. No browser protocol."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal, NotRequired, TypedDict

from recorder.media.painted_frames import FrameRing, PaintedFrame, black_out
from schemas.types.package import Snapshot
from schemas.types.recordings import Box, Point, Size, State, TableRow

from .frame_merging import FrameGroup, SnapshotChunks, frame_of, secret_boxes
from .secret_positions import SecretFieldPositions
from .state_match import Criteria

_MAX_WAITING_FRAMES = 100  # frames that may wait


class TabFacts(TypedDict):
    """What a tab shows in all, as in StateSchema."""

    url: str
    title: str
    viewport: Size
    device_pixel_ratio: float
    animations: int
    scroll: Point
    rendered: NotRequired[str]


class TabState:
    """One tab, numbered from 1 in order of appearance; `on_frame` is called with each frame that may be kept."""

    def __init__(self, number: int, url: str, on_frame: Callable[["TabState", PaintedFrame], None]):
        self.number = number
        self.ring = FrameRing()
        self.frame_groups: dict[tuple[int, ...], FrameGroup] = {}
        self.facts: TabFacts = {
            "url": url, "title": "", "viewport": {"width": 0, "height": 0}, "device_pixel_ratio": 1.0,
            "animations": 0, "scroll": {"x": 0.0, "y": 0.0}}
        self.zoom = 1.0
        self._unzoomed_ratio = 0.0  # device pixels to a CSS pixel at zoom 1, once known
        self._on_frame = on_frame
        self._chunks: dict[str, SnapshotChunks] = {}
        self._rows: dict[str, dict[int, TableRow]] = {}
        self._snapshot_times: dict[tuple[int, ...], float] = {}  # when each frame group last told
        self._reported_since: set[str] = set()  # names of the frame groups that told since this document came
        self._waiting_frames: list[PaintedFrame] = []
        self._partial: set[tuple[int, ...]] = set()  # frame groups of which not all that is seen is told
        self._known = True  # whether this document has told where its secrets are
        self._secret_positions = SecretFieldPositions()
        self._left_at = 0.0  # when the last document was left
        self.guarded = False  # something secret was in sight, which may move

    def apply_snapshot(self, path: tuple[int, ...], snapshot: Snapshot, time: float) -> None:
        """Take in what a frame group shows at a time: its text, and where in the page something is secret."""
        self.frame_groups[path] = self._complete(snapshot)
        self._snapshot_times[path] = time
        self._partial = {group for group in self._partial if group in self.frame_groups} - {path}
        if snapshot.get("rendered"):
            self._partial.add(path)
        if not path:
            before = self.facts
            self.facts = {
                "url": snapshot["url"], "title": snapshot["title"], "viewport": snapshot["viewport"],
                "device_pixel_ratio": snapshot["device_pixel_ratio"], "animations": snapshot["animations"],
                "scroll": snapshot["scroll"]}
            if self._unzoomed_ratio:
                if _another_screen(before, self.facts):
                    self._unzoomed_ratio = self.facts["device_pixel_ratio"] / self.zoom
                self.zoom = round(self.facts["device_pixel_ratio"] / self._unzoomed_ratio, 4)
        self.facts = self.facts.copy()
        self.facts.pop("rendered", None)
        if self._partial:
            self.facts["rendered"] = "partial"
        if () in self.frame_groups:
            boxes = secret_boxes(self.frame_groups)
            self._secret_positions.add_report(time, boxes)
            if self._known:
                self.guarded |= bool(boxes)
            else:  # the document before is gone
                self._known, self.guarded = True, bool(boxes)
                self._secret_positions.skip(self._left_at)
                self._secret_positions.confirm(time)
            if not path and not snapshot["frames"]:  # this is all of the page
                self._secret_positions.confirm(time)
            self._release()

    def confirm_secret_positions(self, time: float) -> None:
        """All frames of the page have reported the positions of their secrets, at that time or later."""
        if self._known:
            self._secret_positions.confirm(time)
            self._release()

    @property
    def waits(self) -> bool:
        """Whether frames wait until it is known where secrets stand in them."""
        return bool(self._waiting_frames)

    def state(self, url: str | None) -> State:
        """The state of it now, yet without its blobs; `url`: where it was shown."""
        return {"tab": self.number, "zoom": self.zoom, **self.facts, "url": url or self.facts["url"], "dom": None,
                "elements": None, "screenshot": None, "screenshot_time": None}

    def is_located(self, path: tuple[int, ...]) -> bool:
        """Whether the frame groups above have told of the one at `path`, so that it has its place in the page."""
        return not path or (() in self.frame_groups and frame_of(path, self.frame_groups) is not None)

    def view(self, time: float, target_reported: bool, painted: float | None, everywhere: float | None,
             target: Box | None, chosen: PaintedFrame | None) -> Criteria:
        """What a frame must agree with to show what the tab has told of itself; see View. Of a page of several frame
        groups it is not known whether all of it agrees: the others tell what they show at rest only."""
        alone = set(self.frame_groups) == {()}
        if chosen:
            return Criteria(time, chosen=replace(chosen, agrees=chosen.agrees and alone))
        if () not in self.frame_groups:
            return Criteria(time)
        scroll, viewport = self.facts["scroll"], self.facts["viewport"]
        return Criteria(time, (scroll["x"] * self.zoom, scroll["y"] * self.zoom),
                    (viewport["width"] * self.zoom, viewport["height"] * self.zoom), target_reported, painted,
                    everywhere if alone else None, target=target)

    def still(self, image: bytes, time: float) -> PaintedFrame:
        """A picture, taken at a time, of what it shows; no other follows by itself."""
        scroll, viewport = self.facts["scroll"], self.facts["viewport"]
        return PaintedFrame(image, time, scroll=(scroll["x"] * self.zoom, scroll["y"] * self.zoom),
                            size=(viewport["width"] * self.zoom, viewport["height"] * self.zoom), followed=False)

    def add_parts(self, frame_group: str, chunks: list[tuple[int, str]], rows: list[tuple[int, TableRow]]) -> None:
        """Take in texts and rows of a frame group that its next snapshot is made of, or one after that."""
        self._reported_since.add(frame_group)
        self._chunks.setdefault(frame_group, SnapshotChunks(frame_group)).add(chunks)
        self._rows.setdefault(frame_group, {}).update(rows)

    def set_zoom(self, zoom: float) -> None:
        """The browser has told the zoom; later ones follow from the ratio of device pixels to CSS pixels until it tells
        again."""
        self.zoom = zoom
        self._unzoomed_ratio = self.facts["device_pixel_ratio"] / zoom

    def paint(self, frame: PaintedFrame) -> None:
        """Take in a painted frame; it is handed on as soon as it is known what in it is secret, and never before: a
        page that is busy for long may show a field that it has not reported yet."""
        self._waiting_frames.append(frame)
        del self._waiting_frames[:-_MAX_WAITING_FRAMES]
        self._release()

    def new_document(self, url: str, began: float = math.inf, left_at: float = 0.0) -> None:
        """Another document takes the place of what was shown until `left_at`; frames in it that are told of before it
        have told since `began`."""
        self.frame_groups = {path: group for path, group in self.frame_groups.items()
                             if path and self._snapshot_times[path] >= began}
        self._snapshot_times = {path: self._snapshot_times[path] for path in self.frame_groups}
        self._secret_positions.leave()
        self._left_at = left_at
        self._known = not url.startswith(("http:", "https:", "file:"))
        # What the new one has told already may have come before this: let go of what was from before the last one.
        for frame_group in [name for name in self._chunks if name not in self._reported_since]:
            del self._chunks[frame_group], self._rows[frame_group]  # what is still to be written holds on to its own
        self._reported_since.clear()

    def has_parts_of(self, frame_group: str) -> bool:
        """Whether chunks and rows of a frame group's snapshots are still in memory."""
        return frame_group in self._chunks

    def _complete(self, snapshot: Snapshot) -> FrameGroup:
        """A snapshot with all its chunks and rows: what its frame group sent before comes by number only."""
        frame_group = snapshot["frame_group"]
        rows_sent: list[Any] = [row for row in snapshot["rows"] if isinstance(row, list)]
        self.add_parts(frame_group, snapshot["chunks"], rows_sent)
        known = self._rows[frame_group]
        rows = [known[row if isinstance(row, int) else row[0]] for row in snapshot["rows"]]
        complete: Any = snapshot | {"chunks": self._chunks[frame_group], "rows": rows}
        gone: Any = snapshot.get("gone")  # the extension's snapshots have none
        if gone:
            self._chunks[frame_group] = self._chunks[frame_group].without(gone["chunks"])
            for number in gone["rows"]:
                known.pop(number, None)
        return complete

    def _release(self) -> None:
        """Hand on the frames of which it is known what in them is secret, with that blackened."""
        viewport = self.facts["viewport"]
        waiting, self._waiting_frames = self._waiting_frames, []
        for frame in waiting:
            if not self._known or not self._secret_positions.covers(frame.time, may_move=self.guarded):
                if not self._secret_positions.is_lost(frame.time):
                    self._waiting_frames.append(frame)
                continue
            if boxes := self._secret_positions.during(frame.time, viewport["height"]):
                hidden = tuple(self._secret_positions.path(frame.time, viewport["height"]))
                frame = replace(black_out(frame, boxes, viewport["width"]), hidden=hidden)
            self.ring.add(frame)
            self._on_frame(self, frame)


def _another_screen(before: TabFacts, now: TabFacts) -> bool:
    """Whether it is not by zooming that a page has other pixels to a CSS pixel: that leaves it as many pixels in all. A
    driver has set the screen that it emulates, or the window has gone to another one."""
    ratio, ratio_before = now["device_pixel_ratio"], before["device_pixel_ratio"]
    sides: tuple[Literal["width", "height"], ...] = ("width", "height")
    return ratio != ratio_before and any(
        abs(now["viewport"][side] * ratio - before["viewport"][side] * ratio_before) > max(ratio, ratio_before) + 1
        for side in sides)
