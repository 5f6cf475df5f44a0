"""Blobs that a recovered recording lacks: they were not on disk when the recorder, or the machine, stopped."""

from typing import Any, cast

from schemas import InputError, RecordingLayout
from schemas.files import open_inside
from schemas.types.recordings import Event, State

from . import blobs

_STATE_BLOBS = ("dom", "elements", "screenshot")


class LostBlobs:
    """Events without what is lost. `fields`: the lost fields of states, and `blob`, by the event's number."""

    def __init__(self, layout: RecordingLayout):
        self._layout = layout
        self._known: dict[str, bool] = {}
        self.fields: dict[int, list[str]] = {}

    def remove_from(self, event: Event) -> bool:
        """Set what is lost of its state to null; returns False when the event consists only of a lost blob."""
        data = event["data"]
        if event["type"] == "screenshot" and self._is_lost(data["screenshot"]):
            self._note(data["event"], "screenshot")
            return False
        if event["type"] == "mhtml" and self._is_lost(data["blob"]):
            self._note(event["seq"], "blob")
            return False
        if state := event["state"]:
            lost: dict[str, Any] = {field: None for field in _STATE_BLOBS if self._is_lost(state.get(field))}
            state |= cast(State, lost)
            for field in lost:
                self._note(event["seq"], field)
            if state["screenshot"] is None:
                state["screenshot_time"] = None
        return True

    def _note(self, event: int, field: str) -> None:
        self.fields.setdefault(event, []).append(field)

    def _is_lost(self, name: Any) -> bool:
        """Whether a blob, or the one that its file depends on, has no file, or an empty one: its content was not on
        disk when the machine stopped."""
        if name is None:
            return False
        if name not in self._known:
            self._known[name] = False  # it cannot depend on itself
            try:
                with open_inside(self._layout.blob(name), self._layout.root) as file:
                    head = file.read(blobs.HEAD_BYTES)
                self._known[name] = not head or self._is_lost(blobs.base_of(head))
            except FileNotFoundError:
                self._known[name] = True
            except (OSError, InputError):
                pass  # it is there; whoever reads it reports why it cannot be read
        return self._known[name]
