"""How far a gesture scrolled: what the wheel or a key did, without what a page or a driver scrolled on."""

from typing import cast

from schemas.types.recordings import Event, Point

from .gestures import Gesture

_TOLERANCE_PX = 2  # CSS pixels by which scrolling may go farther than the wheel was turned


def offsets_reached(gesture: Gesture, scrolls: list[Event]) -> Point:
    """The offsets to which a gesture scrolled what it scrolled last: no farther than its wheel was turned.

    `scrolls`: its `scroll` events, at least one.
    """
    last = scrolls[-1]
    same = [event["data"] for event in scrolls if _uid(event) == _uid(last)]
    start, turned = same[0].get("scroll_from"), wheel_delta(gesture)
    handled = any(event["data"].get("default_prevented") for event in gesture.of_type("wheel"))
    if start is None or handled or same[-1].get("snaps") or not (turned["x"] or turned["y"]):
        return same[-1]["scroll"]
    state = gesture.first["state"]
    zoom = min(state["zoom"], 1.0) if state else 1.0
    farthest = (abs(turned["x"]) + abs(turned["y"])) / zoom + _TOLERANCE_PX  # Shift turns it sideways
    within = [data["scroll"] for data in same if _distance(start, data["scroll"]) <= farthest]
    return within[-1] if within else {"x": max(0.0, start["x"] + turned["x"]), "y": max(0.0, start["y"] + turned["y"])}


def wheel_delta(gesture: Gesture) -> Point:
    """How far the wheel was turned in all, CSS pixels."""
    deltas = [event["data"]["delta"] for event in gesture.of_type("wheel") if "delta" in event["data"]]
    return {"x": sum(delta["x"] for delta in deltas), "y": sum(delta["y"] for delta in deltas)}


def add_deltas(first: Point, second: Point) -> Point:
    """Two distances, one after the other."""
    return cast(Point, {axis: first[axis] + second[axis] for axis in ("x", "y")})


def _distance(start: Point, end: Point) -> float:
    return max(abs(end["x"] - start["x"]), abs(end["y"] - start["y"]))


def _uid(event: Event) -> str | None:
    return event["target"]["uid"] if event["target"] else None
