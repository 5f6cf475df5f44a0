"""What is written of an event: its state put together, its secrets taken out. Runs in the writer's thread."""

from functools import lru_cache

from recorder.media.painted_frames import PaintedFrame, bitmap
from recorder.privacy.mhtml import without_secrets
from recorder.privacy.secret_values import Secrets
from recorder.writer import NewEvent, RecordingWriter
from schemas.files import dump_line
from schemas.types import State

from .frame_merging import FrameGroup, Path, merge

_SCREENSHOTS = 4  # frames of which it is remembered how they were kept


class EventWriter:
    """Writes events to `writer`, each with the blobs of its state, without what `secrets` knows."""

    def __init__(self, writer: RecordingWriter, secrets: Secrets):
        self._writer = writer
        self._secrets = secrets
        self._screenshot = lru_cache(_SCREENSHOTS)(self._keep_screenshot)  # one frame may serve several events

    def write(self, event: NewEvent, state: State | None, frame_groups: dict[Path, FrameGroup] | None,
              frame: PaintedFrame | None) -> None:
        """An event with the state before it: what its frame groups and its painted frame show, as far as known."""
        if state:
            if frame_groups:
                document, rows = merge(frame_groups)
                document = self._secrets.in_markup(document)
                state["dom"] = self._writer.blob(document.encode("utf-8", "surrogatepass"), like="dom")
                state["elements"] = self._writer.blob(dump_line(self._secrets.in_event(rows)), like="elements")
            if frame:
                state |= {"screenshot": self._screenshot(frame.image), "screenshot_time": frame.time}
            if frame and frame.stale:
                state["stale"] = True
            state["url"] = self._secrets.in_event(state["url"])
            state["title"] = self._secrets.in_event(state["title"])
        for name in ("target", "data"):
            event[name] = self._secrets.in_event(event[name])
        self._writer.event(event | {"state": state})

    def better_screenshot(self, event: int, tab: int, frame: PaintedFrame) -> None:
        """A better screenshot of an earlier event, in a line of its own."""
        self._writer.event({"time": frame.time, "type": "screenshot", "tab": tab, "gesture": None, "target": None,
                            "state": None, "data": {"event": event, "screenshot": self._screenshot(frame.image),
                                                    "screenshot_time": frame.time}})

    def page_archive(self, time: float, tab: int, url: str, mhtml: bytes) -> None:
        """A page as MHTML."""
        blob = self._writer.blob(without_secrets(mhtml, self._secrets), like="mhtml")
        self._writer.event({"time": time, "type": "mhtml", "tab": tab, "gesture": None, "target": None, "state": None,
                            "data": {"blob": blob, "url": self._secrets.in_address(url)}})

    def _keep_screenshot(self, image: bytes) -> str:
        return self._writer.blob(bitmap(image), like="screenshot")
