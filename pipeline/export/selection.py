"""Selection of demonstrations and turns for an export, with the reasons for exclusion."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field, replace
from datetime import date
from typing import Any, NamedTuple

from schemas.actors import ACTORS, UNKNOWN_ACTOR, actor_of
from schemas.types.recordings import Turn

from .source import Source
from .splits import Rule, websites

PROVEN = ("same", "equivalent")  # verdicts of a demonstration that still does what it did
ANY = "any"  # in options: no condition on the status (except that invalid ones stay out), the actor or the outcome
EXPORT_ACTORS = (*ACTORS, UNKNOWN_ACTOR)
OUTCOMES = SUCCESS, FAILURE, UNDECIDED = ("success", "failure", "undecided")


class ListedFacts(NamedTuple):
    """What the app's list contains of a demonstration. `actor`: None if its recording was not read for it yet;
    `outcome`: one of OUTCOMES."""

    status: str
    reviewed: bool
    recorded_by: str | None
    day: date
    proof: str = ""
    actor: str | None = None
    outcome: str = UNDECIDED


@dataclass(frozen=True)
class Selection:
    """What is selected; what is empty asks for nothing.

    Of demonstrations: `status` in the review app; `reviewed`: somebody validated it; `proven`: it was run again as it
    is now, and did what it did (PROVEN); `recorded_by`: users of the app;
    `since`, `until`: days of its recording, both included; `actors`: of EXPORT_ACTORS; `outcome`: one of OUTCOMES;
    `websites`: at least one of these; `labels`: as the split rule's file tells them. Of browser turns: `intents`;
    `good_screenshots`; `without_checks`: kinds of checks that ask for nothing more in it.
    """

    status: str = ""
    reviewed: bool = False
    proven: bool = False
    recorded_by: tuple[str, ...] = ()
    since: date | None = None
    until: date | None = None
    actors: tuple[str, ...] = ()
    outcome: str = ""
    websites: tuple[str, ...] = ()
    labels: dict[str, str] = field(default_factory=dict)
    intents: tuple[str, ...] = ()
    good_screenshots: bool = False
    without_checks: tuple[str, ...] = ()

    def requested(self) -> dict[str, Any]:
        """What was asked for, for the manifest; users of the app are not named there."""
        criteria = {name: value for name, value in asdict(self).items() if value}
        return {name: value.isoformat() if isinstance(value, date) else len(value) if name == "recorded_by" else value
                for name, value in criteria.items()}

    def refuses(self, facts: ListedFacts) -> str:
        """Why a demonstration is left out by what the app's list contains of it; empty when it is not."""
        if self.status and facts.status != self.status:
            return f"demonstration: its status is {facts.status or 'unknown'}"
        if self.reviewed and not facts.reviewed:
            return "demonstration: nobody validated it"
        if self.proven and facts.proof not in PROVEN:
            return f"demonstration: not proven: {facts.proof or 'not run again'}"
        if facts.actor is not None and (reason := self._refuses_actor(facts.actor)):
            return reason
        if self.outcome and facts.outcome != self.outcome:
            return f"demonstration: its outcome is {facts.outcome}"
        if self.recorded_by and facts.recorded_by not in self.recorded_by:
            return "demonstration: recorded by somebody else"
        if (self.since and facts.day < self.since) or (self.until and facts.day > self.until):
            return "demonstration: recorded on another day"
        return ""

    def _refuses_actor(self, actor: str) -> str:
        return f"demonstration: its actor is {actor}" if self.actors and actor not in self.actors else ""

    def refuses_content(self, source: Source, rule: Rule) -> str:
        """The same by what it holds."""
        if reason := self._refuses_actor(actor_of(source.recording.manifest.get("provenance", {}))):
            return reason
        if self.websites and not set(self.websites) & set(websites(source)):
            return "demonstration: on other websites"
        labels = self.labels and rule.labels(source)
        if any(labels.get(name) != value for name, value in self.labels.items()):
            return "demonstration: has another label"
        return ""

    def refuses_turn(self, turn: Turn) -> str:
        """Why a turn is left out; empty when it is not. Chat stays."""
        if turn["type"] == "chat":
            return ""
        if self.intents and turn["intent"] not in self.intents:
            return "turn: another intent"
        if self.good_screenshots and not (turn["state"] and turn["state"]["screenshot"]
                                          and turn["state"]["screenshot_status"] == "good"):
            return "turn: its screenshot is not good"
        if any(check["kind"] in self.without_checks for check in turn["checks"]):
            return "turn: a check asks for a look"
        return ""


def select(sources: Iterable[Source], selection: Selection, rule: Rule, not_selected: Counter[str]) -> Iterator[Source]:
    """The selected sources with their selected turns; the others are counted by reason.

    What the app's list tells (status, review, who, when) is looked at where the sources are from.
    """
    for source in sources:
        if reason := selection.refuses_content(source, rule):
            not_selected[reason] += 1
            continue
        reasons = {turn["id"]: reason for turn in source.turns if (reason := selection.refuses_turn(turn))}
        if reasons and all(turn["type"] == "chat" or turn["id"] in reasons for turn in source.turns):
            not_selected["demonstration: no action in it is selected"] += 1
            continue
        not_selected.update(reasons.values())
        yield replace(source, without=frozenset(reasons)) if reasons else source
