"""How like the rendered pages of a demonstration are to its screenshots, once `rendered_comparison` has measured it."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from schemas import DemonstrationSchema, InputError
from schemas.files import read_json
from schemas.types.recordings import Demonstration, TurnState

from .context import Context


def stage(demonstration: Demonstration, context: Context) -> Demonstration:
    """Pipeline stage: keep what was measured before, of states whose page and screenshot are still the same."""
    before: dict[tuple[Any, ...], float] = {}
    if context.recording.layout.demonstration.exists():
        with suppress(InputError):  # it is made anew
            previous = read_json(context.recording.layout.demonstration, DemonstrationSchema())
            before = {key_of(state): state["render_similarity"] for state in good_states(previous)
                      if "render_similarity" in state}
    return with_similarity(demonstration, before) if before else demonstration


def good_states(demonstration: Demonstration) -> Iterator[TurnState]:
    """The states of a demonstration that can be compared."""
    for turn in demonstration["turns"]:
        if turn["type"] == "browser" and turn["state"] and is_good(turn["state"]):
            yield turn["state"]


def is_good(state: TurnState) -> bool:
    """Whether a state has a page and a screenshot of the same moment."""
    return bool(state["dom"] and state["screenshot"] and state["screenshot_status"] == "good"
                and not state.get("stale") and not state.get("screenshot_source"))


def key_of(state: Mapping[str, Any]) -> tuple[Any, ...]:
    """What a measured similarity belongs to: page and screenshot."""
    return state["dom"], state["screenshot"]


def with_similarity(demonstration: Demonstration, similarities: Mapping[tuple[Any, ...], float]) -> Demonstration:
    """The demonstration with what was measured, by `key_of` its states."""
    turns: list[Any] = []
    for turn in demonstration["turns"]:
        state = turn["state"] if turn["type"] == "browser" else None
        if state and (value := similarities.get(key_of(state))) is not None:
            turns.append({**turn, "state": {**state, "render_similarity": value}})
        else:
            turns.append(turn)
    return {**demonstration, "turns": turns}
