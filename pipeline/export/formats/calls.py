"""Shared code of formats of agents' trajectories: an action as a call of a tool, and facts of the session."""

from typing import Any

from pipeline.export.source import Source
from pipeline.export.states import States
from schemas.types.recordings import BrowserTurn


def call_arguments(turn: BrowserTurn, states: States) -> dict[str, Any]:
    """Arguments of the call whose name is the intent: those of the turn, with `uid` (in the page) and `element`."""
    element = turn["element"]
    if element is None:
        return dict(turn["arguments"])
    page = states.page(turn["state"]) if turn["state"] else None
    target = {name: element[name] for name in ("tag", "role", "name", "xpath", "css", "bbox")}  # type: ignore[literal-required]
    uid = page.uid(element["frame"], element["uid"]) if page else element["uid"]
    return {**turn["arguments"], "uid": uid, "element": target}


def session_facts(source: Source) -> dict[str, Any]:
    """What is known of the demonstration as a whole; nothing without a value."""
    provenance, review = source.recording.manifest.get("provenance", {}), source.review
    facts = {"task": source.demonstration["task"], "demonstration": source.id, "split": source.split,
             "license": provenance.get("license"), "consent": provenance.get("consent"),
             "review_status": review.status or None, "outcome": source.about.get("labels", {}).get("outcome")}
    return {name: value for name, value in facts.items() if value is not None}
