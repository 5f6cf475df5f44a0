"""Imported turns against the driver's account."""

from dataclasses import dataclass

from pipeline.export import Source
from schemas.types.recordings import BrowserTurn

from .sources import Done, Made

_CLOCK_S = 0.1  # by which the clocks of tools may differ


@dataclass
class Score:
    """Shares of the account's actions that were imported with the right target, value, time and state."""

    name: str
    actions: int
    extra: int
    target: float
    value: float
    time: float
    state: float

    @property
    def lowest(self) -> float:
        """The worst of the shares; extra actions count as wrong."""
        share = self.actions / (self.actions + self.extra) if self.actions else 0.0
        return min(share, self.target, self.value, self.time, self.state)


def score(made: Made, source: Source) -> Score:
    """Compare in order: each action of the account with the next turn of its intent and target."""
    turns = [turn for turn in source.turns if turn["type"] == "browser"]
    started = source.recording.manifest["started_at"].timestamp()
    used, right = 0, {"target": 0, "value": 0, "time": 0, "state": 0}
    position = 0
    for done in made.account:
        match = next((number for number in range(position, min(position + 3, len(turns)))
                      if turns[number]["intent"] == done.intent and _target(turns[number], made) == done.target), None)
        if match is None:
            continue
        turn, position = turns[match], match + 1
        used += 1
        right["target"] += 1
        right["value"] += _value(turn, done)
        right["time"] += not made.times or done.begun - _CLOCK_S <= started + turn["timestamp"] <= done.ended + _CLOCK_S
        right["state"] += _is_state_whole(turn, made, source)
    total = len(made.account)
    return Score(made.name, total, len(turns) - used, *(right[name] / total for name in (
        "target", "value", "time", "state")))


def _target(turn: BrowserTurn, made: Made) -> str:
    if not turn["element"]:
        return ""
    return turn["element"]["name"] if made.by_name else turn["element"]["attributes"].get("id", "")


def _value(turn: BrowserTurn, done: Done) -> bool:
    arguments = turn["arguments"]
    if done.intent == "change" and "checked" in arguments:
        return bool(arguments["checked"]) == bool(done.value)
    kept = {"textInput": "text", "change": "value", "press": "key", "load": "url"}.get(done.intent)
    return kept is None or arguments.get(kept) == done.value


def _is_state_whole(turn: BrowserTurn, made: Made, source: Source) -> bool:
    """Whether there is the page before the action, with the target and without the effect of the press."""
    if turn["intent"] == "load":
        return True
    state = turn["state"]
    if not state or (made.pictures and not state["screenshot"]):
        return False
    if not made.pages:
        return True
    if not state["dom"]:
        return False
    page = source.recording.blob(state["dom"]).decode("utf-8", "replace")
    return bool(turn["element"]) and f'"{turn["element"]["uid"]}"' in page.replace("&quot;", '"').replace("&amp;", "&")
