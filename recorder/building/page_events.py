"""Events as pages report them: on the recording's clock, as seen from the top document, numbered by their messages."""

from collections.abc import Callable
from typing import Any

from recorder.media.painted_frames import PaintedFrame
from recorder.writer import NewEvent
from schemas.types.package import Message

from .frame_merging import to_page_point, to_page_target
from .lost_values import LostValues
from .state_match import Criteria
from .tab_state import TabState


class PageEvents:
    """Makes events of the capture scripts' messages, and knows the number of the event of each message.

    `seconds`: wall clock, and the source of a time, to seconds of the recording. `lost` counts what cannot be read.
    """

    def __init__(self, seconds: Callable[[float, str], float], lost: LostValues):
        self._seconds = seconds
        self._lost = lost
        self._numbers: dict[str | None, int] = {}

    def note_number(self, message_id: str, number: int) -> None:
        """The event of a message was written under this number."""
        self._numbers[message_id] = number

    def number(self, message_id: str | None) -> int | None:
        """The number of the event of a message; None when there is none."""
        return self._numbers.get(message_id)

    def times(self, message_id: str, reported: Any, *names: str) -> list[Any]:
        """Times that a page reports by these names, in seconds of the recording; None for those that it does not."""
        source = message_id.partition(":")[0]
        return [time and self._seconds(time / 1000, source) for time in map(reported.get, names)]

    def event(self, tab: TabState, message: Message, time: float) -> NewEvent:
        """The event that a message reports, with target and point as seen from the top document; they are empty when
        they cannot be read."""
        path, groups = tuple(message["path"]), tab.frame_groups
        event: NewEvent = {
            "time": time, "type": message["type"], "tab": tab.number, "gesture": self.number(message["gesture"]),
            "target": self._lost.attempt(lambda: to_page_target(message["target"], path, groups), None),
            "data": self._lost.attempt(lambda: to_page_point(message["data"], path, groups), {})}
        return event if message.get("trusted", True) else event | {"trusted": False}

    def criteria(self, tab: TabState, message: Message, event: NewEvent, picture: PaintedFrame | None) -> Criteria:
        """What a painted frame must agree with to be the screenshot of a message's event. `picture`: the one that the
        sender has chosen."""
        shown: Any = message.get("shown") or {}
        painted, all_painted = self.times(message["id"], shown, "painted", "all_painted")
        target = event["target"]
        return tab.view(event["time"], bool(shown), painted, all_painted, target and target["bbox"], picture)
