"""Assembles the state of an event, removes its secrets and writes it. Runs in the writer's thread."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from recorder.media.painted_frames import PaintedFrame
from recorder.privacy.mhtml import without_secrets
from recorder.privacy.secret_values import Secrets
from recorder.writer import NewEvent, RecordingWriter
from schemas.files import dump_line
from schemas.types.recordings import State

from .frame_merging import FrameGroup, Path, merge
from .lost_values import LostValues

_SCREENSHOTS = 4  # frames of which it is remembered how they were kept


class EventWriter:
    """Writes events to `writer`, each with the blobs of its state, without what `secrets` knows.

    What a page holds may be such that a value cannot be put together: it is left out then, and counted in `lost`.
    While `is_late`, pictures are kept as they came: to store them as bitmaps takes longer.
    """

    def __init__(self, writer: RecordingWriter, secrets: Secrets, lost: LostValues,
                 is_late: Callable[[], bool] = lambda: False):
        self._writer = writer
        self._secrets = secrets
        self._lost = lost
        self._is_late = is_late
        self._screenshot = lru_cache(_SCREENSHOTS)(self._store_screenshot)  # one frame may serve several events

    def write(self, event: NewEvent, state: State | None, frame_groups: dict[Path, FrameGroup] | None,
              frame: PaintedFrame | None) -> None:
        """An event with the state before it: what its frame groups and its painted frame show, as far as known."""
        if state:
            self._fill(state, frame_groups, frame)
        event["target"] = self._clean(event["target"], None)
        event["data"] = self._clean(event["data"], {})
        try:
            self._writer.event(event | {"state": state})
        except ValueError as error:  # no JSON; the event counts nevertheless, as others name it by its number
            self._lost.add_error(error)
            self._writer.event(event | {"target": None, "data": {}, "state": None})

    def last_state(self, state: State, frame_groups: dict[Path, FrameGroup], frame: PaintedFrame | None) -> None:
        """What was shown when the recording ended."""
        self._fill(state, frame_groups, frame)
        self._writer.update(last_state=state)

    def _fill(self, state: State, frame_groups: dict[Path, FrameGroup] | None, frame: PaintedFrame | None) -> None:
        """Put the blobs of what frame groups and a painted frame show into a state, and take secrets out of it."""
        if frame_groups:
            dom, elements = self._lost.attempt(lambda: self._page(frame_groups), (None, None))
            if dom is not None:
                state["dom"] = self._writer.blob(dom, kind="dom")
                state["elements"] = self._writer.blob(elements, kind="elements")
        if frame:
            state |= {"screenshot": self._screenshot(frame.image), **_facts(frame)}
        if frame and frame.stale:
            state["stale"] = True
        state["url"] = self._clean(state["url"], "")
        state["title"] = self._clean(state["title"], "")

    def better_screenshot(self, event: int, tab: int, frame: PaintedFrame) -> None:
        """A better screenshot of an earlier event, in a line of its own."""
        self._writer.event({"time": frame.time, "type": "screenshot", "tab": tab, "gesture": None, "target": None,
                            "state": None, "data": {"event": event, "screenshot": self._screenshot(frame.image),
                                                    **_facts(frame)}})

    def page_archive(self, time: float, tab: int, url: str, mhtml: bytes) -> None:
        """A page as MHTML."""
        clean = self._lost.attempt(lambda: without_secrets(mhtml, self._secrets), b"")
        blob = self._writer.blob(clean, kind="mhtml")
        self._writer.event({"time": time, "type": "mhtml", "tab": tab, "gesture": None, "target": None, "state": None,
                            "data": {"blob": blob, "url": self._secrets.in_address(url)}})

    def _page(self, frame_groups: dict[Path, FrameGroup]) -> tuple[bytes, bytes]:
        """DOM and element table, as they are kept."""
        document, rows = merge(frame_groups)
        return (self._secrets.in_markup(document).encode("utf-8", "surrogatepass"),
                dump_line(self._secrets.in_event(rows)))

    def _clean(self, value: Any, otherwise: Any) -> Any:
        """A value without secrets."""
        return self._lost.attempt(lambda: self._secrets.in_event(value), otherwise)

    def _store_screenshot(self, image: bytes) -> str:
        if self._is_late():
            return self._writer.blob(image)
        return self._writer.blob(image, kind="screenshot", picture=True)


def _facts(frame: PaintedFrame) -> Any:
    """What is said of a frame beside the screenshot that it is."""
    facts = {"stale_because": frame.stale, "unchanged_until": frame.unchanged_until,
             "screenshot_agrees": frame.agrees or None}
    return {"screenshot_time": frame.time} | {name: fact for name, fact in facts.items() if fact is not None}
