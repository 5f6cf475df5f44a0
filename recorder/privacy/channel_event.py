"""Messages of a WebSocket or an EventSource, as the browser reports them."""

from dataclasses import dataclass


@dataclass
class ChannelEvent:
    """Something that went over a connection which stays open; `epoch`: wall clock in seconds.

    `protocol`: of direction `accepted`. `code`, `reason`, `by_page`: of direction `close`, None where they are not
    known; they may be filled in later, as the page reports them.
    """

    tab: int
    channel: int
    kind: str
    direction: str
    epoch: float
    url: str = ""
    data: str | bytes = ""
    event: str = ""
    id: str = ""
    protocol: str = ""
    code: int | None = None
    reason: str = ""
    by_page: bool = False
