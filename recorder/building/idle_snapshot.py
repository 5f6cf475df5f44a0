"""Snapshots of a tab without input: for replay, which compares them with the recorded states."""

from dataclasses import dataclass

from recorder.privacy.secret_values import Secrets
from schemas.types.recordings import State, TableRow

from .frame_merging import merge
from .tab_state import TabState


@dataclass(frozen=True)
class IdleSnapshot:
    """What a tab shows: `state` without blobs, the DOM snapshot and the element table as in a recording."""

    state: State
    document: str
    rows: list[TableRow]


def idle_snapshot(tab: TabState, secrets: Secrets) -> IdleSnapshot | None:
    """What a tab shows, as far as it has told; None where that cannot be put together."""
    if () not in tab.frame_groups:
        return None
    try:
        document, rows = merge(tab.frame_groups)
    except (KeyError, ValueError, RecursionError):
        return None
    state = tab.state(None)
    state["url"] = secrets.in_event(state["url"])
    return IdleSnapshot(state, secrets.in_markup(document), rows)
