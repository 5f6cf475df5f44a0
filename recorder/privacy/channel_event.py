"""Messages of a WebSocket or an EventSource, as the browser reports them."""

from dataclasses import dataclass


@dataclass(frozen=True)
class ChannelEvent:
    """Something that went over a connection which stays open; `epoch`: wall clock in seconds."""

    tab: int
    channel: int
    kind: str
    direction: str
    epoch: float
    url: str = ""
    data: str | bytes = ""
    event: str = ""
    id: str = ""
